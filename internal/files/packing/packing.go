// Package packing defines the records of packs. A pack is a tar archive in POSIX's format (pax) that "profuse pack"
// makes: its global header has the version of the pack, and the header of each profile names the profile's program.
// Other tar archives, and packs of version 1, have none of these records.
package packing

import (
	"archive/tar"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// Version is the version of new packs. Readers refuse later versions.
const Version = 2

// The keywords of the records.
const (
	versionKey = "PROFUSE.pack"
	programKey = "PROFUSE.program"
	buildIDKey = "PROFUSE.build-id"
)

// maxValue bounds the bytes of a record.
const maxValue = 4 << 10

// An Origin identifies the program of a profile in a pack.
type Origin struct {
	// Program tells programs apart: binary ids, "module-" and the module hash of a raw MIP
	// profile, or "functions-" and a hash of names; "" if unknown.
	Program string `json:"program,omitempty"`
	// BuildID is the build id of the program in hexadecimal, or several build ids with + between them; "" if unknown.
	BuildID string `json:"build_id,omitempty"`
}

// String returns the origin in words, "" if it is unknown.
func (o Origin) String() string {
	var parts []string
	if o.Program != "" && o.Program != o.BuildID {
		parts = append(parts, "program "+o.Program)
	}
	if o.BuildID != "" {
		parts = append(parts, "build id "+o.BuildID)
	}
	return strings.Join(parts, ", ")
}

// GlobalHeader returns the header that begins a pack.
func GlobalHeader() *tar.Header {
	return &tar.Header{
		Typeflag: tar.TypeXGlobalHeader, Name: "pack", Format: tar.FormatPAX,
		PAXRecords: map[string]string{versionKey: strconv.Itoa(Version)},
	}
}

// Records returns the records of a profile's header.
func (o Origin) Records() map[string]string {
	records := map[string]string{}
	for key, value := range map[string]string{programKey: o.Program, buildIDKey: o.BuildID} {
		if value != "" && len(value) <= maxValue {
			records[key] = value
		}
	}
	return records
}

// CheckVersion refuses the records of a global header of a later version.
func CheckVersion(records map[string]string) error {
	text, ok := records[versionKey]
	if n, err := strconv.Atoi(text); ok && (err != nil || n < 1 || n > Version) {
		return flaw.In("global header").Field(versionKey).Gotf("%.20q", text).Wantf("1 to %d", Version).Unsupported()
	}
	return nil
}

// Read returns the origin in the records of a profile's header.
func Read(records map[string]string) (o Origin, err error) {
	o = Origin{Program: records[programKey], BuildID: records[buildIDKey]}
	if !printable(o.Program) {
		return o, flaw.In("header").Field(programKey).Gotf("%.20q", o.Program).Want("printable text of at most 4 KiB").Corrupt()
	}
	if len(o.BuildID) > maxValue || strings.Trim(o.BuildID, "0123456789abcdef+") != "" {
		return o, flaw.In("header").Field(buildIDKey).Gotf("%.20q", o.BuildID).Want("build ids in hexadecimal").Corrupt()
	}
	return o, nil
}

func printable(text string) bool {
	return len(text) <= maxValue && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

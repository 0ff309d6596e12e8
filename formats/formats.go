// Package formats lists all profile formats of this module: their names, families and
// usual file suffixes. It detects the format of a file from its bytes.
//
//	if f, ok := formats.Detect(data); ok && f.Family() == formats.MIP {
//		p, err := mip.Read(name, data, nil)
//		…
//	}
//
// Profiles of one family can be merged with each other and are read by one
// package: [IRPGO] by irpgo, [MemProf] by memprof, [MIP] by mip, [Iprof] by iprof, [Sample] by
// sampleprof.
// An indexed IRPGO profile may have a MemProf profile in it.
//
// [View] reads a file of any format and returns its format-neutral view, the input of
// reports, exports and comparisons. Supported versions, limits on hostile input and
// errors, *[profile.FormatError], are those of the package that reads the format; errors
// of opening programs are the system's. The package does not decompress files or open
// archives, see package inputs.
package formats

import (
	"path/filepath"
	"strings"

	"github.com/profuse-pgo/profuse/formats/iprof"
	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/formats/sampleprof"
	"github.com/profuse-pgo/profuse/internal/program/object"
)

// A Format is one kind of file. The zero value is none.
type Format int

// The formats of all families.
const (
	IRPGORaw     Format = iota + 1 // .profraw, as an instrumented process writes it
	IRPGOIndexed                   // .profdata, merged
	IRPGOText                      // merged, as text
	IRPGOPartial                   // .profpart, the sum of some of the inputs of a merge
	MemProfRaw                     // .memprofraw, as a process compiled for heap profiling writes it
	MemProfYAML                    // merged, as YAML
	MIPRaw                         // .mipraw, as an instrumented process writes it
	MIPRet                         // .mipret, reserved for samples of return addresses
	MIPMap                         // .mipmap, the functions of a linked binary
	MIPProfile                     // .mip, merged
	MIPYAML                        // merged, as YAML
	// Binary is an ELF or Mach-O file that may contain a MIP map; mip.FindMap
	// finds it.
	Binary
	IprofProfile // .iprof, of a GraalVM native image
	SampleText
	SampleBinary   // the first binary encoding
	SampleExtended // .afdo, extensible binary
	SampleCompact  // of LLVM 8 to 16
	SampleGCov     // for GCC
)

// A Family is a kind of profiling, with formats of its own.
type Family string

// The families.
const (
	IRPGO   Family = "IRPGO"   // LLVM's instrumentation profiles, of the front end too
	MemProf Family = "MemProf" // LLVM's heap profiles
	MIP     Family = "MIP"     // Machine IR profiles
	Iprof   Family = "iprof"   // profiles of GraalVM native images
	Sample  Family = "AutoFDO" // LLVM's sample profiles, those of CSSPGO too
)

// formats describes each Format.
var formats = [...]struct {
	name     string
	family   Family
	word     string   // in JSON
	suffixes []string // the most usual first
	text     bool
}{
	IRPGORaw:     {"IRPGO raw profile", IRPGO, "raw", []string{".profraw"}, false},
	IRPGOIndexed: {"IRPGO indexed profile", IRPGO, "indexed", []string{".profdata"}, false},
	IRPGOText:    {"IRPGO text profile", IRPGO, "text", []string{".proftext"}, true},
	IRPGOPartial: {"IRPGO partial sum", IRPGO, "partial", []string{".profpart"}, false},
	MemProfRaw:   {"MemProf raw profile", MemProf, "raw", []string{".memprofraw"}, false},
	MemProfYAML:  {"MemProf profile in YAML", MemProf, "yaml", []string{".memprof.yaml", ".memprof.yml"}, true},
	MIPRaw:       {"MIP raw profile", MIP, "mipraw", []string{".mipraw"}, false},
	MIPRet:       {"MIP return address profile", MIP, "mipret", []string{".mipret"}, false},
	MIPMap:       {"MIP map", MIP, "mipmap", []string{".mipmap"}, false},
	MIPProfile:   {"MIP profile", MIP, "mip", []string{".mip"}, false},
	MIPYAML:      {"MIP profile in YAML", MIP, "yaml", []string{".mip.yaml", ".mip.yml"}, true},
	Binary:       {"ELF or Mach-O binary", MIP, "program", nil, false},
	IprofProfile: {"iprof profile", Iprof, "iprof", []string{".iprof"}, true},

	SampleText:     {"sample profile as text", Sample, "text", nil, true},
	SampleBinary:   {"binary sample profile", Sample, "binary", nil, false},
	SampleExtended: {"extensible binary sample profile", Sample, "extensible_binary", []string{".afdo"}, false},
	SampleCompact:  {"compact binary sample profile", Sample, "compact_binary", nil, false},
	SampleGCov:     {"sample profile for GCC", Sample, "gcov", nil, false},
}

// All returns all formats, those of a family together.
func All() []Format {
	all := make([]Format, 0, len(formats)-1)
	for f := IRPGORaw; int(f) < len(formats); f++ {
		all = append(all, f)
	}
	return all
}

// String returns the name of the format for messages, "MIP map".
func (f Format) String() string {
	if f < IRPGORaw || int(f) >= len(formats) {
		return "unknown format"
	}
	return formats[f].name
}

// Word returns the word that stands for the format in JSON, within its family: "raw",
// "indexed"; "" for an unknown one.
func (f Format) Word() string {
	if f < IRPGORaw || int(f) >= len(formats) {
		return ""
	}
	return formats[f].word
}

// IsText reports whether files of the format are text, which is several times larger than the
// other forms.
func (f Format) IsText() bool { return f >= IRPGORaw && int(f) < len(formats) && formats[f].text }

// Family returns the family of the format; "" for an unknown one.
func (f Format) Family() Family {
	if f < IRPGORaw || int(f) >= len(formats) {
		return ""
	}
	return formats[f].family
}

// Detect returns the format of the contents of a file, or of the beginning of one. It
// looks at the first bytes only.
//
// A text is an IRPGO profile if LLVM may read it; for LLVM itself, and in its place the
// drop-in commands, any text is one until it is read. [WrongFormat] says what other files are.
func Detect(data []byte) (Format, bool) {
	// IRPGO is last, because any line may be the name with which its text profiles begin.
	if object.IsImage(data) {
		return Binary, true
	}
	if t, ok := mip.Detect(data); ok {
		switch t {
		case mip.FormatRaw:
			return MIPRaw, true
		case mip.FormatRet:
			return MIPRet, true
		case mip.FormatMap:
			return MIPMap, true
		case mip.FormatProfile:
			return MIPProfile, true
		case mip.FormatYAML:
			return MIPYAML, true
		}
	}
	if iprof.Detect(data) {
		return IprofProfile, true
	}
	if memprof.IsRaw(data) {
		return MemProfRaw, true
	}
	if memprof.IsYAML(data) {
		return MemProfYAML, true
	}
	if t, ok := sampleprof.Detect(data); ok {
		switch t {
		case sampleprof.FormatText:
			return SampleText, true
		case sampleprof.FormatBinary:
			return SampleBinary, true
		case sampleprof.FormatExtended:
			return SampleExtended, true
		case sampleprof.FormatCompact:
			return SampleCompact, true
		case sampleprof.FormatGCov:
			return SampleGCov, true
		}
	}
	if t, ok := irpgo.Detect(data); ok {
		switch t {
		case irpgo.FormatRaw:
			return IRPGORaw, true
		case irpgo.FormatIndexed:
			return IRPGOIndexed, true
		case irpgo.FormatText:
			return IRPGOText, true
		case irpgo.FormatPartial:
			return IRPGOPartial, true
		}
	}
	return 0, false
}

// BySuffix returns the usual format of files with the suffix of name, in upper or lower
// case.
func BySuffix(name string) (Format, bool) {
	base := strings.ToLower(filepath.Base(name))
	for _, f := range All() {
		for _, s := range formats[f].suffixes {
			if len(base) > len(s) && strings.HasSuffix(base, s) {
				return f, true
			}
		}
	}
	return 0, false
}

package sampleprof

import (
	"iter"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// Format is an encoding of sample profiles.
type Format string

// The encodings.
const (
	FormatText     Format = "text"
	FormatBinary   Format = "binary"            // LLVM's first binary format
	FormatExtended Format = "extensible binary" // in sections; the default of LLVM's tools
	FormatCompact  Format = "compact binary"    // LLVM 8 to 16; GUIDs instead of names
	FormatGCov     Format = "gcov"              // AutoFDO's, for GCC
)

// ReaderOptions adjust reading. The zero value is right for most uses.
type ReaderOptions struct {
	// Lenient accepts what llvm-profdata 22 accepts, and like it takes a number for a name made of digits. Otherwise
	// a number is the GUID of a name.
	Lenient bool
	// FlowDiscriminators says that the discriminators of a text or binary profile are
	// flow-sensitive. These formats do not record it.
	FlowDiscriminators bool
	// DiscriminatorBits is how many low bits of flow-sensitive discriminators to keep; 0 keeps all.
	DiscriminatorBits int
	// NewestVersion is the newest version of binary files to accept; 0 accepts all known versions.
	NewestVersion int
}

func (o *ReaderOptions) mask() uint32 {
	if o.DiscriminatorBits <= 0 || !o.FlowDiscriminators {
		return math.MaxUint32
	}
	return uint32(1)<<o.DiscriminatorBits - 1
}

// setFormat sets the format of a profile, and the bit of its kind that the format does not record.
func (o *ReaderOptions) setFormat(p *Profile, format Format) {
	p.format = format
	if o.FlowDiscriminators && format != FormatExtended {
		p.Kind.FlowDiscriminators = true
	}
}

// Detect returns the format of data, which may be the beginning of a file. It tries the formats
// in LLVM's order. ok is false if data is no sample profile.
func Detect(data []byte) (Format, bool) {
	c := cursor.New("", 0, data[:min(len(data), 10)], le)
	switch magic := c.ULEB(""); {
	case c.Err() == nil && magic == magicBinary:
		return FormatBinary, true
	case c.Err() == nil && magic == magicExtended:
		return FormatExtended, true
	case c.Err() == nil && magic == magicCompact:
		return FormatCompact, true
	case isText(data):
		return FormatText, true
	}
	if _, ok := gcovVersion(data); ok {
		return FormatGCov, true
	}
	return "", false
}

// A Section is an entry of the section table of an extensible binary file.
type Section struct {
	Type         uint64
	Name         string   // LLVM's name, such as NameTableSection, or UnknownSection
	Flags        []string // LLVM's words for the flags that are set and known
	Offset, Size uint64   // in the file, in bytes
}

// Sections returns the section table of an extensible binary file; nil for other formats.
func Sections(name string, data []byte) ([]Section, error) {
	if f, _ := Detect(data); f != FormatExtended {
		return nil, nil
	}
	c := cursor.New("section table", 0, data, le)
	c.ULEB("magic")
	version := c.ULEB("version")
	var sections []Section
	for _, s := range readSectionTable(c) {
		flags, _ := s.flagWords()
		word := sectionNames[s.kind].llvm
		if word == "" || !s.kind.isKnown(version) {
			word = "UnknownSection"
		}
		sections = append(sections, Section{uint64(s.kind), word, flags, s.offset, s.size})
	}
	return sections, flaw.InFile(c.Err(), name)
}

// Read reads a sample profile of any format. The profile does not retain data. name is for errors.
//
// The error is a *[profile.FormatError].
func Read(name string, data []byte, opt ReaderOptions) (*Profile, error) {
	p, err := read(data, &opt)
	if err != nil {
		return nil, flaw.InFile(err, name)
	}
	return p, nil
}

func read(data []byte, opt *ReaderOptions) (*Profile, error) {
	format, ok := Detect(data)
	if v, _ := gcovVersion(data); !ok || opt.Lenient && format == FormatGCov && v != gcovLLVM {
		return nil, flaw.At("header", 0).Field("magic").Gotf("% x", data[:min(8, len(data))]).
			Want("a sample profile").Unrecognized()
	}
	var p *Profile
	var err error
	switch format {
	case FormatText:
		p, err = readText(data, opt)
	case FormatGCov:
		p, err = readGCov(data, opt)
	default:
		p, err = newBinaryReader(data, format, opt).read(format)
	}
	if err != nil {
		return nil, err
	}
	opt.setFormat(p, format)
	return p, nil
}

// ReadSorted is [Read] in a third of the time and memory: it yields the functions one by one, in
// file order. Each function is valid until the next. p has no Functions for most files.
func ReadSorted(name string, data []byte, opt ReaderOptions) (p *Profile, functions iter.Seq[*Function], err error) {
	if p, f := readPlain(data, &opt, new(nameTable), nil); p != nil {
		return p, f.sorted(), nil
	}
	if p, err = Read(name, data, opt); err != nil {
		return nil, nil, err
	}
	return p, slices.Values(p.Functions), nil
}

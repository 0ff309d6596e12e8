// Package formats lists all profile formats of this module: their names, families and
// usual file suffixes. It detects the format of a file from its bytes.
//
//	if f, ok := formats.Detect(data); ok && f.Family() == formats.MIP {
//		p, err := mip.Read(name, data, nil)
//		…
//	}
//
// Profiles of one family can be merged with each other and are read by one package: [IRPGO] by irpgo, [MemProf] by
// memprof, [MIP] by mip, [Iprof] by iprof, [Sample] by sampleprof (recordings by perfdata), [CtxProf] by
// ctxprof, [CGData] by cgdata, [GCov] by gcov. An indexed IRPGO profile may contain a MemProf profile.
//
// [View] reads a file of any format and returns its format-neutral view, the input of reports, exports and
// comparisons. The package that reads a format decides which versions are supported, what hostile input may cost,
// and which errors, *[profile.FormatError], it returns; errors of opening programs are the system's. The package
// does not decompress files or open archives, see package inputs.
package formats

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/profuse-pgo/profuse/formats/cgdata"
	"github.com/profuse-pgo/profuse/formats/ctxprof"
	"github.com/profuse-pgo/profuse/formats/gcov"
	"github.com/profuse-pgo/profuse/formats/iprof"
	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/formats/perfdata"
	"github.com/profuse-pgo/profuse/formats/sampleprof"
	"github.com/profuse-pgo/profuse/internal/program/object"
	"github.com/profuse-pgo/profuse/profgen"
	"github.com/profuse-pgo/profuse/profile"
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
	// Binary is an ELF or Mach-O file that may contain a MIP map; mip.FindMap finds it.
	Binary
	IprofProfile // .iprof, of a GraalVM native image
	SampleText
	SampleBinary   // the first binary encoding
	SampleExtended // .afdo, extensible binary
	SampleCompact  // of LLVM 8 to 16
	SampleGCov     // AutoFDO's, for GCC
	PerfData       // perf.data, a recording of perf, of which sample profiles are made
	PerfScript     // the text of perf script
	SampleSums     // what llvm-profgen --skip-symbolization writes; a sample profile is made of it and the program
	CtxProfBinary  // .ctxprof
	CtxProfYAML
	CGDataIndexed // .cgdata
	CGDataText
	// CGDataObject is an object file or a static library, which may contain codegen data; cgdata.ReadObjects finds it.
	CGDataObject
	GCovNotes  // .gcno, of GCC or clang
	GCovCounts // .gcda
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
	CtxProf Family = "ctxprof" // LLVM's contextual profiles
	CGData  Family = "cgdata"  // LLVM's codegen data
	GCov    Family = "gcov"    // GCC's notes and counts, for coverage and for PGO
)

// A Description says what files of a format are.
type Description struct {
	Name   string // for messages, "MIP map"
	Family Family
	Word   string // stands for the format in JSON, within its family: "raw", "indexed"
	// suffixes of such files, the most usual first
	suffixes []string
	// IsText: files of the format are text, which is several times larger than the other forms.
	IsText bool
	// Read and Written are the versions that are read and written, in words: "1 to 13", or "all" for a format without
	// version numbers. Written is "" for a format that is never written.
	Read, Written string
}

var formats = [...]Description{
	IRPGORaw:     {"IRPGO raw profile", IRPGO, "raw", []string{".profraw"}, false, span(1, irpgo.RawVersionMax), ""},
	IRPGOIndexed: {"IRPGO indexed profile", IRPGO, "indexed", []string{".profdata"}, false, span(1, irpgo.IndexedVersionMax) + heaps, span(irpgo.IndexedVersionMinWritten, irpgo.IndexedVersionMax) + heaps},
	IRPGOText:    {"IRPGO text profile", IRPGO, "text", []string{".proftext"}, true, "all", "all"},
	IRPGOPartial: {"IRPGO partial sum", IRPGO, "partial", []string{".profpart"}, false, "1", "1"},
	MemProfRaw:   {"MemProf raw profile", MemProf, "raw", []string{".memprofraw"}, false, span(1, memprof.RawVersionMax), ""},
	MemProfYAML:  {"MemProf profile in YAML", MemProf, "yaml", []string{".memprof.yaml", ".memprof.yml"}, true, "all", "all"},
	MIPRaw:       {"MIP raw profile", MIP, "mipraw", []string{".mipraw"}, false, upToMIP, ""},
	MIPRet:       {"MIP return address profile", MIP, "mipret", []string{".mipret"}, false, upToMIP, ""},
	MIPMap:       {"MIP map", MIP, "mipmap", []string{".mipmap"}, false, upToMIP, ""},
	MIPProfile:   {"MIP profile", MIP, "mip", []string{".mip"}, false, upToMIP, "8"},
	MIPYAML:      {"MIP profile in YAML", MIP, "yaml", []string{".mip.yaml", ".mip.yml"}, true, "all", "all"},
	Binary:       {"ELF or Mach-O binary", MIP, "program", nil, false, upToMIP, ""},
	IprofProfile: {"iprof profile", Iprof, "iprof", []string{".iprof"}, true, "0 and 1", "0.4 to 1.1"},

	SampleText:     {"sample profile as text", Sample, "text", nil, true, "all", "all"},
	SampleBinary:   {"binary sample profile", Sample, "binary", nil, false, "103 to 105", "103"},
	SampleExtended: {"extensible binary sample profile", Sample, "extensible_binary", []string{".afdo"}, false, "103 to 105", "103"},
	SampleCompact:  {"compact binary sample profile", Sample, "compact_binary", nil, false, "103", ""},
	SampleGCov:     {"sample profile for GCC", Sample, "gcov", nil, false, "1 to 3, *704", "1, 2, *704"},
	// A script is text, but is read as it comes, in little memory.
	PerfData:   {"recording of perf", Sample, "perf_data", []string{".perf.data", ".perfdata"}, false, "2", ""},
	PerfScript: {"text of perf script", Sample, "perf_script", []string{".perfscript"}, false, "all", ""},

	SampleSums: {"unsymbolized sample profile", Sample, "unsymbolized", nil, true, "all", ""},

	CtxProfBinary: {"contextual profile", CtxProf, "binary", []string{".ctxprof", ".ctxprofdata"}, false, "4", "4"},
	CtxProfYAML:   {"contextual profile in YAML", CtxProf, "yaml", []string{".ctxprof.yaml", ".ctxprof.yml"}, true, "all", "all"},

	CGDataIndexed: {"codegen data", CGData, "indexed", []string{".cgdata"}, false, span(1, 4), "4"},
	CGDataText:    {"codegen data as text", CGData, "text", nil, true, "all", "all"},
	CGDataObject:  {"object file or static library", CGData, "object", nil, false, "all", ""},

	GCovNotes:  {"GCC notes file", GCov, "gcno", []string{".gcno"}, false, "GCC 3.4 to 16, clang", ""},
	GCovCounts: {"GCC counts file", GCov, "gcda", []string{".gcda"}, false, "GCC 3.4 to 16, clang", "GCC 9 to 16, clang 20 to 22"},
}

// heaps is what the versions of indexed profiles add about the heap profiles in them; upToMIP the
// versions of all MIP files that are read.
var (
	heaps   = ", heap profiles in them " + span(0, memprof.SectionVersionMax)
	upToMIP = "up to 8"
)

func span(first, last int) string { return fmt.Sprintf("%d to %d", first, last) }

// A familyRow says how files of a family are detected and viewed.
type familyRow struct {
	family Family
	detect func(data []byte) (Format, bool)
	view   func(name string, data []byte, f Format, opt ViewOptions) (profile.View, error)
}

// families lists the families in the order in which Detect asks them. IRPGO is last, because any
// line may be the name with which its text profiles begin.
var families []familyRow

// The rows are set here because views refer to Detect, which refers to the rows.
func init() {
	families = []familyRow{
		{MIP, byFormat(mip.Detect, map[mip.Format]Format{
			mip.FormatRaw: MIPRaw, mip.FormatRet: MIPRet, mip.FormatMap: MIPMap, mip.FormatProfile: MIPProfile, mip.FormatYAML: MIPYAML,
		}), viewMIP},
		{Iprof, func(data []byte) (Format, bool) { return IprofProfile, iprof.Detect(data) }, viewIprof},
		{MemProf, detectMemProf, viewMemProf},
		{CtxProf, detectCtxProf, viewCtxProf},
		{CGData, detectCGData, viewCGData},
		{GCov, detectGCov, viewGCov}, // before Sample: AutoFDO's files for GCC begin alike, and this package tells them apart
		{Sample, detectSample, viewSample},
		{IRPGO, byFormat(irpgo.Detect, map[irpgo.Format]Format{
			irpgo.FormatRaw: IRPGORaw, irpgo.FormatIndexed: IRPGOIndexed, irpgo.FormatText: IRPGOText, irpgo.FormatPartial: IRPGOPartial,
		}), viewIRPGO},
	}
}

// byFormat returns a function that detects the formats of a package, under the names that they have here.
func byFormat[F comparable](detect func(data []byte) (F, bool), names map[F]Format) func(data []byte) (Format, bool) {
	return func(data []byte) (Format, bool) {
		f, ok := detect(data)
		return names[f], ok && names[f] != 0
	}
}

var (
	detectRecording = byFormat(perfdata.Detect, map[perfdata.Format]Format{
		perfdata.FormatFile: PerfData, perfdata.FormatPipe: PerfData, perfdata.FormatScript: PerfScript,
	})
	detectSampleProfile = byFormat(sampleprof.Detect, map[sampleprof.Format]Format{
		sampleprof.FormatText: SampleText, sampleprof.FormatBinary: SampleBinary, sampleprof.FormatExtended: SampleExtended,
		sampleprof.FormatCompact: SampleCompact, sampleprof.FormatGCov: SampleGCov,
	})
)

func detectSample(data []byte) (Format, bool) {
	if profgen.IsUnsymbolized(data) {
		return SampleSums, true
	}
	if f, ok := detectRecording(data); ok {
		return f, true
	}
	return detectSampleProfile(data)
}

func detectMemProf(data []byte) (Format, bool) {
	if memprof.IsRaw(data) {
		return MemProfRaw, true
	}
	return MemProfYAML, memprof.IsYAML(data)
}

func detectCtxProf(data []byte) (Format, bool) {
	yaml, ok := ctxprof.Detect(data)
	if yaml {
		return CtxProfYAML, ok
	}
	return CtxProfBinary, ok
}

func detectCGData(data []byte) (Format, bool) {
	if object.IsArchive(data) && !bytes.HasPrefix(data, []byte(debianPackage)) {
		return CGDataObject, true
	}
	text, ok := cgdata.Detect(data)
	if text {
		return CGDataText, ok
	}
	return CGDataIndexed, ok
}

func detectGCov(data []byte) (Format, bool) {
	notes, ok := gcov.Detect(data)
	if notes {
		return GCovNotes, ok
	}
	return GCovCounts, ok
}

// IsProgram reports whether files of the format are programs, or parts of programs, in which data of some families may be.
func (f Format) IsProgram() bool { return f == Binary || f == CGDataObject }

// IsRecording reports whether files of the format are recordings of perf, from which sample profiles are made.
func (f Format) IsRecording() bool { return f == PerfData || f == PerfScript }

// All returns all formats, grouped by family.
func All() []Format {
	all := make([]Format, 0, len(formats)-1)
	for f := IRPGORaw; int(f) < len(formats); f++ {
		all = append(all, f)
	}
	return all
}

// Describe returns what is known about the format; nothing about an unknown one.
func (f Format) Describe() Description {
	if f < IRPGORaw || int(f) >= len(formats) {
		return Description{Name: "unknown format"}
	}
	return formats[f]
}

// String returns the name of the format for messages.
func (f Format) String() string { return f.Describe().Name }

// Family returns the family of the format; "" for an unknown one.
func (f Format) Family() Family { return f.Describe().Family }

// Detect returns the format of the contents of a file, or of the beginning of one. It
// looks at the first bytes only.
//
// A text is an IRPGO profile if LLVM may be able to read it. LLVM itself, and so the drop-in commands,
// take any text for one until they read it. [WrongFormat] says what other files are.
func Detect(data []byte) (Format, bool) {
	switch {
	case object.IsObjectFile(data):
		return CGDataObject, true
	case object.IsImage(data):
		return Binary, true
	}
	for i := range families {
		if f, ok := families[i].detect(data); ok {
			return f, true
		}
	}
	return 0, false
}

// BySuffix returns the usual format of files with the suffix of name, in upper or lower case.
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

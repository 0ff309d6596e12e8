package irpgo

import (
	"bytes"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/symbolize"
)

// Sections of data records and of names: of programs that write them into their profiles, and of programs for binary
// correlation. Names of COFF sections end before a "$".
var (
	dataSections  = []string{"__llvm_prf_data", ".lprfd", covDataSection, ".lcovd"}
	namesSections = []string{"__llvm_prf_names", ".lprfn", covNamesSection, ".lcovn"}
)

// versionVariable holds the version word of the raw profiles of a program (INSTR_PROF_RAW_VERSION_VAR). The IR pass
// defines it in every object. Objects that the front end instrumented take it from the runtime.
const versionVariable = "__llvm_profile_raw_version"

// correlateData reads the data records of an instrumented program, library or object file. The linker may have left
// out records of functions that nothing refers to.
func correlateData(f *symbolize.File) (*Correlation, error) {
	b := &correlationBuilder{f: f, c: &Correlation{BinaryID: f.BuildID}}
	var records []rawSection
	for _, s := range f.Sections {
		name, _, _ := strings.Cut(s.Name, "$")
		isNames := slices.Contains(namesSections, name)
		if !isNames && !slices.Contains(dataSections, name) {
			continue
		}
		data, err := s.Data()
		switch {
		case err != nil:
		case isNames:
			// A linked COFF image has a zero byte before the names.
			names := bytes.TrimLeft(data, "\x00")
			err = decodeNames(s.Name, s.Offset+int64(len(data)-len(names)), names, func(name string) { b.c.names = append(b.c.names, name) })
		default:
			// In an object for 32 bits the last record has no padding.
			if pad := cursor.PadTo(uint64(len(data)), 8); pad > 0 {
				data = append(data[:len(data):len(data)], make([]byte, pad)...)
			}
			records = append(records, rawSection{data, s.Offset})
		}
		if err != nil {
			return nil, flaw.InFile(err, f.Name)
		}
	}
	if len(records) == 0 {
		return nil, flaw.File(f.Name).Field("data records").Got("none").Want("an instrumented program, library or object file").Empty()
	}
	word, err := versionOf(f)
	if err != nil {
		return nil, err
	}
	b.c.Variant, b.c.HasVariant = Variant(word)&variantBits, word != 0
	p := b.rawProfile()
	if !p.chooseLayout(records, b.c.names) {
		return nil, flaw.At(dataSections[0], records[0].off).InFile(f.Name).Field("data records").Got("of an unknown layout").
			Wantf("records of raw profiles, versions 3 to %d, of functions with names", RawVersionMax).Unsupported()
	}
	seen := make(map[CorrelatedFunction]bool)
	for _, p.records = range records {
		for i := range p.numRecords() {
			if r := p.record(i); !isPadding(r) {
				fn := CorrelatedFunction{NameRef: p.u64(r, p.layout.nameRef), Hash: p.u64(r, p.layout.hash), Counters: p.u32(r, p.layout.numCounters)}
				if !seen[fn] {
					seen[fn] = true
					b.c.Functions = append(b.c.Functions, fn)
				}
			}
		}
	}
	b.nameFunctions()
	return b.finish(nil)
}

// versionOf returns the version word in a program; 0 if the program has none, or its symbols are stripped.
func versionOf(f *symbolize.File) (uint64, error) {
	word := func(s *symbolize.Section, at uint64) (uint64, error) {
		data, err := s.Data()
		if err != nil || at > uint64(len(data)) || uint64(len(data))-at < 8 {
			return 0, err
		}
		return u64(data[at:], f.BigEndian), nil
	}
	// In an object file the variable has a section of its own, and addresses begin at 0 in each section.
	for _, s := range f.Sections {
		if strings.HasSuffix(s.Name, "."+versionVariable) {
			return word(s, 0)
		}
	}
	symbols, err := f.Symbols()
	if err != nil {
		return 0, err
	}
	for symbol := range symbols {
		if symbol.Name != versionVariable {
			continue
		}
		for _, s := range f.Sections {
			if s.Addr > 0 && symbol.Addr >= s.Addr && symbol.Addr-s.Addr < s.Size {
				return word(s, symbol.Addr-s.Addr)
			}
		}
	}
	return 0, nil
}

// chooseLayout sets the layout under which all records in sections have a name and counters. It reports false if there is
// none. A stripped program does not say its version.
func (p *rawProfile) chooseLayout(sections []rawSection, names []string) bool {
	named := make(map[uint64]bool, len(names))
	for _, name := range names {
		named[NameRef(name)] = true
	}
	for _, v := range []struct{ version, kinds int }{{rawVersionLLVM22, NumValueKinds}, {9, 2}, {8, 2}, {3, 1}, {RawVersionMax, NumValueKinds}} {
		p.layout = newRecordLayout(uint32(v.version), p.ptr, v.kinds)
		if !slices.ContainsFunc(sections, func(s rawSection) bool { return !p.fitsLayout(s, named) }) {
			return true
		}
	}
	return false
}

func (p *rawProfile) fitsLayout(s rawSection, named map[uint64]bool) bool {
	if len(s.data)%p.layout.size != 0 {
		return false
	}
	p.records = s
	for i := range p.numRecords() {
		r := p.record(i)
		if !isPadding(r) && (!named[p.u64(r, p.layout.nameRef)] || p.u32(r, p.layout.numCounters) == 0) {
			return false
		}
	}
	return true
}

// isPadding reports whether a record is empty. COFF images have one before the first function and one behind the last.
func isPadding(record []byte) bool { return len(bytes.Trim(record, "\x00")) == 0 }

package irpgo

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/program/dwarf"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// A Correlation is what raw profiles of a program built with -profile-correlate leave out: the data records and the
// names (LLVM's InstrProfCorrelator). The profile then is a header, counters and bitmap. Value profiles and bitmaps
// do not survive: neither kind of correlation says whose they are.
//
// A Correlation does not change any more and may serve several readers at once.
type Correlation struct {
	// Functions are in the order in which they were described.
	Functions []CorrelatedFunction
	// CountersSize is the size of the program's counter section in bytes.
	CountersSize uint64
	// BinaryID is the build id of the program; nil if it has none.
	BinaryID []byte
	// Variant is the variant of the program's raw profiles, if HasVariant is set. Only From "data" sets it.
	Variant    Variant
	HasVariant bool

	names []string // of all functions that the program knows
}

// A CorrelatedFunction is the data record of a function.
type CorrelatedFunction struct {
	Name     string // PGO name; "" if the program does not say
	NameRef  uint64
	Hash     uint64
	Counter  uint64 // offset of the first counter in its section, in bytes
	Counters uint32 // number of them
	Address  uint64 // of the function; 0 if unknown

	// Of debug information only: where the function is declared.
	LinkageName string
	File        string // as the compiler was told
	Line        uint64
}

// Sections of programs, without the segment that Mach-O puts before them.
const (
	countersSection = "__llvm_prf_cnts"
	covDataSection  = "__llvm_covdata"
	covNamesSection = "__llvm_covnames"
)

// CorrelateOptions adjust [Correlate].
type CorrelateOptions struct {
	// From is "debug-info" or "binary", the kinds of -profile-correlate. "" means binary if the
	// program has the sections of a program that was built for that, else debug-info.
	//
	// "data" means the data records themselves, in any instrumented program, library or object file: names, hashes and
	// numbers of counters, each once, without their places. A program without records is an error of class
	// [profile.ErrEmpty].
	From string
	// Warn receives functions that are described incompletely and left out; nil drops them.
	Warn func(profile.Warning)
}

// Correlate reads what a program built with -profile-correlate knows of its functions.
func Correlate(f *symbolize.File, opt CorrelateOptions) (*Correlation, error) {
	if opt.From == "data" {
		return correlateData(f)
	}
	if opt.From == "binary" || opt.From == "" && f.Section(covDataSection) != nil {
		return correlateBinary(f, opt.Warn)
	}
	return correlateDebugInfo(f, opt.Warn)
}

// correlateDebugInfo reads the debug information of a program built with -profile-correlate=debug-info.
func correlateDebugInfo(f *symbolize.File, warn func(profile.Warning)) (*Correlation, error) {
	b, err := newCorrelationBuilder(f, warn)
	if err != nil {
		return nil, err
	}
	err = dwarf.ProbesOf(f, b.probe)
	return b.finish(err)
}

// correlateBinary reads the sections that the linker leaves in a program built
// with -profile-correlate=binary, which strip removes.
func correlateBinary(f *symbolize.File, warn func(profile.Warning)) (*Correlation, error) {
	b, err := newCorrelationBuilder(f, warn)
	if err != nil {
		return nil, err
	}
	if f.MachO {
		return nil, flaw.File(f.Name).Field("correlation data").Got("a Mach-O file").Want("an ELF file").
			Because(unable("unsupported binary format (only ELF and COFF are supported)"))
	}
	data, err := b.section(covDataSection)
	if err != nil {
		return nil, err
	}
	names, err := b.section(covNamesSection)
	if err != nil {
		return nil, err
	}
	blob, err := names.Data()
	if err == nil {
		err = decodeNames(covNamesSection, names.Offset, blob, func(name string) { b.c.names = append(b.c.names, name) })
	}
	if err != nil {
		return nil, flaw.InFile(err, f.Name)
	}
	records, err := data.Data()
	if err != nil {
		return nil, err
	}
	b.records(records, data.Offset)
	b.nameFunctions()
	return b.finish(nil)
}

// A correlationBuilder collects functions.
type correlationBuilder struct {
	f          *symbolize.File
	warn       func(profile.Warning)
	c          *Correlation
	start, end uint64              // addresses of the counters
	seen       map[uint64]struct{} // counter offsets
}

func newCorrelationBuilder(f *symbolize.File, warn func(profile.Warning)) (*correlationBuilder, error) {
	b := &correlationBuilder{f: f, warn: warn, c: &Correlation{BinaryID: f.BuildID}, seen: make(map[uint64]struct{})}
	s, err := b.section(countersSection)
	if err != nil {
		return nil, err
	}
	b.start, b.end = s.Addr, s.Addr+s.Size
	b.c.CountersSize = s.Size
	return b, nil
}

func (b *correlationBuilder) section(name string) (*symbolize.Section, error) {
	if s := b.f.Section(name); s != nil {
		return s, nil
	}
	return nil, flaw.In(name).InFile(b.f.Name).Field("correlation data").Got("not there").
		Want("a program built for this kind of correlation, not stripped").
		Because(unable("could not find section (" + name + ")"))
}

// unable is the cause of errors about programs; words are LLVM's.
func unable(words string) *llvmerr.Error {
	return &llvmerr.Error{Code: llvmerr.UnableToCorrelate, Detail: words}
}

// skip warns of a function that is described incompletely.
func (b *correlationBuilder) skip(function string, err error) {
	if b.warn != nil {
		b.warn(profile.Warning{File: b.f.Name, Function: function, Err: flaw.InFile(err, b.f.Name)})
	}
}

// probe adds a function of the debug information.
func (b *correlationBuilder) probe(p *dwarf.Probe) {
	const needed = dwarf.HasFunction | dwarf.HasHash | dwarf.HasCounter | dwarf.HasCounters
	at := flaw.At(".debug_info", int64(p.Offset)) // the offset is within the section
	switch {
	case p.Has&(dwarf.HasEntry|dwarf.HasCounter) == 0:
		return // the linker dropped it
	case p.Has&needed != needed:
		or := func(has dwarf.ProbeFields, v any) any {
			if p.Has&has == 0 {
				return "None"
			}
			return v
		}
		b.skip(p.Function, at.Field("description of the counters").Got("incomplete").Want("name, hash, address and number").
			Because(unable(fmt.Sprintf("Incomplete DIE for function %v: CFGHash=%v  CounterPtr=%v  NumCounters=%v",
				or(dwarf.HasFunction, p.Function), or(dwarf.HasHash, p.Hash),
				or(dwarf.HasCounter, p.Counter), or(dwarf.HasCounters, p.Counters)))))
		return
	case p.Counter < b.start || p.Counter >= b.end:
		b.skip(p.Function, at.Field("address of the counters").Gotf("%#x", p.Counter).
			Wantf("from %#x to before %#x", b.start, b.end).
			Because(unable(fmt.Sprintf("CounterPtr out of range for function %s: Actual=%#x Expected=[%#x, %#x)",
				p.Function, p.Counter, b.start, b.end))))
		return
	case p.Has&dwarf.HasEntry == 0:
		b.skip(p.Function, at.Field("address of the function").Got("none").Want("one").
			Because(unable("Could not find address of function "+p.Function)))
	}
	if b.add(CorrelatedFunction{
		Name: p.Function, NameRef: NameRef(p.Function), Hash: p.Hash, Counter: p.Counter - b.start, Counters: uint32(p.Counters), Address: p.Entry,
		LinkageName: p.LinkageName, File: p.File, Line: p.Line,
	}) {
		b.c.names = append(b.c.names, p.Function)
	}
}

// records adds the data records of a section. They have the layout of raw profiles of the same compiler, the same
// in all releases with binary correlation, and hold the addresses of their counters.
func (b *correlationBuilder) records(data []byte, off int64) {
	p := b.rawProfile()
	p.layout = newRecordLayout(rawVersionLLVM22, p.ptr, NumValueKinds)
	p.records = rawSection{data, off}
	for i := range p.numRecords() {
		r := p.record(i)
		counter := p.addr(r, p.layout.counterPtr)
		if counter < b.start || counter >= b.end {
			at := i * p.layout.size
			b.skip("", flaw.At(covDataSection, off+int64(at)).InRecord(i).Field("address of the counters").Gotf("%#x", counter).
				Wantf("from %#x to before %#x", b.start, b.end).
				Because(unable(fmt.Sprintf("CounterPtr out of range for function: Actual=%#x Expected=[%#x, %#x) at data offset=%#x",
					counter, b.start, b.end, at))))
			continue
		}
		b.add(CorrelatedFunction{
			NameRef: p.u64(r, p.layout.nameRef), Hash: p.u64(r, p.layout.hash), Counter: counter - b.start,
			Counters: p.u32(r, p.layout.numCounters), Address: p.addr(r, p.layout.funcPtr),
		})
	}
}

// rawProfile returns a profile of the program's byte order and pointer size, without sections.
func (b *correlationBuilder) rawProfile() *rawProfile {
	p := &rawProfile{ptr: b.f.PointerSize, order: binary.LittleEndian, bigEndian: b.f.BigEndian}
	if b.f.BigEndian {
		p.order = binary.BigEndian
	}
	return p
}

// add adds a function unless another has its counters: copies of a function in
// several compilation units share them.
func (b *correlationBuilder) add(f CorrelatedFunction) bool {
	if _, ok := b.seen[f.Counter]; ok {
		return false
	}
	b.seen[f.Counter] = struct{}{}
	b.c.Functions = append(b.c.Functions, f)
	return true
}

// nameFunctions names the functions that data records know by reference.
func (b *correlationBuilder) nameFunctions() {
	names := make(map[uint64]string, len(b.c.names))
	for _, name := range b.c.names {
		names[NameRef(name)] = name
	}
	for i := range b.c.Functions {
		f := &b.c.Functions[i]
		f.Name = names[f.NameRef]
	}
}

// finish returns the result, or the error that kept it from being one.
func (b *correlationBuilder) finish(err error) (*Correlation, error) {
	if len(b.c.Functions) == 0 {
		if err == nil {
			err = flaw.File(b.f.Name).Field("correlation data").Got("none").Want("a program built for correlation").
				Because(unable("could not find any profile data metadata in correlated file"))
		}
		return nil, err
	}
	if err != nil && b.warn != nil {
		b.warn(profile.Warning{File: b.f.Name, Err: err})
	}
	return b.c, nil
}

// appendRecords appends the data records as the layout of a raw profile has
// them, with offsets in place of the addresses of counters.
func (c *Correlation) appendRecords(dst []byte, p *rawProfile) []byte {
	l := &p.layout
	putAddr := func(b []byte, v uint64) {
		if p.ptr == 4 {
			p.order.PutUint32(b, uint32(v))
		} else {
			p.order.PutUint64(b, v)
		}
	}
	dst = slices.Grow(dst, len(c.Functions)*l.size)
	for i := range c.Functions {
		f := &c.Functions[i]
		start := len(dst)
		dst = append(dst, make([]byte, l.size)...)
		b := dst[start:]
		p.order.PutUint64(b[l.nameRef:], f.NameRef)
		p.order.PutUint64(b[l.hash:], f.Hash)
		putAddr(b[l.counterPtr:], f.Counter)
		if l.funcPtr >= 0 {
			putAddr(b[l.funcPtr:], f.Address)
		}
		p.order.PutUint32(b[l.numCounters:], f.Counters)
	}
	return dst
}

package sampleprof

import (
	"maps"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/discriminator"
	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/internal/program/dwarf"
	"github.com/profuse-pgo/profuse/internal/program/pseudoprobe"
	"github.com/profuse-pgo/profuse/symbolize"
)

// programFacts are the facts about the functions of a program that a profile is compared with.
type programFacts struct {
	functions map[uint64]*programFunction // by GUID of the canonical name
	probes    bool                        // the program has probe descriptions
	calls     bool                        // ... and probes of calls; clang -g leaves them on x86
	lines     bool                        // the debug information has the lines of functions
}

// A programFunction is a function of a program. It may exist only as inlined copies.
type programFunction struct {
	name      string // canonical
	id        uint64
	hashes    []uint64                // of the control flow; several if sources differ
	blocks    map[uint32]struct{}     // numbers of block probes
	locations map[Location]struct{}   // lines and discriminators with code
	lines     map[Location]struct{}   // the same without discriminators
	callees   map[Location]calleeList // calls
	startLine bool                    // the first line is known
}

// A calleeList holds the GUIDs of the functions called at one location, each once.
type calleeList []uint64

// unknownCallee stands for the callee of a call through a pointer (UnknownIndirectCallee).
const unknownCallee = 0

// maxCallees bounds the callees kept for one location. Lines rarely have more calls.
const maxCallees = 16

func (l *calleeList) add(callee uint64) {
	if len(*l) < maxCallees && !slices.Contains(*l, callee) {
		*l = append(*l, callee)
	}
}

// readProgram reads the facts of a program, returned together with an error if the debug information is damaged.
func readProgram(f *symbolize.File) (*programFacts, error) {
	r := programReader{
		programFacts: &programFacts{functions: make(map[uint64]*programFunction)}, file: f,
		byName: make(map[string]*programFunction), addrs: make(map[uint64]uint64),
	}
	if err := r.readSymbols(); err != nil {
		return nil, err
	}
	for _, read := range []func() error{r.readDescs, r.readProbes} {
		if err := read(); err != nil {
			return nil, flaw.InFile(err, f.Name)
		}
	}
	err := r.readLines()
	r.alias()
	return r.programFacts, err
}

type programReader struct {
	*programFacts
	file   *symbolize.File
	code   code
	byName map[string]*programFunction // by name, not canonical
	addrs  map[uint64]uint64           // address of a function by GUID of its symbol
}

// function returns the function with a name. It adds one if there is none.
func (r *programReader) function(name string) *programFunction {
	if f := r.byName[name]; f != nil {
		return f
	}
	canonical := guid.Canonical(name)
	f := r.ofID(guid.Of(canonical))
	f.name = canonical
	r.byName[name] = f
	return f
}

// ofID returns the function with a GUID. It adds one without a name if there is none.
func (r *programReader) ofID(id uint64) *programFunction {
	f := r.functions[id]
	if f == nil {
		f = &programFunction{id: id}
		r.functions[id] = f
	}
	return f
}

func (r *programReader) readSymbols() error {
	if err := r.code.read(r.file); err != nil {
		return err
	}
	symbols, err := r.file.Symbols()
	if err != nil {
		return err
	}
	for s := range symbols {
		if s.Name == "" || !r.code.has(s.Addr) {
			continue
		}
		f := r.function(s.Name)
		r.code.addStart(s.Addr, f.id)
		// Probes use the GUIDs of symbols, profiles the GUIDs of canonical names.
		r.addrs[guid.Of(s.Name)] = s.Addr
		if _, ok := r.addrs[f.id]; !ok {
			r.addrs[f.id] = s.Addr
		}
	}
	r.code.sort()
	return nil
}

// section returns the bytes of a section; nil if the program has no such section.
func (r *programReader) section(name string) ([]byte, error) {
	s := r.file.Section(name)
	if s == nil {
		return nil, nil
	}
	return s.Data()
}

func (r *programReader) readDescs() error {
	data, err := r.section(pseudoprobe.DescSection)
	if err != nil {
		return err
	}
	for d, err := range pseudoprobe.Descs(data) {
		if err != nil {
			return err
		}
		f := r.ofID(d.GUID)
		f.name = d.Name
		r.probes = true
		if !slices.Contains(f.hashes, d.Hash) && len(f.hashes) < maxCallees {
			f.hashes = append(f.hashes, d.Hash)
		}
	}
	return nil
}

func (r *programReader) readProbes() error {
	data, err := r.section(pseudoprobe.ProbeSection)
	if err != nil {
		return err
	}
	for e, err := range pseudoprobe.Entries(data, func(id uint64) uint64 { return r.addrs[id] }) {
		if err != nil {
			return err
		}
		f := r.functions[e.Function]
		if f == nil || len(f.hashes) == 0 || e.Index == 0 {
			continue // the function has no description
		}
		if e.Kind == pseudoprobe.Block {
			if f.blocks == nil {
				f.blocks = make(map[uint32]struct{})
			}
			f.blocks[e.Index] = struct{}{}
			continue
		}
		at := Location{Line: e.Index}
		switch e.Kind {
		case pseudoprobe.Inlined:
			f.addCall(at, e.Callee)
		case pseudoprobe.IndirectCall:
			f.addCall(at, unknownCallee)
			r.calls = true
		case pseudoprobe.DirectCall:
			r.calls = true
			for _, callee := range r.code.calleesAt(e.Addr) {
				f.addCall(at, callee)
			}
		}
	}
	return nil
}

func (f *programFunction) addCall(at Location, callee uint64) {
	if f.callees == nil {
		f.callees = make(map[Location]calleeList)
	}
	l := f.callees[at]
	l.add(callee)
	f.callees[at] = l
}

// linesAtATime bounds the addresses looked up in one batch, and so the memory.
const linesAtATime = 1 << 20

// readLines reads the lines of functions and the calls on them, unless the program, and so its profile, has probes.
func (r *programReader) readLines() error {
	if r.probes {
		return nil
	}
	var addrs []uint64
	err := dwarf.RowsOf(r.file, func(rows []uint64) bool {
		addrs = append(addrs, rows...)
		return true
	})
	if len(addrs) == 0 {
		return err
	}
	callees := make(map[uint64][]uint64) // by the address of the call
	for at, target := range r.code.calls() {
		callees[at] = r.code.starts[target]
	}
	// Most calls are not at the beginning of a row of the line table.
	addrs = append(addrs, slices.Collect(maps.Keys(callees))...)
	slices.Sort(addrs)
	addrs = slices.Compact(addrs)
	for chunk := range slices.Chunk(addrs, linesAtATime) {
		batchErr := r.file.Batch(chunk, func(i int, frames []symbolize.Frame) {
			r.addFrames(frames, callees[chunk[i]])
		})
		if err == nil {
			err = batchErr
		}
	}
	return err
}

// addFrames records lines and inlined calls of one address, and the callees of the instruction there.
func (r *programReader) addFrames(frames []symbolize.Frame, callees []uint64) {
	for i := range frames {
		frame := &frames[i]
		if frame.Function == "" {
			return
		}
		f := r.function(frame.Function)
		if frame.StartLine == 0 {
			continue
		}
		f.startLine, r.lines = true, true
		// Code without a line has line 0. LLVM computes an offset from it as well.
		at := Location{(frame.Line - frame.StartLine) & 0xffff, discriminator.Base(frame.Discriminator)}
		if f.locations == nil {
			f.locations, f.lines = make(map[Location]struct{}), make(map[Location]struct{})
		}
		f.locations[at], f.lines[Location{Line: at.Line}] = struct{}{}, struct{}{}
		if i > 0 {
			f.addCall(at, r.function(frames[i-1].Function).id)
			continue
		}
		for _, callee := range callees {
			f.addCall(at, callee)
		}
	}
}

// alias adds functions with a uniqueSuffix without it, for profiles of programs compiled without unique names.
func (r *programReader) alias() {
	byName := slices.SortedFunc(maps.Values(r.functions), func(a, b *programFunction) int { return strings.Compare(a.name, b.name) })
	for _, f := range byName {
		if name, _, unique := strings.Cut(f.name, uniqueSuffix); unique {
			if id := guid.Of(name); r.functions[id] == nil {
				r.functions[id] = f
			}
		}
	}
}

package memprof

import (
	"iter"
	"slices"

	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/symbolize"
)

const (
	// callBytes is the distance between looked-up addresses, the least size of a call on the targets of MemProf.
	callBytes = 4
	// maxNamedAddresses bounds how many addresses of a program are looked up.
	maxNamedAddresses = 16 << 20
	namedBatch        = 1 << 16
)

// NameFunctions adds to a profile the names and sources of the functions that it finds in the programs
// given by name. Indexed profiles and YAML identify functions by hash only.
//
// It searches the code of the functions in the symbol table, and the functions inlined there; without a
// symbol table it searches all code. It ignores missing or damaged debug information.
func (b *Binaries) NameFunctions(p *Profile) error {
	unknown := make(map[uint64]bool)
	for i := range p.Records {
		unknown[p.Records[i].GUID] = true
	}
	for _, f := range p.Stacks.Frames {
		unknown[f.GUID] = true
	}
	for id := range p.Names {
		delete(unknown, id)
	}
	if p.Names == nil {
		p.Names = make(map[uint64]string)
	}
	if p.Sources == nil {
		p.Sources = make(map[uint64]SourceLocation)
	}
	b.mu.Lock()
	files := slices.Clone(b.files)
	b.mu.Unlock()
	for _, prog := range files {
		if err := prog.nameFunctions(p, unknown); err != nil {
			return err
		}
	}
	return nil
}

// nameFunctions adds names to a profile and removes the named functions from unknown.
func (p *program) nameFunctions(to *Profile, unknown map[uint64]bool) error {
	ranges, err := p.codeOf(to, unknown)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	left := maxNamedAddresses
	batch := make([]uint64, 0, namedBatch)
	flush := func() {
		// Functions in units that cannot be read stay without a name.
		_ = p.file.Batch(batch, func(_ int, frames []symbolize.Frame) {
			for k := range frames {
				f := &frames[k]
				if f.Function == "" {
					continue
				}
				guid := p.guid(f.Function)
				p.noteStart(guid, f)
				if unknown[guid] {
					delete(unknown, guid)
					to.Names[guid] = p.names[guid]
				}
				if at, ok := p.starts[guid]; ok && to.Names[guid] != "" {
					to.Sources[guid] = at
				}
			}
		})
		batch = batch[:0]
	}
	for a := range ranges {
		if left == 0 || len(unknown) == 0 && len(to.Sources) >= len(to.Names) {
			break
		}
		left--
		if batch = append(batch, a); len(batch) == namedBatch {
			flush()
		}
	}
	flush()
	return nil
}

// codeOf returns the addresses to look up, and names the functions of the symbol table.
func (p *program) codeOf(to *Profile, unknown map[uint64]bool) (iter.Seq[uint64], error) {
	symbols, err := p.file.Symbols()
	if err != nil {
		return nil, err
	}
	type piece struct{ start, size uint64 }
	var pieces []piece
	any := false
	for s := range symbols {
		any = true
		if id := guidOf(s.Name); unknown[id] {
			to.Names[id] = guid.Canonical(s.Name)
			pieces = append(pieces, piece{s.Addr, max(s.Size, 1)})
			delete(unknown, id)
		}
	}
	if !any {
		for _, s := range p.executable() {
			pieces = append(pieces, piece{s.Addr, s.MemSize})
		}
	}
	return func(yield func(uint64) bool) {
		for _, s := range pieces {
			for at := uint64(0); at < s.size; at += callBytes {
				if !yield(s.start + at) {
					return
				}
			}
		}
	}, nil
}

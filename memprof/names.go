package memprof

import (
	"iter"
	"slices"

	"github.com/profuse-pgo/profuse/symbolize"
)

const (
	// callBytes is the distance of the addresses that are looked at: no call
	// and its return address are nearer to each other on the targets of MemProf.
	callBytes = 4
	// maxNamedAddresses bounds how many addresses are looked at in a program.
	maxNamedAddresses = 16 << 20
	namedBatch        = 1 << 16
)

// NameFunctions looks in the programs that were given by name for the functions
// of a profile, and adds names and sources of those that it finds to the
// profile: indexed profiles and YAML know functions by hash only.
//
// It looks at the code of the functions that the symbol table has and at what
// is inlined there; without symbol table at all code. Debug information that is
// missing or damaged is passed over.
func (b *Binaries) NameFunctions(p *Profile) error {
	unknown := make(map[uint64]bool)
	for i := range p.Records {
		unknown[p.Records[i].GUID] = true
	}
	for i := range p.Stacks.NumFrames() {
		unknown[p.Stacks.Frame(FrameIndex(i)).GUID] = true
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

// nameFunctions adds names to a profile and takes them out of unknown.
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
		// What cannot be read stays without a name.
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

// codeOf returns the addresses to look at. Symbols name functions also where
// there is no debug information.
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
		if guid := GUID(s.Name); unknown[guid] {
			to.Names[guid] = CanonicalName(s.Name)
			pieces = append(pieces, piece{s.Addr, max(s.Size, 1)})
			delete(unknown, guid)
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

package sampleprof

import (
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"maps"
	"slices"
)

// A laterFile says how to write a profile as LLVM after release 22 can. Nothing of it is in common with the reader
// and the writer of the package: no tool of these releases is installed, so the layout comes from their sources.
type laterFile struct {
	version   uint64
	heaps     bool     // names and offsets as compilers search them
	split     bool     // with heaps, two sections of functions
	composite bool     // blocks
	foreign   bool     // with composite, blocks of types that nobody knows
	symbols   []string // as GUIDs
}

var laterFiles = map[string]laterFile{
	"104":                    {version: 104},
	"heaps":                  {version: 103, heaps: true, symbols: []string{"a", "b", "c", "d"}},
	"heaps, split":           {version: 103, heaps: true, split: true},
	"105":                    {version: 105, composite: true, symbols: []string{"z"}},
	"105, heaps":             {version: 105, composite: true, heaps: true},
	"105, more blocks":       {version: 105, composite: true, foreign: true},
	"105, heaps, more, flat": {version: 105, composite: true, foreign: true, heaps: true, split: true},
}

// laterEncoder writes a laterFile.
type laterEncoder struct {
	laterFile
	p        *Profile
	index    map[string]uint64 // of names
	contexts map[string]uint64
	vtables  bool
}

func uleb(values ...uint64) (dst []byte) {
	for _, v := range values {
		dst = binary.AppendUvarint(dst, v)
	}
	return dst
}

func md5Of(name string) uint64 {
	sum := md5.Sum([]byte(name))
	return binary.LittleEndian.Uint64(sum[:])
}

// asHeap lays names out by their GUIDs: the middle of a sorted list first, as a complete tree.
func asHeap(names []string) []string {
	sorted := slices.SortedFunc(slices.Values(names), func(a, b string) int { return cmp.Compare(md5Of(a), md5Of(b)) })
	heap := make([]string, len(sorted))
	var fill func(node int)
	fill = func(node int) {
		if node <= len(heap) {
			fill(2 * node)
			heap[node-1], sorted = sorted[0], sorted[1:]
			fill(2*node + 1)
		}
	}
	fill(1)
	return heap
}

func (e *laterEncoder) build() []byte {
	type table struct {
		kind, flags uint64
		body        []byte
	}
	summary := e.p.Summarize()
	head := uleb(summary.Total, summary.MaxCount, summary.MaxHead, summary.NumCounts, summary.NumFunctions, uint64(len(summary.Cutoffs)))
	for _, c := range summary.Cutoffs {
		head = append(head, uleb(c.Share, c.Min, c.Values)...)
	}
	flags := uint64(0)
	if e.vtables {
		flags |= 0x20
	}
	if e.p.Kind.ContextSensitive {
		flags |= 2
	}
	names, nameFlags, spans := e.names()
	files := []table{{1, flags, head}, {2, nameFlags, names}}
	if e.p.Kind.ContextSensitive {
		files = append(files, table{6, 0, e.contextTable()})
	}
	profileKind, offsetKind := uint64(32), uint64(4)
	if e.composite {
		profileKind, offsetKind = 33, 7
	}
	for part := range 2 {
		flat := func(f *Function) bool { return len(f.Callsites) == 0 }
		var functions []*Function
		for _, f := range e.p.Functions {
			if !e.split && part == 0 || e.split && flat(f) == (part == 1) {
				functions = append(functions, f)
			}
		}
		if part == 1 && !e.split {
			continue
		}
		var profiles, offsets []byte
		at := make(map[uint64]uint64)
		for _, f := range functions {
			at[e.subject(f)] = uint64(len(profiles))
			offsets = append(offsets, uleb(e.subject(f), uint64(len(profiles)))...)
			profiles = append(profiles, e.function(f)...)
		}
		offsets = append(uleb(uint64(len(functions))), offsets...)
		offsetFlags := uint64(0)
		if e.heaps {
			offsetFlags, offsets = 2, nil
			first := part * spans[0]
			for i := range spans[part] {
				offset := uint64(1<<32 - 1)
				if o, ok := at[uint64(first+i)]; ok {
					offset = o
				}
				offsets = binary.LittleEndian.AppendUint32(offsets, uint32(offset))
			}
		}
		files = append(files, table{offsetKind, offsetFlags<<32 | uint64(part)<<1, offsets}, table{profileKind, uint64(part) << 1, profiles})
	}
	for i := range files[:2] {
		files[i].flags <<= 32
	}
	var symbols []byte
	for _, name := range asHeap(e.symbols) {
		symbols = binary.LittleEndian.AppendUint64(symbols, md5Of(name))
	}
	if symbols != nil {
		files = append(files, table{3, 1 << 32, symbols})
	}
	if e.p.Kind.ProbeBased {
		var metadata []byte
		for _, f := range e.p.Functions {
			metadata = append(metadata, e.metadata(f, e.subject(f))...)
		}
		files = append(files, table{5, 1 << 32, metadata})
	}
	out := []byte{0x84, 0xe4, 0xd0, 0xb1, 0xf4, 0xc9, 0x94, 0xa8, 0x53, byte(e.version), byte(len(files)), 0, 0, 0, 0, 0, 0, 0}
	offset := len(out) + 32*len(files)
	for _, f := range files {
		for _, v := range []uint64{f.kind, f.flags, uint64(offset), uint64(len(f.body))} {
			out = binary.LittleEndian.AppendUint64(out, v)
		}
		offset += len(f.body)
	}
	for _, f := range files {
		out = append(out, f.body...)
	}
	return out
}

// names returns the name table, its flags and how many names each heap has.
func (e *laterEncoder) names() (dst []byte, flags uint64, spans [3]int) {
	const nested, flat, other = 1, 2, 3
	place := make(map[string]int)
	use := func(n Name) { place[n.Text] = cmp.Or(place[n.Text], other) }
	for _, f := range e.p.Functions {
		if place[f.Name.Text] = nested; e.split && len(f.Callsites) == 0 {
			place[f.Name.Text] = flat
		}
		for _, frame := range f.Context {
			use(frame.Name)
		}
	}
	for _, f := range e.p.Functions {
		f.walk(func(g *Function) bool {
			use(g.Name)
			for _, s := range slices.Concat(g.Body, g.VTables) {
				for _, t := range s.Targets {
					use(t.Name)
				}
			}
			return true
		})
	}
	e.index = make(map[string]uint64)
	if !e.heaps {
		sorted := slices.Sorted(maps.Keys(place))
		dst = uleb(uint64(len(sorted)))
		for i, name := range sorted {
			e.index[name] = uint64(i)
			dst = append(dst, name+"\x00"...)
		}
		return dst, 0, spans
	}
	var ids []byte
	for i := range spans {
		var in []string
		for name, at := range place {
			if at == i+1 {
				in = append(in, name)
			}
		}
		spans[i] = len(in)
		dst = append(dst, uleb(uint64(len(in)))...)
		for _, name := range asHeap(in) {
			e.index[name] = uint64(len(e.index))
			ids = binary.LittleEndian.AppendUint64(ids, md5Of(name))
		}
	}
	return append(dst, ids...), 8 | 2 | 1, spans
}

func (e *laterEncoder) contextTable() []byte {
	sorted := slices.SortedFunc(slices.Values(e.p.Functions), func(a, b *Function) int {
		return compareSubjects(a.Name, a.Context, b.Name, b.Context)
	})
	dst := uleb(uint64(len(sorted)))
	e.contexts = make(map[string]uint64)
	for i, f := range sorted {
		e.contexts[f.Label()] = uint64(i)
		dst = append(dst, uleb(uint64(len(f.Context)))...)
		for _, frame := range f.Context {
			dst = append(dst, uleb(e.index[frame.Name.Text], uint64(frame.Line), uint64(frame.Discriminator))...)
		}
	}
	return dst
}

func (e *laterEncoder) subject(f *Function) uint64 {
	if e.contexts != nil {
		return e.contexts[f.Label()]
	}
	return e.index[f.Name.Text]
}

func (e *laterEncoder) function(f *Function) []byte {
	if e.composite {
		return append(uleb(e.subject(f)), e.body(f, true)...)
	}
	return append(uleb(f.Head, e.subject(f)), e.body(f, true)...)
}

func (e *laterEncoder) targets(targets []Target) []byte {
	dst := uleb(uint64(len(targets)))
	for _, t := range targets {
		dst = append(dst, uleb(e.index[t.Name.Text], t.Count)...)
	}
	return dst
}

func (e *laterEncoder) body(f *Function, top bool) (dst []byte) {
	samples := uleb(f.Total, uint64(len(f.Body)))
	for _, s := range f.Body {
		samples = append(append(samples, uleb(uint64(s.Line), uint64(s.Discriminator), s.Count)...), e.targets(s.Targets)...)
	}
	if !e.composite {
		dst = samples
	} else {
		if top {
			samples = append(uleb(f.Head), samples...)
		}
		var blocks [][]byte
		if f.Total > 0 || f.Head > 0 && top || len(f.Body) > 0 {
			blocks = append(blocks, append(uleb(0, uint64(len(samples))), samples...))
		}
		if e.foreign {
			blocks = append([][]byte{append(uleb(7, 3), 1, 2, 3)}, blocks...)
			blocks = append(blocks, uleb(1<<40, 0))
		}
		dst = append(uleb(uint64(len(blocks))), slices.Concat(blocks...)...)
	}
	dst = append(dst, uleb(uint64(len(f.Callsites)))...)
	for _, c := range f.Callsites {
		dst = append(dst, uleb(uint64(c.Line), uint64(c.Discriminator), e.index[c.Callee.Name.Text])...)
		dst = append(dst, e.body(c.Callee, false)...)
	}
	if e.vtables {
		dst = append(dst, uleb(uint64(len(f.VTables)))...)
		for _, s := range f.VTables {
			dst = append(append(dst, uleb(uint64(s.Line), uint64(s.Discriminator))...), e.targets(s.Targets)...)
		}
	}
	return dst
}

func (e *laterEncoder) metadata(f *Function, subject uint64) []byte {
	dst := uleb(subject, f.Checksum)
	if e.p.Kind.ContextSensitive {
		return dst
	}
	dst = append(dst, uleb(uint64(len(f.Callsites)))...)
	for _, c := range f.Callsites {
		dst = append(dst, uleb(uint64(c.Line), uint64(c.Discriminator))...)
		dst = append(dst, e.metadata(c.Callee, e.index[c.Callee.Name.Text])...)
	}
	return dst
}

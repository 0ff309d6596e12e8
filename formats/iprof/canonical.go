package iprof

import (
	"cmp"
	"math"
	"slices"
)

// Profile returns the sum of the inputs so far in canonical form: profiles with equal
// contents have one canonical form, whatever their ids and order.
//
// Primitive types come first, in their usual order, then other types by name; types are numbered from
// 0. Methods are sorted by class, name, parameters and return type, and numbered from 1. Entries are
// sorted by context, types in records by id. The version is 1.1.0 if an input had that version or a
// section for type checks, 1.0.0 otherwise; the profile has all sections of the version. The tables
// have all types and methods of the inputs, used or not.
func (m *Merger) Profile() *Profile {
	p := newProfile(version100)
	if m.checks {
		p.Version = version110
	}
	p.Order = usualOrder(p.Version)
	types := m.canonicalTypes(p)
	methods := m.canonicalMethods(p, types)
	for k := range m.sections {
		m.sections[k].canonical(&p.Sections[k], types, methods)
	}
	p.reindex()
	return p
}

// Renumber returns p in the canonical form of [Merger.Profile], in the version of p if
// [Write] can write it. Equal contexts become one entry. Renumber fails if
// [Merger.AddProfile] with the default options fails.
func Renumber(p *Profile) (*Profile, error) {
	m := NewMerger(MergeOptions{})
	if _, err := m.AddProfile("", p, Weights{}); err != nil {
		return nil, err
	}
	q := m.Profile()
	if p.Version.Writable() {
		q.Version = p.Version
	}
	return q, nil
}

// canonicalTypes fills the table of types and returns the ids of types by their index in the Merger.
func (m *Merger) canonicalTypes(p *Profile) (ids []int32) {
	type named struct {
		name  string
		rank  int // of primitive types
		index uint32
	}
	order := make([]named, len(m.types.names))
	for i, name := range m.types.names {
		rank := slices.IndexFunc(primitives, func(p primitiveType) bool { return p.name == name })
		if rank < 0 {
			rank = math.MaxInt
		}
		order[i] = named{name, rank, uint32(i)}
	}
	slices.SortFunc(order, func(a, b named) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.name, b.name))
	})
	ids = make([]int32, len(order))
	p.Types = make([]Type, len(order))
	for id, t := range order {
		ids[t.index] = int32(id)
		p.Types[id] = Type{TypeID(id), t.name}
	}
	return ids
}

// canonicalMethods is canonicalTypes for methods.
func (m *Merger) canonicalMethods(p *Profile, types []int32) (ids []int32) {
	n := 0
	for i := range m.methods.methods {
		n += len(m.methods.methods[i].signature)
	}
	slab := make([]TypeID, 0, n)
	p.Methods = make([]Method, len(m.methods.methods))
	for i := range m.methods.methods {
		from := len(slab)
		for _, t := range m.methods.methods[i].signature {
			slab = append(slab, TypeID(types[t]))
		}
		p.Methods[i] = Method{MethodID(i), m.methods.methods[i].name, slab[from:len(slab):len(slab)]}
	}
	slices.SortFunc(p.Methods, func(a, b Method) int {
		return cmp.Or(cmp.Compare(a.Signature[0], b.Signature[0]), cmp.Compare(a.Name, b.Name),
			slices.Compare(a.Signature[2:], b.Signature[2:]), cmp.Compare(a.Signature[1], b.Signature[1]))
	})
	ids = make([]int32, len(p.Methods))
	for i := range p.Methods {
		ids[p.Methods[i].ID] = int32(i + 1)
		p.Methods[i].ID = MethodID(i + 1)
	}
	return ids
}

// canonical fills to with the sorted entries.
func (s *sums) canonical(to *Section, types, methods []int32) {
	// Most contexts differ in their first frame, so a number made of that frame is compared first.
	type keyed struct {
		first uint64
		entry uint32
	}
	frames := make([]Frame, len(s.frames))
	order := make([]keyed, len(s.entries))
	n := 0
	for i := range s.entries {
		e := &s.entries[i]
		for j := e.frames; j < e.frames+e.frameCount; j++ {
			frames[j] = s.frames[j]
			if s.kind != Monitors {
				frames[j].Method = MethodID(methods[frames[j].Method])
			}
		}
		f := frames[e.frames]
		order[i] = keyed{uint64(f.Method)<<32 | uint64(uint32(f.BCI)^1<<31), uint32(i)}
		n += int(e.recordCount)
	}
	context := func(i uint32) []Frame {
		e := &s.entries[i]
		return frames[e.frames : e.frames+e.frameCount]
	}
	slices.SortFunc(order, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(a.first, b.first), slices.CompareFunc(context(a.entry), context(b.entry), compareFrames))
	})
	to.frames = make([]Frame, 0, len(frames))
	to.records = make([]int64, 0, n)
	to.ends = make([]entryEnd, 0, len(order))
	var overflow Added // from types that occur twice in one entry
	for _, k := range order {
		from := len(to.records)
		to.frames = append(to.frames, context(k.entry)...)
		to.records = append(to.records, s.recordsOf(&s.entries[k.entry])...)
		if s.kind.hasTypes() {
			records := to.records[from:]
			for i := 0; i < len(records); i += 2 {
				records[i] = int64(types[records[i]])
			}
			to.records = to.records[:from+len(sortRecords(records, s.kind, &overflow))]
		}
		to.ends = append(to.ends, entryEnd{uint32(len(to.frames)), uint32(len(to.records))})
	}
}

func compareFrames(a, b Frame) int {
	return cmp.Or(cmp.Compare(a.Method, b.Method), cmp.Compare(a.BCI, b.BCI))
}

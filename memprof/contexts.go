package memprof

import (
	"iter"
)

// Context is an allocation context of a profile, once for all the functions
// that record it.
type Context struct {
	Stack StackIndex
	MIB   *MIB
	// Functions is the number of records that the context stands in: one more
	// than the allocation is inlined deep.
	Functions int
	// Differs tells that not all of them say the same of it; MIB is what the
	// first one says.
	Differs bool
}

// Contexts iterates over the allocation contexts in the order in which they
// first occur. Contexts whose stacks differ only in marks of inlining are
// told apart.
func (p *Profile) Contexts() iter.Seq[Context] {
	return func(yield func(Context) bool) {
		byStack := make([]uint32, p.Stacks.numNodes()+1) // index in contexts + 1
		var contexts []Context
		var mibs []MIBIndex
		for i := range p.Records {
			start := len(contexts)
			for _, a := range p.Records[i].AllocSites {
				k := byStack[a.Stack]
				if k == 0 {
					contexts = append(contexts, Context{Stack: a.Stack, MIB: &p.MIBs[a.MIB], Functions: 1})
					mibs = append(mibs, a.MIB)
					byStack[a.Stack] = uint32(len(contexts))
					continue
				}
				c := &contexts[k-1]
				if int(k-1) < start {
					c.Functions++
				}
				c.Differs = c.Differs || mibs[k-1] != a.MIB && !c.MIB.equal(&p.MIBs[a.MIB])
			}
		}
		for _, c := range contexts {
			if !yield(c) {
				return
			}
		}
	}
}

// equal reports whether the known fields are the same.
func (m *MIB) equal(o *MIB) bool {
	if m.Fields != o.Fields {
		return false
	}
	for f := allocCount; f <= accessHistogram; f++ {
		if m.get(f) != o.get(f) {
			return false
		}
	}
	return true
}

// KnownFields returns the fields that are known of all contexts: the schema
// with which nothing unknown is written as zero. An empty profile knows all.
func (p *Profile) KnownFields() Schema {
	s := FullSchema
	for i := range p.Records {
		for _, a := range p.Records[i].AllocSites {
			s &= p.MIBs[a.MIB].Fields
		}
	}
	return s
}

// AveLifetime returns the average life of the context's blocks in
// milliseconds, 0 without allocations.
func (m *MIB) AveLifetime() float64 { return m.average(m.TotalLifetime) }

// AveSize returns the average size of the context's blocks in bytes, 0 without
// allocations.
func (m *MIB) AveSize() float64 { return m.average(m.TotalSize) }

// AveAccessDensity returns the average number of accesses per byte and second
// of life of the context's blocks, 0 without allocations. It is what
// [Thresholds] compare.
func (m *MIB) AveAccessDensity() float64 { return m.average(m.TotalLifetimeAccessDensity) / 100 }

func (m *MIB) average(total uint64) float64 {
	if m.AllocCount == 0 {
		return 0
	}
	return float64(total) / float64(m.AllocCount)
}

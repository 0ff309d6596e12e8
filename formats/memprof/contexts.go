package memprof

import (
	"iter"
	"slices"
)

// A Context is an allocation context of a profile, merged over the functions that record it.
type Context struct {
	Stack StackIndex
	MIB   *MIB
	// Functions is the number of records with the context: the inline depth of the allocation plus one.
	Functions int
	// Differs reports that the records have different MIBs; MIB is the MIB of the first record.
	Differs bool
}

// Contexts iterates over the allocation contexts in the order in which they first
// occur. Contexts whose stacks differ in inline flags only are distinct.
func (p *Profile) Contexts() iter.Seq[Context] {
	return func(yield func(Context) bool) {
		byStack := make([]uint32, p.Stacks.numNodes()+1) // index in contexts + 1
		var contexts []Context
		var mibs []uint32
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
		slices.Values(contexts)(yield)
	}
}

// equal reports whether m and o have the same known fields with the same values.
func (m *MIB) equal(o *MIB) bool {
	if m.Fields != o.Fields {
		return false
	}
	for f := range m.Fields.all() {
		if m.get(f) != o.get(f) {
			return false
		}
	}
	return true
}

// KnownFields returns the fields that are known of all contexts. Written with this schema, a section
// has no zeros in place of unknown values. For an empty profile it returns all fields.
func (p *Profile) KnownFields() Schema {
	s := FullSchema
	for i := range p.Records {
		for _, a := range p.Records[i].AllocSites {
			s &= p.MIBs[a.MIB].Fields
		}
	}
	return s
}

package iprof

import (
	"cmp"
	"slices"
)

// MethodChange is a method in two profiles.
type MethodChange struct {
	Method MethodRef
	// Before and After are nil where no entry of the kind is about the method
	// or passes through it.
	Before, After *MethodCount
	// ShareBefore and ShareAfter are Self as a share of the section's total,
	// from 0 to 1.
	ShareBefore, ShareAfter float64
}

// New reports whether only the later profile has the method.
func (c *MethodChange) New() bool { return c.Before == nil }

// Lost reports whether only the earlier profile has the method.
func (c *MethodChange) Lost() bool { return c.After == nil }

// Change is the difference of the shares.
func (c *MethodChange) Change() float64 { return c.ShareAfter - c.ShareBefore }

// Comparison is how the counts of one kind differ between two profiles.
type Comparison struct {
	Kind          Kind
	Before, After Summary
	// Methods holds every method of either, those whose share changed most
	// first, then by name.
	Methods []MethodChange
	// Common is the number of contexts that both profiles have.
	Common int
	// Overlap is the sum over all contexts of the smaller share: 1 for
	// proportional profiles, 0 for profiles without a common context.
	Overlap float64
}

// Compare compares what two profiles say of one kind. Methods are identified by
// their names and types; names of generated classes may differ from one build
// to the next. Entries that the tables cannot name are left out. Monitors has
// no methods to compare.
func Compare(before, after *Profile, k Kind) Comparison {
	c := Comparison{Kind: k, Before: before.Summary(k), After: after.Summary(k)}
	index := make(map[string]int)
	add := func(p *Profile, total int64, set func(*MethodChange, *MethodCount, float64)) {
		counts := p.MethodCounts(k)
		for i := range counts {
			ref, ok := p.Ref(counts[i].Method)
			if !ok {
				continue
			}
			id := ref.String()
			at, ok := index[id]
			if !ok {
				at = len(c.Methods)
				index[id] = at
				c.Methods = append(c.Methods, MethodChange{Method: ref})
			}
			set(&c.Methods[at], &counts[i], share(counts[i].Self, total))
		}
	}
	add(before, c.Before.Total, func(m *MethodChange, n *MethodCount, share float64) { m.Before, m.ShareBefore = n, share })
	add(after, c.After.Total, func(m *MethodChange, n *MethodCount, share float64) { m.After, m.ShareAfter = n, share })
	abs := func(x float64) float64 { return max(x, -x) }
	slices.SortFunc(c.Methods, func(a, b MethodChange) int {
		if d := cmp.Compare(abs(b.Change()), abs(a.Change())); d != 0 {
			return d
		}
		return cmp.Or(cmp.Compare(a.Method.Qualified(), b.Method.Qualified()), cmp.Compare(a.Method.Descriptor(), b.Method.Descriptor()))
	})
	c.compareContexts(before, after)
	return c
}

// compareContexts fills Common and Overlap.
func (c *Comparison) compareContexts(before, after *Profile) {
	m := NewMerger(MergeOptions{}) // for its tables
	var sides [2]sums
	for side, p := range []*Profile{before, after} {
		in := m.translate(p)
		s := &sides[side]
		s.init(Samples) // one count per context, whatever the kind
		for ctx, n := range p.Section(c.Kind).Counts() {
			if translated, ok := m.translateContext(&in, c.Kind, ctx); ok {
				// Only a section larger than the largest one could fail.
				_ = s.add(translated, []int64{n}, new(Added))
			}
		}
	}
	for i := range sides[0].entries {
		ctx := sides[0].context(uint32(i))
		if j, _, ok := sides[1].index.find(ctx); ok {
			c.Common++
			a, b := sides[0].recordsOf(&sides[0].entries[i]), sides[1].recordsOf(&sides[1].entries[j])
			c.Overlap += min(share(a[0], c.Before.Total), share(b[0], c.After.Total))
		}
	}
}

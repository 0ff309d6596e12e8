package iprof

import "cmp"

// Relevance is the share of a section whose code exists in a build.
type Relevance struct {
	Kind Kind
	// Entries is the number of entries whose methods all exist, Of the number of
	// all entries. Their quotient approximates GraalVM's relevance.
	Entries, Of int
	// Count and Total are the sums of their counts.
	Count, Total int64
}

// A MissingMethod is a method of the profile that does not exist in a build.
type MissingMethod struct {
	MethodCount // of the kind in question
	Ref         MethodRef
}

// Relevance calls exists for each method in contexts of the kind. It returns the share of
// the section in existing methods, and the missing methods by count, descending. Methods
// without a name in the table count as missing but are not listed. Monitors has no
// methods.
func (p *Profile) Relevance(k Kind, exists func(MethodRef) bool) (Relevance, []MissingMethod) {
	r := Relevance{Kind: k}
	if k == Monitors {
		return r, nil
	}
	known := make(map[MethodID]bool)
	var missing []MissingMethod
	for _, c := range p.MethodCounts(k) {
		ref, ok := p.Ref(c.Method)
		known[c.Method] = ok && exists(ref)
		if ok && !known[c.Method] {
			missing = append(missing, MissingMethod{c, ref})
		}
	}
	for ctx, count := range p.Section(k).Counts() {
		all := true
		for _, f := range ctx {
			all = all && known[f.Method]
		}
		r.Of++
		r.Total, _ = addSaturating(r.Total, count)
		if all {
			r.Entries++
			r.Count, _ = addSaturating(r.Count, count)
		}
	}
	sortByName(missing, func(m MissingMethod) string { return m.Ref.Qualified() },
		func(a, b MissingMethod) int {
			return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total))
		},
		func(a, b MissingMethod) int { return cmp.Compare(a.Method, b.Method) })
	return r, missing
}

package iprofcmd

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/formats/iprof"
	"github.com/profuse-pgo/profuse/internal/numbering"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// A methodCount sums the entries of one kind for one method.
type methodCount struct {
	Method iprof.MethodID
	// Self is the sum of the counts of entries with the method in their first
	// frame.
	Self int64
	// Total is the sum of the counts of entries with the method in any frame, each
	// entry once. For [iprof.Samples] that is the inclusive time of the method. The
	// contexts of the other kinds are partial: their totals cover the code that
	// was compiled as part of the method, and not all its callees.
	Total int64
	// Inlined is the part of Self with a caller in the context.
	Inlined int64
	Entries int // number of entries with the method in their first frame
}

// methodCounts returns the methods in the entries of the kind that keep accepts, sorted by
// Self and Total, descending, then by name and id. iprof.Monitors has none.
func methodCounts(p *iprof.Profile, k iprof.Kind, keep func(*methodCount) bool) []methodCount {
	s := &p.Sections[k]
	if k == iprof.Monitors {
		return nil // its context is not a method
	}
	var (
		methods numbering.Table[iprof.MethodID]
		counts  []methodCount
		last    []int32 // by index in counts: the entry added to Total last, plus 1
	)
	for i := range s.Len() {
		ctx, count := s.Context(i), s.Count(i)
		for j, f := range ctx {
			n, fresh := methods.Add(f.Method)
			if fresh {
				counts = append(counts, methodCount{Method: f.Method})
				last = append(last, 0)
			}
			c := &counts[n]
			if j == 0 {
				c.Self, _ = saturate.AddSigned(c.Self, count)
				c.Entries++
				if len(ctx) > 1 {
					c.Inlined, _ = saturate.AddSigned(c.Inlined, count)
				}
			}
			// The frames of a recursive method repeat it; the entry counts once.
			if last[n] != int32(i)+1 {
				last[n] = int32(i) + 1
				c.Total, _ = saturate.AddSigned(c.Total, count)
			}
		}
	}
	counts = slices.DeleteFunc(counts, func(c methodCount) bool { return !keep(&c) })
	sortByName(counts, func(c methodCount) string { return p.MethodName(c.Method) }, func(a, b methodCount) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total))
	}, func(a, b methodCount) int { return cmp.Compare(a.Method, b.Method) })
	return counts
}

// entries returns the number of entries in all sections.
func entries(p *iprof.Profile) (n int) {
	for k := range iprof.NumKinds {
		n += p.Sections[k].Len()
	}
	return n
}

// qualified returns "pkg.Class.name".
func qualified(ref iprof.MethodRef) string { return ref.Class + "." + ref.Name }

// anyMethod accepts all methods.
func anyMethod(*methodCount) bool { return true }

// sortByName sorts by first, then by name, then by last. It calls name only for elements
// that are equal by first.
func sortByName[T any](all []T, name func(T) string, first, last func(a, b T) int) {
	slices.SortFunc(all, func(a, b T) int {
		if c := first(a, b); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(name(a), name(b)), last(a, b))
	})
}

// A relevance is the share of a section whose code exists in a build.
type relevance struct {
	// Entries is the number of entries whose methods all exist, Of the number of
	// all entries. Their quotient approximates GraalVM's relevance.
	Entries, Of int
	// Count and Total are the sums of their counts.
	Count, Total int64
}

// A missingMethod is a method of the profile that does not exist in a build.
type missingMethod struct {
	methodCount // of the kind in question
	Ref         iprof.MethodRef
}

// relevanceOf calls exists for each method in contexts of the kind. It returns the share of
// the section in existing methods, and the missing methods by count, descending. Methods
// without a name in the table count as missing but are not listed. iprof.Monitors has no
// methods.
func relevanceOf(p *iprof.Profile, k iprof.Kind, exists func(iprof.MethodRef) bool) (relevance, []missingMethod) {
	var r relevance
	if k == iprof.Monitors {
		return r, nil
	}
	known := make(map[iprof.MethodID]bool)
	var missing []missingMethod
	for _, c := range methodCounts(p, k, anyMethod) {
		ref, ok := p.Ref(c.Method)
		known[c.Method] = ok && exists(ref)
		if ok && !known[c.Method] {
			missing = append(missing, missingMethod{c, ref})
		}
	}
	s := &p.Sections[k]
	for i := range s.Len() {
		all, count := true, s.Count(i)
		for _, f := range s.Context(i) {
			all = all && known[f.Method]
		}
		r.Of++
		r.Total, _ = saturate.AddSigned(r.Total, count)
		if all {
			r.Entries++
			r.Count, _ = saturate.AddSigned(r.Count, count)
		}
	}
	sortByName(missing, func(m missingMethod) string { return qualified(m.Ref) },
		func(a, b missingMethod) int {
			return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total))
		},
		func(a, b missingMethod) int { return cmp.Compare(a.Method, b.Method) })
	return r, missing
}

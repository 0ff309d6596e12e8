package iprofcmd

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/formats/iprof"
	"github.com/profuse-pgo/profuse/internal/numbering"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// A methodCount sums up the entries of one kind for one method.
type methodCount struct {
	Method iprof.MethodID
	Self   int64 // sum of the counts of entries with the method in the first frame
	// Total is the sum of the counts of entries with the method in any frame. For [iprof.Samples] it
	// is the inclusive time of the method. For other kinds it covers only the code that was compiled
	// as part of the method, because their contexts are partial.
	Total   int64
	Inlined int64 // the part of Self with a caller in the context
	Entries int   // number of entries with the method in the first frame
}

// methodCounts returns the methods of the kind that keep accepts, sorted by Self and Total,
// descending, then by name and id. iprof.Monitors has no methods.
func methodCounts(p *iprof.Profile, k iprof.Kind, keep func(*methodCount) bool) []methodCount {
	s := &p.Sections[k]
	if k == iprof.Monitors {
		return nil
	}
	var (
		methods numbering.Table[iprof.MethodID]
		counts  []methodCount
		last    []int32 // by index in counts: the entry that was added to Total last, plus 1
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
			// An entry counts once, also if the method is in several frames.
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

func entries(p *iprof.Profile) (n int) {
	for k := range iprof.NumKinds {
		n += p.Sections[k].Len()
	}
	return n
}

// sortByName sorts by first, then by name, then by last. It calls name only for elements that are equal by first.
func sortByName[T any](all []T, name func(T) string, first, last func(a, b T) int) {
	slices.SortFunc(all, func(a, b T) int {
		if c := first(a, b); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(name(a), name(b)), last(a, b))
	})
}

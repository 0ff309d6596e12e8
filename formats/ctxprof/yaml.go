package ctxprof

import (
	"cmp"
	"io"
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmyaml"
)

// The keys of YAML, in the order in which they are written.
const (
	keyContexts     = "Contexts"
	keyFlatProfiles = "FlatProfiles"

	keyGUID      = "Guid"
	keyTotal     = "TotalRootEntryCount"
	keyCounters  = "Counters"
	keyUnhandled = "Unhandled"
	keyCallsites = "Callsites"
)

var (
	documentKeys = []string{keyContexts, keyFlatProfiles}
	flatKeys     = []string{keyGUID, keyCounters}
	contextKeys  = []string{keyGUID, keyCounters, keyCallsites}
	rootKeys     = []string{keyGUID, keyTotal, keyCounters, keyUnhandled, keyCallsites}
)

// A yamlReader reads one profile.
type yamlReader struct {
	s     *llvmyaml.Scanner
	depth int
}

func readYAML(data []byte) (*Profile, error) {
	r := yamlReader{s: llvmyaml.NewScanner(data)}
	p := &Profile{}
	r.s.Fields(documentKeys, func(key string) {
		n := 0
		r.s.Sequence(func() {
			r.s.Record = n
			n++
			if key == keyFlatProfiles {
				p.Flat = append(p.Flat, r.flat())
				return
			}
			var root Root
			r.context(&root.Context, rootKeys, &root)
			p.Roots = append(p.Roots, root)
		})
		r.s.Record = -1
	}, documentKeys...)
	r.s.Finish()
	return p, r.s.Err()
}

// flat reads a function without contexts.
func (r *yamlReader) flat() (f Function) {
	r.s.Fields(flatKeys, func(key string) {
		if key == keyGUID {
			f.GUID = r.s.Unsigned(key, 64)
		} else {
			f.Counters = r.counters()
		}
	})
	return f
}

func (r *yamlReader) counters() []uint64 {
	counters := []uint64{}
	r.s.Sequence(func() {
		if n := r.s.Unsigned(keyCounters, 64); r.s.Err() == nil {
			counters = append(counters, n)
		}
	})
	return counters
}

// context reads a context with the given keys and all below it; root is nil unless it is a root.
func (r *yamlReader) context(x *Context, keys []string, root *Root) {
	if r.depth++; r.depth > maxDepth {
		r.s.Fail(r.s.At(r.s.Line()).Field("depth of the contexts").Got("more").Wantf("at most %d", maxDepth).Unsupported())
		return
	}
	r.s.Fields(keys, func(key string) {
		switch key {
		case keyGUID:
			x.GUID = r.s.Unsigned(key, 64)
		case keyTotal:
			root.Total = r.s.Unsigned(key, 64)
		case keyCounters:
			x.Counters = r.counters()
		case keyUnhandled:
			r.s.Sequence(func() { root.Unhandled = append(root.Unhandled, r.flat()) })
		case keyCallsites:
			site := uint32(0)
			r.s.Sequence(func() {
				r.s.Sequence(func() {
					callee := Context{Site: site}
					r.context(&callee, contextKeys, nil)
					x.Callees = append(x.Callees, callee)
				})
				site++
			})
		}
	}, keyUnhandled, keyCallsites)
	r.depth--
}

// maxEmptySites limits the call sites without callees in YAML, where each takes a line; in binary files they take nothing.
const maxEmptySites = 1 << 22

// A yamlWriter writes one profile. It keeps the first failure.
type yamlWriter struct {
	llvmyaml.Printer
	w     io.Writer
	empty int // call sites without callees so far
	err   error
}

// writeYAML writes YAML as LLVM's reader has the profile: everything sorted by GUID.
func (p *Profile) writeYAML(out io.Writer) error {
	w := &yamlWriter{w: out}
	if len(p.Roots) == 0 && len(p.Flat) == 0 {
		w.Text("{}\n")
		return w.flush()
	}
	w.Text("\n")
	if len(p.Roots) > 0 {
		w.Parent(0, keyContexts)
		for _, r := range sortedBy(p.Roots, func(r *Root) uint64 { return r.GUID }) {
			w.context(4, &r.Context, r)
		}
	}
	w.flats(0, keyFlatProfiles, p.Flat)
	return w.flush()
}

// flush passes the lines on, so that they do not grow in memory.
func (w *yamlWriter) flush() error {
	if w.err == nil {
		_, w.err = w.w.Write(w.Buf)
	}
	w.Buf = w.Buf[:0]
	return w.err
}

// sortedBy returns pointers to the elements of a list, by ascending key.
func sortedBy[T any](list []T, key func(*T) uint64) []*T {
	sorted := make([]*T, len(list))
	for i := range list {
		sorted[i] = &list[i]
	}
	slices.SortStableFunc(sorted, func(a, b *T) int { return cmp.Compare(key(a), key(b)) })
	return sorted
}

// flats prints functions without contexts below a key, or nothing without functions.
func (w *yamlWriter) flats(indent int, key string, list []Function) {
	if len(list) == 0 {
		return
	}
	w.Parent(indent, key)
	for _, f := range sortedBy(list, func(f *Function) uint64 { return f.GUID }) {
		w.Item()
		w.Decimal(indent+4, keyGUID, f.GUID)
		w.Flow(indent+4, keyCounters, slices.Values(f.Counters))
	}
	_ = w.flush() // the failure stays
}

// context prints a context, whose keys are at an indentation, and all below it; root is nil unless it is a root.
func (w *yamlWriter) context(indent int, x *Context, root *Root) {
	if w.err != nil {
		return
	}
	w.Item()
	w.Decimal(indent, keyGUID, x.GUID)
	if root != nil {
		w.Decimal(indent, keyTotal, root.Total)
	}
	w.Flow(indent, keyCounters, slices.Values(x.Counters))
	if root != nil {
		w.flats(indent, keyUnhandled, root.Unhandled)
	}
	_ = w.flush() // the failure stays
	if len(x.Callees) == 0 {
		return
	}
	w.Parent(indent, keyCallsites)
	next := uint32(0) // call site
	for rest := x.Callees; len(rest) > 0; {
		site, n := rest[0].Site, 1
		for n < len(rest) && rest[n].Site == site {
			n++
		}
		if w.empty += int(site - next); w.empty > maxEmptySites && w.err == nil {
			w.err = flaw.Field("number of call sites without callees").Got("more").
				Wantf("at most %d: YAML has a line for each", maxEmptySites).Unsupported()
		}
		for ; next < site && w.err == nil; next++ {
			w.EmptyItem(indent + 4)
			_ = w.flush() // the failure stays
		}
		w.Item() // of the site; the first callee is an item in it
		for _, c := range sortedBy(rest[:n], func(c *Context) uint64 { return c.GUID }) {
			w.context(indent+6, c, nil)
		}
		next, rest = site+1, rest[n:]
	}
}

package irpgo

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/internal/llvm/summary"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// readView reads a whole profile with all the names it knows.
func readView(data []byte) (*Profile, *Info, error) {
	r, err := NewReader("fixture", data, ReaderOptions{})
	if err != nil {
		return nil, nil, err
	}
	m := NewMerger(MergeOptions{KeepSymbols: true, KeepVTableNames: true})
	if _, err := m.Add(r, 1); err != nil {
		return nil, nil, err
	}
	return m.Finish().Profile(), r.Info, nil
}

// TestViewFixtures: of every fixture the view has each record, value and trace, and its summary is LLVM's.
func TestViewFixtures(t *testing.T) {
	checked := 0
	for _, f := range oracle.Fixtures(t) {
		p, info, err := readView(f.Bytes(t))
		if err != nil {
			continue // the readers' tests say which and why
		}
		checked++
		t.Run(f.Path, func(t *testing.T) { checkView(t, p, p.View(f.Path, info)) })
	}
	if checked < 150 {
		t.Errorf("only %d fixtures could be read", checked)
	}
}

func checkView(t *testing.T, p *Profile, v profile.View) {
	var want summary.Builder
	var records, values []string
	for i := range p.Functions {
		for _, r := range p.Functions[i].Records {
			want.Add(r.Counts)
			counts := r.Counts
			if r.Pseudo() != 0 { // nothing behind the mark counts
				counts = counts[:1]
			}
			records = append(records, fmt.Sprint(r.Name, r.Hash, counts))
			for kind, sites := range r.Values {
				for site, data := range sites {
					for _, d := range data {
						values = append(values, fmt.Sprint(r.Name, r.Hash, edgeKinds[kind], site, d.Value, d.Count))
					}
				}
			}
		}
	}

	var gotRecords, gotValues []string
	for f := range v.Functions() {
		counts := make([]uint64, len(f.Blocks))
		for i, b := range f.Blocks {
			counts[i] = b.Count
		}
		for _, l := range f.Labels {
			switch l {
			case hotLabel:
				counts = []uint64{PseudoHot}
			case warmLabel:
				counts = []uint64{PseudoWarm}
			}
		}
		gotRecords = append(gotRecords, fmt.Sprint(pgoName(p, f.Symbol), f.Hash, counts))
		if f.ID != NameRef(pgoName(p, f.Symbol)) {
			t.Errorf("%s has id %#x", f.Name, f.ID)
		}
	}
	if diff := cmp.Diff(records, gotRecords); diff != "" {
		t.Errorf("functions (-records +view):\n%s", diff)
	}
	for e := range v.Edges() {
		value := e.Size
		if e.Kind != profile.MemOpSize {
			value = e.Target.ID
		}
		gotValues = append(gotValues, fmt.Sprint(pgoName(p, e.Caller), e.Hash, e.Kind, e.Site, value, e.Count))
	}
	if diff := cmp.Diff(values, gotValues); diff != "" {
		t.Errorf("edges (-values +view):\n%s", diff)
	}
	if has := v.Features().Edges; len(values) > 0 && !has {
		t.Error("edges, but not among the features")
	}
	i := 0
	for trace := range v.Traces() {
		if trace.Weight != p.Traces[i].Weight || trace.Mean || len(trace.Functions) != len(p.Traces[i].NameRefs) {
			t.Errorf("trace %d: %+v", i, trace)
		}
		for k, s := range trace.Functions {
			if s.ID != p.Traces[i].NameRefs[k] {
				t.Errorf("trace %d: function %d is %v", i, k, s)
			}
		}
		i++
	}
	if i != len(p.Traces) {
		t.Errorf("%d traces, want %d", i, len(p.Traces))
	}

	llvm, got := want.Summary(profile.DefaultCutoffs()), profile.Summarize(v, profile.DefaultCutoffs())
	if v.Features().Blocks && llvm.TotalCount == got.Counts.Total {
		if got.Counts.Values != llvm.NumCounts || got.Counts.Max != llvm.MaxCount {
			t.Errorf("summary %+v, LLVM's %+v", got.Counts, llvm)
		}
		for i, e := range llvm.Cutoffs {
			if c := got.Counts.Cutoffs[i]; c.Share != e.Share || c.Min != e.Min || c.Values != e.Values {
				t.Errorf("cutoff %+v, LLVM's %+v", c, e)
			}
		}
	}
}

// pgoName puts the name of a record together again.
func pgoName(p *Profile, s profile.Symbol) string {
	for _, separator := range []string{";", ":"} {
		name := s.File + separator + s.Name
		if i, ok := slices.BinarySearchFunc(p.Functions, name, func(f Function, name string) int { return strings.Compare(f.Name, name) }); ok {
			return p.Functions[i].Name
		}
	}
	return s.Name
}

// TestView pins what a view says of each kind of profile.
func TestView(t *testing.T) {
	for _, tc := range []struct {
		name, text, want string
	}{
		{"plain IR", ":ir\nmain\n7\n2\n5\n9\n\n", "ir; blocks hashes; main 7 [5 9] covered"},
		{"entry first", ":ir\n:entry_first\nmain\n7\n2\n5\n9\n\n", "ir entry-first; calls blocks hashes; main 7 calls=5 [5 9] covered"},
		{"front end", "a.c:f\n7\n2\n5\n9\n\n", "front-end; calls blocks hashes; f@a.c 7 calls=5 [5 9] covered"},
		{
			"coverage", ":ir\n:single_byte_coverage\nd/a.c;f\n7\n2\n0\n1\n\ng\n1\n1\n0\n\n",
			"ir single-byte-coverage; blocks blocks_are_coverage hashes; f@d/a.c 7 [0 1] covered; g 1 [0]",
		},
		{
			"context-sensitive", ":csir\nf\n1152921504606846977\n1\n3\n\n",
			"ir cs; blocks hashes; f 1152921504606846977 [3] covered instrumentation=context-sensitive",
		},
		{
			"pseudo counts", ":ir\nf\n1\n1\n18446744073709551615\n\ng\n1\n1\n18446744073709551614\n\n",
			"ir; blocks hashes; f 1 [] covered temperature=hot; g 1 [] covered temperature=warm",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, info, err := readView([]byte(tc.text))
			must(t, err)
			v := p.View("x.proftext", info)
			id := v.Identity()
			if id.String() != "IRPGO text ("+strings.Join(id.Variant, ", ")+")" || id.File != "x.proftext" {
				t.Errorf("identity %+v", id)
			}
			if got := describe(v); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// describe writes a view's functions in one line.
func describe(v profile.View) string {
	id := v.Identity()
	names := v.Features().Names()
	out := strings.Join(id.Variant, " ") + "; " + strings.Join(names, " ")
	for f := range v.Functions() {
		out += "; " + f.Name
		if f.File != "" {
			out += "@" + f.File
		}
		out += fmt.Sprintf(" %d", f.Hash)
		if v.Features().Calls {
			out += fmt.Sprintf(" calls=%d", f.Calls)
		}
		var counts []uint64
		for _, b := range f.Blocks {
			counts = append(counts, b.Count)
		}
		out += fmt.Sprintf(" %d", counts)
		if f.Covered {
			out += " covered"
		}
		for _, l := range f.Labels {
			out += " " + l.Key + "=" + l.Value
		}
	}
	return out
}

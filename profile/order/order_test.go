package order_test

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/partition"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/order"
)

// ordered is a view that has what orders are made of.
type ordered struct {
	functions []profile.Function
	edges     []profile.Edge
	traces    []profile.Trace
}

func (v *ordered) Identity() profile.Identity { return profile.Identity{} }
func (v *ordered) Stacks() []profile.StackSet { return nil }
func (v *ordered) Features() (f profile.Features) {
	if v.edges != nil {
		f.Edges = true
	}
	return f
}
func (v *ordered) Functions() iter.Seq[*profile.Function] { return pointers(v.functions) }
func (v *ordered) Edges() iter.Seq[*profile.Edge]         { return pointers(v.edges) }
func (v *ordered) Traces() iter.Seq[*profile.Trace]       { return pointers(v.traces) }

func pointers[T any](list []T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		var x T
		for _, x = range list {
			if !yield(&x) {
				return
			}
		}
	}
}

// symbol names a function "name" or, local to a file, "file:name".
func symbol(name string) profile.Symbol {
	file, base, local := strings.Cut(name, ":")
	if !local {
		return profile.Symbol{Name: name, ID: uint64(name[0])}
	}
	return profile.Symbol{Name: base, File: file, ID: uint64(base[0])}
}

func nameOnly(s *profile.Symbol) string { return s.Name }

func nameAndFile(s *profile.Symbol) string {
	if s.Name == "" {
		return ""
	}
	return s.File + "/" + s.Name
}

// Symbols are ordered as their identities are, each once, two of one identity by themselves.
func TestBalanced(t *testing.T) {
	runs := []string{"m a b x:s c d", "m c d y:s a b", "m b a x:s"}
	v := &ordered{}
	ids := make(map[string]uint64)
	var traces [][]uint64
	for _, run := range runs {
		var trace profile.Trace
		var plain []uint64
		for name := range strings.FieldsSeq(run) {
			s := symbol(name)
			trace.Functions = append(trace.Functions, s)
			if ids[name] == 0 {
				ids[name] = s.ID
			}
			if name == "y:s" {
				ids[name] = 1<<63 + 6 // the identity is that of x:s
			}
			plain = append(plain, ids[name])
		}
		v.traces = append(v.traces, trace)
		traces = append(traces, plain)
	}
	var want []string
	for _, id := range partition.Order(traces) {
		for name, of := range ids {
			if s := symbol(name); of == id {
				want = append(want, nameAndFile(&s))
			}
		}
	}
	got := order.Balanced(v, nameAndFile)
	if !slices.Equal(got, want) || len(got) != 7 {
		t.Errorf("%q, want %q", got, want)
	}
	unnamed := order.Balanced(v, func(s *profile.Symbol) string { return strings.Trim(s.Name, "ab") })
	if len(unnamed) != 5 {
		t.Errorf("without names for a and b: %q", unnamed)
	}
	if got := order.Balanced(&ordered{}, nameOnly); got != nil {
		t.Errorf("without traces: %q", got)
	}
}

func TestClustered(t *testing.T) {
	v := &ordered{edges: []profile.Edge{}}
	call := func(kind profile.EdgeKind, caller, target string, count uint64) {
		v.edges = append(v.edges, profile.Edge{Kind: kind, Caller: symbol(caller), Target: symbol(target), Count: count})
	}
	for name, calls := range map[string]uint64{"main": 1, "loop": 100, "never": 0, "x:static": 90, "y:static": 80} {
		v.functions = append(v.functions, profile.Function{Symbol: symbol(name), Calls: calls, Size: 10})
	}
	slices.SortFunc(v.functions, func(a, b profile.Function) int { return strings.Compare(a.File+a.Name, b.File+b.Name) })
	v.functions = append(v.functions, profile.Function{Calls: 1000}) // of no name
	if got := order.Clustered(v, nameOnly); got != nil {
		t.Errorf("without edges: %q", got)
	}
	call(profile.Call, "main", "unknown", 5)
	call(profile.TypeCheck, "main", "loop", 5)
	if got := order.Clustered(v, nameOnly); got != nil {
		t.Errorf("without a call: %q", got)
	}
	call(profile.IndirectCall, "loop", "x:static", 90)
	call(profile.Call, "main", "y:static", 80)
	for _, c := range []struct {
		name func(*profile.Symbol) string
		want string
	}{
		{nameOnly, "loop static main"}, // the statics are one, called by loop for the most part
		{nameAndFile, "/loop x/static /main y/static"},
	} {
		if got := strings.Join(order.Clustered(v, c.name), " "); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

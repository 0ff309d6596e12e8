package report

import (
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/profile"
)

// A madeView is a view of what a test puts into it.
type madeView struct {
	identity  profile.Identity
	features  profile.Features
	functions []profile.Function
	stacks    []profile.StackSet
	edges     []profile.Edge
	traces    []profile.Trace
}

func (v *madeView) Identity() profile.Identity { return v.identity }

func (v *madeView) Features() profile.Features { return v.features }

func (v *madeView) Functions() iter.Seq[*profile.Function] { return pointers(v.functions) }

func (v *madeView) Stacks() []profile.StackSet { return v.stacks }

func (v *madeView) Edges() iter.Seq[*profile.Edge] { return pointers(v.edges) }

func (v *madeView) Traces() iter.Seq[*profile.Trace] { return pointers(v.traces) }

// pointers iterates as views do: what is yielded is reused.
func pointers[T any](list []T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, item := range list {
			if !yield(&item) {
				return
			}
		}
	}
}

// stackSet is a set of the given stacks.
func stackSet(name string, values []profile.ValueType, stacks []profile.Stack) profile.StackSet {
	return profile.StackSet{Name: name, Values: values, Stacks: pointers(stacks)}
}

// fixture is a source of a file in testdata.
func fixture(t *testing.T, name string, programs ...string) *source {
	t.Helper()
	file := filepath.Join("..", "testdata", filepath.FromSlash(name))
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	opt := formats.ViewOptions{}
	for _, p := range programs {
		opt.ProfiledBinaries = append(opt.ProfiledBinaries, filepath.Join("..", "testdata", filepath.FromSlash(p)))
	}
	v, err := formats.View(file, data, opt)
	if err != nil {
		t.Fatal(err)
	}
	return newSource(0, Source{View: v}, Options{})
}

// made is a source of a made view.
func made(v *madeView) *source {
	return newSource(0, Source{View: v, Label: "made"}, Options{})
}

// symbolsOf returns symbols of the given names.
func symbolsOf(names ...string) (list []profile.Symbol) {
	for i, n := range names {
		list = append(list, profile.Symbol{Name: n, ID: uint64(i + 1)})
	}
	return slices.Clip(list)
}

package report

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// fixture is a source of a file in testdata.
func fixture(t *testing.T, name string, programs ...string) *source {
	t.Helper()
	file := filepath.Join("..", "..", "testdata", filepath.FromSlash(name))
	data := oracle.ReadFile(t, file)
	opt := formats.ViewOptions{}
	for _, p := range programs {
		opt.Programs = append(opt.Programs, filepath.Join("..", "..", "testdata", filepath.FromSlash(p)))
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

// Scripts go through the columns of the data, which may be empty but are there.
func TestDataHasNoNulls(t *testing.T) {
	lost := symbolsOf("lost")
	v := &madeView{
		features: profile.Features{Traces: true, Sizes: true, Edges: true},
		traces:   []profile.Trace{{Weight: 1, Functions: lost}},
		edges:    []profile.Edge{{Kind: profile.MemOpSize, Caller: lost[0], Count: 0}},
		sets: []madeSet{{
			StackSet: profile.StackSet{Name: "allocations", Values: heapValues},
			stacks:   []profile.Stack{{Values: make([]uint64, len(heapValues))}},
		}},
	}
	src := made(v)
	for id, make := range map[string]func(*source) (*page, error){"timeline": timelinePage, "values": valuesPage, "allocations": allocationsPage} {
		p, err := make(src)
		if err != nil || p == nil {
			t.Fatalf("%s: %v, %v", id, p, err)
		}
		text, err := json.Marshal(p.data)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("null")) {
			t.Errorf("%s: %s", id, text)
		}
	}
}

// wantOnPage: texts are read without scripts.
func wantOnPage(t *testing.T, name string, p *page, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(string(p.Body), w) {
			t.Errorf("%s: %q is not on the page:\n%s", name, w, p.Body)
		}
	}
}

// checkPages makes the pages of fixtures, whose names a program may follow, and checks that they have
// the texts; a fixture without texts has no page.
func checkPages(t *testing.T, newPage func(*source) (*page, error), fixtures map[string][]string) {
	t.Helper()
	for name, want := range fixtures {
		files := strings.Fields(name)
		p, err := newPage(fixture(t, files[0], files[1:]...))
		if err != nil || (p == nil) != (want == nil) {
			t.Errorf("%s: page %v, %v", name, p, err)
			continue
		}
		wantOnPage(t, name, p, want...)
	}
}

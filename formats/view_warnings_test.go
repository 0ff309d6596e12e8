package formats_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestViewWarnings: what is odd about a file that can be shown all the same is
// told with the file's name, and may be told to nobody.
func TestViewWarnings(t *testing.T) {
	for _, c := range []struct {
		name string
		data []byte
		want string // the first warning
	}{
		{"raw", oracle.ReadFile(t, "../testdata/irpgo/clang22/ir-run1.profraw"), ""},
		{
			"unresolved.iprof", oracle.ReadFile(t, "../testdata/iprof/unresolved.iprof"),
			"unresolved.iprof: recording is not resolved: methods and types have numbers instead of names, want another recording: corrupt profile",
		},
		{"future.iprof", oracle.ReadFile(t, "../testdata/iprof/future.iprof"), "future.iprof: "},
		{"heap.yaml", oracle.ReadFile(t, "../testdata/memprof/temperatures.memprof.yaml"), ""},
	} {
		var told []profile.Warning
		v, err := formats.View(c.name, c.data, formats.ViewOptions{Warn: func(w profile.Warning) { told = append(told, w) }})
		if err != nil || v == nil || v.Identity().File != c.name {
			t.Errorf("%s: %v", c.name, err)
		}
		switch {
		case c.want == "" && len(told) > 0, c.want != "" && len(told) == 0:
			t.Errorf("%s: told %v, want %q", c.name, told, c.want)
		case c.want != "" && !strings.HasPrefix(told[0].String(), c.want):
			t.Errorf("%s:\n told %v\n want %s", c.name, told[0], c.want)
		}
		if _, err := formats.View(c.name, c.data, formats.ViewOptions{}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestViewBoth: a file with functions and a heap profile is shown as the former, with the stacks of the latter.
func TestViewBoth(t *testing.T) {
	p, err := irpgo.Read("f", oracle.ReadFile(t, "../testdata/irpgo/llvm22/merged.profdata"), irpgo.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if p.MemProf, err = memprof.ReadYAML("heap", oracle.ReadFile(t, "../testdata/memprof/temperatures.memprof.yaml")); err != nil {
		t.Fatal(err)
	}
	data, err := oracle.Written(func(w io.Writer) error { return irpgo.WriteIndexed(w, p, irpgo.IndexedOptions{}) })
	if err != nil {
		t.Fatal(err)
	}
	v, err := formats.View("both", data, formats.ViewOptions{})
	if err != nil {
		t.Fatal(err)
	}
	heap, err := formats.View("heap", oracle.ReadFile(t, "../testdata/memprof/temperatures.memprof.yaml"), formats.ViewOptions{})
	if err != nil {
		t.Fatal(err)
	}
	functions := 0
	for range v.Functions() {
		functions++
	}
	if stacks, want := countStacks(v), countStacks(heap); functions != len(p.Functions) || stacks != want || want == 0 || v.Identity().Family != "IRPGO" {
		t.Errorf("%d functions, %d stacks, want %d and %d, %+v", functions, stacks, len(p.Functions), want, v.Identity())
	}
	// The heap profile's program has to be one.
	_, err = formats.View("both", data, formats.ViewOptions{Programs: []string{"../testdata/iprof/fib.iprof"}})
	if fe := (*profile.FormatError)(nil); !errors.As(err, &fe) || fe.File != "../testdata/iprof/fib.iprof" {
		t.Errorf("a program that is none: %v", err)
	}
}

func countStacks(v profile.View) (n int) {
	for _, set := range v.Stacks() {
		for range set.ReusedStacks {
			n++
		}
	}
	return n
}

package formats_test

import (
	"fmt"
	"iter"
	"os"
	"testing"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/profile"
)

// What a view yields stays valid while the iterator goes on.
func TestValuesStayValid(t *testing.T) {
	views := map[string]profile.View{}
	for _, name := range []string{
		"../testdata/irpgo/clang22/ir-run1.profraw", "../testdata/irpgo/llvm22/merged.profdata", "../testdata/memprof/temperatures.memprof.yaml",
		"../testdata/iprof/small.iprof",
	} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if views[name], err = formats.View(name, data, formats.ViewOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	program, data := shapesMIP(t)
	v, err := formats.View("shapes.mip", data, formats.ViewOptions{})
	if err != nil {
		t.Fatal(program, err)
	}
	views["shapes.mip"] = v
	n := 0
	for name, v := range views {
		n += keep(t, name, v.Functions()) + keep(t, name, v.Edges()) + keep(t, name, v.Traces())
		for _, set := range v.Stacks() {
			n += keep(t, name, set.Stacks())
		}
	}
	if n < 100 {
		t.Errorf("only %d values", n)
	}
}

// keep keeps all values of an iterator, and compares them in the end with what they were. It returns their number.
func keep[T any](t *testing.T, name string, values iter.Seq[*T]) int {
	t.Helper()
	var kept []*T
	var was []string
	for v := range values {
		kept, was = append(kept, v), append(was, fmt.Sprintf("%+v", *v))
	}
	for i, v := range kept {
		if is := fmt.Sprintf("%+v", *v); is != was[i] {
			t.Errorf("%s: %T %d was %s, is %s", name, v, i, was[i], is)
		}
	}
	return len(kept)
}

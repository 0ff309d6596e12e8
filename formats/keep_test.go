package formats_test

import (
	"os"
	"reflect"
	"testing"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/profile"
)

// Copies of the functions, edges and traces of a view stay valid while the
// iterator goes on: they are what another walk shows.
func TestCopiesStayValid(t *testing.T) {
	blocks := 0
	views := map[string]profile.View{}
	for _, name := range []string{
		"../testdata/irpgo/clang22/ir-run1.profraw", "../testdata/irpgo/llvm22/merged.profdata", "../testdata/memprof/temperatures.memprof.yaml",
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
	for name, v := range views {
		var functions []profile.Function
		for f := range v.Functions() {
			functions = append(functions, *f)
		}
		i := 0
		for f := range v.Functions() {
			blocks += len(f.Blocks)
			if !reflect.DeepEqual(functions[i], *f) {
				t.Errorf("%s: function %d was kept as %+v, is %+v", name, i, functions[i], *f)
			}
			i++
		}
		var traces []profile.Trace
		for tr := range v.Traces() {
			traces = append(traces, *tr)
		}
		i = 0
		for tr := range v.Traces() {
			if !reflect.DeepEqual(traces[i], *tr) {
				t.Errorf("%s: trace %d was kept as %+v, is %+v", name, i, traces[i], *tr)
			}
			i++
		}
	}
	if blocks < 100 {
		t.Errorf("only %d blocks", blocks)
	}
}

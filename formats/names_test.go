package formats_test

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// namesOfServer are the functions of testdata/ctxprof/server.ctxprof; count is local to its file.
var namesOfServer = map[uint64]string{
	3915389061434755994: "status", 11791883140647835408: "request", 12139733832877683823: "_ZL5counti", 702466121698849339: "_Z5depthi",
	13237852335946551813: "_Z3oddi", 7351856092565528794: "_Z4eveni", 6858004646796483151: "_Z5setUpv",
	6679457113271858108: "_Z5twiceIiET_S0_", 11932069236945331924: "_Z5twiceImET_S0_",
}

// TestFunctionNames: a profile names the functions of another by GUID.
func TestFunctionNames(t *testing.T) {
	opt := formats.ViewOptions{Programs: oracle.Testdata(t, "ctxprof/server.proftext")}
	names := oracle.Must(opt.FunctionNames(maps.Keys(namesOfServer)))(t)
	if diff := cmp.Diff(namesOfServer, names); diff != "" {
		t.Error(diff)
	}
	if names := oracle.Must((&formats.ViewOptions{}).FunctionNames(maps.Keys(namesOfServer)))(t); len(names) > 0 {
		t.Errorf("names without programs: %v", names)
	}
}

// TestFunctionNamesOfProgram: a program names functions, also local ones by the path that the compiler was given, and those
// that are inlined everywhere.
func TestFunctionNamesOfProgram(t *testing.T) {
	clang := oracle.Tool(t, "clang++-22")
	program := filepath.Join(t.TempDir(), "server")
	dir := filepath.Dir(oracle.Testdata(t, "ctxprof/src/server.cpp")[0])
	args := []string{"-g", "-O2", "-DFUNCTION=", "-Wl,--unresolved-symbols=ignore-all", "server.cpp", "-o", program}
	if _, stderr, code := oracle.RunIn(t, dir, clang, args...); code != 0 {
		t.Fatal(stderr)
	}
	opt := formats.ViewOptions{Programs: []string{program}}
	names := oracle.Must(opt.FunctionNames(maps.Keys(namesOfServer)))(t)
	if diff := cmp.Diff(namesOfServer, names); diff != "" {
		t.Error(diff)
	}
}

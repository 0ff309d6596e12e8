package cc_test

import (
	"fmt"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestCMake: as the launcher of compilers and linkers, with the flags beside
// it, for a program with a static and a shared library.
func TestCMake(t *testing.T) {
	oracle.Slow(t)
	cmake := oracle.Tool(t, "cmake")
	oracle.Tool(t, "make")
	compilers(t, func(t *testing.T, cc, cxx string) {
		b := newBench(t, "CMakeLists.txt", `
cmake_minimum_required(VERSION 3.21)
project(demo C CXX)
add_library(still STATIC still.c)
add_library(moving SHARED moving.cc)
add_executable(prog main.cc)
target_link_libraries(prog still moving)
`,
			"still.c", "int still(int x) { return x + 1; }\nint idle(int x) { return x; }\n",
			"moving.cc", "int moving(int x) { return x * 2; }\n",
			"main.cc", "#include <cstdio>\nextern \"C\" int still(int);\nint moving(int);\nint main() { std::printf(\"%d\\n\", still(moving(3))); }\n")
		launcher := b.self + ";" + generate + ";--"
		r := b.exec(nil, cmake, "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_C_COMPILER="+cc, "-DCMAKE_CXX_COMPILER="+cxx,
			"-DCMAKE_C_COMPILER_LAUNCHER="+launcher, "-DCMAKE_CXX_COMPILER_LAUNCHER="+launcher,
			"-DCMAKE_C_LINKER_LAUNCHER="+launcher, "-DCMAKE_CXX_LINKER_LAUNCHER="+launcher)
		if r.code != 0 {
			t.Fatal(r.stdout, r.stderr)
		}
		if r = b.exec(nil, cmake, "--build", "build", "-j4"); r.code != 0 || r.stderr != "" {
			t.Fatal(r.stdout, r.stderr)
		}
		b.prints("7\n", nil, "build/prog")
		raw := func(unit string) string { return fmt.Sprintf("default_%04x.mipraw", guid.LinkUnit(unit)&0xffff) }
		b.wantCalls(b.profile("build/prog", raw("prog")), map[string]uint64{"main": 1, "still": 1, "idle": 0})
		b.wantCalls(b.profile("build/libmoving.so", raw("libmoving.so")), map[string]uint64{"_Z6movingi": 1})
	})
}

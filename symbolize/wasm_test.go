package symbolize

import (
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestWasm compares every address of the code of WebAssembly modules with llvm-symbolizer 22. Addresses
// are offsets in the code section, as in DWARF.
func TestWasm(t *testing.T) {
	const linker = "wasm-ld-22 --no-entry --export-all --unresolved-symbols=import-dynamic main.o shapes.o plain.o -o out\ncp main.o main-object\n"
	for _, flags := range []string{"-g -O2", "-gdwarf-5 -O0"} {
		file := build(t, compile("clang++-22", "--target=wasm32 -w "+flags)+linker, "clang++-22", "wasm-ld-22", symbolizer)
		f := open(t, file, Options{})
		addrs := every(t, f, "CODE", 1)
		want := llvmFrames(t, file, addrs)
		for i := range want {
			if len(want[i]) == 1 && want[i][0].File == "" && want[i][0].StartLine == 0 {
				want[i] = nil // the name of a function without debug information, which is not read
			}
		}
		c := compareFrames(t, addrs, batchFrames(t, f, addrs), want)
		if c.withLine < len(addrs)/2 || flags == "-g -O2" && c.inlined == 0 {
			t.Errorf("%s: compared only %+v of %d addresses", flags, c, len(addrs))
		}
		// All functions of an object are at address 0 until it is linked.
		object := oracle.Must(Open(file[:len(file)-len("out")]+"main-object", Options{}))(t)
		if _, err := object.Frames(0); profile.ClassOf(err) != profile.ErrUnsupported {
			t.Errorf("an object: %v", err)
		}
		object.Close()
	}
}

package object

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/test/alike"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// wasmModule begins a module; wasmSectionOf and the other functions are its parts.
const (
	wasmModuleHead    = "\x00asm\x01\x00\x00\x00"
	wasmComponentHead = "\x00asm\x0d\x00\x01\x00"
)

// counted returns a text after its length.
func counted[T string | []byte](text T) string {
	return string(binary.AppendUvarint(nil, uint64(len(text)))) + string(text)
}

func wasmPart(id byte, contents string) string { return string(id) + counted(contents) }

func wasmCustomPart(name, contents string) string { return wasmPart(0, counted(name)+contents) }

// dataSegments are segments of all modes: at a constant, passive, in a named memory at the sum of a global and a
// constant, and without a name.
const dataSegments = "\x04" + "\x00\x41\x80\x08\x0b\x03abc" + "\x01\x02de" + "\x02\x00\x23\x01\x41\x10\x6a\x0b\x01f" + "\x00\x42\x7f\x0b\x00"

// testModule has a name for three of its segments.
func testModule() string {
	names := "\x03" + "\x02" + counted("third") + "\x00" + counted("first") + "\x63" + counted("none")
	return wasmModuleHead + wasmPart(5, "\x01\x04\x01") + wasmPart(11, dataSegments) +
		wasmCustomPart("__llvm_covmap", "mapping") + wasmCustomPart("name", wasmPart(1, "\x00")+wasmPart(9, names))
}

// testObject names its segments for linkers only.
func testObject() string {
	imports := "\x05" + counted("env") + counted("f") + "\x00\x01" + counted("env") + counted("t") + "\x01\x70\x01\x01\x02" +
		counted("env") + counted("g") + "\x03\x7f\x01" + counted("env") + counted("e") + "\x04\x00\x01" +
		counted("env") + counted("__linear_memory") + "\x02\x00\x01"
	segments := "\x02" + counted("first") + "\x00\x00" + counted("second") + "\x03\x01"
	return wasmModuleHead + wasmPart(2, imports) + wasmPart(11, dataSegments) + wasmCustomPart("linking", "\x02"+wasmPart(8, "\x00")+wasmPart(5, segments))
}

// wasmOutline is what the tests expect of an image: its architecture and kind, and each section with its bytes.
func wasmOutline(t *testing.T, im *Image) []string {
	t.Helper()
	list := []string{fmt.Sprint(im.Format, " ", im.Arch, " ", im.PtrSize, " ", im.Kind, " ", im.Movable)}
	for i := range im.Sections {
		s := &im.Sections[i]
		if data := oracle.Must(im.Data(s))(t); s.Loaded {
			list = append(list, fmt.Sprintf("%q at %#x, for linkers: %t: %q", s.Name, s.Addr, s.ForLinker, data))
		} else {
			list = append(list, fmt.Sprintf("%s: %d", s.Name, len(data)))
		}
	}
	return list
}

func TestWasm(t *testing.T) {
	module := []string{
		"MEMORY: 3", "DATA: 29",
		`"first" at 0x400, for linkers: false: "abc"`, `"" at 0x0, for linkers: false: "de"`,
		`"third" at 0x10, for linkers: false: "f"`, `"" at 0xffffffffffffffff, for linkers: false: ""`,
		"__llvm_covmap: 7", "name: 26",
	}
	for _, tc := range []struct {
		name, data string
		want       []string
	}{
		{"module", testModule(), append([]string{"WebAssembly wasm64 8 2 false"}, module...)},
		{"object", testObject(), []string{
			"WebAssembly wasm32 4 1 false", "IMPORT: 61", "DATA: 29",
			`"first" at 0x400, for linkers: true: "abc"`, `"second" at 0x0, for linkers: true: "de"`,
			`"" at 0x10, for linkers: false: "f"`, `"" at 0xffffffffffffffff, for linkers: false: ""`, "linking: 24",
		}},
		// Linkers keep relocations on request.
		{"relocations", wasmModuleHead + wasmCustomPart("linking", "\x02"), []string{"WebAssembly wasm32 4 2 false", "linking: 1"}},
		{"library", wasmModuleHead + wasmCustomPart("dylink.0", ""), []string{"WebAssembly wasm32 4 4 true", "dylink.0: 0"}},
		{
			"component", wasmComponentHead + wasmPart(7, "x") + wasmPart(4, wasmComponentHead+wasmPart(1, testModule())) + wasmPart(1, testModule()),
			slices.Concat([]string{"WebAssembly wasm64 8 2 false"}, module, module),
		},
		// A damaged "name" leaves out names.
		{
			"damaged names", wasmModuleHead + wasmPart(11, dataSegments[:0]+"\x01\x01\x01a") + wasmCustomPart("name", "\x09\xff\xff\x03"),
			[]string{"WebAssembly wasm32 4 2 false", "DATA: 4", `"" at 0x0, for linkers: false: "a"`, "name: 4"},
		},
		{"unknown section", wasmModuleHead + wasmPart(40, "x"), []string{"WebAssembly wasm32 4 2 false", "WebAssembly section 40: 1"}},
	} {
		im, err := Parse("x.wasm", []byte(tc.data), "")
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		alike.Values(t, tc.name+" (-want +got)", tc.want, wasmOutline(t, im))
	}
}

func TestWasmRefuses(t *testing.T) {
	deep := []byte(wasmComponentHead)
	for range maxWasmLevels {
		deep = []byte(wasmComponentHead + wasmPart(4, string(deep)))
	}
	for data, want := range map[string]string{
		"\x00asm\x02\x00\x00\x00":                                 "x.wasm: WebAssembly header at 0x4: version is 0x2, want 0x1 of a module, or 0x1000d of a component: unsupported program",
		wasmModuleHead + "\x0b\x05":                               "x.wasm: WebAssembly sections at 0xa (record 0): length of the contents is 5 bytes, want at most the 0 bytes left: truncated program",
		wasmModuleHead + wasmPart(11, "\x7f"):                     "x.wasm: DATA at 0xb: number of data segments is 127, want at most 0 in the 0 bytes left: truncated program",
		wasmModuleHead + wasmPart(11, "\x01\x00\x10\x00\x0b\x00"): "x.wasm: DATA at 0xc (record 0): instruction of an address is 0x10, want a constant, a global, or arithmetic: unsupported program",
		wasmComponentHead + wasmPart(1, "12345678"):               `x.wasm: WebAssembly header at 0xa: magic is "1234", want "\x00asm": corrupt program`,
		string(deep): fmt.Sprintf("x.wasm: WebAssembly header at %#x: components in components is more than 16, want at most 16: unsupported program", bytes.LastIndex(deep, []byte(wasmComponentHead))),
	} {
		if _, err := Parse("x.wasm", []byte(data), ""); err == nil || err.Error() != want {
			t.Errorf("%.40q:\n got %v\nwant %s", data, err, want)
		}
	}
}

// wasmSeeds are the modules of this file, and modules of compilers.
func wasmSeeds(t testing.TB) [][]byte {
	seeds := [][]byte{[]byte(testModule()), []byte(testObject()), []byte(wasmComponentHead + wasmPart(4, wasmComponentHead+wasmPart(1, testModule())))}
	paths := oracle.Must(filepath.Glob(filepath.Join(oracle.Root(t), "testdata/wasm/*")))(t)
	for _, path := range paths {
		if data := oracle.Must(os.ReadFile(path))(t); isWasm(data) {
			seeds = append(seeds, data)
		}
	}
	return seeds
}

// checkWasm fails unless data is refused with a place, or all its sections are in it and data segments do not overlap.
func checkWasm(t *testing.T, data []byte) {
	t.Helper()
	im, err := Parse("x.wasm", data, "")
	if err != nil {
		hostile.Check(t, "x.wasm", data, err)
		return
	}
	end := int64(0) // of the last data segment
	for i := range im.Sections {
		s := &im.Sections[i]
		b, err := im.Data(s)
		at := im.FileOffset(s)
		if err != nil || at < 8 || !bytes.Equal(b, data[at:at+int64(s.Size)]) || s.Size != s.FileSize {
			t.Fatalf("section %d, %q: %d bytes at %#x of %d: %v", i, s.Name, s.Size, at, len(data), err)
		}
		if s.Loaded {
			if at < end {
				t.Fatalf("data segment %d begins at %#x, before %#x", i, at, end)
			}
			end = at + int64(s.Size)
		}
	}
}

// TestWasmDamage cuts modules at every byte and flips their bits. What is cut off within a section is truncated.
func TestWasmDamage(t *testing.T) {
	meter := hostile.Meter{PerRead: 4 << 10}
	for _, seed := range wasmSeeds(t) {
		for _, cut := range hostile.Cuts(seed, 1) {
			if len(cut) > 0 {
				meter.Read(t, len(cut))
				checkWasm(t, cut)
			}
		}
		for _, flipped := range hostile.Flips(seed, 31) {
			meter.Read(t, len(flipped))
			checkWasm(t, flipped)
		}
	}
}

// FuzzWasm: sections are in the file and data segments do not overlap, or the file is refused with a place.
func FuzzWasm(f *testing.F) {
	for _, seed := range wasmSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if isWasm(data) {
			checkWasm(t, data)
		}
	})
}

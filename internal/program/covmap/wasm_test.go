package covmap

import (
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/llvm/zlibtext"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

const wasmdata = "../../../testdata/wasm"

// TestWasm: every module and object that has a mapping gives the coverage that llvm-cov 22 gives for the module of
// clang 22 with the same counts. Objects, modules without names of data segments, and mappings of older compilers are
// more than llvm-cov reads.
func TestWasm(t *testing.T) {
	names, err := filepath.Glob(wasmdata + "/*-*.[wo]*")
	if err != nil || len(names) < 12 {
		t.Fatal(names, err)
	}
	want := string(oracle.ReadFile(t, wasmdata+"/program-22.lcov"))
	older := branchesInMacros.ReplaceAllString(want, "")
	for _, name := range names {
		base, release := filepath.Base(name), regexp.MustCompile(`\d+`).FindString(filepath.Base(name))
		data := oracle.ReadFile(t, name)
		_, err := Read(base, data, Options{LLVM: true})
		llvm := map[string]bool{"all-22.wasm": true, "used-22.wasm": true}[base]
		if (err == nil) != llvm {
			t.Errorf("%s as llvm-cov reads it: %v", base, err)
		}
		if base == "lost-16.wasm" {
			_, err = Read(base, data, Options{})
			if profile.ClassOf(err) != profile.ErrEmpty || !strings.HasSuffix(err.Error(), "; "+wasmHint+": empty program file") {
				t.Errorf("%s: %v", base, err)
			}
			continue
		}
		lcov, _ := exports(t, evaluate(t, readProfile(t, wasmdata+"/program-"+release+".profraw"), name))
		if release == "22" {
			compare(t, base, lcov, want)
		} else {
			compare(t, base, branchesInMacros.ReplaceAllString(lcov, ""), older)
		}
	}
}

// TestWasmOfRust: a module of rustc gives the coverage that llvm-cov 22 gives.
func TestWasmOfRust(t *testing.T) {
	lcov, _ := exports(t, evaluate(t, readProfile(t, wasmdata+"/rust.profraw"), wasmdata+"/rust.wasm"))
	compare(t, "rust.wasm", lcov, string(oracle.ReadFile(t, wasmdata+"/rust.lcov")))
}

var branchesInMacros = regexp.MustCompile(`(?m)^BR.*\n`)

// segment is a module with one data segment, which has no name, and with custom sections.
func segment(data string, custom map[string]string) []byte {
	sized := func(id byte, s string) string { return string(id) + string(cursor.AppendULEB(nil, uint64(len(s)))) + s }
	counted := func(s string) string { return string(cursor.AppendULEB(nil, uint64(len(s)))) + s }
	module := "\x00asm\x01\x00\x00\x00" + sized(11, "\x01\x01"+counted(data))
	for _, name := range []string{"__llvm_covmap", "__llvm_covfun"} {
		if custom[name] != "" {
			module += sized(0, counted(name)+custom[name])
		}
	}
	return []byte(module)
}

// TestFindNames: names are found between other data, compressed or not, and nothing else is taken for names.
func TestFindNames(t *testing.T) {
	names := []string{"system_header", "pick", "a.c:twice"}
	text := strings.Join(names, nameSeparator)
	uleb := func(n int) string { return string(cursor.AppendULEB(nil, uint64(n))) }
	packed := string(zlibtext.Deflate(text))
	stored := uleb(len(text)) + uleb(0) + text
	compressed := uleb(len(text)) + uleb(len(packed)) + packed
	long := strings.Repeat("n", 5000)
	rng := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 3000)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	// Other lists of names, and zlib streams of other data.
	others := uleb(5) + uleb(0) + "other" + "IDATx\x9c" + string(zlibtext.Deflate("another")) + uleb(7) + uleb(15) + string(zlibtext.Deflate("another"))
	for _, tc := range []struct {
		what, data string
		wanted     []string
		found      string
	}{
		{"stored", stored, names[1:], stored},
		{"compressed", compressed, names[1:], compressed},
		{"in other data", string(noise) + "\x00" + compressed + "\x00\x00" + stored + others, names[1:], compressed + stored},
		{"of two numbers", "\x05" + uleb(len(long)) + uleb(0) + long + "\x00", []string{long}, uleb(len(long)) + uleb(0) + long},
		{"others", string(noise) + others + text, names, ""},
		{"cut off", stored[:len(stored)-1] + "\x00", names, ""},
		{"empty", "", names, ""},
	} {
		f := nameFinder{wanted: make(map[uint64]bool), text: 1 << 20, tries: maxTries}
		for _, name := range tc.wanted {
			f.wanted[irpgo.NameRef(name)] = true
		}
		f.search(0, []byte(tc.data))
		got := ""
		if f.found != nil {
			got = string(f.found.data)
		}
		if got != tc.found {
			t.Errorf("%s: found %.80q, want %.80q", tc.what, got, tc.found)
		}
	}
}

// TestFindBounds: data that look like mappings and names everywhere cost memory and time in proportion to the file.
func TestFindBounds(t *testing.T) {
	const size = 1 << 20
	list := binary.LittleEndian.AppendUint32(make([]byte, 4, 16), size/2)
	list = append(list, 0, 0, 0, 0, 6, 0, 0, 0)
	record := strings.Repeat("\x07", 28)
	stream := string(zlibtext.Deflate(strings.Repeat("x", 1<<16)))
	almost := "\xff\xff\x03" + string(cursor.AppendULEB(nil, uint64(len(stream)))) + stream
	for what, data := range map[string][]byte{
		"lists":   segment(strings.Repeat(string(list), size/16), nil),
		"streams": segment(strings.Repeat(almost, size/len(almost)), map[string]string{"__llvm_covmap": string(list), "__llvm_covfun": record}),
		"names":   segment(strings.Repeat("\xff\xff\x3f\x00", size/4), map[string]string{"__llvm_covmap": string(list), "__llvm_covfun": record}),
		"text":    segment("\xff\xff\x3f\x00"+strings.Repeat("\xff", size), map[string]string{"__llvm_covmap": string(list), "__llvm_covfun": record}),
	} {
		before := hostile.Allocated()
		_, err := Read("x.wasm", data, Options{LeaveOut: true})
		hostile.CheckType(t, "x.wasm", err)
		if used := hostile.Allocated() - before; used > 100<<20 {
			t.Errorf("%s: %d MB allocated for %d KB", what, used>>20, len(data)>>10)
		}
	}
}

// TestWasmDamage cuts modules at every byte and flips bits in them: an error or another coverage, but no panic.
func TestWasmDamage(t *testing.T) {
	counts := readProfile(t, wasmdata+"/program-22.profraw")
	for _, name := range []string{"stripped-16.wasm", "stripped-22.wasm", "all-22.wasm", "program-19.o"} {
		data := oracle.ReadFile(t, wasmdata+"/"+name)
		try := func(data []byte) {
			m, err := Read("damaged.wasm", data, Options{LeaveOut: true})
			if hostile.CheckType(t, "damaged.wasm", err) != nil {
				return
			}
			if c, err := Evaluate(m, counts, EvaluateOptions{}); err == nil {
				_, _ = exports(t, c)
			}
		}
		for _, cut := range hostile.Cuts(data, 5) {
			try(cut)
		}
		for _, flipped := range hostile.Flips(data, 61) {
			try(flipped)
		}
	}
}

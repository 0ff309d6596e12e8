package symbolize

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestSplit compares split DWARF: with .dwo files, with a package file, with
// one file missing, in which case the error must name it.
func TestSplit(t *testing.T) {
	for _, v := range []struct {
		name, compiler, flags, dwp string
	}{
		{"dwarf5", "clang++-22", "-gdwarf-5", "llvm-dwp-22"},
		{"dwarf4", "clang++-22", "-gdwarf-4", "llvm-dwp-22"},
		{"dwarf4-gnu-dwp", "clang++-22", "-gdwarf-4", "dwp"},
		{"dwarf5-clang14", "clang++-14", "-gdwarf-5", "llvm-dwp-22"},
		{"dwarf5-inlining", "clang++-22", "-gdwarf-5 -fsplit-dwarf-inlining", "llvm-dwp-22"},
		{"dwarf4-no-inlining", "clang++-22", "-gdwarf-4 -fno-split-dwarf-inlining", "llvm-dwp-22"},
		{"dwarf5-ranges", "clang++-22", "-gdwarf-5 -ffunction-sections", "llvm-dwp-22"},
		{"dwarf4-ranges", "clang++-22", "-gdwarf-4 -ffunction-sections", "llvm-dwp-22"},
		{"dwarf5-gcc", "g++", "-gdwarf-5", ""}, // llvm-dwp never ends on this and on 64-bit DWARF
		{"dwarf4-gcc", "g++", "-gdwarf-4", "dwp"},
		{"dwarf5-types", "clang++-22", "-gdwarf-5 -fdebug-types-section", "llvm-dwp-22"},
		{"dwarf5-m32", "clang++-22", "-gdwarf-5 -m32", "llvm-dwp-22"},
		{"dwarf5-64bit", "clang++-22", "-gdwarf-5 -gdwarf64", ""},
	} {
		t.Run(v.name, func(t *testing.T) {
			if v.name != "dwarf5" {
				oracle.Slow(t)
			}
			t.Parallel()
			file := build(t, program(v.compiler, "-gsplit-dwarf -O2 "+v.flags, "-static"), v.compiler)
			dir := filepath.Dir(file)
			if c := compareELF(t, file, 1); c.inlined == 0 {
				t.Errorf("compared nothing: %+v", c)
			}
			f := open(t, file, Options{})
			addrs := every(t, f, ".text", 1)
			whole := batchFrames(t, f, addrs)

			if v.dwp != "" {
				_, stderr, code := oracle.Run(t, oracle.Tool(t, "sh"), "-c",
					"cd '"+dir+"' && "+oracle.Tool(t, v.dwp)+" -e out -o out.dwp")
				if code != 0 {
					t.Fatal(stderr)
				}
			}
			missing := filepath.Join(dir, "shapes.dwo")
			if err := os.Rename(missing, missing+".away"); err != nil {
				t.Fatal(err)
			}
			if v.dwp != "" {
				compareELF(t, file, 1)
				f := open(t, file, Options{})
				compareFrames(t, addrs, batchFrames(t, f, addrs), whole)
				os.Rename(file+".dwp", file+".package")
				f = open(t, file, Options{DWP: file + ".package"})
				compareFrames(t, addrs, batchFrames(t, f, addrs), whole)
			}
			compareELF(t, file, 1)
			f = open(t, file, Options{})
			err := f.Batch(addrs, func(int, []Frame) {})
			split := (*splitError)(nil)
			if !errors.As(err, &split) || split.Path != missing || split.File != file || !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("error %v, want one that names %s", err, missing)
			}

			// A .dwo file of another compilation.
			oracle.WriteFile(t, missing, oracle.ReadFile(t, filepath.Join(dir, "main.dwo")))
			f = open(t, file, Options{})
			if err := f.Batch(addrs, func(int, []Frame) {}); !errors.Is(err, profile.ErrMismatch) {
				t.Errorf("with another .dwo file: error %v", err)
			}
		})
	}
}

// TestSplitBeside finds .dwo files beside a program that was moved.
func TestSplitBeside(t *testing.T) {
	t.Parallel()
	file := build(t, program("clang++-22", "-g -O2 -gsplit-dwarf", "-static"), "clang++-22")
	f := open(t, file, Options{})
	addrs := every(t, f, ".text", 1)
	want := batchFrames(t, f, addrs)
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(filepath.Dir(file), moved); err != nil {
		t.Fatal(err)
	}
	f = open(t, filepath.Join(moved, "out"), Options{})
	if err := f.Batch(addrs[:1], func(int, []Frame) {}); err != nil {
		t.Error(err)
	}
	compareFrames(t, addrs, batchFrames(t, f, addrs), want)
}

// TestSeparate compares stripped programs whose debug information is in
// another file, found by build id or by .gnu_debuglink.
func TestSeparate(t *testing.T) {
	t.Parallel()
	file := build(t, program("clang++-22", "-g -O2", "-static -Wl,--build-id=0xabcdef0123456789")+`
llvm-objcopy-22 --only-keep-debug out out.debug
llvm-strip-22 out -o stripped
mkdir -p dirs/.build-id/ab .debug elsewhere$PWD
cp out.debug dirs/.build-id/ab/cdef0123456789.debug
llvm-objcopy-22 --add-gnu-debuglink=out.debug stripped linked
cp out.debug elsewhere$PWD
`, "clang++-22", "llvm-objcopy-22", "llvm-strip-22")
	dir := filepath.Dir(file)
	at := func(name string) string { return filepath.Join(dir, name) }
	f := open(t, file, Options{})
	addrs := every(t, f, ".text", 1)
	want := batchFrames(t, f, addrs)
	none := make([][]Frame, len(addrs))

	check := func(name, path string, opt Options, want [][]Frame, wantFile string) {
		t.Helper()
		f := open(t, path, opt)
		if got, err := f.DebugFile(); got != wantFile || err != nil {
			t.Errorf("%s: debug file %q, %v; want %q", name, got, err, wantFile)
		}
		compareFrames(t, addrs, batchFrames(t, f, addrs), want)
	}
	check("no file", at("stripped"), Options{}, none, "")
	byID := at("dirs/.build-id/ab/cdef0123456789.debug")
	check("build id", at("stripped"), Options{DebugDirs: []string{at("x"), at("dirs")}}, want, byID)
	check("not wanted", at("stripped"), Options{DebugDirs: []string{at("dirs")}, NoDebugFiles: true}, none, "")
	check("link", at("linked"), Options{}, want, at("out.debug"))
	check("build id before link", at("linked"), Options{DebugDirs: []string{at("dirs")}}, want, byID)
	os.Rename(at("out.debug"), at(".debug/out.debug"))
	check("link to .debug", at("linked"), Options{}, want, at(".debug/out.debug"))
	os.Remove(at(".debug/out.debug"))
	check("link to a debug folder", at("linked"), Options{DebugDirs: []string{at("elsewhere")}}, want, filepath.Join(at("elsewhere"), dir, "out.debug"))
	check("no file at the link", at("linked"), Options{}, none, "")

	// As llvm-symbolizer says it; there is no symbol table in these.
	for _, name := range []string{"stripped", "linked"} {
		f := open(t, at(name), Options{SymbolTable: true, DebugDirs: []string{at("dirs")}})
		compareFrames(t, addrs, batchFrames(t, f, addrs),
			llvmFrames(t, at(name), addrs, "--debug-file-directory="+at("dirs")))
	}

	// Files that are there, but of another program.
	other := append(oracle.ReadFile(t, byID), 0)
	oracle.WriteFile(t, at("out.debug"), other)
	check("link with another checksum", at("linked"), Options{}, none, "")
	oracle.WriteFile(t, byID, oracle.ReadFile(t, build(t, program("clang++-22", "-g", "-static"))))
	check("file of another build id", at("stripped"), Options{DebugDirs: []string{at("dirs")}}, none, "")
}

// TestRefused: what cannot be looked up says so.
func TestRefused(t *testing.T) {
	object := build(t, compile("clang++-22", "-g")+"cp main.o out", "clang++-22")
	f := open(t, object, Options{})
	if _, err := f.Frames(0); !errors.Is(err, profile.ErrUnsupported) || !strings.Contains(err.Error(), "relocatable") {
		t.Errorf("a relocatable object: %v", err)
	}
	for _, v := range []struct {
		name  string
		data  string
		opt   Options
		class error
	}{
		{"empty", "", Options{}, profile.ErrEmpty},
		{"text", "hello, world\n", Options{}, profile.ErrUnrecognized},
		{"short", "\x7f", Options{}, profile.ErrUnrecognized},
		{"magic alone", "\x7fELF", Options{}, profile.ErrTruncated},
		{"mach-o magic alone", "\xcf\xfa\xed\xfe", Options{}, profile.ErrTruncated},
		{"fat without slices", "\xca\xfe\xba\xbe\x00\x00\x00\x00", Options{}, profile.ErrMismatch},
		{"java class", "\xca\xfe\xba\xbe\x00\x00\x00\x34", Options{}, profile.ErrUnrecognized},
	} {
		_, err := New(v.name, []byte(v.data), v.opt)
		fe := (*profile.FormatError)(nil)
		if !errors.Is(err, v.class) || !errors.As(err, &fe) || fe.File != v.name {
			t.Errorf("%s: %v, want %v", v.name, err, v.class)
		}
	}
	if _, err := Open(object, Options{Arch: "arm64"}); !errors.Is(err, profile.ErrMismatch) {
		t.Errorf("another architecture: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "missing"), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := Open(object, Options{DWP: "x"}); err != nil {
		t.Error(err)
	}
}

// TestBatchOrder: the order of the answers does not depend on the number of
// workers, and equal addresses share their frames.
func TestBatchOrder(t *testing.T) {
	t.Parallel()
	file := build(t, program("clang++-22", "-g -O2", "-static"), "clang++-22")
	var addrs []uint64
	{
		f := open(t, file, Options{})
		all := every(t, f, ".text", 1)
		for i := range 5 * len(all) {
			addrs = append(addrs, all[i*7919%len(all)]) // a prime: each address five times
		}
		addrs = append(addrs, 0, 1<<63, 0)
	}
	var want []int
	for _, workers := range []int{1, 2, 7} {
		f := open(t, file, Options{Workers: workers})
		var order []int
		var frames [][]Frame
		if err := f.Batch(addrs, func(i int, fr []Frame) {
			order = append(order, i)
			frames = append(frames, fr)
		}); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = order
		}
		if !slices.Equal(order, want) {
			t.Errorf("%d workers: another order", workers)
		}
		for k := 1; k < len(order); k++ {
			same := addrs[order[k]] == addrs[order[k-1]]
			if same && (order[k] < order[k-1] || !slices.Equal(frames[k], frames[k-1])) {
				t.Fatalf("address %d, equal to %d, gets %v after %v", order[k], order[k-1], frames[k], frames[k-1])
			}
		}
	}
	slices.Sort(want)
	for i := range want {
		if want[i] != i {
			t.Fatalf("index %d is missing", i)
		}
	}
	f := open(t, file, Options{})
	if err := f.Batch(nil, func(int, []Frame) { t.Error("yielded without addresses") }); err != nil {
		t.Error(err)
	}
}

// TestCache: Frames gives the same with and without room for what it has read, and Batch of a program in memory.
func TestCache(t *testing.T) {
	t.Parallel()
	file := build(t, program("clang++-22", "-g -O2", "-static"), "clang++-22")
	large, small := open(t, file, Options{}), open(t, file, Options{CacheSize: 1})
	addrs := every(t, large, ".text", 3)
	memory, err := New("memory", oracle.ReadFile(t, file), Options{})
	if err != nil || memory.Name != "memory" {
		t.Fatalf("%+v, %v", memory, err)
	}
	defer memory.Close()
	compareFrames(t, addrs, batchFrames(t, memory, addrs), batchFrames(t, large, addrs))
	for i := range addrs {
		addr := addrs[i*31%len(addrs)]
		a, err1 := large.Frames(addr)
		b, err2 := small.Frames(addr)
		if err1 != nil || err2 != nil || !slices.Equal(a, b) {
			t.Fatalf("%#x: %v, %v and %v, %v", addr, a, err1, b, err2)
		}
	}
	if n := len(large.units.byIndex); n < 3 {
		t.Errorf("%d units kept, want all", n)
	}
	if n := len(small.units.byIndex); n != 1 {
		t.Errorf("%d units kept without room, want the last", n)
	}
}

// TestConcurrent: a file may be used by several goroutines; for the race detector.
func TestConcurrent(t *testing.T) {
	for _, fx := range fixtures(t) {
		f := open(t, fx.file, Options{Arch: fx.arch, SymbolTable: true, CacheSize: 1})
		addrs := every(t, f, fx.text, 1)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				want := make([][]Frame, len(addrs))
				if err := f.Batch(addrs, func(i int, fr []Frame) { want[i] = fr }); err != nil {
					t.Error(err)
				}
				for i := 0; i < len(addrs); i += 7 {
					got, err := f.Frames(addrs[i])
					if err != nil || !slices.Equal(got, want[i]) {
						t.Errorf("%s: %#x: %v, %v; want %v", fx.name, addrs[i], got, err, want[i])
					}
					if _, _, err := f.Symbol(addrs[i]); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	}
}

package symbolize

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/internal/program/dwarf"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func fixtureFile(t testing.TB, name string) string {
	return filepath.Join(oracle.Root(t), "testdata", "symbolize", "fixtures", name)
}

// copied returns a copy of a file, large enough to be mapped.
func copied(t testing.TB, file string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(file))
	oracle.WriteFile(t, to, append(oracle.ReadFile(t, file), make([]byte, 1<<20)...))
	old := time.Now().Add(-time.Hour) // a new file is copied instead of mapped
	if err := os.Chtimes(to, old, old); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestFacts(t *testing.T) {
	for _, tc := range []struct {
		name      string
		opt       Options
		machO     bool
		arch      string
		pointer   int
		bigEndian bool
	}{
		{"c-dwarf2-m32", Options{}, false, "i386", 4, false},
		{"c-dwarf4-ppc64-zstd", Options{}, false, "powerpc64", 8, true},
		{"c-universal", Options{Arch: "arm64"}, true, "arm64", 8, false},
		{"c-universal", Options{Arch: "x86_64"}, true, "x86_64", 8, false},
	} {
		f := open(t, fixtureFile(t, tc.name), tc.opt)
		if f.MachO != tc.machO || f.Arch != tc.arch || f.PointerSize != tc.pointer || f.BigEndian != tc.bigEndian {
			t.Errorf("%s: Mach-O %t, %s, %d bytes, big-endian %t", tc.name, f.MachO, f.Arch, f.PointerSize, f.BigEndian)
		}
	}
}

// TestSplitMissing: without its .dwo and .dwp files a program still tells files
// and lines, and which file it misses.
func TestSplitMissing(t *testing.T) {
	file := copied(t, fixtureFile(t, "c-split"))
	f := open(t, file, Options{})
	known := 0
	err := f.Batch(every(t, f, ".text", 1), func(_ int, frames []Frame) {
		if len(frames) > 0 && frames[0].Line > 0 {
			known++
		}
	})
	split, ok := errors.AsType[*splitError](err)
	if !ok || split.File != file || !strings.HasSuffix(split.Path, ".dwo") || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%#v", err)
	}
	want := file + ": debug information is split off into " + split.Path + ": no such file or directory (keep it, or make c-split.dwp with llvm-dwp)"
	if split.Error() != want || known == 0 {
		t.Errorf("%d lines known, %q, want %q", known, split.Error(), want)
	}
	// The compiler's word for it may name anything.
	if err := os.MkdirAll(filepath.Join(filepath.Dir(file), filepath.Base(split.Path)), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := readRegular(filepath.Dir(file)); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder was read: %v", err)
	}
}

// TestDWPUnreadable: the package file that was asked for must be there, and be one.
func TestDWPUnreadable(t *testing.T) {
	for _, tc := range []struct {
		dwp   string
		class error
	}{
		{filepath.Join(t.TempDir(), "missing"), fs.ErrNotExist},
		{fixtureFile(t, "c-split.frames"), profile.ErrUnrecognized},
	} {
		f := open(t, fixtureFile(t, "c-split"), Options{DWP: tc.dwp})
		err := f.Batch([]uint64{0}, func(int, []Frame) { t.Error("yielded") })
		if !errors.Is(err, tc.class) || !strings.Contains(err.Error(), tc.dwp) {
			t.Errorf("%s: %v, want %v", tc.dwp, err, tc.class)
		}
		if _, err := f.DebugFile(); !errors.Is(err, tc.class) {
			t.Errorf("%s: %v, want %v", tc.dwp, err, tc.class)
		}
		if _, err := f.problems(); !errors.Is(err, tc.class) {
			t.Errorf("%s: %v, want %v", tc.dwp, err, tc.class)
		}
		if err := f.probes(func(*dwarf.Probe) { t.Error("yielded") }); !errors.Is(err, tc.class) {
			t.Errorf("%s: %v, want %v", tc.dwp, err, tc.class)
		}
	}
}

// isCut demands the error of a mapped file that became shorter.
func isCut(t *testing.T, what, file string, err error) {
	t.Helper()
	fe, ok := errors.AsType[*profile.FormatError](err)
	if !ok || profile.ClassOf(fe) != profile.ErrTruncated || fe.File != file || fe.Offset != 100 || fe.Got != "100 bytes" {
		t.Errorf("%s: %v", what, err)
	}
}

// TestCutWhileRead: whatever is asked of a file that another process cut short meanwhile is an error.
func TestCutWhileRead(t *testing.T) {
	from := fixtureFile(t, "cpp-dwarf5")
	cut := func(file string) {
		if err := os.Truncate(file, 100); err != nil {
			t.Fatal(err)
		}
	}
	file := copied(t, from)
	f := open(t, file, Options{})
	cut(file)
	_, _, err := f.Symbol(0)
	isCut(t, "Symbol", file, err)
	_, err = f.Symbols()
	isCut(t, "Symbols", file, err)
	_, err = f.Section(".text").Data()
	isCut(t, "Data", file, err)
	isCut(t, "Batch", file, f.Batch([]uint64{0}, func(int, []Frame) { t.Error("yielded") }))

	// Debug information and symbols have been found before.
	file = copied(t, from)
	f = open(t, file, Options{SymbolTable: true})
	addrs := every(t, f, ".text", 1)
	batchFrames(t, f, addrs)
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	cut(file)
	isCut(t, "Batch", file, f.Batch(addrs, func(int, []Frame) { t.Error("yielded") }))
	for s := range symbols {
		t.Errorf("symbol %+v", s)
	}

	// More answers than wait to be taken.
	file = copied(t, from)
	f = open(t, file, Options{})
	none := make([]uint64, 5*chunk)
	for i := range none {
		none[i] = 1<<40 + uint64(i)
	}
	yielded := 0
	err = f.Batch(none, func(int, []Frame) {
		if yielded++; yielded == 1 {
			cut(file)
		}
	})
	isCut(t, "Batch", file, err)
	if yielded == 0 || yielded == len(none)+1 {
		t.Errorf("yielded %d times", yielded)
	}
}

// TestGivenUp: a caller that goes no further leaves nothing running.
func TestGivenUp(t *testing.T) {
	f := open(t, fixtureFile(t, "cpp-dwarf5"), Options{})
	addrs := every(t, f, ".text", 1)
	for i := range 5 * chunk {
		addrs = append(addrs, 1<<40+uint64(i))
	}
	func() {
		defer func() {
			if cause := fmt.Sprint(recover()); cause != "enough" {
				t.Errorf("recovered %q", cause)
			}
		}()
		f.Batch(addrs, func(i int, _ []Frame) {
			if addrs[i] >= 1<<40 {
				panic("enough")
			}
		})
	}()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for range symbols {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d symbols", n)
	}
}

// TestProbes: what the compiler says of the counters of functions, as llvm-profdata prints it.
func TestProbes(t *testing.T) {
	f := open(t, filepath.Join(oracle.Root(t), "testdata", "correlate", "debug-info.elf"), Options{NoDebugFiles: true})
	counters := f.Section("__llvm_prf_cnts")
	var got []string
	err := f.probes(func(p *dwarf.Probe) {
		if p.Has != dwarf.HasFunction|dwarf.HasHash|dwarf.HasCounters|dwarf.HasCounter|dwarf.HasEntry {
			t.Errorf("%s has %b", p.Function, p.Has)
		}
		got = append(got, fmt.Sprintf("%s %s 0x%X 0x%X %d %s %d",
			p.Function, p.LinkageName, p.Hash, p.Counter-counters.Addr, p.Counters, filepath.Base(p.File), p.Line))
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"main main 0x67CB11DEE38D90A 0x0 5 dispatch.c 42",
		"dispatch.c;copy copy 0xAB83CCDFFFFFFF 0x28 1 dispatch.c 37",
		"dispatch.c;op10 op10 0xA4D0AD3EFFFFFFF 0x30 1 dispatch.c 15",
	} {
		if i >= len(got) || got[i] != want {
			t.Errorf("probe %d of %d, want %s, have\n%s", i, len(got), want, strings.Join(got[:min(3, len(got))], "\n"))
		}
	}
	if len(got) != 42 {
		t.Errorf("%d probes", len(got))
	}
	f = open(t, fixtureFile(t, "cpp-dwarf5"), Options{})
	if err := f.probes(func(p *dwarf.Probe) { t.Errorf("%+v", p) }); err != nil {
		t.Error(err)
	}
}

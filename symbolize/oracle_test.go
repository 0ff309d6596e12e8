package symbolize

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// build runs a shell script in a fresh folder that has testdata/symbolize as "src", and returns the path of the
// file "out" that it makes. The tools it uses are named, so that the test is skipped if one is missing.
func build(t testing.TB, script string, tools ...string) string {
	t.Helper()
	for _, tool := range tools {
		oracle.Tool(t, tool)
	}
	dir := t.TempDir()
	src := filepath.Join(oracle.Root(t), "testdata", "symbolize")
	if err := os.CopyFS(filepath.Join(dir, "src"), os.DirFS(src)); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := oracle.Run(t, oracle.Tool(t, "sh"), "-c", "set -e\ncd '"+dir+"'\n"+script)
	if code != 0 {
		t.Fatalf("%s\nexit code %d\n%s%s", script, code, stdout, stderr)
	}
	return filepath.Join(dir, "out")
}

// freestanding are the flags for code without a C library.
const freestanding = "-ffreestanding -fno-exceptions -fno-rtti -fno-asynchronous-unwind-tables -fno-stack-protector"

// compile is the script that compiles the program with a C++ compiler.
func compile(compiler, flags string) string {
	return fmt.Sprintf("%[1]s %[2]s %[3]s -c src/main.cpp src/shapes.cpp\n%[1]s %[2]s %[4]s -x c -c src/plain.c\n",
		compiler, flags, freestanding, strings.Replace(freestanding, "-fno-rtti", "", 1))
}

// program is the script that compiles and links the program.
func program(compiler, flags, linkFlags string) string {
	return compile(compiler, flags) +
		fmt.Sprintf("%s %s -nostdlib %s main.o shapes.o plain.o -o out\n", compiler, flags, linkFlags)
}

// symbolizer is the oracle.
const symbolizer = "llvm-symbolizer-22"

// llvmFrames returns what llvm-symbolizer says of the addresses.
func llvmFrames(t testing.TB, file string, addrs []uint64, args ...string) [][]Frame {
	t.Helper()
	var list strings.Builder
	for _, a := range addrs {
		fmt.Fprintf(&list, "%#x\n", a)
	}
	response := filepath.Join(t.TempDir(), "addresses")
	oracle.WriteFile(t, response, []byte(list.String()))
	args = append(args, "--output-style=JSON", "--functions=linkage", "--inlines", "--no-demangle", "--obj="+file, "@"+response)
	stdout, stderr, code := oracle.Run(t, oracle.Tool(t, symbolizer), args...)
	if code != 0 {
		t.Fatalf("%s: exit code %d\n%s", symbolizer, code, stderr)
	}
	var answers []struct {
		Symbol []struct {
			Column, Discriminator, Line, StartLine uint32
			FileName, FunctionName                 string
		}
	}
	if err := json.Unmarshal([]byte(stdout), &answers); err != nil {
		t.Fatalf("%s: %v\n%.500s\n%s", symbolizer, err, stdout, stderr)
	}
	if len(answers) != len(addrs) {
		t.Fatalf("%s gave %d answers to %d addresses", symbolizer, len(answers), len(addrs))
	}
	frames := make([][]Frame, len(addrs))
	for i, a := range answers {
		for k, s := range a.Symbol {
			frames[i] = append(frames[i], Frame{
				Function: s.FunctionName, File: s.FileName, Line: s.Line, Column: s.Column,
				StartLine: s.StartLine, Discriminator: s.Discriminator, IsInlined: k+1 < len(a.Symbol),
			})
		}
		// It prints a frame of zeros where it knows nothing.
		if len(frames[i]) == 1 && frames[i][0] == (Frame{}) {
			frames[i] = nil
		}
	}
	return frames
}

// batch is what Batch says of the addresses.
func batchFrames(t testing.TB, f *File, addrs []uint64) [][]Frame {
	t.Helper()
	frames := make([][]Frame, len(addrs))
	calls := 0
	err := f.Batch(addrs, func(i int, fr []Frame) {
		frames[i] = fr
		calls++
	})
	if split := (*splitError)(nil); err != nil && !errors.As(err, &split) {
		t.Error(err)
	}
	if calls != len(addrs) {
		t.Errorf("Batch yielded %d times for %d addresses", calls, len(addrs))
	}
	return frames
}

// every returns every address of a section, or every step-th.
func every(t testing.TB, f *File, section string, step uint64) []uint64 {
	t.Helper()
	s := f.Section(section)
	if s == nil || s.Size == 0 {
		t.Fatalf("%s has no section %s", f.Name, section)
	}
	var addrs []uint64
	for a := uint64(0); a < s.Size; a += step {
		addrs = append(addrs, s.Addr+a)
	}
	return addrs
}

// A census counts what a comparison has seen, so that a test can tell whether it compared anything.
type census struct{ known, inlined, withLine int }

// compareFrames fails the test for the first few differences.
func compareFrames(t testing.TB, addrs []uint64, got, want [][]Frame) (c census) {
	t.Helper()
	bad := 0
	for i := range addrs {
		if len(got[i]) > 0 {
			c.known++
			if got[i][0].Line > 0 {
				c.withLine++
			}
		}
		if len(got[i]) > 1 {
			c.inlined++
		}
		if slices.Equal(got[i], want[i]) {
			continue
		}
		if bad++; bad <= 3 {
			t.Errorf("%#x:\n got %+v\nwant %+v", addrs[i], got[i], want[i])
		}
	}
	if bad > 0 {
		t.Errorf("%d of %d addresses differ", bad, len(addrs))
	}
	return c
}

// withoutSymbols returns a copy of an ELF file with DWARF but no symbol table,
// so that llvm-symbolizer has to take all names from DWARF.
func withoutSymbols(t testing.TB, file string) string {
	t.Helper()
	bare := file + ".bare"
	_, stderr, code := oracle.Run(t, oracle.Tool(t, "llvm-objcopy-22"), "-R", ".symtab", "-R", ".strtab", file, bare)
	if code != 0 {
		t.Fatalf("llvm-objcopy: %s", stderr)
	}
	// The package file of split DWARF is found by name.
	os.Remove(bare + ".dwp")
	if dwp, err := os.ReadFile(file + ".dwp"); err == nil {
		oracle.WriteFile(t, bare+".dwp", dwp)
	}
	return bare
}

// compareELF compares every address of the code of an ELF file, with names
// from the symbol table and with names from DWARF.
func compareELF(t testing.TB, file string, step uint64) census {
	t.Helper()
	compareWithSymbols(t, file, ".text", step)
	f := open(t, file, Options{})
	addrs := every(t, f, ".text", step)
	want := llvmFrames(t, withoutSymbols(t, file), addrs)
	got := batchFrames(t, f, addrs)
	c := compareFrames(t, addrs, got, want)
	if p, err := f.problems(); len(p) > 0 || err != nil {
		t.Errorf("problems %v, error %v", p, err)
	}
	// One by one it must be the same.
	for i := 0; i < len(addrs); i += 1 + len(addrs)/100 {
		frames, err := f.Frames(addrs[i])
		if split := (*splitError)(nil); err != nil && !errors.As(err, &split) || !slices.Equal(frames, got[i]) {
			t.Errorf("Frames(%#x) = %+v, %v; Batch says %+v", addrs[i], frames, err, got[i])
		}
	}
	return c
}

// compareWithSymbols compares addresses with names from the symbol table.
func compareWithSymbols(t testing.TB, file, section string, step uint64, args ...string) census {
	t.Helper()
	f := open(t, file, Options{SymbolTable: true})
	addrs := every(t, f, section, step)
	return compareFrames(t, addrs, batchFrames(t, f, addrs), llvmFrames(t, file, addrs, args...))
}

func open(t testing.TB, file string, opt Options) *File {
	t.Helper()
	f, err := Open(file, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

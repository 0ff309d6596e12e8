package instrument_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/instrument"
	"github.com/profuse-pgo/profuse/instrument/blocks"
	"github.com/profuse-pgo/profuse/internal/oracle"
	"github.com/profuse-pgo/profuse/mip"
)

const (
	coverage = mip.FunctionCoverage
	counts   = mip.FunctionTimestamp | mip.FunctionCallCount
	withBB   = mip.BlockCoverage
)

// toolchain compiles, assembles and runs for one target.
type toolchain struct {
	cc     string   // the compiler
	flags  []string // for every call that compiles or assembles
	linker string   // cc if empty
	emu    []string // runs programs, empty for here
}

// program is a program in testdata.
type program struct {
	sources []string
	cflags  []string
	ldflags []string
}

// built is a linked program with what the instrumentation said.
type built struct {
	exe     string
	reports []instrument.Report
	sizes   int // text + data
}

func must(t testing.TB, dir, exe string, args ...string) string {
	t.Helper()
	stdout, stderr, code := oracle.RunIn(t, dir, exe, args...)
	if code != 0 {
		t.Fatalf("%s %s: exit code %d\n%s%s", exe, strings.Join(args, " "), code, stdout, stderr)
	}
	return stdout
}

func testdata(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// assembly returns what the compiler prints for a source file of testdata.
func (tc toolchain) assembly(t testing.TB, source string, flags ...string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "a.s")
	args := append(append(append([]string{}, tc.flags...), flags...), "-S", testdata(t, source), "-o", out)
	must(t, "", tc.cc, args...)
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// build builds the program, instrumented unless opt is nil.
func (tc toolchain) build(t testing.TB, p program, opt *instrument.Options) *built {
	t.Helper()
	dir := t.TempDir()
	b := &built{exe: filepath.Join(dir, "a.out")}
	var objects []string
	for i, source := range p.sources {
		text := tc.assembly(t, source, p.cflags...)
		if opt != nil {
			var report instrument.Report
			var err error
			text, report, err = instrument.Rewrite(nil, text, *opt)
			if err != nil {
				t.Fatalf("%s: %v", source, err)
			}
			b.reports = append(b.reports, report)
		}
		s := filepath.Join(dir, string(rune('a'+i))+".s")
		if err := os.WriteFile(s, text, 0o666); err != nil {
			t.Fatal(err)
		}
		o := strings.TrimSuffix(s, "s") + "o"
		must(t, dir, tc.cc, append(append([]string{}, tc.flags...), "-c", s, "-o", o)...)
		objects = append(objects, o)
	}
	if opt != nil {
		o := filepath.Join(dir, "runtime.o")
		must(t, dir, tc.cc, append(append([]string{}, tc.flags...), "-O2", "-fPIC", "-c", testdata(t, "runtime.c"), "-o", o)...)
		objects = append(objects, o)
	}
	link, args := tc.linker, append(append([]string{}, objects...), p.ldflags...)
	if link == "" {
		link, args = tc.cc, append(args, tc.flags...)
	}
	must(t, dir, link, append(args, "-o", b.exe)...)
	b.sizes = textAndData(t, b.exe)
	return b
}

// textAndData is the sum that size(1) prints as text and data.
func textAndData(t testing.TB, exe string) int {
	t.Helper()
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Type != elf.SHT_NOBITS {
			n += int(s.Size)
		}
	}
	return n
}

// exec runs the program and returns what it printed and its exit code. Raw
// profiles go to raw.
func (tc toolchain) exec(t testing.TB, exe, raw string, args ...string) (string, int) {
	t.Helper()
	argv := append(append(append([]string{}, tc.emu...), exe), args...)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "LLVM_MIP_PROFILE_FILENAME="+raw)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// profile runs the program with each list of arguments and merges the
// profiles. Inferred blocks are filled in.
func (tc toolchain) profile(t testing.TB, b *built, runs ...[]string) *mip.Profile {
	t.Helper()
	p := readMap(t, b.exe)
	m, err := mip.NewMerger(p, mip.MergeOptions{Warn: func(w mip.Warning) { t.Errorf("merging: %v", w) }})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range runs {
		raw := filepath.Join(t.TempDir(), "raw")
		tc.exec(t, b.exe, raw, args...)
		data, err := os.ReadFile(raw)
		if err != nil {
			t.Fatal(err)
		}
		addCalls(data, p)
		r, err := mip.NewReader("raw", data, mip.ReaderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	return expand(t, b.exe, m.Profile())
}

// addCalls turns memory's counters into numbers of calls, as a runtime does.
func addCalls(raw []byte, p *mip.Profile) {
	if !p.Type.Has(counts) {
		return
	}
	for _, f := range p.Functions {
		if n := binary.LittleEndian.Uint32(raw[f.RawOffset:]); n != 0xffffffff {
			binary.LittleEndian.PutUint32(raw[f.RawOffset:], n+1)
		}
	}
}

func readMap(t testing.TB, exe string) *mip.Profile {
	t.Helper()
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := mip.FindMap(exe, data, mip.BinaryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := mip.Read(exe, m, mip.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// expand fills in the inferred blocks.
func expand(t testing.TB, exe string, p *mip.Profile) *mip.Profile {
	t.Helper()
	data := elfSection(t, exe, blocks.Section)
	if data == nil {
		return p
	}
	table, err := blocks.Read(exe, data)
	if err != nil {
		t.Fatal(err)
	}
	full, err := table.Expand(p)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

func elfSection(t testing.TB, exe, name string) []byte {
	t.Helper()
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(name)
	if s == nil {
		return nil
	}
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// native returns the compilers of this machine that are installed, or skips.
func native(t testing.TB, cc string) toolchain {
	t.Helper()
	return toolchain{cc: oracle.Tool(t, cc)}
}

// cxx turns the name of a C compiler into that of the C++ compiler.
func cxx(cc string) string {
	return strings.Replace(strings.Replace(cc, "clang", "clang++", 1), "gcc", "g++", 1)
}

// functionSymbols returns the names of the functions in the symbol table.
func functionSymbols(t testing.TB, exe string) []string {
	return symbolNames(t, exe, func(s elf.Symbol) bool {
		return elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF
	})
}

func allSymbols(t testing.TB, exe string) []string {
	return symbolNames(t, exe, func(elf.Symbol) bool { return true })
}

func symbolNames(t testing.TB, exe string, want func(elf.Symbol) bool) (names []string) {
	t.Helper()
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if want(s) {
			names = append(names, s.Name)
		}
	}
	return names
}

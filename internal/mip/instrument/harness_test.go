package instrument_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/internal/mip/blocks"
	"github.com/profuse-pgo/profuse/internal/mip/instrument"
	"github.com/profuse-pgo/profuse/internal/mip/runtime"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
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
	reports [][]instrument.FunctionReport
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
	args := slices.Concat(tc.flags, flags, []string{"-S", testdata(t, source), "-o"})
	return assemblies.get(fmt.Sprint(tc.cc, args), func() []byte {
		out := filepath.Join(t.TempDir(), "a.s")
		must(t, "", tc.cc, append(args, out)...)
		return oracle.ReadFile(t, out)
	})
}

// target returns what the compiler compiles for.
func (tc toolchain) target(t testing.TB) asm.Target {
	t.Helper()
	args := append(slices.Clone(tc.flags), "-dumpmachine")
	triple := triples.get(fmt.Sprint(tc.cc, args), func() string { return must(t, "", tc.cc, args...) })
	target, err := asm.ParseTriple(strings.TrimSpace(triple))
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// rewrite instruments what the compiler has printed.
func (tc toolchain) rewrite(t testing.TB, text []byte, opt instrument.Options) ([]byte, []instrument.FunctionReport) {
	t.Helper()
	opt.Target = tc.target(t)
	text, report, err := instrument.Rewrite(nil, text, opt)
	if err != nil {
		t.Fatal(err)
	}
	return text, report
}

// build builds the program, instrumented unless opt is nil.
func (tc toolchain) build(t testing.TB, p program, opt *instrument.Options) *built {
	t.Helper()
	return programs.get(fmt.Sprintf("%q %q %+v", tc, p, opt), func() *built {
		b := &built{}
		var texts [][]byte
		for _, source := range p.sources {
			text := tc.assembly(t, source, p.cflags...)
			if opt != nil {
				var report []instrument.FunctionReport
				text, report = tc.rewrite(t, text, *opt)
				b.reports = append(b.reports, report)
			}
			texts = append(texts, text)
		}
		var more []string
		if opt != nil {
			more = append(more, tc.runtime(t, opt.Profile))
		}
		b.exe = tc.link(t, texts, append(more, p.ldflags...)...)
		return b
	})
}

// link assembles the texts and links them.
func (tc toolchain) link(t testing.TB, texts [][]byte, args ...string) (exe string) {
	t.Helper()
	link, args := tc.linker, append(tc.assemble(t, texts), args...)
	if link == "" {
		link, args = tc.cc, append(args, tc.flags...)
	}
	exe = filepath.Join(keptDir(t), "a.out")
	must(t, "", link, append(args, "-o", exe)...)
	return exe
}

// assemble makes an object of each of the texts. Clang takes one at a time, as it
// starts itself again for each of several.
func (tc toolchain) assemble(t testing.TB, texts [][]byte) (objects []string) {
	t.Helper()
	dir := keptDir(t)
	for i, text := range texts {
		source, object := filepath.Join(dir, fmt.Sprint(i, ".s")), filepath.Join(dir, fmt.Sprint(i, ".o"))
		oracle.WriteFile(t, source, text)
		must(t, dir, tc.cc, slices.Concat(tc.flags, []string{"-c", source, "-o", object})...)
		objects = append(objects, object)
	}
	return objects
}

// runtime returns the runtime as an object.
func (tc toolchain) runtime(t testing.TB, p mip.ProfileType) string {
	t.Helper()
	options := runtime.Options{Coverage: p.Has(coverage)}
	return runtimes.get(fmt.Sprintf("%q %v", tc, options), func() string {
		c, o := filepath.Join(keptDir(t), "runtime.c"), filepath.Join(keptDir(t), "runtime.o")
		oracle.WriteFile(t, c, runtime.Source())
		must(t, "", tc.cc, slices.Concat(tc.flags, options.Args(), []string{"-x", "c", "-O2", "-fPIC", "-c", c, "-o", o})...)
		return o
	})
}

// ran is what a run of a program left: what it printed, its exit code and its
// raw profile, nil of a program that is not instrumented.
type ran struct {
	out  string
	code int
	raw  []byte
}

// exec runs the program.
func (tc toolchain) exec(t testing.TB, exe string, args ...string) *ran {
	t.Helper()
	argv := slices.Concat(tc.emu, []string{exe}, args)
	return runs.get(fmt.Sprintf("%q", argv), func() *ran {
		raw := filepath.Join(t.TempDir(), "raw")
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "LLVM_MIP_PROFILE_FILENAME="+raw)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		data, err := os.ReadFile(raw)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return &ran{out.String(), cmd.ProcessState.ExitCode(), data}
	})
}

// profile runs the program with each list of arguments and merges the
// profiles. Inferred blocks are filled in.
func (tc toolchain) profile(t testing.TB, b *built, runs ...[]string) *mip.Profile {
	t.Helper()
	p := readMap(t, b.exe)
	m, err := mip.NewMerger(p, mip.MergeOptions{Warn: func(w profile.Warning) { t.Errorf("merging: %v", w) }})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range runs {
		r, err := mip.NewReader("raw", tc.exec(t, b.exe, args...).raw, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Add(r, 1); err != nil {
			t.Fatal(err)
		}
	}
	return expand(t, b.exe, m.Profile())
}

func readMap(t testing.TB, exe string) *mip.Profile {
	t.Helper()
	m, _, err := mip.FindMap(exe, oracle.ReadFile(t, exe), "")
	if err != nil {
		t.Fatal(err)
	}
	p, err := mip.Read(exe, m, nil)
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

// symbolNames returns the names in the symbol table.
func symbolNames(t testing.TB, exe string) (names []string) {
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
		names = append(names, s.Name)
	}
	return names
}

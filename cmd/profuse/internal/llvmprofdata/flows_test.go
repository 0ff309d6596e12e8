package llvmprofdata

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/oracle"
)

// A flow builds and runs a real program in a folder of its own.
type flow struct {
	t   *testing.T
	dir string
}

func newFlow(t *testing.T) *flow { return &flow{t, t.TempDir()} }

// run runs a program, which must succeed, and returns what it printed.
func (f *flow) run(exe string, args ...string) string {
	f.t.Helper()
	stdout, stderr, code := oracle.RunIn(f.t, f.dir, exe, args...)
	if code != 0 {
		f.t.Fatalf("%s %s: exit code %d: %s", exe, strings.Join(args, " "), code, stderr)
	}
	return stdout
}

// merge merges profiles twice, by LLVM into NAME.llvm and by Main into
// NAME.ours, as the build would call the tool.
func (f *flow) merge(name string, inputs ...string) {
	f.t.Helper()
	f.run(oracle.LLVM(f.t, 22), slices.Concat([]string{"merge", "-o", name + ".llvm"}, inputs)...)
	args := []string{"merge", "-o", filepath.Join(f.dir, name+".ours")}
	for _, in := range inputs {
		args = append(args, filepath.Join(f.dir, in))
	}
	if got := runMain(f.t, "", args); got.code != 0 || got.stderr != "" {
		f.t.Fatalf("profuse: %+v", got)
	}
	f.same(name+".llvm", name+".ours")
}

// same compares two files.
func (f *flow) same(a, b string) {
	f.t.Helper()
	x, err := os.ReadFile(filepath.Join(f.dir, a))
	if err != nil {
		f.t.Fatal(err)
	}
	y, err := os.ReadFile(filepath.Join(f.dir, b))
	if err != nil {
		f.t.Fatal(err)
	}
	if string(x) != string(y) {
		f.t.Errorf("%s and %s differ", a, b)
	}
}

// sources returns the files of a program for benchmarks.
func (f *flow) sources(program, pattern string) []string {
	f.t.Helper()
	files, err := filepath.Glob(filepath.Join(oracle.Root(f.t), "bench", "programs", program, pattern))
	if err != nil || len(files) == 0 {
		f.t.Fatal(program, err)
	}
	return files
}

// TestFlowC: profile-guided optimization of a query engine in C, and then once
// more with the counts of the optimized program (CS-IRPGO). The objects must be
// the same with either tool's profile.
func TestFlowC(t *testing.T) {
	clang := oracle.Tool(t, "clang-22")
	f := newFlow(t)
	sources := f.sources("query", "*.c")
	build := func(out string, args ...string) {
		f.run(clang, slices.Concat([]string{"-O2", "-o", out}, args, sources, []string{"-lm"})...)
	}
	objects := func(profile, suffix string) {
		for _, src := range sources {
			f.run(clang, "-O2", "-c", "-Werror=profile-instr-out-of-date", "-Werror=profile-instr-unprofiled", "-fprofile-use="+profile,
				src, "-o", filepath.Base(src)+suffix)
		}
	}
	compare := func() {
		for _, src := range sources {
			f.same(filepath.Base(src)+".llvm.o", filepath.Base(src)+".ours.o")
		}
	}
	build("train", "-fprofile-generate")
	t.Setenv("LLVM_PROFILE_FILE", "run-%p.profraw")
	want := f.run("./train", "--quick")
	f.run("./train", "--quick")
	f.merge("first", f.glob("run-*.profraw")...)
	objects("first.llvm", ".llvm.o")
	objects("first.ours", ".ours.o")
	compare()

	build("train2", "-fprofile-use=first.ours", "-fcs-profile-generate")
	t.Setenv("LLVM_PROFILE_FILE", "cs-%p.profraw")
	if got := f.run("./train2", "--quick"); got != want {
		t.Errorf("the program prints something else:\n%s\nwant\n%s", got, want)
	}
	f.merge("second", append(f.glob("cs-*.profraw"), "first.ours")...)
	objects("second.llvm", ".llvm.o")
	objects("second.ours", ".ours.o")
	compare()
}

func (f *flow) glob(pattern string) []string {
	files, err := filepath.Glob(filepath.Join(f.dir, pattern))
	if err != nil || len(files) == 0 {
		f.t.Fatal(pattern, err)
	}
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	return files
}

// TestFlowRust: profile-guided optimization of a search engine in Rust.
func TestFlowRust(t *testing.T) {
	rustc := oracle.Tool(t, "rustc")
	f := newFlow(t)
	main := f.sources("search", "main.rs")[0]
	build := func(out string, args ...string) {
		f.run(rustc, slices.Concat([]string{"--edition", "2021", "-O", "-C", "codegen-units=1", "-o", out}, args, []string{main})...)
	}
	build("train", "-C", "profile-generate")
	t.Setenv("LLVM_PROFILE_FILE", "run-%p.profraw")
	f.run("./train", "--quick")
	f.merge("rust", f.glob("run-*.profraw")...)
	build("llvm.o", "--emit=obj", "-C", "profile-use="+filepath.Join(f.dir, "rust.llvm"))
	build("ours.o", "--emit=obj", "-C", "profile-use="+filepath.Join(f.dir, "rust.ours"))
	f.same("llvm.o", "ours.o")
}

// TestFlowCoverage: llvm-cov prints the same table from either tool's profile.
func TestFlowCoverage(t *testing.T) {
	clang, cov := oracle.Tool(t, "clang-22"), oracle.Tool(t, "llvm-cov-22")
	f := newFlow(t)
	f.run(clang, slices.Concat([]string{"-O0", "-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc", "-o", "train"},
		f.sources("query", "*.c"), []string{"-lm"})...)
	t.Setenv("LLVM_PROFILE_FILE", "run-%p.profraw")
	f.run("./train", "--quick")
	f.merge("coverage", f.glob("run-*.profraw")...)
	llvm := f.run(cov, "report", "-show-mcdc-summary", "-instr-profile=coverage.llvm", "train")
	ours := f.run(cov, "report", "-show-mcdc-summary", "-instr-profile=coverage.ours", "train")
	if llvm != ours || !strings.Contains(ours, "TOTAL") {
		t.Errorf("llvm-cov report with our profile:\n%s\nwith LLVM's:\n%s", ours, llvm)
	}
}

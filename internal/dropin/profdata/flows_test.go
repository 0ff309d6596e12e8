package profdata

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// A flow builds and runs a real program in a folder of its own.
type flow struct {
	t   *testing.T
	dir string
}

func newFlow(t *testing.T) *flow { return &flow{t, t.TempDir()} }

func (f *flow) run(exe string, args ...string) string {
	f.t.Helper()
	stdout, stderr, code := oracle.RunIn(f.t, f.dir, exe, args...)
	if code != 0 {
		f.t.Fatalf("%s %s: exit code %d: %s", exe, strings.Join(args, " "), code, stderr)
	}
	return stdout
}

// merge merges profiles twice, by LLVM into NAME.llvm and by Main into NAME, as the build would call the tool. The
// two are the same to the byte, so what the compiler makes of one it makes of the other.
func (f *flow) merge(name string, inputs ...string) {
	f.t.Helper()
	f.run(oracle.LLVM(f.t, 22), slices.Concat([]string{"merge", "-o", name + ".llvm"}, inputs)...)
	args := []string{"merge", "-o", filepath.Join(f.dir, name)}
	for _, in := range inputs {
		args = append(args, filepath.Join(f.dir, in))
	}
	if got := runMain(f.t, "", args); got.code != 0 || got.stderr != "" {
		f.t.Fatalf("profuse: %+v", got)
	}
	if f.read(name) != f.read(name+".llvm") {
		f.t.Fatalf("%s is not as from llvm-profdata", name)
	}
}

func (f *flow) read(name string) string {
	f.t.Helper()
	b, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(b)
}

func (f *flow) sources(program, pattern string) []string {
	f.t.Helper()
	files, err := filepath.Glob(filepath.Join(oracle.Root(f.t), "bench", "programs", program, pattern))
	if err != nil || len(files) == 0 {
		f.t.Fatal(program, err)
	}
	return files
}

// TestFlowC: profile-guided optimization of a script language in C, and then once more with the counts of the
// optimized program (CS-IRPGO). The compiler must find every function in the profiles.
func TestFlowC(t *testing.T) {
	oracle.Slow(t)
	clang := oracle.Tool(t, "clang-22")
	f := newFlow(t)
	sources := f.sources("script", "*.c")
	build := func(out string, args ...string) {
		f.run(clang, slices.Concat([]string{"-O2", "-o", out}, args, sources, []string{"-lm"})...)
	}
	use := func(profile string) []string {
		return []string{"-fprofile-use=" + profile, "-Werror=profile-instr-out-of-date", "-Werror=profile-instr-unprofiled"}
	}
	build("train", "-fprofile-generate")
	t.Setenv("LLVM_PROFILE_FILE", "run-%p.profraw")
	want := f.run("./train", "--quick")
	f.run("./train", "--quick")
	f.merge("first", f.glob("run-*.profraw")...)

	build("train2", append(use("first"), "-fcs-profile-generate")...)
	t.Setenv("LLVM_PROFILE_FILE", "cs-%p.profraw")
	if got := f.run("./train2", "--quick"); got != want {
		t.Errorf("the program prints something else:\n%s\nwant\n%s", got, want)
	}
	f.merge("second", append(f.glob("cs-*.profraw"), "first")...)
	build("final", use("second")...)
	if got := f.run("./final", "--quick"); got != want {
		t.Errorf("the final program prints something else:\n%s\nwant\n%s", got, want)
	}
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
	oracle.Slow(t)
	rustc := oracle.Tool(t, "rustc")
	f := newFlow(t)
	main := f.sources("search", "main.rs")[0]
	build := func(out string, args ...string) {
		f.run(rustc, slices.Concat([]string{"--edition", "2021", "-O", "-D", "warnings", "-C", "codegen-units=1", "-o", out}, args, []string{main})...)
	}
	build("train", "-C", "profile-generate")
	t.Setenv("LLVM_PROFILE_FILE", "run-%p.profraw")
	f.run("./train", "--quick")
	f.merge("rust", f.glob("run-*.profraw")...)
	build("final.o", "--emit=obj", "-C", "profile-use="+filepath.Join(f.dir, "rust"))
}

// TestFlowCoverage: llvm-cov reads the counts of a program in C.
func TestFlowCoverage(t *testing.T) {
	clang, cov := oracle.Tool(t, "clang-22"), oracle.Tool(t, "llvm-cov-22")
	f := newFlow(t)
	f.run(clang, slices.Concat([]string{"-O0", "-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc", "-o", "train"},
		f.sources("script", "*.c"), []string{"-lm"})...)
	t.Setenv("LLVM_PROFILE_FILE", "run-%p.profraw")
	f.run("./train", "--quick")
	f.merge("coverage", f.glob("run-*.profraw")...)
	table := f.run(cov, "report", "-show-mcdc-summary", "-instr-profile=coverage", "train")
	if nearlyAllRan := regexp.MustCompile(`(?m)^TOTAL +[0-9]+ +[0-9]+ +[0-9.]+% +[0-9]+ +[0-9]+ +(9[0-9]|100)\.`); !nearlyAllRan.MatchString(table) {
		t.Errorf("llvm-cov report:\n%s", table)
	}
}

package cc_test

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
	"syscall"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/command/cc"
	"github.com/profuse-pgo/profuse/internal/command/ui/interrupt"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// asDriver in the environment makes the test binary the driver's command.
const asDriver = "PROFUSE_TEST_AS_DRIVER"

func TestMain(m *testing.M) {
	if os.Getenv(asDriver) == "1" {
		os.Exit(driverMain())
	}
	os.Exit(m.Run())
}

func driverMain() int {
	ctx := interrupt.Context("profuse cc")
	interrupt.Allow(ctx, interrupt.Forever)
	err := cc.Run(ctx, cc.Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Self: []string{os.Args[0]},
		Replace: func(path string, argv []string) error { return syscall.Exec(path, argv, os.Environ()) },
	}, os.Args[1:])
	var exit *cc.ExitError
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		return interrupt.Code(ctx)
	case errors.As(err, &exit):
		return exit.Code
	}
	fmt.Fprintf(os.Stderr, "profuse cc: error: %v\n", err)
	switch {
	case errors.Is(err, cc.ErrUsage):
		return 2
	case errors.Is(err, exec.ErrNotFound):
		return 127
	}
	return 1
}

// A bench is a folder with sources and the driver's command.
type bench struct {
	t    testing.TB
	dir  string
	self string
	env  []string
}

// newBench makes a folder of files, given as name and text in turn. The cache is shared by all.
func newBench(t testing.TB, files ...string) *bench {
	t.Helper()
	self := oracle.Must(os.Executable())(t)
	b := &bench{t: t, dir: t.TempDir(), self: self}
	b.env = append(os.Environ(), asDriver+"=1", "TMPDIR="+t.TempDir(), "LC_ALL=C", "LLVM_MIP_PROFILE_FILENAME=", "PROFUSE_CACHE="+sharedCache)
	for i := 0; i < len(files); i += 2 {
		b.write(files[i], files[i+1])
	}
	return b
}

var sharedCache = filepath.Join(os.TempDir(), fmt.Sprintf("profuse-driver-test-%d", os.Getuid()))

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) write(name, text string) {
	b.t.Helper()
	oracle.NoError(b.t, os.MkdirAll(filepath.Dir(b.path(name)), 0o777))
	oracle.NoError(b.t, os.WriteFile(b.path(name), []byte(text), 0o777))
}

func (b *bench) read(name string) []byte {
	b.t.Helper()
	return oracle.ReadFile(b.t, b.path(name))
}

func (b *bench) elf(name string) *elf.File {
	b.t.Helper()
	return oracle.Must(elf.NewFile(bytes.NewReader(b.read(name))))(b.t)
}

// result is what a process left.
type result struct {
	stdout, stderr string
	code           int
}

func (b *bench) exec(env []string, argv ...string) result {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), argv[0], argv[1:]...)
	var out, diag bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = b.dir, append(slices.Clone(b.env), env...), &out, &diag
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		b.t.Fatalf("%s: %v", argv[0], err)
	}
	return result{out.String(), diag.String(), cmd.ProcessState.ExitCode()}
}

func (b *bench) cc(argv ...string) result {
	b.t.Helper()
	return b.exec(nil, append([]string{b.self, "--"}, argv...)...)
}

// build is cc for commands that have to succeed without a word.
func (b *bench) build(argv ...string) {
	b.t.Helper()
	b.succeeds(nil, append([]string{b.self, "--"}, argv...)...)
	b.noTemporaries()
}

func (b *bench) noTemporaries() {
	b.t.Helper()
	for _, e := range b.env {
		if dir, ok := strings.CutPrefix(e, "TMPDIR="); ok {
			if left, _ := filepath.Glob(filepath.Join(dir, "profuse-cc-*")); len(left) > 0 {
				b.t.Errorf("left temporary files: %v", left)
			}
		}
	}
}

func (b *bench) run(env []string, argv ...string) string {
	b.t.Helper()
	argv[0] = b.path(argv[0])
	return b.succeeds(env, argv...)
}

func (b *bench) profile(image string, raws ...string) *mip.Profile {
	b.t.Helper()
	return b.merge(image, func(w profile.Warning) { b.t.Errorf("merging: %v", w) }, raws...)
}

// merge is profile with another receiver of warnings.
func (b *bench) merge(image string, warn func(profile.Warning), raws ...string) *mip.Profile {
	b.t.Helper()
	m, _, err := mip.FindMap(image, b.read(image), "")
	oracle.NoError(b.t, err)
	p := oracle.Must(mip.Read(image, m, nil))(b.t)
	merger := oracle.Must(mip.NewMerger(p, mip.MergeOptions{Warn: warn}))(b.t)
	for _, raw := range raws {
		oracle.NoError(b.t, merger.AddRaw(raw, b.read(raw), 1))
	}
	return merger.Profile()
}

func (b *bench) prints(want string, env []string, argv ...string) {
	b.t.Helper()
	if got := b.run(env, argv...); got != want {
		b.t.Errorf("%v printed %q, want %q", argv, got, want)
	}
}

// profiled runs a program that has to succeed and returns the profile of the run.
func (b *bench) profiled(image string, args ...string) *mip.Profile {
	b.t.Helper()
	b.run(rawFile, append([]string{image}, args...)...)
	return b.profile(image, "raw")
}

// rawFile is the environment in which programs write their profile to the file raw.
var rawFile = []string{"LLVM_MIP_PROFILE_FILENAME=raw"}

// succeeds is exec for commands that have to succeed without a word.
func (b *bench) succeeds(env []string, argv ...string) string {
	b.t.Helper()
	r := b.exec(env, argv...)
	if r.code != 0 || r.stderr != "" {
		b.t.Fatalf("%v: exit code %d\n%s%s", argv, r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

// lldTools returns a folder for -B in which lld has the plain name that gcc knows.
func lldTools(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	oracle.NoError(t, os.Symlink(oracle.Tool(t, "ld.lld-22", "ld.lld-19", "ld.lld"), filepath.Join(dir, "ld.lld")))
	return dir
}

func calls(p *mip.Profile) map[string]uint64 {
	m := map[string]uint64{}
	for i := range p.Functions {
		m[p.Functions[i].Name] += p.Functions[i].CallCount
	}
	return m
}

func (b *bench) wantCalls(p *mip.Profile, want map[string]uint64) {
	b.t.Helper()
	got := calls(p)
	for name, n := range want {
		if have, ok := got[name]; !ok || have != n {
			b.t.Errorf("%s: %d calls (in the profile: %v), want %d", name, have, ok, n)
		}
	}
}

func (b *bench) files(pattern string) []string {
	b.t.Helper()
	names := oracle.Must(filepath.Glob(b.path(pattern)))(b.t)
	for i := range names {
		names[i] = filepath.Base(names[i])
	}
	return names
}

const (
	generate = "-fmachine-profile-generate"
	covers   = "-fmachine-profile-function-coverage"
	withBB   = "-fmachine-profile-block-coverage"
)

// compilers calls f with each C compiler that is installed, of which gcc is the
// fastest: with the others, unless they are among quick, the test is slow.
func compilers(t *testing.T, f func(t *testing.T, cc, cxx string), quick ...string) {
	with(t, []string{"clang-22", "gcc"}, f, quick)
}

// releases is compilers with an older release, for tests of the assembly they print.
func releases(t *testing.T, f func(t *testing.T, cc, cxx string), quick ...string) {
	with(t, []string{"clang-19", "clang-22", "gcc"}, f, quick)
}

func with(t *testing.T, names []string, f func(t *testing.T, cc, cxx string), quick []string) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			switch {
			case name == "clang-19":
				oracle.Exhaustive(t)
			case name != "gcc" && !slices.Contains(quick, name):
				oracle.Slow(t)
			}
			t.Parallel()
			f(t, oracle.Tool(t, name), oracle.Tool(t, strings.NewReplacer("clang", "clang++", "gcc", "g++").Replace(name)))
		})
	}
}

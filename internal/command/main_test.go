package command

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/files/store"
	"github.com/profuse-pgo/profuse/test/oracle"
)

var update = flag.Bool("update", false, "write what the scripts' commands print into the scripts")

// The test binary is profuse too, under all of its names.
func TestMain(m *testing.M) {
	// Many tests wait for signals, timers and schedulers, so more of them than there are CPUs run at the same time.
	_ = flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0)))
	run := func() { Main(store.Drivers{"test": testBucket}) }
	testscript.Main(m, map[string]func(){"profuse": run, "llvm-profdata": run, "llvm-profdata-22": run, "llvm-mipdata": run, "llvm-cov": run, "llvm-cov-22": run, "llvm-profgen": run})
}

// A testBucket is the folder of its name, read and written as a bucket.
func testBucket(_ context.Context, u *url.URL) (store.Store, error) {
	return bucket{store.NewFolder(u.Host)}, nil
}

type bucket struct{ store.Store }

func (b bucket) URL(key string) string { return "test://" + b.Store.URL(key) }

func runProfuse(ctx context.Context, args ...string) (stdout, stderr string, code int) {
	var out, diag bytes.Buffer
	env := &cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &diag, Getenv: func(string) string { return "" }, Stores: store.NewAccess(ctx, nil)}
	code = run(ctx, env, append([]string{"profuse"}, args...))
	return out.String(), diag.String(), code
}

// profuse runs a command line, which must succeed, and returns what it prints.
func profuse(t testing.TB, args ...string) string {
	t.Helper()
	stdout, stderr, code := runProfuse(t.Context(), args...)
	if code != 0 {
		t.Fatalf("profuse %q: exit code %d\n%s%s", args, code, stdout, stderr)
	}
	return stdout
}

func wantSame(t *testing.T, got, want string) {
	t.Helper()
	if a, b := oracle.ReadFile(t, got), oracle.ReadFile(t, want); !bytes.Equal(a, b) {
		t.Errorf("%s has %d bytes, other than the %d of %s", got, len(a), len(b), want)
	}
}

// TestScripts runs testdata/script/*.txtar. Beside what testscript offers they have $FIXTURES and $MIP, the folders of
// the real profiles, $IPROF, that of small iprof files, $COVMAP, that of programs with a coverage mapping, $SHAPES,
// that of a program for MIP with its sources, and the commands
//
//	exits CODE COMMAND [ARGUMENT]...   run a command and expect its exit code
//	pack gzip|zstd FROM TO             compress a file
//	pack tar TO FROM...                make an archive
//	truncate FILE SIZE                 cut a file
//	poke FILE OFFSET HEX               overwrite bytes of a file
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts hundreds of processes, which is slow under the race detector")
	}
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			root := oracle.Root(t)
			env.Setenv("FIXTURES", filepath.Join(root, "testdata", "irpgo"))
			env.Setenv("MIP", filepath.Join(root, "testdata", "mip"))
			env.Setenv("IPROF", filepath.Join(root, "testdata", "iprof"))
			env.Setenv("COVMAP", filepath.Join(root, "testdata", "covmap"))
			env.Setenv("WASM", filepath.Join(root, "testdata", "wasm"))
			env.Setenv("SHAPES", filepath.Join(root, "internal", "command", "testdata", "mip"))
			compilerEnv(env)
			return nil
		},
		Condition: oracleCondition,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exitsCommand, "pack": compressCommand, "truncate": truncateCommand, "poke": pokeCommand,
		},
	})
}

func exitsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGUMENT]...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func compressCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: pack gzip|zstd FROM TO, or pack tar TO FROM...")
	}
	var packed bytes.Buffer
	to := args[len(args)-1]
	compress := func(w io.WriteCloser) {
		_, err := io.WriteString(w, ts.ReadFile(args[1]))
		ts.Check(errors.Join(err, w.Close()))
	}
	switch args[0] {
	case "gzip":
		compress(gzip.NewWriter(&packed))
	case "zstd":
		z, err := zstd.NewWriter(&packed)
		ts.Check(err)
		compress(z)
	case "tar":
		to = args[1]
		w := tar.NewWriter(&packed)
		for _, name := range args[2:] {
			data := ts.ReadFile(name)
			ts.Check(w.WriteHeader(&tar.Header{Name: filepath.Base(name), Mode: 0o644, Size: int64(len(data))}))
			_, err := io.WriteString(w, data)
			ts.Check(err)
		}
		ts.Check(w.Close())
	}
	ts.Check(os.WriteFile(ts.MkAbs(to), packed.Bytes(), 0o666))
}

func truncateCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: truncate FILE SIZE")
	}
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), size))
}

func pokeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: poke FILE OFFSET HEX")
	}
	offset, err := strconv.ParseInt(args[1], 0, 64)
	ts.Check(err)
	bytes, err := hex.DecodeString(args[2])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY, 0)
	ts.Check(err)
	_, err = f.WriteAt(bytes, offset)
	ts.Check(errors.Join(err, f.Close()))
}

func TestIsStartedAs(t *testing.T) {
	for name, want := range map[string]bool{
		"llvm-profdata":          true,
		"/usr/bin/llvm-profdata": true,
		"./llvm-profdata-22":     true,
		"llvm-profdata-22.1":     true,
		"llvm-profdata.exe":      true,
		"llvm-profdata-22.EXE":   true,
		"profuse":                false,
		"llvm-profdata-like":     false,
		"llvm-profdata22":        false,
		"my-llvm-profdata":       false,
		"llvm-profdata/profuse":  false,
		"":                       false,
	} {
		if got := isStartedAs(name, "llvm-profdata"); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// oracleCondition holds the conditions of scripts: [slow] and [cover], and [oracle:TOOL], whether a compiler or the
// like is there. As with [oracle.Tool], a tool that has to be and is not fails the test.
func oracleCondition(condition string) (bool, error) {
	switch condition {
	case "slow":
		return !oracle.SlowTests(), nil
	case "cover": // a program that counts coverage writes files of its own
		return testing.CoverMode() != "", nil
	}
	tool, ok := strings.CutPrefix(condition, "oracle:")
	if !ok {
		return false, errors.New("unknown condition " + condition)
	}
	_, err := exec.LookPath(tool)
	if err != nil && os.Getenv(oracle.RequireEnv) == "1" {
		return false, errors.New(oracle.Missing + tool)
	}
	return err == nil, nil
}

// compilerEnv sets what compilers need in scripts, which have no home folder.
func compilerEnv(env *testscript.Env) {
	env.Setenv("PROFUSE_CACHE", filepath.Join(env.WorkDir, ".cache"))
	if home, err := os.UserHomeDir(); err == nil && os.Getenv("RUSTUP_HOME") == "" {
		env.Setenv("RUSTUP_HOME", filepath.Join(home, ".rustup"))
	}
}

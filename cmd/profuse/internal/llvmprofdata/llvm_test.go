package llvmprofdata

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/profuse-pgo/profuse/internal/oracle"
)

// scratch is a folder that is there as long as the process.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "llvm-profdata-test-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

// pool runs llvm-profdata, one per processor.
type pool struct {
	exe  string
	dirs []string // one per worker
	jobs []job
	wg   sync.WaitGroup
}

type job struct {
	stdin string
	args  []string
	done  chan outcome
}

// startLLVM returns a pool whose every process finds the files in its folder.
func startLLVM(t testing.TB, exe string, files map[string]string) *pool {
	p := &pool{exe: exe}
	for range runtime.NumCPU() {
		dir := t.TempDir()
		writeFiles(t, dir, files)
		p.dirs = append(p.dirs, dir)
	}
	t.Cleanup(p.wg.Wait)
	return p
}

// run plans a run. The outcome can be had after start.
func (p *pool) run(stdin string, args []string) <-chan outcome {
	done := make(chan outcome, 1)
	p.jobs = append(p.jobs, job{stdin, args, done})
	return done
}

// start begins the runs, in order.
func (p *pool) start() {
	next := make(chan job, len(p.jobs))
	for _, j := range p.jobs {
		next <- j
	}
	close(next)
	for _, dir := range p.dirs {
		p.wg.Go(func() {
			w := worker{exe: p.exe, dir: dir, server: startForkServer(p.exe, dir)}
			for j := range next {
				j.done <- w.exec(j)
			}
			if w.server != nil {
				w.server.close()
			}
		})
	}
}

// worker runs llvm-profdata in a folder, under the name that Main is given too.
type worker struct {
	exe, dir string
	server   *forkServer // nil: every run starts a process of its own
}

func (w *worker) exec(j job) outcome {
	os.Remove(filepath.Join(w.dir, outFile))
	var stdout, stderr bytes.Buffer
	args := slices.Concat([]string{"llvm-profdata"}, j.args)
	var code int
	var err error
	if w.server != nil {
		code, err = w.server.run(args, j.stdin, &stdout, &stderr)
	} else {
		cmd := &exec.Cmd{Path: w.exe, Args: args, Dir: w.dir, Stdin: strings.NewReader(j.stdin), Stdout: &stdout, Stderr: &stderr}
		if err = cmd.Run(); errors.As(err, new(*exec.ExitError)) {
			err = nil
		}
		code = cmd.ProcessState.ExitCode()
	}
	if err != nil {
		return outcome{stderr: err.Error()}
	}
	file, err := takeFile(w.dir)
	if err != nil {
		return outcome{stderr: err.Error()}
	}
	return outcome{code, stdout.String(), stderr.String(), file}
}

// TestForkServer: what is loaded once runs as what is started each time.
func TestForkServer(t *testing.T) {
	exe := oracle.LLVM(t, 22)
	served, started := t.TempDir(), t.TempDir()
	server := startForkServer(exe, served)
	if server == nil {
		t.Skip("needs Linux, a C compiler and an llvm-profdata with shared libraries")
	}
	defer server.close()
	a, b := worker{exe, served, server}, worker{exe: exe, dir: started}
	for _, dir := range []string{served, started} {
		writeFiles(t, dir, textFiles)
	}
	for _, j := range []job{
		{args: []string{"merge", "-o", outFile, "a", "b"}},
		{args: []string{"merge", "-text", "-j", "3", "a", "", "b"}},
		{args: []string{"merge", "a"}}, // into a pipe
		{args: []string{"show", "-all-functions", "-counts", "-"}, stdin: textFiles["values"]},
		{args: []string{"show", "nonesuch"}},
		{args: nil},
	} {
		if x, y := a.exec(j), b.exec(j); x != y {
			t.Errorf("%q: %+v, but started anew %+v", j.args, x, y)
		}
	}
	crash := job{args: []string{"show", "-hot-func-list", "-detailed-summary-cutoffs=200000", "hot"}}
	if x, y := a.exec(crash), b.exec(crash); x.code != y.code || x.code == 0 || x.stdout != y.stdout {
		t.Errorf("a crash: %+v, but started anew %+v", x, y)
	}
}

package profdata

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

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

func (p *pool) start() {
	next := make(chan job, len(p.jobs))
	for _, j := range p.jobs {
		next <- j
	}
	close(next)
	for _, dir := range p.dirs {
		p.wg.Go(func() {
			for j := range next {
				j.done <- p.exec(dir, j)
			}
		})
	}
}

// exec runs llvm-profdata in a folder, under the name that Main is given too.
func (p *pool) exec(dir string, j job) outcome {
	os.Remove(filepath.Join(dir, outFile))
	var stdout, stderr bytes.Buffer
	args := slices.Concat([]string{"llvm-profdata"}, j.args)
	code, err := oracle.Exec(&exec.Cmd{Path: p.exe, Args: args, Dir: dir, Stdin: strings.NewReader(j.stdin), Stdout: &stdout, Stderr: &stderr})
	if err != nil {
		return outcome{stderr: err.Error()}
	}
	file, err := takeFile(dir)
	if err != nil {
		return outcome{stderr: err.Error()}
	}
	return outcome{code, stdout.String(), stderr.String(), file}
}

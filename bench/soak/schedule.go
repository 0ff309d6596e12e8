//go:build linux

package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/profuse-pgo/profuse/bench/internal/trial"
	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
)

// A schedule is one way to make it hard for a command.
type schedule struct {
	name  string
	share int // of the runs, in percent
	large bool
	run   func(t *attempt) (outcome, error)
}

// schedules have shares that add up to 100. Those about moments need inputs that take a while to read.
var schedules = []schedule{
	{"mutation", 76, false, (*attempt).mutate},
	{"rewritten while read", 4, true, (*attempt).race},
	{"cut while read", 4, true, (*attempt).cut},
	{"ended by a signal", 6, true, (*attempt).kill},
	{"served to a browser", 4, false, (*attempt).serve},
	{"full disk", 6, false, (*attempt).full},
}

// An attempt is one run of a command.
type attempt struct {
	*soak
	rng     *rand.Rand
	number  int64
	subject *trial.Subject
	command *trial.Command
	how     string // what was done to the input
	dir     string
	files   trial.Files
	argv    []string
	out     string // the file that the command writes; "" if none
}

// try makes run n in the folder of a worker.
func (s *soak) try(worker int, n int64) error {
	t := &attempt{soak: s, number: n, rng: rand.New(rand.NewPCG(s.seed, uint64(n)))}
	// All choices come from the generator of this run, in a fixed order, so that -only can repeat it.
	share := t.rng.IntN(100)
	plan := schedules[slices.IndexFunc(schedules, func(p schedule) bool { share -= p.share; return share < 0 })]
	subjects := s.subjects
	if plan.large {
		subjects = s.large
	}
	t.subject = &subjects[t.rng.IntN(len(subjects))]
	commands := trial.Commands(t.subject.Family)
	t.command = &commands[t.rng.IntN(len(commands))]
	t.dir = filepath.Join(s.dir, fmt.Sprint(worker))
	// What the worker's run before left behind would look like an output of this one.
	if err := os.RemoveAll(t.dir); err != nil {
		return err
	}
	t.files = trial.Files{
		In:     filepath.Join(t.dir, "in", "in"+t.subject.Ext),
		Intact: filepath.Join(t.dir, "intact"+t.subject.Ext),
		Folder: filepath.Join(t.dir, "in"),
		Out:    filepath.Join(t.dir, "out"),
	}
	if err := os.MkdirAll(t.files.Folder, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(t.files.Intact, t.subject.Data, 0o666); err != nil {
		return err
	}
	t.argv, t.out = t.command.Argv(s.profuse, t.subject, t.files)
	o, err := plan.run(t)
	if err != nil {
		return fmt.Errorf("run %d, %s: %w", n, strings.Join(t.argv, " "), err)
	}
	s.count(o, "all", "format: "+t.subject.Format, "schedule: "+plan.name, "command: "+t.command.Name())
	return nil
}

func (t *attempt) write(data []byte) error { return os.WriteFile(t.files.In, data, 0o666) }

// written returns the contents of the output; nil if there is none.
func (t *attempt) written() []byte {
	if t.out == "" {
		return nil
	}
	data, _ := os.ReadFile(t.out)
	return data
}

// failure returns the outcome of a command that failed as no command may, and keeps it.
func (t *attempt) failure(r *trial.Result, input []byte) (outcome, bool) {
	o := crash
	switch {
	case r.Hung:
		o = hang
	case r.Greedy:
		o = memory
	case !r.Crashed():
		return 0, false
	}
	t.report(o, input, r.Stdout, r.Stderr)
	return o, true
}

// report keeps the input and the command line of a failure.
func (t *attempt) report(o outcome, input, stdout, stderr []byte) {
	line := strings.Join(t.argv, " ")
	name := filepath.Join(t.keep, fmt.Sprintf("%s-%d-%d", outcomeNames[o], t.seed, t.number))
	tail := func(b []byte) []byte { return b[:min(len(b), 16<<10)] }
	text := fmt.Sprintf("%s: %s\n%s\n%s\nrepeat: go run ./bench/soak -seed %d -only %d\n\n%s\n%s\n",
		outcomeNames[o], t.subject.Format, t.how, line, t.seed, t.number, tail(stdout), tail(stderr))
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Printf("%s: run %d, %s, %s: %s\n", outcomeNames[o], t.number, t.subject.Format, t.how, line)
	err := os.MkdirAll(t.keep, 0o777)
	if err == nil {
		err = os.WriteFile(name+t.subject.Ext, input, 0o666)
	}
	if err == nil {
		err = os.WriteFile(name+".txt", []byte(text), 0o666)
	}
	if err != nil {
		fmt.Println("not kept:", err)
	}
}

// output is what a command writes, to compare it.
func (t *attempt) output(r *trial.Result) [32]byte {
	return sha256.Sum256(slices.Concat(r.Stdout, []byte{0}, t.written()))
}

// judge compares a run with that on the intact file.
func (t *attempt) judge(r, intact *trial.Result, same bool) outcome {
	switch {
	case r.Code != 0:
		return refused
	case same:
		return unchanged
	case r.Told(intact) || !slices.Equal(remarks(r), remarks(intact)):
		return told
	}
	return silent
}

// remarks returns the lines of standard output that begin with a remark or a warning.
func remarks(r *trial.Result) (lines []string) {
	for l := range strings.Lines(string(r.Stdout)) {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, "remark:") || strings.HasPrefix(l, "Warning") {
			lines = append(lines, l)
		}
	}
	return lines
}

// intact runs the command on the intact input and removes what it wrote.
func (t *attempt) intact() (r trial.Result, output [32]byte, err error) {
	if err = t.write(t.subject.Data); err != nil {
		return
	}
	if r, err = trial.Run(t.argv...); err != nil {
		return
	}
	output = t.output(&r)
	return r, output, t.clear()
}

func (t *attempt) clear() error {
	entries, err := os.ReadDir(t.dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "out") {
			err = os.RemoveAll(filepath.Join(t.dir, e.Name()))
		}
	}
	return err
}

func (t *attempt) mutate() (outcome, error) {
	r, want, err := t.intact()
	if err != nil {
		return 0, err
	}
	other := t.subjects[t.rng.IntN(len(t.subjects))].Data
	data, how := trial.Mutate(t.rng, t.subject.Data, other)
	t.how = how
	if err := t.write(data); err != nil {
		return 0, err
	}
	got, err := trial.Run(t.argv...)
	if err != nil {
		return 0, err
	}
	if o, failed := t.failure(&got, data); failed {
		return o, nil
	}
	return t.judge(&got, &r, t.output(&got) == want), nil
}

// serve damages the input and loads the pages that "profuse view" serves.
func (t *attempt) serve() (outcome, error) {
	data, how := trial.Mutate(t.rng, t.subject.Data, t.subject.Data)
	t.how = how
	if err := t.write(data); err != nil {
		return 0, err
	}
	port, err := freePort()
	if err != nil {
		return 0, err
	}
	t.command, t.out = trial.View(t.subject, port), ""
	t.argv, _ = t.command.Argv(t.profuse, t.subject, t.files)
	cmd, wait, err := trial.Start(t.argv...)
	if err != nil {
		return 0, err
	}
	served := make(chan bool, 1)
	go func() {
		served <- load(fmt.Sprintf("http://127.0.0.1:%d", port))
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended
	}()
	got := wait()
	if o, failed := t.failure(&got, data); failed {
		return o, nil
	}
	if ok := <-served; !ok || got.Code != 0 {
		return refused, nil
	}
	return silent, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// load reads the pages of a report, as soon as they are served.
func load(address string) (ok bool) {
	client := http.Client{Timeout: trial.Patience}
	// A server that refuses the profile never listens: a second is enough to know.
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		for _, page := range []string{"/", "/report.html"} {
			response, err := client.Get(address + page)
			if err != nil {
				break
			}
			_, err = io.Copy(io.Discard, response.Body)
			response.Body.Close()
			ok = err == nil && response.StatusCode == http.StatusOK
		}
		if ok {
			break
		}
	}
	return ok
}

// race writes the input again and again, damaged and intact, while it is read.
func (t *attempt) race() (outcome, error) {
	t.how = "rewritten while read"
	r, want, err := t.intact()
	if err != nil {
		return 0, err
	}
	damaged, _ := trial.Mutate(t.rng, t.subject.Data, t.subject.Data)
	moment := time.Duration(t.rng.IntN(20)) * time.Millisecond
	return t.while(&r, want, func(ended <-chan struct{}) error {
		for i := 0; ; i++ {
			select {
			case <-ended:
				return nil
			case <-time.After(moment):
			}
			data := t.subject.Data
			if i%2 == 0 {
				data = damaged
			}
			if err := t.write(data); err != nil {
				return err
			}
		}
	})
}

// cut cuts the input short while it is read.
func (t *attempt) cut() (outcome, error) {
	t.how = "cut while read"
	r, want, err := t.intact()
	if err != nil {
		return 0, err
	}
	size := t.rng.Int64N(int64(len(t.subject.Data)))
	moment := time.Duration(t.rng.Int64N(int64(60 * time.Millisecond)))
	return t.while(&r, want, func(ended <-chan struct{}) error {
		select {
		case <-ended:
			return nil
		case <-time.After(moment):
		}
		return os.Truncate(t.files.In, size)
	})
}

// while runs the command while something changes its input.
func (t *attempt) while(intact *trial.Result, want [32]byte, change func(ended <-chan struct{}) error) (outcome, error) {
	if err := t.write(t.subject.Data); err != nil {
		return 0, err
	}
	_, wait, err := trial.Start(t.argv...)
	if err != nil {
		return 0, err
	}
	ended, changed := make(chan struct{}), make(chan error, 1)
	go func() { changed <- change(ended) }()
	got := wait()
	close(ended)
	if err := <-changed; err != nil {
		return 0, err
	}
	if o, failed := t.failure(&got, t.subject.Data); failed {
		return o, nil
	}
	return t.judge(&got, intact, t.output(&got) == want), nil
}

// before is what the output holds before a command replaces it.
var before = []byte("what was there before\n")

// prepare runs the command once and leaves the old output in its place. It returns the
// new one, the files beside it, and how long the command takes.
func (t *attempt) prepare() (fresh []byte, beside map[string]bool, takes time.Duration, err error) {
	// Only commands that replace a file whole can leave a part of one.
	for !t.command.Writes() {
		commands := trial.Commands(t.subject.Family)
		t.command = &commands[t.rng.IntN(len(commands))]
	}
	t.argv, t.out = t.command.Argv(t.profuse, t.subject, t.files)
	if err = t.write(t.subject.Data); err != nil {
		return
	}
	start := time.Now()
	if _, err = trial.Run(t.argv...); err != nil {
		return
	}
	takes = time.Since(start)
	fresh = t.written()
	beside = make(map[string]bool)
	err = t.eachFile(func(path string) { beside[path] = true })
	if err == nil {
		err = t.clear()
	}
	if err == nil && t.replaces() {
		err = os.WriteFile(t.out, before, 0o666)
	}
	// The run before has merged and remembered the input; it must be there again.
	if err == nil && t.command.Name() == "watch" {
		err = t.write(t.subject.Data)
	}
	return fresh, beside, takes, err
}

// replaces reports whether the command replaces its output, and does not add to it.
func (t *attempt) replaces() bool { return t.command.Name() != "watch" }

func (t *attempt) eachFile(do func(path string)) error {
	return filepath.WalkDir(t.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			do(path)
		}
		return err
	})
}

// tornOutput says what is wrong with the files after an end before the end; "" if nothing is.
func (t *attempt) tornOutput(fresh []byte, beside map[string]bool) (wrong string, err error) {
	got := t.written()
	// watch adds to its output, so before there was none.
	old := before
	if !t.replaces() {
		old = nil
	}
	if !bytes.Equal(got, old) && !bytes.Equal(got, fresh) {
		return fmt.Sprintf("the output has %d bytes, before %d, finished %d", len(got), len(old), len(fresh)), nil
	}
	err = t.eachFile(func(path string) {
		// Temporary files and locks are known by their names; the next run of the command removes or uses them.
		if !beside[path] && path != t.out && !atomicfile.IsTemp(path) && !strings.HasSuffix(path, ".lock") {
			wrong = "left behind: " + path
		}
	})
	return wrong, err
}

// kill ends the command at a random moment.
func (t *attempt) kill() (outcome, error) {
	fresh, beside, takes, err := t.prepare()
	if err != nil {
		return 0, err
	}
	signal := syscall.SIGKILL
	if t.rng.IntN(2) == 0 {
		signal = syscall.SIGTERM
	}
	moment := time.Duration(t.rng.Int64N(int64(takes) + 1))
	t.how = fmt.Sprintf("%v after %v", signal, moment)
	cmd, wait, err := trial.Start(t.argv...)
	if err != nil {
		return 0, err
	}
	time.Sleep(moment)
	_ = cmd.Process.Signal(signal) // it may have ended
	got := wait()
	return t.ended(&got, fresh, beside, got.Signal == signal)
}

// full runs the command with room for a part of its output.
func (t *attempt) full() (outcome, error) {
	fresh, beside, _, err := t.prepare()
	if err != nil {
		return 0, err
	}
	limit := t.rng.IntN(len(fresh) + 64)
	t.how = fmt.Sprintf("a disk with room for %d of %d bytes", limit, len(fresh))
	got, err := trial.Run(append([]string{t.self, limitFlag, strconv.Itoa(limit)}, t.argv...)...)
	if err != nil {
		return 0, err
	}
	o, err := t.ended(&got, fresh, beside, false)
	// A command may not claim success for a file that it could not write.
	if o == whole && got.Code == 0 && limit < len(fresh) && bytes.Equal(t.written(), before) {
		t.report(torn, t.subject.Data, got.Stdout, append(got.Stderr, "exit code 0 without the output"...))
		o = torn
	}
	return o, err
}

// ended judges a command that did not end by itself, or could not write all.
func (t *attempt) ended(got *trial.Result, fresh []byte, beside map[string]bool, killed bool) (outcome, error) {
	// What was killed did not fail.
	if !killed {
		if o, failed := t.failure(got, t.subject.Data); failed {
			return o, nil
		}
	}
	wrong, err := t.tornOutput(fresh, beside)
	if wrong != "" {
		t.report(torn, t.subject.Data, got.Stdout, append(got.Stderr, wrong...))
		return torn, err
	}
	return whole, err
}

const limitFlag = "-limit-files"

// runLimited replaces this process by a command whose files may have so many bytes.
func runLimited(limit string, argv []string) error {
	n, err := strconv.ParseUint(limit, 10, 64)
	if err != nil {
		return err
	}
	// Beyond RLIMIT_FSIZE a write fails with EFBIG. It limits each file on its own, unlike a full disk.
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
		return err
	}
	exe, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	return syscall.Exec(exe, argv, os.Environ())
}

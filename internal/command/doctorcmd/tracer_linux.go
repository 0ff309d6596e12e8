package doctorcmd

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/interrupt"
	"github.com/profuse-pgo/profuse/internal/files/screen"
)

// The tracer follows processes with ptrace. A subreaper that polls /proc would
// not stop them, but would miss processes that live shorter than a polling
// interval. Nor could it examine a process that ends, when its working directory
// and the files mapped into its memory show where its profile went.

// A tracer follows all processes of a command. It must stay on one thread.
type tracer struct {
	running map[int]*tracee // by process id
	threads map[int]bool    // known thread ids: their first stop is passed
	ended   []*patient
	images  map[string]bool // whether a file is instrumented
}

// A tracee is a process that runs.
type tracee struct {
	*patient
	before map[string]fileState // profiles that were there when it started
	// The folder of the last candidate, whether or not it exists.
	dir    string // where a profile goes
	loaded bool   // by the process itself, not inherited from the one that forked it
	// namePID is what %p became: the runtime expands names once, and a forked
	// process keeps that of its parent.
	namePID int
}

// fileState tells whether a file was written.
type fileState struct {
	// The number of the file. A runtime that merges into an existing profile keeps it, and
	// the size, too: then only the time tells.
	inode    uint64
	size     int64
	modified time.Time
}

// watchProcesses runs a command to its end, and all processes that it starts. Patients come
// in the order in which they ended. An interrupt of profuse is passed on to the command,
// whose exit code does not matter.
func watchProcesses(ctx context.Context, env *cli.Env, args []string) ([]*patient, error) {
	runtime.LockOSThread() // never unlocked: ptrace knows the thread, and it ends with the goroutine
	t := &tracer{running: make(map[int]*tracee), threads: make(map[int]bool), images: make(map[string]bool)}
	cmd := exec.Command(args[0], args[1:]...)
	// Standard output is for the report.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = env.Stdin, screen.Unwrap(env.Stderr), screen.Unwrap(env.Stderr)
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		if errors.Is(err, syscall.EPERM) {
			return nil, fmt.Errorf("%s: cannot trace processes here: ptrace is not permitted", args[0])
		}
		return nil, err
	}
	interrupt.Allow(ctx, interrupt.Forever) // the command decides when it ends
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(os.Interrupt) })
	defer stop()
	first := cmd.Process.Pid
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(first, &status, syscall.WALL, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", args[0], err)
	}
	const options = unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE |
		unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACEEXIT | unix.PTRACE_O_EXITKILL
	if err := syscall.PtraceSetOptions(first, options); err != nil {
		_ = cmd.Process.Kill()
		return nil, fmt.Errorf("%s: cannot trace processes here: %w", args[0], err)
	}
	t.threads[first] = true
	t.start(first, true)
	_ = syscall.PtraceCont(first, 0)
	for {
		pid, err := syscall.Wait4(-1, &status, syscall.WALL, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil { // ECHILD: none is left
			break
		}
		t.event(pid, status)
	}
	for _, p := range t.running { // none, unless the kernel did not report an end
		t.ended = append(t.ended, p.patient)
	}
	return t.ended, nil
}

// event handles a ptrace event of a thread and resumes the thread.
func (t *tracer) event(pid int, status syscall.WaitStatus) {
	switch {
	case status.Exited():
		t.end(pid, fmt.Sprintf("exit code %d", status.ExitStatus()), false)
		return
	case status.Signaled():
		t.end(pid, fmt.Sprintf("signal %d (%v)", int(status.Signal()), status.Signal()), true)
		return
	case !status.Stopped():
		return
	}
	signal := 0
	switch cause := status.TrapCause(); {
	case cause == unix.PTRACE_EVENT_EXEC:
		t.replaced(pid)
	case cause == unix.PTRACE_EVENT_EXIT:
		if leader := processOf(pid); leader != 0 {
			t.look(leader, pid)
		}
	case cause > 0: // a process or thread was started, which stops by itself
	case !t.threads[pid]:
		// The first stop of a new thread or process.
		t.threads[pid] = true
		if processOf(pid) == pid {
			t.start(pid, false)
		}
	case status.StopSignal() == syscall.SIGTRAP && cause == 0:
	default:
		signal = int(status.StopSignal())
		if isStop(signal) && !deliverable(pid) {
			signal = 0 // it has stopped by that signal; under ptrace it goes on
		}
	}
	_ = syscall.PtraceCont(pid, signal) // it may be gone
}

// isStop reports whether the default action of a signal stops a process.
func isStop(signal int) bool {
	switch syscall.Signal(signal) {
	case syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU:
		return true
	}
	return false
}

// deliverable reports whether a thread stopped before a signal is delivered,
// and not because one was.
func deliverable(pid int) bool {
	var info [128]byte
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, unix.PTRACE_GETSIGINFO, uintptr(pid), 0, uintptr(unsafe.Pointer(&info)), 0, 0)
	return errno == 0
}

// processOf returns the process that a thread is of, 0 if it is gone.
func processOf(tid int) int { return statusField(tid, "Tgid") }

// statusField returns a number that the kernel tells of a thread, 0 if it is
// gone.
func statusField(tid int, field string) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		var n int
		if found, _ := fmt.Sscanf(line, field+": %d", &n); found == 1 {
			return n
		}
	}
	return 0
}

// start begins to follow a program in a process. loaded says that the process runs a program
// of its own; a forked one inherits the expanded file name of its parent, and with it the
// parent's process id in %p. The profiles that are there already are remembered, to tell
// later which of them were written.
func (t *tracer) start(pid int, loaded bool) {
	p := &tracee{patient: &patient{PID: pid}, before: make(map[string]fileState), namePID: pid}
	if parent := t.running[statusField(pid, "PPid")]; parent != nil && !loaded {
		p.namePID, p.Inherited = parent.namePID, true
	}
	p.Program, _ = os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	p.Instrumented = []string{}
	p.loaded = loaded
	t.running[pid] = p
	for _, file := range p.candidates() {
		if s, ok := stateOf(file); ok {
			p.before[file] = s
		}
	}
}

// replaced handles a process that runs another program from here on.
func (t *tracer) replaced(pid int) {
	old := t.running[pid]
	t.start(pid, true)
	if old == nil || !old.loaded {
		return // between fork and exec nothing happens that is worth counting
	}
	// The old program's memory is gone: examine its file only.
	if t.instrumented(old.Program) {
		old.Instrumented = []string{old.Program}
	}
	old.End = "replaced by " + filepath.Base(t.running[pid].Program)
	old.replaced = true
	t.ended = append(t.ended, old.patient)
}

// look examines a process that is about to end, while its memory and its folder
// can still be read; thread is the thread that ends. Only the last thread of a process
// counts. A profile was written if its file is not what it was at the start; an empty one
// was not.
func (t *tracer) look(pid, thread int) {
	p := t.running[pid]
	if p == nil || thread != pid && len(threadsOf(pid)) > 1 {
		return
	}
	p.Instrumented = t.imagesOf(pid)
	p.Profiles = nil
	if len(p.Instrumented) == 0 {
		return
	}
	p.targets = p.candidates()
	for _, file := range p.targets {
		if s, ok := stateOf(file); ok && s.size > 0 && s != p.before[file] {
			p.Profiles = append(p.Profiles, file)
		}
	}
	if len(p.Profiles) == 0 {
		p.obstacle = p.findObstacle()
	}
}

// threadsOf returns the threads of a process that the kernel still knows.
func threadsOf(pid int) []os.DirEntry {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	return entries
}

// end handles a process that has ended. how is the text for people. A process that a signal
// killed wrote nothing, unless its counters are mapped into the file (%c).
func (t *tracer) end(pid int, how string, signal bool) {
	delete(t.threads, pid)
	p := t.running[pid]
	if p == nil {
		return // a thread
	}
	delete(t.running, pid)
	p.End, p.signal = how, signal
	if signal && !strings.Contains(p.Pattern, "%c") {
		// Other processes wrote the changed files: a killed process writes none.
		if !strings.Contains(p.Pattern, "%p") {
			p.Profiles = nil
		}
	}
	t.ended = append(t.ended, p.patient)
}

// imagesOf returns the files in a process's memory that are instrumented. They are the
// program and its libraries, by path, each once.
func (t *tracer) imagesOf(pid int) []string {
	found := []string{}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return found
	}
	for line := range strings.Lines(string(text)) {
		_, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "/")
		if path = "/" + path; ok && !slices.Contains(found, path) && t.instrumented(path) {
			found = append(found, path)
		}
	}
	return found
}

// instrumented reports whether a file has counters of IR or front-end
// instrumentation. Both have the section __llvm_prf_cnts. The answer for each path is
// remembered.
func (t *tracer) instrumented(path string) bool {
	if known, ok := t.images[path]; ok {
		return known
	}
	t.images[path] = false
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	t.images[path] = f.Section("__llvm_prf_cnts") != nil
	return t.images[path]
}

// candidates are the existing files that the process may write its profile to,
// or has written. It also sets Pattern and dir. LLVM_PROFILE_FILE comes before the name that
// the program was compiled with; it is read from the environment with which the program
// started, so what the program sets itself is not seen.
func (p *tracee) candidates() []string {
	environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.PID))
	var pattern, temp string
	for entry := range strings.SplitSeq(string(environ), "\x00") {
		if v, ok := strings.CutPrefix(entry, "LLVM_PROFILE_FILE="); ok {
			pattern = v
		}
		if v, ok := strings.CutPrefix(entry, "TMPDIR="); ok {
			temp = v
		}
	}
	patterns := []string{pattern}
	if pattern == "" {
		patterns = compiledIn(p.Program)
	}
	p.Pattern = strings.Join(patterns, " ")
	dir, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", p.PID))
	var files []string
	for _, pattern := range patterns {
		glob := expandPattern(pattern, p.namePID, temp)
		if !filepath.IsAbs(glob) {
			glob = filepath.Join(globEscaper.Replace(dir), glob)
		}
		if matches, err := filepath.Glob(glob); err == nil && len(matches) > 0 {
			files = append(files, matches...)
			p.Pattern = pattern
		}
		p.dir = globUnescaper.Replace(filepath.Dir(glob))
	}
	return files
}

// compiledIn returns the names that a program uses without LLVM_PROFILE_FILE.
// -fprofile-instr-generate=NAME and -fprofile-generate=DIR store it in the variable
// __llvm_profile_filename. Where the variable cannot be found, the name is one of two
// defaults, of front-end and of IR instrumentation.
func compiledIn(program string) []string {
	defaults := []string{"default.profraw", "default_%m.profraw"}
	f, err := elf.Open(program)
	if err != nil {
		return defaults
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return defaults
	}
	for _, s := range symbols {
		if s.Name != "__llvm_profile_filename" || int(s.Section) >= len(f.Sections) || s.Size > 1<<12 {
			continue
		}
		section := f.Sections[s.Section]
		if section.Type == elf.SHT_NOBITS { // empty: the program has the default
			continue
		}
		text := make([]byte, s.Size)
		if _, err := section.ReadAt(text, int64(s.Value-section.Addr)); err != nil && err != io.EOF {
			continue
		}
		name, _, _ := strings.Cut(string(text), "\x00")
		if name != "" {
			return []string{name}
		}
	}
	return defaults
}

// What has a meaning in patterns of filepath.Glob, and how it stands there for
// itself.
var (
	globEscaper   = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`)
	globUnescaper = strings.NewReplacer(`\*`, `*`, `\?`, `?`, `\[`, `[`, `\\`, `\`)
)

// expandPattern turns the name that the runtime would expand into a pattern of
// what it can become. The module's hash in %m, and what is in %b, is unknown: any text
// matches. temp is TMPDIR, for %t. An unknown letter stays as it is.
func expandPattern(pattern string, pid int, temp string) string {
	var b strings.Builder
	literal := func(s string) { b.WriteString(globEscaper.Replace(s)) }
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' || i+1 == len(pattern) {
			literal(pattern[i : i+1])
			continue
		}
		j := i + 1
		for j < len(pattern)-1 && pattern[j] >= '0' && pattern[j] <= '9' {
			j++
		}
		switch pattern[j] {
		case 'p':
			fmt.Fprint(&b, pid)
		case 'h':
			host, _ := os.Hostname()
			literal(host)
		case 't':
			literal(temp + "/")
		case 'm', 'b':
			b.WriteByte('*')
		case 'c':
		case '%':
			literal("%")
		default:
			literal(pattern[i : j+1])
		}
		i = j
	}
	return b.String()
}

// stateOf returns the state of a regular file; false if there is none.
func stateOf(file string) (fileState, bool) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return fileState{}, false
	}
	s := fileState{size: info.Size(), modified: info.ModTime()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode = sys.Ino
	}
	return s, true
}

// findObstacle says why a profile cannot be written to its folder; "" if it
// could. The runtime makes folders that do not exist. It examines the nearest folder above
// that exists.
func (p *tracee) findObstacle() string {
	dir := p.dir
	for {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			return fmt.Sprintf("the profile cannot be written: %s is not a folder", dir)
		}
		if err == nil {
			break
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		return ""
	}
	if err := unix.Access(dir, unix.W_OK); err != nil {
		return fmt.Sprintf("the profile cannot be written into %s: %v", dir, err)
	}
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) == nil && fs.Blocks > 0 && fs.Bavail == 0 {
		return fmt.Sprintf("the profile cannot be written into %s: the disk is full", dir)
	}
	return ""
}

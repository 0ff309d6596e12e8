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

// A tracer follows all processes of a command with ptrace, and must stay on one thread. A subreaper that polls
// /proc would not stop processes, but would miss a process that is shorter than the polling interval, and could
// not examine a process that ends, whose working directory and mapped files show where its profile went.
type tracer struct {
	running map[int]*tracee // by process id
	threads map[int]bool    // threads after their first stop
	ended   []*patient
	images  map[string]bool // whether a file is instrumented
}

type tracee struct {
	*patient
	before  map[string]fileState // profiles that existed at its start
	dir     string               // folder of its profile, which need not exist
	loaded  bool                 // it has loaded its program itself, not inherited it by fork
	namePID int                  // value of %p: the runtime expands names once, so a forked process has its parent's id
}

// maxExamined limits how many threads a process may have when one of them, not the first, ends and is examined: a process
// with more goes on, or its first thread shows how it ends.
const maxExamined = 32

// fileState changes when a file is written. If a runtime merges into an existing profile, only the time changes.
type fileState struct {
	inode    uint64
	size     int64
	modified time.Time
}

// traceCommand runs a command and traces it and all processes that it starts. The patients are in the order in
// which they ended. An interrupt is passed on to the command, whose exit code does not matter.
func traceCommand(ctx context.Context, env *cli.Env, args []string) ([]*patient, error) {
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
	t.addProcess(first, true)
	_ = syscall.PtraceCont(first, 0)
	for {
		pid, err := syscall.Wait4(-1, &status, syscall.WALL, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil { // ECHILD: none is left
			break
		}
		t.handleEvent(pid, status)
	}
	for _, p := range t.running { // none, unless the kernel did not report an end
		t.ended = append(t.ended, p.patient)
	}
	return t.ended, nil
}

// handleEvent handles a ptrace event of a thread and resumes the thread.
func (t *tracer) handleEvent(pid int, status syscall.WaitStatus) {
	switch {
	case status.Exited():
		t.endProcess(pid, fmt.Sprintf("exit code %d", status.ExitStatus()), false)
		return
	case status.Signaled():
		t.endProcess(pid, fmt.Sprintf("signal %d (%v)", int(status.Signal()), status.Signal()), true)
		return
	case !status.Stopped():
		return
	}
	signal := 0
	switch cause := status.TrapCause(); {
	case cause == unix.PTRACE_EVENT_EXEC:
		t.replaceProgram(pid)
	case cause == unix.PTRACE_EVENT_EXIT:
		if leader := processOf(pid); leader != 0 {
			t.examine(leader, pid)
		}
	case cause > 0: // a process or thread was started, which stops by itself
	case !t.threads[pid]:
		// The first stop of a new thread or process.
		t.threads[pid] = true
		if processOf(pid) == pid {
			t.addProcess(pid, false)
		}
	case status.StopSignal() == syscall.SIGTRAP && cause == 0:
	default:
		signal = int(status.StopSignal())
		if isStop(signal) && !deliverable(pid) {
			signal = 0 // the signal has stopped it; under ptrace it continues
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

// deliverable reports whether a thread has stopped before the delivery of a signal, not after it.
func deliverable(pid int) bool {
	var info [128]byte
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, unix.PTRACE_GETSIGINFO, uintptr(pid), 0, uintptr(unsafe.Pointer(&info)), 0, 0)
	return errno == 0
}

func processOf(tid int) int { return statusField(tid, "Tgid") }

// statusField returns a number from /proc/TID/status, or 0 if the thread is gone.
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

// addProcess begins to follow a program in a process. loaded: the process has loaded the program, while a forked
// process inherits the expanded file name of its parent, with the parent's process id for %p.
func (t *tracer) addProcess(pid int, loaded bool) {
	p := &tracee{patient: &patient{PID: pid}, before: make(map[string]fileState), namePID: pid}
	if parent := t.running[statusField(pid, "PPid")]; parent != nil && !loaded {
		p.namePID, p.Inherited = parent.namePID, true
	}
	p.Program, _ = os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	p.Instrumented = []string{}
	p.loaded = loaded
	t.running[pid] = p
	for _, file := range p.candidates(pid) {
		if s, ok := stateOf(file); ok {
			p.before[file] = s
		}
	}
}

// replaceProgram handles a process that has loaded another program.
func (t *tracer) replaceProgram(pid int) {
	old := t.running[pid]
	t.addProcess(pid, true)
	if old == nil || !old.loaded {
		return // between fork and exec
	}
	// The memory of the old program is gone, its file is not.
	if t.instrumented(old.Program) {
		old.Instrumented = []string{old.Program}
	}
	old.End = "replaced by " + filepath.Base(t.running[pid].Program)
	old.replaced = true
	t.ended = append(t.ended, old.patient)
}

// examine examines a process when one of its threads is about to end, while its memory and folder can still be read
// through this thread. What the last thread shows counts. Which one is the last cannot be told: when one of them ends the
// process, the others are killed, and may be gone before they are examined. A file was written if it is not empty and
// has changed since the start of the process.
func (t *tracer) examine(pid, thread int) {
	p := t.running[pid]
	if p == nil {
		return
	}
	if threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid)); thread != pid && len(threads) > maxExamined {
		return
	}
	images, first := t.imagesOf(thread), p.dir
	if len(images) == 0 {
		return
	}
	targets := p.candidates(thread)
	if _, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", thread)); err != nil { // it was killed meanwhile
		p.dir = first
		return
	}
	p.Instrumented, p.Profiles, p.targets, p.moved = images, nil, targets, p.moved || p.dir != first
	for _, file := range p.targets {
		if s, ok := stateOf(file); ok && s.size > 0 && s != p.before[file] {
			p.Profiles = append(p.Profiles, file)
		}
	}
	if len(p.Profiles) == 0 {
		p.obstacle = p.findObstacle()
		p.unmapped = !slices.ContainsFunc(p.Instrumented, mayMap)
	}
}

// endProcess handles a process that has ended. how is the text for people. A process that a signal killed wrote
// nothing, unless its counters are mapped into the file (%c).
func (t *tracer) endProcess(pid int, how string, signal bool) {
	delete(t.threads, pid)
	p := t.running[pid]
	if p == nil {
		return // a thread
	}
	delete(t.running, pid)
	p.End, p.signal = how, signal
	if signal && !hasLetter(p.Pattern, 'c') && !hasLetter(p.Pattern, 'p') {
		p.Profiles = nil // other processes wrote them
	}
	t.ended = append(t.ended, p.patient)
}

// imagesOf returns the paths of the instrumented files in the memory of a thread: the program and its libraries.
func (t *tracer) imagesOf(thread int) []string {
	found := []string{}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", thread))
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

// instrumented reports whether a file has counters of IR or front-end instrumentation, which are in the section
// __llvm_prf_cnts.
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

// mayMap reports whether a program or library may be built for continuous mode: the bias of the counters or bitmaps is
// then a variable of its own, not the variable of the runtime. Without symbols it may.
func mayMap(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return true
	}
	at := make(map[string]uint64)
	for _, s := range symbols {
		at[s.Name] = s.Value
	}
	for _, name := range []string{"__llvm_profile_counter_bias", "__llvm_profile_bitmap_bias"} {
		if own, ok := at[name]; ok && own != at[name+"_default"] {
			return true
		}
	}
	return false
}

// candidates returns the existing files to which the process of a thread may write its profile, and sets Pattern and dir.
// LLVM_PROFILE_FILE comes before the name in the program. It is the value at the program's start: a change by the
// program is not visible.
func (p *tracee) candidates(thread int) []string {
	environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", thread))
	var pattern, temp string
	tempSet := false
	for entry := range strings.SplitSeq(string(environ), "\x00") {
		if v, ok := strings.CutPrefix(entry, "LLVM_PROFILE_FILE="); ok {
			pattern = v
		}
		if v, ok := strings.CutPrefix(entry, "TMPDIR="); ok {
			temp, tempSet = v, true
		}
	}
	patterns := []string{pattern}
	if pattern == "" {
		patterns = compiledIn(p.Program)
	}
	p.Pattern = strings.Join(patterns, " ")
	dir, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", thread))
	var files []string
	for _, pattern := range patterns {
		for i, glob := range expandPattern(pattern, p.namePID, temp, tempSet) {
			if !filepath.IsAbs(glob) {
				glob = filepath.Join(globEscaper.Replace(dir), glob)
			}
			if matches, err := filepath.Glob(glob); err == nil && len(matches) > 0 {
				files = append(files, matches...)
				p.Pattern = pattern
			}
			if i == 0 {
				p.dir = globUnescaper.Replace(filepath.Dir(glob))
			}
		}
	}
	return files
}

// compiledIn returns the names that a program may use without LLVM_PROFILE_FILE: the value of the variable
// __llvm_profile_filename, which -fprofile-instr-generate=NAME and -fprofile-generate=DIR set, or else the
// defaults of front-end and IR instrumentation.
func compiledIn(program string) []string {
	defaults := []string{defaultProfile, "default_%m.profraw"}
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

// Quoting in patterns of filepath.Glob.
var (
	globEscaper   = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`)
	globUnescaper = strings.NewReplacer(`\*`, `*`, `\?`, `?`, `\[`, `[`, `\\`, `\`)
)

// expandPattern converts a name that the runtime would expand to patterns for filepath.Glob. The texts of %m (hash
// of the module) and %b (build id) are unknown, so any text matches. temp is TMPDIR, for %t.
//
// The runtime drops specifiers that it does not know, unless the name has no others: then the name stays as it is.
// It takes the default name if %m or %c occurs twice, %t has no TMPDIR, or %b no build id.
func expandPattern(pattern string, pid int, temp string, tempSet bool) (globs []string) {
	var b strings.Builder
	literal := func(s string) { b.WriteString(globEscaper.Replace(s)) }
	known, modules, modes := false, 0, 0
	for _, p := range splitPattern(pattern) {
		known = known || p.letter != 0 && p.letter != unknownSpecifier
		switch p.letter {
		case 0:
			literal(p.text)
		case 'p':
			fmt.Fprint(&b, pid)
		case 'h':
			host, _ := os.Hostname()
			literal(host)
		case 't':
			literal(temp + "/")
			if !tempSet {
				return []string{defaultProfile}
			}
		case 'm':
			modules++
			b.WriteByte('*')
		case 'b': // LLVM 19 does not know it
			b.WriteByte('*')
			globs = append(globs[:0], defaultProfile)
		case 'c':
			modes++
		}
	}
	switch {
	case modules > 1 || modes > 1:
		return []string{defaultProfile}
	case !known:
		return []string{globEscaper.Replace(pattern)}
	}
	return append([]string{b.String()}, globs...)
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

// findObstacle says why a profile cannot be written to its folder; "" if it can be written. If the folder does not
// exist, the runtime creates it, so the nearest folder above counts.
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

package oracle

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
)

//go:embed testdata/forkserver.c
var forkServerSource string

// Limits of forkserver.c.
const maxRequest, maxRequestArgs = 1 << 17, 1 << 12

// servable matches the tools that are worth a fork server.
var servable = regexp.MustCompile(`^(llvm-[a-z]+|clang(\+\+)?)(-\d+)?$`)

// A loadedTool holds the fork servers of one program.
type loadedTool struct {
	mu     sync.Mutex
	runs   int
	failed bool
	idle   []*forkServer
}

var (
	loadedMu sync.Mutex
	loaded   = map[string]*loadedTool{}
)

// runServed runs the command in a fork of a server. If served is false, it has done nothing.
func runServed(cmd *exec.Cmd) (code int, served bool, err error) {
	if !servable.MatchString(filepath.Base(cmd.Path)) || cmd.Err != nil || cmd.Env != nil || cmd.ExtraFiles != nil || cmd.SysProcAttr != nil {
		return 0, false, nil
	}
	request, ok := serverRequest(cmd)
	if !ok {
		return 0, false, nil
	}
	loadedMu.Lock()
	tool := loaded[cmd.Path]
	if tool == nil {
		tool = &loadedTool{}
		loaded[cmd.Path] = tool
	}
	loadedMu.Unlock()
	s := tool.take(cmd.Path)
	if s == nil {
		return 0, false, nil
	}
	code, err = s.run(cmd, request)
	if err != nil {
		s.close()
		return 0, true, fmt.Errorf("%s: fork server: %w", cmd.Path, err)
	}
	tool.mu.Lock()
	tool.idle = append(tool.idle, s)
	tool.mu.Unlock()
	return code, true, nil
}

// take returns an idle server of the tool with the environment of this process, or
// starts one. It returns nil if the command is to run without a server.
func (l *loadedTool) take(exe string) *forkServer {
	env := environment()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs++; l.runs <= plainRuns || l.failed {
		return nil
	}
	if i := slices.IndexFunc(l.idle, func(s *forkServer) bool { return s.env == env }); i >= 0 {
		s := l.idle[i]
		l.idle = slices.Delete(l.idle, i, i+1)
		return s
	}
	s := startForkServer(exe, env)
	l.failed = s == nil
	return s
}

// environment returns the environment without PWD, which a request carries.
func environment() string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PWD=") })
	return strings.Join(env, "\x00")
}

// serverRequest returns the message for the server, if the command fits into one.
func serverRequest(cmd *exec.Cmd) ([]byte, bool) {
	dir, pwd := cmd.Dir, cmd.Dir
	here, err := os.Getwd()
	switch {
	case err != nil:
		return nil, false
	case dir == "":
		dir, pwd = here, os.Getenv("PWD")
	case !filepath.IsAbs(dir):
		dir = filepath.Join(here, dir)
		pwd = dir
	}
	words := append([]string{dir, pwd}, cmd.Args...)
	request := strings.Join(words, "\x00") + "\x00"
	if len(words) > maxRequestArgs || len(request) > maxRequest || strings.Count(request, "\x00") != len(words) {
		return nil, false
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, false
	}
	return []byte(request), true
}

// forkServerLibrary returns testdata/forkserver.c compiled to a shared library, or nothing if no compiler can build it.
var forkServerLibrary = sync.OnceValue(func() []byte {
	dir, err := os.MkdirTemp("", "profuse-oracle-")
	if err != nil {
		return nil
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "forkserver.so")
	for _, compiler := range []string{"cc", "clang-22"} {
		cmd := exec.Command(compiler, "-O1", "-shared", "-fPIC", "-x", "c", "-o", file, "-", "-ldl")
		cmd.Stdin = strings.NewReader(forkServerSource)
		if cmd.Run() == nil {
			library, _ := os.ReadFile(file)
			return library
		}
	}
	return nil
})

// A forkServer is a tool that was loaded once and runs many times; see testdata/forkserver.c. It ends with this process.
type forkServer struct {
	cmd    *exec.Cmd
	socket int
	env    string
}

// startForkServer loads the tool. It returns nil if there is no library or the tool does not load it.
func startForkServer(exe, env string) *forkServer {
	library := forkServerLibrary()
	if len(library) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp("", "profuse-oracle-")
	if err != nil {
		return nil
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "forkserver.so")
	if os.WriteFile(file, library, 0o700) != nil {
		return nil
	}
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	theirs := os.NewFile(uintptr(pair[1]), "socket")
	s := &forkServer{cmd: exec.Command(exe), socket: pair[0], env: env}
	s.cmd.ExtraFiles = []*os.File{theirs}
	s.cmd.Env = append(os.Environ(), "LD_PRELOAD="+file)
	err = s.cmd.Start()
	theirs.Close()
	if err != nil {
		syscall.Close(s.socket)
		return nil
	}
	if _, err = s.answer(); err != nil {
		s.close()
		return nil
	}
	return s
}

func (s *forkServer) close() {
	syscall.Close(s.socket)
	_ = s.cmd.Wait() // its exit code says nothing
}

// run runs the tool once with the streams of the command, through pipes, as package exec does.
func (s *forkServer) run(cmd *exec.Cmd, request []byte) (code int, err error) {
	var streams [3]*os.File
	var wg sync.WaitGroup
	defer wg.Wait()
	defer func() {
		for _, f := range streams {
			if f != nil {
				f.Close()
			}
		}
	}()
	if streams[0], err = reading(&wg, cmd.Stdin); err != nil {
		return 0, err
	}
	for i, w := range []io.Writer{cmd.Stdout, cmd.Stderr} {
		if streams[1+i], err = writing(&wg, w); err != nil {
			return 0, err
		}
	}
	rights := syscall.UnixRights(int(streams[0].Fd()), int(streams[1].Fd()), int(streams[2].Fd()))
	if err := syscall.Sendmsg(s.socket, request, rights, nil, 0); err != nil {
		return 0, err
	}
	for i, f := range streams {
		f.Close()
		streams[i] = nil
	}
	return s.answer()
}

// reading returns the end of a pipe from which the tool reads what from holds; a nil reader is empty.
func reading(wg *sync.WaitGroup, from io.Reader) (*os.File, error) {
	if from == nil {
		return os.Open(os.DevNull)
	}
	r, w, err := os.Pipe()
	if err == nil {
		wg.Go(func() {
			_, _ = io.Copy(w, from) // a tool need not read all
			w.Close()
		})
	}
	return r, err
}

// writing returns a pipe whose bytes are copied to the writer; nil discards them.
func writing(wg *sync.WaitGroup, to io.Writer) (*os.File, error) {
	if to == nil {
		return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	r, w, err := os.Pipe()
	if err == nil {
		wg.Go(func() {
			_, _ = io.Copy(to, r)
			r.Close()
		})
	}
	return w, err
}

// answer waits for a run and returns its exit code, -1 if a signal ended it.
func (s *forkServer) answer() (code int, err error) {
	var status [4]byte
	for {
		n, err := syscall.Read(s.socket, status[:])
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, err
		case n != len(status):
			return 0, io.ErrUnexpectedEOF
		default:
			return syscall.WaitStatus(binary.NativeEndian.Uint32(status[:])).ExitStatus(), nil
		}
	}
}

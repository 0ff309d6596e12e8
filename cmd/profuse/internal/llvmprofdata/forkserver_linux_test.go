package llvmprofdata

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

//go:embed testdata/forkserver.c
var forkServerSource string

// compileForkServer returns the compiled library, "" where it cannot be made.
var compileForkServer = sync.OnceValue(func() string {
	file := filepath.Join(scratch, "forkserver.so")
	for _, compiler := range []string{"cc", "clang-22"} {
		cmd := exec.Command(compiler, "-O1", "-shared", "-fPIC", "-x", "c", "-o", file, "-", "-ldl")
		cmd.Stdin = strings.NewReader(forkServerSource)
		if cmd.Run() == nil {
			return file
		}
	}
	return ""
})

// A forkServer is a tool that was loaded once and runs many times; see
// testdata/forkserver.c.
type forkServer struct {
	cmd    *exec.Cmd
	socket int
}

// startForkServer loads the tool in a folder. It returns nil where the tool does
// not take the library, or there is none.
func startForkServer(exe, dir string) *forkServer {
	library := compileForkServer()
	if library == "" {
		return nil
	}
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	theirs := os.NewFile(uintptr(pair[1]), "socket")
	s := &forkServer{cmd: exec.Command(exe), socket: pair[0]}
	s.cmd.Dir, s.cmd.ExtraFiles = dir, []*os.File{theirs}
	s.cmd.Env = append(os.Environ(), "LD_PRELOAD="+library)
	err = s.cmd.Start()
	theirs.Close()
	if err == nil {
		if _, err = s.answer(); err == nil {
			return s
		}
	}
	s.close()
	return nil
}

func (s *forkServer) close() {
	syscall.Close(s.socket)
	s.cmd.Wait()
}

// run runs the tool once. Its streams are pipes, as those of package exec are.
func (s *forkServer) run(args []string, stdin string, stdout, stderr *bytes.Buffer) (code int, err error) {
	var theirs, ours [3]*os.File
	for i := range theirs {
		r, w, err := os.Pipe()
		if err != nil {
			return 0, err
		}
		theirs[i], ours[i] = w, r
		if i == 0 {
			theirs[i], ours[i] = r, w
		}
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	for i, use := range []func(){
		func() { io.WriteString(ours[0], stdin) },
		func() { stdout.ReadFrom(ours[1]) },
		func() { stderr.ReadFrom(ours[2]) },
	} {
		wg.Go(func() {
			use()
			ours[i].Close()
		})
	}
	request := []byte(strings.Join(args, "\x00") + "\x00")
	rights := syscall.UnixRights(int(theirs[0].Fd()), int(theirs[1].Fd()), int(theirs[2].Fd()))
	err = syscall.Sendmsg(s.socket, request, rights, nil, 0)
	for _, f := range theirs {
		f.Close()
	}
	if err != nil {
		return 0, err
	}
	return s.answer()
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

//go:build !linux

package llvmprofdata

import (
	"bytes"
	"errors"
)

// forkServer needs Linux.
type forkServer struct{}

func startForkServer(exe, dir string) *forkServer { return nil }

func (s *forkServer) close() {}

func (s *forkServer) run(args []string, stdin string, stdout, stderr *bytes.Buffer) (int, error) {
	return 0, errors.ErrUnsupported
}

package atomicfile

import "os"

// writeback is after how many bytes the system is asked to bring them to the disk.
const writeback = 1 << 20

// A steady file goes to the disk while further bytes are made, so that Commit has less to
// wait for.
type steady struct {
	f           *os.File
	asked, size int64 // offsets
}

func (s *steady) Write(p []byte) (int, error) {
	n, err := s.f.Write(p)
	if s.size += int64(n); s.size-s.asked >= writeback {
		startWriteback(s.f, s.asked, s.size-s.asked)
		s.asked = s.size
	}
	return n, err
}

package atomicfile

import "os"

// writeback is the number of bytes after which the system is asked to write them to the disk.
const writeback = 1 << 20

// A steady file goes to the disk while it is written, so that Commit waits less.
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

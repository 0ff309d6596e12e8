package inputs

import (
	"bufio"
	"io"
)

// extract passes a stream to [Options.Extract] if [Options.Recognize] knows its first bytes.
func (s *source) extract(name string, src *bufio.Reader) error {
	s.passed = true
	head, err := src.Peek(headLen)
	if err != nil && err != io.EOF {
		return s.damaged(name, "stream", err)
	}
	recognized := int64(0)
	if s.opts.Recognize != nil {
		if recognized, err = s.opts.Recognize(name, head); err != nil {
			return nil // of another kind, and an archive goes on
		}
	}
	limits := s.opts.streamLimits(recognized)
	return s.opts.Extract(name, &refusingReader{s: s, name: name, src: src, limits: &limits})
}

// A refusingReader fails once the limits refuse the bytes that were read.
type refusingReader struct {
	s           *source
	name        string
	src         io.Reader
	limits      *limits
	size, zeros int64
}

func (r *refusingReader) Read(p []byte) (int, error) {
	n, err := r.src.Read(p)
	r.size += int64(n)
	r.zeros = trailingZeros(p[:n], r.zeros)
	if refused := r.limits.refuse(r.name, r.size, r.s.packed(), r.zeros); refused != nil {
		return n, refused
	}
	if err != nil && err != io.EOF {
		err = r.s.damaged(r.name, "stream", err)
	}
	return n, err
}

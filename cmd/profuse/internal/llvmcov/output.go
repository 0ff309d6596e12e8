package llvmcov

import (
	"bufio"
	"errors"
	"io"
)

// write lets fill write standard output.
func (t *tool) write(fill func(io.Writer)) error {
	if err := buffered(t.Stdout, fill); err != nil {
		return errors.New("IO failure on output stream: " + words(err))
	}
	return nil
}

// buffered passes a buffer before w to fill, which may leave errors to it. Colours are
// made for what is behind a [bufio.Writer], so that terminals get them.
func buffered(w io.Writer, fill func(io.Writer)) error {
	b := &buffer{bufio.NewWriterSize(w, 64<<10), w}
	fill(b)
	return b.Flush()
}

// A buffer remembers what it writes to.
type buffer struct {
	*bufio.Writer
	behind io.Writer
}

// behind returns what the buffer writes to.
func behind(w io.Writer) io.Writer {
	if b, ok := w.(*buffer); ok {
		return b.behind
	}
	return w
}

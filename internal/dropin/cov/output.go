package cov

import (
	"bufio"
	"errors"
	"io"
	"sync"

	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
)

// write lets fill write standard output. An error of the stream has LLVM's words.
func (t *tool) write(fill func(io.Writer)) error {
	if err := buffered(t.Stdout, fill); err != nil {
		return errors.New("IO failure on output stream: " + withcolor.Words(err))
	}
	return nil
}

// buffered passes a buffered w to fill and returns the first error of w, so that fill need not check for errors.
func buffered(w io.Writer, fill func(io.Writer)) error {
	b := &buffer{bufio.NewWriterSize(w, 64<<10), w}
	fill(b)
	return b.Flush()
}

// A buffer remembers its writer, because colours depend on whether that is a terminal.
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

// commits lets files become visible while the next files are written: waiting for the disk takes longer than writing.
type commits struct {
	wg    sync.WaitGroup
	slots chan struct{}
	mu    sync.Mutex
	err   error // the first
}

// mostCommits is how many files wait for the disk at once.
const mostCommits = 16

// Go runs commit in the background. It blocks while mostCommits are running; wait returns the first error.
func (c *commits) Go(commit func() error) {
	c.slots <- struct{}{}
	c.wg.Go(func() {
		defer func() { <-c.slots }()
		if err := commit(); err != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.err == nil {
				c.err = errors.New("IO failure on output stream: " + withcolor.Words(err))
			}
		}
	})
}

// wait waits for all files and returns the first error.
func (c *commits) wait() error {
	c.wg.Wait()
	return c.err
}

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

// buffered passes a buffer before w to fill, which may leave errors to it. Colours are
// made for what is behind a [bufio.Writer], so that terminals get them. The result is the
// first error of w.
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

// commits are files that become visible while the next ones are made: waiting for the
// disk takes longer than making them.
type commits struct {
	wg    sync.WaitGroup
	slots chan struct{}
	mu    sync.Mutex
	err   error // the first
}

// mostCommits is how many files wait for the disk at once.
const mostCommits = 16

func newCommits() *commits { return &commits{slots: make(chan struct{}, mostCommits)} }

// Go runs commit beside what follows. It waits while mostCommits are running. Errors come
// from wait.
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

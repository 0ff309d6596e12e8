package profdata

import (
	"errors"
	"io"
	"syscall"

	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
)

// blockSize is the size of the buffer of LLVM's output streams.
const blockSize = 4096

// An output receives the result of a command. A file becomes visible only at commit. Standard output, which cannot
// be undone, receives whole blocks as they fill, so that a run that fails has written the same blocks as
// llvm-profdata.
type output struct {
	w       io.Writer
	pending []byte // at most one block
	err     error
	done    func() error // after the last byte
	abandon func()
	tty     bool
}

// writeOutput lets write fill the file that --output names, which must not be a file listed in
// not. If write fails, an existing file stays unchanged.
func (t *tool) writeOutput(write func(*output) error, not ...string) error {
	out, err := t.openOutput(t.opt.output, not...)
	if err != nil {
		return err
	}
	if err := write(out); err != nil {
		out.abandon()
		return err
	}
	return out.commit()
}

// openOutput opens the file, or standard output for "-".
func (t *tool) openOutput(path string, not ...string) (*output, error) {
	o := &output{done: func() error { return nil }, abandon: func() {}}
	if path == "-" {
		o.w, o.tty = t.Stdout, withcolor.IsTerminal(t.Stdout)
		return o, nil
	}
	if path == "" {
		return nil, &failure{message: words(syscall.ENOENT)}
	}
	f, err := atomicfile.Create(path, atomicfile.Options{Inputs: not})
	if errors.Is(err, atomicfile.ErrSameFile) {
		return nil, &failure{whence: path, message: atomicfile.ErrSameFile.Error()}
	}
	if err != nil {
		return nil, inFile(err, path)
	}
	o.w, o.done, o.abandon = f, f.Commit, func() { f.Close() }
	return o, nil
}

// Write never fails; commit returns the error.
func (o *output) Write(p []byte) (int, error) {
	size := len(p)
	// LLVM writes a full block only when the next byte arrives.
	if len(o.pending)+size > blockSize {
		if have := len(o.pending); have > 0 {
			o.pending, p = append(o.pending, p[:blockSize-have]...), p[blockSize-have:]
			o.flush()
		}
		n := (len(p) - 1) / blockSize * blockSize
		o.write(p[:n])
		p = p[n:]
	}
	o.pending = append(o.pending, p...)
	return size, nil
}

// write passes bytes on. It keeps the first error and writes nothing after it.
func (o *output) write(p []byte) {
	if o.err == nil && len(p) > 0 {
		_, o.err = o.w.Write(p)
	}
}

func (o *output) flush() {
	o.write(o.pending)
	o.pending = o.pending[:0]
}

// commit writes the rest and makes the file visible. After an error the file stays as it was.
func (o *output) commit() error {
	o.flush()
	if o.err != nil {
		o.abandon()
	} else {
		o.err = o.done()
	}
	if o.err != nil {
		return errors.New("IO failure on output stream: " + words(o.err))
	}
	return nil
}

package llvmmipdata

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/profuse-pgo/profuse/internal/atomicfile"
	"github.com/profuse-pgo/profuse/mip"
)

// output is where a command writes its result. Nothing of a file is seen
// before Commit; Close without it leaves the file as it was.
type output interface {
	io.Writer
	Commit() error
	Close() error
}

// createFile opens the file, or standard output for "-". The file must not be one
// of those named in not: the original would overwrite it all the same.
func (t *tool) createFile(path string, not ...string) (output, error) {
	if path == "-" {
		return stdout{bufio.NewWriter(t.Stdout)}, nil
	}
	f, err := atomicfile.Create(path, atomicfile.Options{Inputs: not})
	if errors.Is(err, atomicfile.ErrSameFile) {
		return nil, fmt.Errorf("%s: %w", path, atomicfile.ErrSameFile)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// stdout is standard output. It cannot be taken back, but what is small enough
// to be buffered has not been written when a run fails.
type stdout struct{ *bufio.Writer }

func (s stdout) Commit() error { return s.Flush() }
func (s stdout) Close() error  { return nil }

// showProfile has show write about the profile into the file that -o names.
// source is nil without --debug. As in the original the file is opened before
// the profile is read.
func (t *tool) showProfile(show func(w *bufio.Writer, p *mip.Profile, source *debugInfo) error) error {
	out, err := t.createFile(t.opt.output, t.opt.profile, t.opt.debug)
	if err != nil {
		return err
	}
	defer out.Close()
	p, err := t.readProfile()
	if err != nil {
		return err
	}
	source, err := t.openDebug()
	if err != nil {
		return err
	}
	defer source.close()
	w := bufio.NewWriter(out)
	if err := show(w, p, source); err != nil {
		return err
	}
	if err = w.Flush(); err == nil {
		err = out.Commit()
	}
	if err != nil {
		return writeError(err)
	}
	return nil
}

func writeError(err error) error { return errors.New("IO failure on output stream: " + words(err)) }

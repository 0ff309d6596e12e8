package mipdata

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
)

// output is the destination of a result. A file becomes visible at Commit; Close without
// Commit leaves the file unchanged.
type output interface {
	io.Writer
	Commit() error
	Close() error
}

// createFile opens the file, or standard output for "-". It refuses a file that is listed in
// not; the original would overwrite it.
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

// stdout is standard output, with a buffer: a run that fails early writes nothing.
type stdout struct{ *bufio.Writer }

func (s stdout) Commit() error { return s.Flush() }
func (s stdout) Close() error  { return nil }

// showProfile calls show with the profile and a writer to the file of option -o. source is nil
// without --debug. Like the original it opens the file before it reads the profile.
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

// writeError words an error of the output as LLVM's streams do.
func writeError(err error) error {
	return errors.New("IO failure on output stream: " + withcolor.Words(err))
}

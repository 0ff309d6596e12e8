package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A target is where the output goes: a file to be replaced, or one that is
// open already because it must be written in place.
type target struct {
	path   string      // no symbolic link
	info   fs.FileInfo // of the existing file; nil if there is none
	direct *os.File
	shared bool // direct is the program's own and stays open
}

func (t *target) close() error {
	if t.direct == nil || t.shared {
		return nil
	}
	return t.direct.Close()
}

// dir returns the folder of a path. Unlike [filepath.Dir] it does not clean:
// "a/.." is not "." where a is a symbolic link.
func dir(path string) string {
	d, _ := filepath.Split(path)
	if d == "" {
		return "." + string(filepath.Separator)
	}
	return d
}

// maxLinks is how many symbolic links are followed, as Linux does.
const maxLinks = 40

// resolve finds out what path leads to.
func resolve(path string) (target, error) {
	switch path {
	case "":
		return target{}, &fs.PathError{Op: "create", Path: path, Err: fs.ErrNotExist}
	case "-":
		return openDescriptor(path, 1)
	}
	name := path
	for range maxLinks {
		// A descriptor of this process is written through the descriptor even
		// if it is a regular file: it may be shared with other programs, at
		// an offset, as in "(profuse …; other) > log".
		if fd, ok := descriptor(name); ok {
			return openDescriptor(path, fd)
		}
		info, err := os.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return target{path: name}, nil
		case err != nil:
			return target{}, err
		case info.Mode()&fs.ModeSymlink != 0:
			// What a link of /proc to a pipe says is not a path.
			if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
				return openTarget(name, info)
			}
			link, err := os.Readlink(name)
			if err != nil {
				return target{}, err
			}
			if !filepath.IsAbs(link) {
				link = dir(name) + link
			}
			name = link
			continue
		}
		return openTarget(name, info)
	}
	return target{}, &fs.PathError{Op: "open", Path: path, Err: errors.New("too many levels of symbolic links")}
}

// openTarget opens an existing file that is not a link for writing. A regular
// file is closed again, having shown that its permissions allow writing, which
// the folder's, that renaming goes by, do not tell.
func openTarget(name string, info fs.FileInfo) (target, error) {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return target{}, err
	}
	if !info.Mode().IsRegular() {
		return target{path: name, direct: f}, nil
	}
	return target{path: name, info: info}, f.Close()
}

// openDescriptor opens what the process has open as fd.
func openDescriptor(path string, fd int) (target, error) {
	f, shared, err := duplicate(fd, path)
	if err != nil {
		return target{}, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return target{path: path, direct: f, shared: shared}, nil
}

// refuseInputs fails if t is one of the inputs. Only regular files can be
// damaged by it: reading from one terminal and writing to it is fine.
func refuseInputs(path string, t target, inputs []string) error {
	if len(inputs) == 0 {
		return nil
	}
	info := t.info
	if t.direct != nil {
		var err error
		if info, err = t.direct.Stat(); err != nil || !info.Mode().IsRegular() {
			return nil
		}
	}
	clean := filepath.Clean(t.path)
	for _, in := range inputs {
		same := in != "-" && t.direct == nil && filepath.Clean(in) == clean
		if !same && info != nil && in != "-" {
			other, err := os.Stat(in)
			same = err == nil && os.SameFile(info, other)
		}
		if same {
			return &fs.PathError{Op: "create", Path: path, Err: fmt.Errorf("%w (%s)", ErrSameFile, in)}
		}
	}
	return nil
}

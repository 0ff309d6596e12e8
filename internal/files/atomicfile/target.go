package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A target is a file to be replaced, or an open file that must be written in place.
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

// dir returns the folder of a path. Unlike [filepath.Dir] it does not clean: "a/.." is not "." where a is a symbolic link.
func dir(path string) string {
	d, _ := filepath.Split(path)
	if d == "" {
		return "." + string(filepath.Separator)
	}
	return d
}

// maxLinks is the number of symbolic links that resolve follows, as on Linux.
const maxLinks = 40

// resolve follows the symbolic links of path to the file to write.
func resolve(path string) (target, error) {
	switch path {
	case "":
		return target{}, &fs.PathError{Op: "create", Path: path, Err: fs.ErrNotExist}
	case "-":
		return openDescriptor(path, 1)
	}
	name := path
	for range maxLinks {
		// A descriptor of this process is written through the descriptor even if it is a regular file: it may be
		// shared with other programs, at an offset, as in "(profuse …; other) > log".
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
			// The text of a link in /proc to a pipe is not a path.
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

// openTarget opens an existing file that is not a link for writing. It closes a regular file at once: opening it
// checks the permissions of the file, while a rename only checks the permissions of the folder.
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

// openDescriptor returns a target that writes to descriptor fd of this process.
func openDescriptor(path string, fd int) (target, error) {
	f, shared, err := duplicate(fd, path)
	if err != nil {
		return target{}, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return target{path: path, direct: f, shared: shared}, nil
}

// refuseInputs fails if t is one of the inputs and a regular file. Reading from and writing to one terminal does no harm.
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

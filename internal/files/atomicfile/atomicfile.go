// Package atomicfile writes output files that are whole or not there at all.
//
// [Create] opens a temporary file beside the target, [File.Commit] puts it in
// the target's place, and anything else (an error, [File.Close] without
// Commit, a crash) leaves the target as it was:
//
//	f, err := atomicfile.Create(path, atomicfile.Options{Inputs: inputs})
//	if err != nil {
//		return err
//	}
//	defer f.Close() // does nothing after Commit
//	if err := write(f); err != nil {
//		return err
//	}
//	return f.Commit()
//
// A target that is not a regular file (a terminal, /dev/null, a FIFO, standard output) cannot be replaced and is
// written directly; what has been flushed to it cannot be taken back.
//
// A process that is killed leaves its temporary file behind. [IsTemp] recognizes such files by
// name, so that nothing takes them for profiles, and the next [Create] in the folder removes the
// files of ended processes. A process that exits early, after a signal for example, first calls
// [RemoveAll].
//
// Replacing a file gives it a new inode: other hard links to it keep the old
// contents, and its owner becomes the writing user.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/profuse-pgo/profuse/internal/files/screen"
)

const (
	tempPrefix = ".profuse-"
	tempSuffix = ".tmp"
)

// ErrSameFile is wrapped by the error of [Create] when the target is one of the inputs.
var ErrSameFile = errors.New("output file is also an input")

// IsTemp reports whether the name of a file, its folder aside, is one that
// [Create] gives to temporary files.
func IsTemp(name string) bool {
	name = filepath.Base(name)
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

// Options modify [Create].
type Options struct {
	// Inputs are files that the target must not be, however it is spelled.
	Inputs []string
	// Like is a file whose permission bits and modification time the new file
	// gets. If it is nil, the file that is replaced gives the permission bits.
	Like fs.FileInfo
	// Checksum also writes the checksum of the file, see [ReadChecksum]. An existing checksum
	// of the target is renewed in any case.
	Checksum bool
	// New makes Commit fail with [fs.ErrExist] if the target exists by then: if several
	// processes create it, even on several machines, one succeeds. Where the file system has
	// no hard links, readers may see the file empty for a moment.
	New bool
}

// bufferSize is the size of the write buffer in bytes.
const bufferSize = 128 << 10

// A File is an output file being written. It is not safe for concurrent use.
type File struct {
	name   string // as given to Create, for messages
	target target
	like   fs.FileInfo // see Options
	fresh  bool        // Options.New
	f      *os.File
	temp   *temporary // of f; nil if the target is written directly
	w      *bufio.Writer
	sum    hash.Hash // of the bytes written; nil without a checksum
	err    error     // first failure to write
	closed bool
}

// Create opens path for writing. The path "-" is standard output, and so are /dev/stdout and the like. If path is a
// symbolic link, Create replaces the file that the link leads to and keeps the link.
//
// Create fails with [ErrSameFile] if path is one of opts.Inputs, and with the system's error if the existing file
// could not be opened for writing or its folder takes no new file.
func Create(path string, opts Options) (*File, error) {
	t, err := resolve(path)
	if err != nil {
		return nil, err
	}
	if err := refuseInputs(path, t, opts.Inputs); err != nil {
		t.close()
		return nil, err
	}
	f := &File{name: path, target: t, f: t.direct, like: opts.Like, fresh: opts.New}
	if f.f == nil {
		perm := opts.Like
		if perm == nil {
			perm = t.info
		}
		if f.temp, err = createTemp(dir(t.path), perm); err != nil {
			return nil, f.wrap("create", err)
		}
		f.f = f.temp.f
	}
	var w io.Writer = &steady{f: f.f}
	if t.direct != nil {
		w = screen.New(f.f)
	}
	f.w = bufio.NewWriterSize(w, bufferSize)
	f.startChecksum(opts.Checksum)
	return f, nil
}

// WriteFile writes all of r to the file path, as a whole or, on failure, not at all.
func WriteFile(path string, r io.Reader) error {
	f, err := Create(path, Options{})
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.Copy(f, r); err != nil {
		return err
	}
	return f.Commit()
}

// Write appends to the file. After the first failure it returns that failure.
func (f *File) Write(p []byte) (int, error) {
	if f.closed {
		return 0, f.fail(os.ErrClosed)
	}
	n, err := f.w.Write(p)
	if err != nil {
		err = f.fail(err)
	} else if f.sum != nil {
		f.sum.Write(p) // never fails
	}
	return n, err
}

// fail records and returns the first failure, with the name of the output instead of the temporary file's.
func (f *File) fail(err error) error {
	if f.err == nil {
		f.err = f.wrap("write", err)
	}
	return f.err
}

func (f *File) wrap(op string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		err = le.Err
	}
	return &fs.PathError{Op: op, Path: f.name, Err: err}
}

// Commit flushes the buffer, syncs the file to disk and renames it to the target. After an error the target is
// unchanged, with one exception that the error names: the file was replaced, but its folder could not be synced, so
// a power failure may bring the old file back. Commit always closes the File.
func (f *File) Commit() error {
	if f.closed {
		return f.wrap("commit", os.ErrClosed)
	}
	if f.err == nil {
		if err := f.w.Flush(); err != nil {
			f.fail(err)
		}
	}
	if f.target.direct != nil {
		return f.finishDirect()
	}
	if f.err == nil {
		if err := f.f.Sync(); err != nil && !syncUnsupported(err) {
			f.err = f.wrap("sync", err)
		}
	}
	if f.err != nil {
		f.Close()
		return f.err
	}
	f.closed = true
	move := f.create
	if !f.fresh {
		move = f.replace
		if err := f.removeChecksum(); err != nil {
			return errors.Join(f.wrap("replace the checksum of", err), f.temp.discard())
		}
	}
	if op, err := f.temp.commit(move); err != nil {
		return f.wrap(op, err)
	}
	if err := syncPath(dir(f.target.path)); err != nil {
		return fmt.Errorf("%s: replaced, but its folder is not known to be on disk: %w", f.name, err)
	}
	return f.writeChecksum()
}

// replace moves the temporary file to the target.
func (f *File) replace(temp string) (op string, err error) {
	if f.like != nil && !f.like.ModTime().IsZero() {
		if err := os.Chtimes(temp, time.Time{}, f.like.ModTime()); err != nil {
			return "set the time of", err
		}
	}
	return "replace", os.Rename(temp, f.target.path)
}

// create moves the temporary file to the target unless there is a file.
func (f *File) create(temp string) (op string, err error) {
	err = os.Link(temp, f.target.path)
	if err == nil {
		return "create", os.Remove(temp)
	}
	if errors.Is(err, fs.ErrExist) {
		return "create", err
	}
	// Not all file systems have links. The process that makes the empty file replaces it.
	empty, err := os.OpenFile(f.target.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		err = errors.Join(empty.Close(), os.Rename(temp, f.target.path))
	}
	return "create", err
}

func (f *File) finishDirect() error {
	f.closed = true
	if err := f.target.close(); err != nil && f.err == nil {
		f.err = f.wrap("close", err)
	}
	return f.err
}

// Close discards the file unless it has been committed: it removes the temporary file and leaves the target
// unchanged. It is meant for a defer and may be called any number of times.
func (f *File) Close() error {
	if f.closed {
		return nil
	}
	f.closed = true
	if f.target.direct != nil {
		return f.target.close()
	}
	return f.temp.discard()
}

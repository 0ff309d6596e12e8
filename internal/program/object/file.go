package object

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"unsafe"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// A File is the contents of a program that is open. Of a program with debug information
// most commands need a small part, so a plain file is mapped into memory, not read.
// Access to a mapped file that another process has truncated faults: see [Guard].
type File struct {
	name   string
	bytes  []byte
	mapped *os.File    // nil if the bytes were read
	opened fs.FileInfo // of the mapped file
}

var errChanged = errors.New("the file changed while it was read")

// mapFrom is the least size in bytes of a file that is mapped.
const mapFrom = 64 << 10

// Open opens a program, or an archive of object files. It reads the contents of in if
// they are compressed, come from a pipe or are no program.
func Open(in inputs.Input) (*File, error) {
	if f := mapped(in.Name); f != nil {
		return f, nil
	}
	f := &File{name: in.Name}
	err := in.One(func(d *inputs.Data) error {
		f.bytes = bytes.Clone(d.Bytes())
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// mapped maps a file; nil if it does not exist, is small or is no program.
func mapped(name string) *File {
	info, err := os.Stat(name)
	if name == inputs.Stdin || err != nil || !info.Mode().IsRegular() || info.Size() < mapFrom || int64(int(info.Size())) != info.Size() {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	m := &File{name: name, mapped: f}
	head := make([]byte, headLen)
	if m.opened, err = f.Stat(); err == nil && m.opened.Size() >= mapFrom {
		if _, err = f.ReadAt(head, 0); err == nil && (IsImage(head) || IsArchive(head) || IsThinArchive(head)) {
			if m.bytes, err = mapFile(f, int(m.opened.Size())); err == nil {
				return m
			}
		}
	}
	f.Close()
	return nil
}

// headLen is how many first bytes tell programs from other files.
const headLen = 64

// Bytes returns the contents. They must not be written to, and must not be used after
// Close. They are read under [Guard].
func (f *File) Bytes() []byte { return f.bytes }

// Close closes the file. It may be called more than once.
func (f *File) Close() error {
	b, m := f.bytes, f.mapped
	f.bytes, f.mapped = nil, nil
	if m == nil {
		return nil
	}
	err := unmapFile(b)
	if closeErr := m.Close(); err == nil {
		err = closeErr
	}
	return err
}

// ReadFile calls fn with the contents of a file that may be a program, under [Guard]. A
// mapped file is closed after it.
func ReadFile(in inputs.Input, fn func(data []byte) error) error {
	f := mapped(in.Name)
	if f == nil {
		return in.One(func(d *inputs.Data) error { return fn(d.Bytes()) })
	}
	defer f.Close()
	return Guard(func() error { return fn(f.bytes) }, f)
}

// Guard runs fn, which reads the bytes of files, and returns its error. If another
// process has written to one of the files since it was opened, the error says so instead,
// whether fn touched what has changed or not. For a file that is shorter now it is a
// *[profile.FormatError] of class [profile.ErrTruncated], otherwise one of class
// [profile.Unreadable].
//
// Only the goroutine that calls Guard is protected; fn must not hand the bytes to others, nor keep them, or
// strings made of them without copying, beyond its return. Faults elsewhere, and all other panics, pass through.
func Guard(fn func() error, files ...*File) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		// A fault implements runtime.Error with an Addr method. So does a nil
		// dereference, whose address is in no file.
		if fault, ok := cause.(interface{ Addr() uintptr }); ok {
			for _, f := range files {
				if off, ok := f.offset(fault.Addr()); ok {
					err = f.faulted(off)
					return
				}
			}
		}
		panic(cause)
	}()
	err = fn()
	// Past the new end of the file, the rest of its last page reads as zeros without a fault.
	for _, f := range files {
		if changed := f.unchanged(); changed != nil {
			return changed
		}
	}
	return err
}

func (f *File) offset(addr uintptr) (off int64, ok bool) {
	off = int64(addr - uintptr(unsafe.Pointer(unsafe.SliceData(f.bytes))))
	return off, f.mapped != nil && 0 <= off && off < int64(len(f.bytes))
}

func (f *File) faulted(off int64) error {
	if changed := f.unchanged(); changed != nil {
		return changed
	}
	// The file is unchanged: the disk or the network failed.
	return &fs.PathError{Op: "read", Path: f.name, Err: fmt.Errorf("input/output error at %#x", off)}
}

func (f *File) unchanged() error {
	if f.mapped == nil {
		return nil
	}
	now, err := f.mapped.Stat()
	switch {
	case err != nil:
		return err
	case now.Size() < f.opened.Size():
		return flaw.At("", now.Size()).InFile(f.name).Field("size of the file, which changed while it was read,").
			Gotf("%d bytes", now.Size()).Wantf("the %d it had", f.opened.Size()).Because(profile.ErrTruncated)
	case now.Size() != f.opened.Size(), !now.ModTime().Equal(f.opened.ModTime()):
		return &fs.PathError{Op: "read", Path: f.name, Err: errChanged}
	}
	return nil
}

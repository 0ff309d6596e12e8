package inputs

import (
	"fmt"
	"io/fs"
	"runtime/debug"
	"unsafe"
)

// Guard runs fn, which reads the bytes of data, and returns its error. If one
// of the files among data was mapped and another process has written to it
// meanwhile, the error says so instead, whether fn touched what has changed or not.
// For a file that is shorter now it is a *[profile.FormatError] of class
// [profile.ErrTruncated], otherwise one of class [profile.Unreadable].
//
// Only the goroutine that calls Guard is protected; fn must not hand the bytes
// to others, nor keep them, or strings made of them without copying, beyond
// its return. Faults elsewhere, and all other panics, pass through.
func Guard(fn func() error, data ...*Data) (err error) {
	mapped := false
	for _, d := range data {
		mapped = mapped || d.mapped != nil
	}
	if !mapped {
		return fn()
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		// A fault implements runtime.Error with an Addr method. So does a nil
		// dereference, whose address is in no mapping.
		if fault, ok := cause.(interface{ Addr() uintptr }); ok {
			for _, d := range data {
				if off, ok := d.offset(fault.Addr()); ok {
					err = d.faulted(off)
					return
				}
			}
		}
		panic(cause)
	}()
	err = fn()
	// Past the new end of the file, the rest of its last page reads as zeros
	// without a fault, and zeros are valid counters.
	for _, d := range data {
		if d.mapped != nil {
			if changed := d.mapped.f.unchanged(contents); changed != nil {
				return changed
			}
		}
	}
	return err
}

// offset returns where in the mapped file the address lies.
func (d *Data) offset(addr uintptr) (off int64, ok bool) {
	if d.mapped == nil {
		return 0, false
	}
	off = int64(addr - uintptr(unsafe.Pointer(unsafe.SliceData(d.mapped.bytes))))
	return off, 0 <= off && off < int64(len(d.mapped.bytes))
}

// faulted explains why the byte at off could not be read.
func (d *Data) faulted(off int64) error {
	if changed := d.mapped.f.unchanged(contents); changed != nil {
		return changed
	}
	// The file is unchanged: the disk or the network failed.
	return &fs.PathError{Op: "read", Path: d.name, Err: fmt.Errorf("input/output error at %#x", off)}
}

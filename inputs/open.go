package inputs

import (
	"bytes"
	"errors"
	"io"
	"os"
	"time"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// streamFrom is the least size in bytes of a file whose first bytes are looked at before
// it is read: a container of that size is decompressed while it is read.
const streamFrom = 1 << 20

// Each calls fn with the contents of the input: once for a file, also if it is compressed; for a tar or zip archive once
// for every regular file in it, in the order of the archive. An empty file is yielded as such; an archive without
// files is an error of class [profile.ErrEmpty].
//
// Each stops at the first error of fn and returns it. An error of Each's own ends the
// input: of a damaged archive, members before the damage have been yielded. A file that
// another process writes meanwhile is read again, unless fn has seen part of it.
//
// If there is a checksum beside a file, a .sha256 as sha256sum writes it, Each compares
// the file with it first. A difference is an error of class [profile.ErrCorrupt].
//
// r may be nil.
func (in Input) Each(r *Reader, fn func(*Data) error) error { return in.read(r, false, fn) }

// One calls fn with the contents of an input that is one file, compressed or not. An
// archive is an error of class [profile.ErrUnsupported]. One compares no checksum.
func (in Input) One(fn func(*Data) error) error { return in.read(nil, true, fn) }

func (in Input) read(r *Reader, single bool, fn func(*Data) error) error {
	if r == nil {
		r = new(Reader)
		defer r.Close()
	}
	if in.opts == nil {
		in.opts = &Options{}
	}
	var start time.Time
	for attempt := 1; ; attempt++ {
		local, release, err := in.local()
		if err != nil {
			return err
		}
		s := &source{name: in.Name, r: r, opts: in.opts, single: single}
		s.yield = func(d *Data) error {
			s.passed = true
			return fn(d)
		}
		err = local.read(s, &start)
		release()
		if err == nil && !s.passed {
			return flaw.File(in.Name).Field("archive").Got("without files").Empty()
		}
		if s.passed || attempt == attempts || !errors.Is(err, errChanged) {
			return err
		}
	}
}

// local returns the input with the path of a file that has its contents, and a function
// to call when that is no longer needed.
func (in Input) local() (local localInput, release func(), err error) {
	if in.fetch == nil {
		return localInput{in, in.Name}, func() {}, nil
	}
	path, release, err := in.fetch()
	return localInput{in, path}, release, err
}

// A localInput is an input whose contents are in the file path.
type localInput struct {
	Input
	path string
}

// read yields the contents. start is for settle.
func (in localInput) read(s *source, start *time.Time) error {
	if in.Name == Stdin {
		if in.opts.Stdin == nil {
			return s.expand(os.Stdin)
		}
		return s.expand(in.opts.Stdin)
	}
	f, err := openFile(in.path)
	if err != nil {
		return err
	}
	defer f.close()
	f.name = in.Name
	whole := false
	if f.regular {
		if !s.r.isOld(f.version) {
			if err := f.settle(start); err != nil {
				return err
			}
		}
		if whole, err = s.isPlain(f); err != nil {
			return err
		}
	}
	var data []byte
	if whole {
		if data, err = s.readFile(f); err != nil {
			return err
		}
		defer s.r.giveBuffer(data)
		f.close() // which ends the lock
	}
	if !s.single {
		if err := in.compareChecksum(data); err != nil {
			return err
		}
	}
	switch {
	case !whole:
		return s.expand(f)
	case sniff(data) != plain:
		return s.expand(bytes.NewReader(data))
	}
	return s.yield(&Data{name: s.name, bytes: data})
}

// isPlain reports whether a regular file is read at once: it is small or no container.
// Files in /proc have size 0 whatever they contain, so they are read like a pipe.
func (s *source) isPlain(f *file) (bool, error) {
	switch {
	case f.size > maxInt:
		return false, flaw.File(s.name).Field("file").Gotf("%d bytes", f.size).Wantf("at most %d", maxInt).Unsupported()
	case f.size < streamFrom:
		return f.size > 0, nil
	}
	var head [sniffLen]byte
	begun := time.Now()
	n, err := f.head(head[:])
	if err != nil {
		return false, err
	}
	if s.r.took(time.Since(begun), 0) {
		f.willRead(min(f.size, aheadBytes))
	}
	s.r.readAhead()
	if sniff(head[:n]) == plain {
		return true, nil
	}
	s.file = f
	return false, nil
}

// head reads the first bytes and leaves the file at its start.
func (f *file) head(p []byte) (int, error) {
	n, err := f.ReadAt(p, 0)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// readFile reads a regular file into a buffer.
func (s *source) readFile(f *file) ([]byte, error) {
	buf := s.r.takeBuffer(int(f.size))[:f.size]
	begun := time.Now()
	n, err := io.ReadFull(f, buf)
	s.r.took(time.Since(begun), n)
	s.r.readAhead()
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = shrunk(s.name, int64(n), f.size)
	}
	if err == nil {
		err = f.unchanged(everything)
	}
	if err != nil {
		s.r.giveBuffer(buf)
		return nil, err
	}
	return buf, nil
}

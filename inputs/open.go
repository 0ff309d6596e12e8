package inputs

import (
	"bytes"
	"errors"
	"io"
	"os"
	"time"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

const (
	// mapWithReader is the least size in bytes of a file that is mapped even if
	// the Reader has a buffer for it. Measured on one core, page cache warm,
	// summing all bytes: at 256 KiB reading is a quarter faster, at 1 MiB they
	// are equal, at 2 to 4 MiB mapping is a sixth to a third faster, at 32 MiB
	// twice as fast.
	mapWithReader = 1 << 20
	// mapWithoutReader is that size where reading would have to allocate and
	// clear a buffer.
	mapWithoutReader = 64 << 10
)

// Each calls fn with the contents of the input: once for a file, also if it is
// compressed; for a tar archive once for every regular file in it, in the
// order of the archive. An empty file is yielded as such; an archive without files is an
// error of class [profile.ErrEmpty].
//
// fn runs under [Guard] and the Data is closed after it. Each stops at the
// first error of fn and returns it. An error of Each's own ends the input: of
// a damaged archive, members before the damage have been yielded. A file that
// another process writes meanwhile is read again, unless fn has seen part of it.
//
// If there is a checksum beside a file, a .sha256 as sha256sum writes it, Each compares
// the file with it first. A difference is an error of class [profile.ErrCorrupt].
//
// r may be nil.
func (in Input) Each(r *Reader, fn func(*Data) error) error {
	var start time.Time
	for attempt := 1; ; attempt++ {
		passed := false
		local, release, err := in.local()
		if err != nil {
			return err
		}
		err = local.each(r, &start, func(d *Data) error {
			defer d.Close()
			passed = true
			return Guard(func() error { return fn(d) }, d)
		})
		release()
		if err == nil && !passed {
			return flaw.File(in.Name).Field("archive").Got("without files").Empty()
		}
		if passed || attempt == attempts || !errors.Is(err, errChanged) {
			return err
		}
	}
}

func (in localInput) each(r *Reader, start *time.Time, yield func(*Data) error) error {
	src, err := in.open(r, start)
	if err != nil {
		return err
	}
	if err := in.compareChecksum(src); err != nil {
		src.discard()
		return err
	}
	if src.data != nil {
		return yield(src.data)
	}
	return src.expand(yield)
}

// Open returns the contents of an input that is one file, compressed or not.
// An archive is an error of class [profile.ErrUnsupported]. The caller closes
// the Data, and reads it under [Guard].
//
// r may be nil. If it is not, the Data may be lent from it.
func (in Input) Open(r *Reader) (*Data, error) {
	var start time.Time
	for attempt := 1; ; attempt++ {
		local, release, err := in.local()
		if err != nil {
			return nil, err
		}
		data, err := local.single(r, &start)
		if err != nil {
			release()
		} else if in.fetch != nil {
			data.release = release
		}
		if attempt == attempts || !errors.Is(err, errChanged) {
			return data, err
		}
	}
}

// One calls fn with the contents of an input that is one file, as [Input.Open] returns them,
// under [Guard], and closes the Data.
func (in Input) One(fn func(*Data) error) error {
	d, err := in.Open(nil)
	if err != nil {
		return err
	}
	defer d.Close()
	return Guard(func() error { return fn(d) }, d)
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

func (in localInput) single(r *Reader, start *time.Time) (*Data, error) {
	src, err := in.open(r, start)
	if err != nil {
		return nil, err
	}
	if src.data != nil {
		return src.data, nil
	}
	src.single = true
	var data *Data
	if err := src.expand(func(d *Data) error { data = d; return nil }); err != nil {
		return nil, err
	}
	return data, nil
}

// open returns a source whose data is set if the input is a plain regular
// file, and that otherwise is to be expanded. start is that of settle.
func (in localInput) open(r *Reader, start *time.Time) (*source, error) {
	src := &source{name: in.Name, r: r, opts: in.opts}
	if src.opts == nil {
		src.opts = &Options{}
	}
	mapFrom := int64(mapWithReader)
	if r == nil {
		src.r = new(Reader)
		mapFrom = mapWithoutReader
	}
	if in.Name == Stdin {
		src.root.src = src.opts.Stdin
		if src.root.src == nil {
			src.root.src = os.Stdin
		}
		return src, nil
	}
	f, err := openFile(in.path)
	if err != nil {
		return nil, err
	}
	f.name = in.Name
	if err := src.take(f, mapFrom, start); err != nil {
		f.close()
		return nil, err
	}
	return src, nil
}

// take makes f the source's contents: it reads or maps a plain file, and leaves
// open a pipe, an archive or a compressed file, which is to be expanded.
func (s *source) take(f *file, mapFrom int64, start *time.Time) error {
	if !f.regular { // a pipe or device, which has no size
		s.root.src, s.close = f, f.close
		return nil
	}
	if lock := canMap && f.size >= mapFrom; !s.r.isOld(f.version, lock) {
		if err := f.settle(lock, start); err != nil {
			return err
		}
	}
	if f.size > maxInt {
		return flaw.File(s.name).Field("file").Gotf("%d bytes", f.size).Wantf("at most %d", maxInt).Unsupported()
	}
	// A file that may change again is copied, if that does not take much memory.
	if f.size > 0 && (f.size < mapFrom || !canMap || f.size <= keepBuffer && f.isYoung(young)) {
		return s.read(f)
	}
	var head [sniffLen]byte
	begun := time.Now()
	n, err := f.head(head[:])
	if err != nil {
		return err
	}
	if s.r.took(time.Since(begun), 0) {
		f.willRead(min(f.size, aheadBytes))
	}
	s.r.readAhead()
	// Files in /proc have size 0 whatever they contain.
	if f.size == 0 && n == 0 {
		s.data = &Data{name: s.name}
		f.close()
		return nil
	}
	if f.size == 0 {
		s.root.src, s.close = f, f.close
		return nil
	}
	if sniff(head[:n]) != plain {
		s.root.src, s.close, s.file = f, f.close, f
		return nil
	}
	m, err := mapFile(f)
	if err != nil {
		return s.read(f) // not all file systems can map
	}
	s.data = &Data{name: s.name, bytes: m.bytes, mapped: m}
	return nil
}

// read reads a regular file, and closes it unless it fails.
func (s *source) read(f *file) error {
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
		return err
	}
	s.data = &Data{name: s.name, bytes: buf, r: s.r}
	if sniff(buf) != plain {
		s.root.src = bytes.NewReader(buf)
		s.close = s.data.Close
		s.data = nil
	}
	f.close() // nothing was written that could be lost
	return nil
}

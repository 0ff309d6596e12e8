package inputs

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// limits bound what compressed files, archives and streams expand to, beside
// Options.MaxSize. Memory is taken as the bytes arrive, whatever size is
// announced, except for the window of a zstd stream: up to 128 MiB. Plain files
// are not limited: their size is known, and they are mapped.
type limits struct {
	// maxRatio is how many times larger than the compressed bytes it was made
	// from a file or member of more than 256 MiB may be; 0 means 500.
	//
	// Below that size anything goes, for good archives are dense: of a
	// thousand profiles of one program the second to last are mostly copies
	// of the one before. Above it they cannot be, as 128 MiB is how far back
	// the compressor sees, and one profile alone, half of it hashes,
	// addresses and names, rarely reaches 10. MemProf's access histograms are
	// the exception: 120 was seen.
	maxRatio int64

	free int64 // what maxRatio does not apply to, if not ratioFree
}

// maxSize returns MaxSize, or what it stands for.
func (o *Options) maxSize() int64 {
	if o.MaxSize <= 0 {
		return defaultMaxSize
	}
	return min(o.MaxSize, maxInt-1)
}

// orDefault returns the limits with defaults in place of zeros.
func (l limits) orDefault() limits {
	if l.maxRatio <= 0 {
		l.maxRatio = defaultMaxRatio
	}
	if l.free <= 0 {
		l.free = ratioFree
	}
	return l
}

const (
	defaultMaxSize  = 16 << 30
	defaultMaxRatio = 500
	ratioFree       = 256 << 20 // bytes to which the ratio does not apply
	maxDepth        = 4         // containers within containers
	firstBuffer     = 64 << 10  // bytes allocated before any have arrived
	maxInt          = int64(^uint(0) >> 1)
)

// A container is a way of packing files.
type container int

const (
	plain container = iota
	gzipped
	zstandard
	tarred
)

// sniffLen is how many first bytes identify a container: one tar header.
const sniffLen = 512

// Fields of a tar header.
const (
	tarChecksum    = 148
	tarChecksumLen = 8
	tarMagic       = 257
)

// sniff identifies a container by its first bytes, sniffLen of them if there are
// as many. No profile format begins with these bytes.
func sniff(head []byte) container {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b, 8}): // 8: deflate, the only method
		return gzipped
	case len(head) < 4:
		return plain
	}
	switch magic := binary.LittleEndian.Uint32(head); {
	case magic == 0xfd2fb528, magic&^0xf == 0x184d2a50: // frame, skippable frame
		return zstandard
	case isTar(head):
		return tarred
	}
	return plain
}

// isTar reports whether head is the header of a tar member, POSIX or GNU. It
// verifies the checksum, as a text may contain "ustar".
func isTar(head []byte) bool {
	if len(head) < sniffLen || !bytes.HasPrefix(head[tarMagic:], []byte("ustar")) {
		return false
	}
	field := head[tarChecksum : tarChecksum+tarChecksumLen]
	want, err := strconv.ParseUint(string(bytes.Trim(field, " \x00")), 8, 32)
	if err != nil {
		return false
	}
	sum := uint64(tarChecksumLen * ' ') // what the field itself counts as
	for i, b := range head[:sniffLen] {
		if i < tarChecksum || i >= tarChecksum+tarChecksumLen {
			sum += uint64(b)
		}
	}
	return sum == want
}

// A source is an input that has been opened.
type source struct {
	name string
	r    *Reader
	opts *Options

	data *Data // of a plain file; otherwise:

	root   counter // what is expanded
	file   *file   // that root reads; nil if it is none, or in memory
	close  func() error
	single bool // an archive is an error
	yield  func(*Data) error
}

// A counter counts the bytes read from a stream and keeps the stream's error, to
// distinguish a failing disk from corrupt bytes.
type counter struct {
	src io.Reader
	n   int64
	err error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.src.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// expand yields what is in the stream and closes it.
func (s *source) expand(yield func(*Data) error) error {
	s.yield = yield
	err := s.stream(s.name, &s.root, 0)
	if changed := s.unchanged(); changed != nil {
		err = changed
	}
	if s.close != nil {
		if closeErr := s.close(); err == nil {
			err = closeErr
		}
	}
	return err
}

// unchanged returns an error if the file has been written since it was opened.
func (s *source) unchanged() error {
	if s.file == nil {
		return nil
	}
	return s.file.unchanged(contents)
}

// stream yields what is in src, which lies within depth containers.
func (s *source) stream(name string, src io.Reader, depth int) error {
	br := s.r.takeStream(src)
	defer s.r.giveStream(br)
	head, err := br.Peek(sniffLen)
	if err != nil && err != io.EOF {
		return s.damaged(name, "stream", err)
	}
	kind := sniff(head)
	if kind != plain && depth == maxDepth {
		return flaw.File(name).Field("nesting of archives and compressed files").Got("deeper").
			Wantf("at most %d levels", maxDepth).Unsupported()
	}
	switch kind {
	case gzipped:
		z, err := s.r.takeGzip(br)
		if err != nil {
			return s.damaged(name, "gzip stream", err)
		}
		defer s.r.giveGzip(z)
		return s.compressed(name, "gzip stream", z, depth)
	case zstandard:
		z, err := s.r.takeZstd(br)
		if err != nil {
			return s.damaged(name, "zstd stream", err)
		}
		defer s.r.giveZstd(z)
		return s.compressed(name, "zstd stream", z, depth)
	case tarred:
		if s.single {
			return flaw.File(name).Field("input").Got("a tar archive").Want("a single file").Unsupported()
		}
		return s.archive(name, br, depth)
	}
	d, err := s.slurp(name, br, depth)
	if err != nil {
		return err
	}
	if err := s.unchanged(); err != nil {
		d.Close()
		return err
	}
	return s.yield(d)
}

// compressed yields the files in a decompressed stream. Errors of the
// decompressor surface wherever its bytes are read; namedStream adds the name.
func (s *source) compressed(name, section string, z io.Reader, depth int) error {
	named := &namedStream{s: s, name: name, section: section, src: z}
	if err := s.stream(name, named, depth+1); err != nil {
		return err
	}
	// An archive ends before its stream does; read on to verify the checksum.
	_, err := io.Copy(io.Discard, named)
	return err
}

// A namedStream turns a decompressor's errors into those of this package.
type namedStream struct {
	s             *source
	name, section string
	src           io.Reader
}

func (r *namedStream) Read(p []byte) (int, error) {
	n, err := r.src.Read(p)
	if err != nil && err != io.EOF {
		err = r.s.damaged(r.name, r.section, err)
	}
	return n, err
}

// archive yields the members of a tar archive.
func (s *source) archive(name string, src io.Reader, depth int) error {
	t := tar.NewReader(src)
	for {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		// Nothing is extracted, so member names may be insecure paths.
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return s.damaged(name, "tar archive", err)
		}
		member := name + "!" + h.Name
		switch h.Typeflag {
		case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse:
		case tar.TypeDir, tar.TypeXGlobalHeader:
			continue
		case tar.TypeLink, tar.TypeSymlink:
			s.opts.skip(member, archiveLink)
			continue
		default:
			s.opts.skip(member, notRegular)
			continue
		}
		if why, yes := hiddenMember(h.Name); yes {
			s.opts.skip(member, why)
			continue
		}
		if err := s.stream(member, t, depth+1); err != nil {
			return err
		}
	}
}

// slurp reads a stream to its end.
func (s *source) slurp(name string, src io.Reader, depth int) (*Data, error) {
	limits, maxSize := s.opts.limits.orDefault(), s.opts.maxSize()
	// Peeking at the first bytes has read up to streamBuffer bytes ahead.
	start := max(s.root.n-streamBuffer, 0)
	buf := s.r.takeBuffer(firstBuffer)
	for {
		n, err := src.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		size := int64(len(buf))
		switch {
		case size > maxSize:
			err = tooLarge(name, "size", maxSize)
		case depth > 0 && size > limits.free && size/limits.maxRatio > s.root.n-start:
			err = flaw.File(name).Field("size").
				Gotf("%d bytes and more, from %d compressed", size, s.root.n-start).
				Wantf("at most %d times as many beyond %d MiB unless decompressed first", limits.maxRatio, limits.free>>20).
				Unsupported()
		case err == io.EOF:
			return &Data{name: name, bytes: buf, r: s.r}, nil
		case err != nil:
			err = s.damaged(name, "", err)
		}
		if err != nil {
			s.r.giveBuffer(buf)
			return nil, err
		}
		if len(buf) == cap(buf) {
			full := buf
			buf = append(make([]byte, 0, 2*len(full)), full...)
			s.r.giveBuffer(full)
		}
	}
}

// damaged classifies an error met while reading a stream.
func (s *source) damaged(name, section string, err error) error {
	if fe := (*profile.FormatError)(nil); errors.As(err, &fe) {
		return err
	}
	if s.root.err != nil {
		return s.root.err
	}
	at := flaw.In(section).InFile(name)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return at.Because(profile.ErrTruncated)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return at.Field("window").Got("larger").Wantf("at most %d MiB", maxZstdWindow>>20).Unsupported()
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return at.Field("dictionary").Got("external").Want("none").Unsupported()
	}
	return at.Field(err.Error()).Corrupt()
}

// tooLarge is the error for a file that exceeds what is allowed or possible.
func tooLarge(name, field string, limit int64) error {
	return flaw.File(name).Field(field).Gotf("more than %d bytes", limit).Wantf("at most %d", limit).Unsupported()
}

// EmptyArchive is the error of an archive without files.
func EmptyArchive(name string) error {
	return flaw.File(name).Field("archive").Got("without files").Empty()
}

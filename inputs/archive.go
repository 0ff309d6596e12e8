package inputs

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/internal/files/packing"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// A container is a way of packing files.
type container int

const (
	plain container = iota
	gzipped
	zstandard
	tarred
	zipped
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
	case magic == 0x04034b50, magic == 0x06054b50: // member, end of an archive without members
		return zipped
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

	root   counter        // what is expanded
	file   *file          // the regular file that root reads; nil if it reads none
	start  int64          // offset in root of the member that is read, unless within > 0
	within int            // compressed streams around what is read
	member bool           // what is read is in an archive
	origin packing.Origin // of it, as a pack says
	single bool           // an archive is an error
	yield  func(*Data) error
	passed bool // contents were passed to yield or Options.Extract
}

// packed returns how many bytes the contents read so far were made from: all of a
// compressed archive, since a member may be a copy of one before.
func (s *source) packed() int64 { return s.root.n - s.start }

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

// expand yields what is in the stream src.
func (s *source) expand(src io.Reader) error {
	s.root.src = src
	err := s.stream(s.name, &s.root, 0)
	if changed := s.unchanged(); changed != nil {
		err = changed
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
	if s.within == 0 {
		// Peeking at the first bytes has read up to streamBuffer bytes ahead.
		s.start = max(s.root.n-streamBuffer, 0)
	}
	br := s.r.takeStream(src)
	defer func() { s.r.giveStream(br) }()
	head, err := br.Peek(sniffLen)
	if err != nil && err != io.EOF {
		return s.damaged(name, "stream", err)
	}
	kind := sniff(head)
	if kind != plain && depth == maxDepth {
		return flaw.File(name).Field("nesting of archives and compressed files").Got("deeper").
			Wantf("at most %d levels", maxDepth).Unsupported()
	}
	if depth > 0 && (kind == gzipped || kind == zstandard) {
		// Little more can be in it than in a profile.
		limits := s.opts.streamLimits(0)
		outer := br
		defer s.r.giveStream(outer)
		br = s.r.takeStream(&boundedStream{s: s, name: name, src: outer, limits: &limits, free: limits.free, ratio: limits.maxRatio})
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
	case tarred, zipped:
		if s.single {
			return flaw.File(name).Field("input").Got("an archive").Want("a single file").Unsupported()
		}
		if kind == zipped {
			return s.zip(name, br, depth)
		}
		return s.archive(name, br, depth)
	}
	if s.opts.Extract != nil {
		return s.extract(name, br)
	}
	d, err := s.slurp(name, br, depth, s.opts.Recognize)
	if err != nil {
		return err
	}
	defer s.r.giveBuffer(d.bytes)
	if err := s.unchanged(); err != nil {
		return err
	}
	return s.yield(d)
}

// compressed yields the files in a decompressed stream. Errors of the
// decompressor surface wherever its bytes are read; namedStream adds the name.
func (s *source) compressed(name, section string, z io.Reader, depth int) error {
	limits := s.opts.streamLimits(0)
	named := &boundedStream{
		s: s, name: name, src: &namedStream{s: s, name: name, section: section, src: z}, limits: &limits,
		free: limits.total, ratio: limits.totalRatio,
	}
	s.within++
	defer func() { s.within-- }()
	if err := s.stream(name, named, depth+1); err != nil {
		return err
	}
	// An archive ends before its stream does; read on to verify the checksum.
	_, err := io.Copy(io.Discard, named)
	return err
}

// A namedStream turns a decompressor's errors into errors of this package.
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
		case tar.TypeXGlobalHeader:
			if err := packing.CheckVersion(h.PAXRecords); err != nil {
				return flaw.InFile(err, name)
			}
			continue
		case tar.TypeDir:
			continue
		case tar.TypeLink, tar.TypeSymlink:
			s.opts.skip(member, archiveLink)
			continue
		default:
			s.opts.skip(member, notRegular)
			continue
		}
		if why, yes := atomicfile.IsHidden(h.Name); yes {
			s.opts.skip(member, why)
			continue
		}
		if s.origin, err = packing.Read(h.PAXRecords); err != nil {
			return flaw.InFile(err, member)
		}
		s.member = true
		if err := s.stream(member, t, depth+1); err != nil {
			return err
		}
	}
}

// slurp reads a stream to its end.
func (s *source) slurp(name string, src *bufio.Reader, depth int, recognize func(string, []byte) (int64, error)) (*Data, error) {
	var recognized int64
	if recognize != nil {
		head, err := src.Peek(headLen)
		// A short stream is left to the readers, whose errors say more.
		if err == nil {
			recognized, err = recognize(name, head)
			switch {
			case err != nil && s.member:
				// One such file does not end the archive. Its head tells its reader enough.
				return &Data{name: name, bytes: bytes.Clone(head), Program: s.origin.Program, BuildID: s.origin.BuildID}, nil
			case err != nil:
				return nil, err
			}
		} else if err != io.EOF {
			return nil, s.damaged(name, "stream", err)
		}
	}
	limits := s.opts.streamLimits(recognized)
	zeros := int64(0)
	buf := s.r.takeBuffer(firstBuffer)
	for {
		n, err := src.Read(buf[len(buf):cap(buf)])
		zeros = trailingZeros(buf[len(buf):len(buf)+n], zeros)
		buf = buf[:len(buf)+n]
		packed := int64(0)
		if depth > 0 {
			packed = s.packed()
		}
		refused := limits.refuse(name, int64(len(buf)), packed, zeros)
		switch {
		case refused != nil:
			err = refused
		case err == io.EOF:
			return &Data{name: name, bytes: buf, Program: s.origin.Program, BuildID: s.origin.BuildID}, nil
		case err != nil:
			err = s.damaged(name, "", err)
		}
		if err != nil {
			s.r.giveBuffer(buf)
			return nil, err
		}
		if len(buf) == cap(buf) {
			full := buf
			buf = append(allocate(int(limits.grow(int64(len(full)), packed))), full...)
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
	case errors.Is(err, zip.ErrAlgorithm):
		return at.Field("compression of a member").Got("another method").Want("none, deflate or zstd").Unsupported()
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return at.Field("window").Got("larger").Wantf("at most %d MiB", maxZstdWindow>>20).Unsupported()
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return at.Field("dictionary").Got("external").Want("none").Unsupported()
	}
	return at.Field(err.Error()).Corrupt()
}

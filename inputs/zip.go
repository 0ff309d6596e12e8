package inputs

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// zipEncrypted is the bit of a member's flags that says that the member is encrypted.
const zipEncrypted = 1

// zip yields the members of a zip archive, whose directory is at its end. A large file is read where its members are; a
// stream, and an archive in another one, is read into memory first.
func (s *source) zip(name string, src *bufio.Reader, depth int) error {
	if s.file != nil && depth == 0 {
		return s.members(name, &zipFile{s.file, &s.root}, s.file.size, depth)
	}
	d, err := s.slurp(name, src, depth, nil)
	if err != nil {
		return err
	}
	defer s.r.giveBuffer(d.bytes)
	return s.members(name, bytes.NewReader(d.bytes), int64(len(d.bytes)), depth)
}

func (s *source) members(name string, from io.ReaderAt, size int64, depth int) error {
	z, err := newZip(from, size)
	if err != nil {
		return s.damaged(name, "zip archive", err)
	}
	limits := s.opts.streamLimits(0)
	all := &boundedStream{s: s, name: name, limits: &limits, free: limits.total, ratio: limits.totalRatio}
	s.within++
	defer func() { s.within-- }()
	for _, f := range z.File {
		member := name + "!" + f.Name
		switch mode := f.Mode(); {
		case mode.IsDir():
			continue
		case !mode.IsRegular():
			s.opts.skip(member, archiveLink)
			continue
		case f.Flags&zipEncrypted != 0:
			return flaw.File(member).Field("member").Got("encrypted").Want("not encrypted").Unsupported()
		}
		if why, yes := atomicfile.IsHidden(f.Name); yes {
			s.opts.skip(member, why)
			continue
		}
		r, err := f.Open()
		if err != nil {
			return s.damaged(member, "zip archive", err)
		}
		s.member = true
		all.src = &namedStream{s: s, name: member, section: "zip archive", src: r}
		err = s.stream(member, all, depth+1)
		r.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// newZip reads the directory of an archive. Its members may be compressed with zstd, too.
func newZip(from io.ReaderAt, size int64) (*zip.Reader, error) {
	z, err := zip.NewReader(from, size)
	if errors.Is(err, zip.ErrInsecurePath) { // nothing is extracted under the names of members
		err = nil
	}
	if err != nil {
		return nil, err
	}
	z.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow)))
	return z, nil
}

// A zipFile counts the bytes read from an archive, at most its size: members may overlap.
type zipFile struct {
	f     *file
	count *counter
}

func (z *zipFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := z.f.ReadAt(p, off)
	z.count.n = min(z.count.n+int64(n), max(z.count.n, z.f.size))
	if err != nil && err != io.EOF {
		z.count.err = err
	}
	return n, err
}

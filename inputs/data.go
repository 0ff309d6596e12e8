package inputs

import (
	"bufio"
	"compress/gzip"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

// Data is the uncompressed contents of one file or archive member.
type Data struct {
	// Program identifies the program of the profile, and BuildID is its build id in hexadecimal, as a pack says; ""
	// where it does not say.
	Program, BuildID string

	name  string
	bytes []byte // a buffer of the Reader
}

// Name returns the path of the file; for a member of an archive "archive.tar!member".
func (d *Data) Name() string { return d.name }

// Bytes returns the contents, which may be empty. They must not be written to,
// and are valid until the function that got the Data returns.
func (d *Data) Bytes() []byte { return d.bytes }

// A Reader holds buffers and decompressors that one goroutine reuses from input to input. The zero value is ready.
type Reader struct {
	// Ahead, if not nil, returns an input that will be opened soon, another one with each call, and false if there
	// is none now. The Reader calls it where reading waits for a device or a server, and has the system read that
	// file into its cache. How many files at the same time follows from how long reading takes: none, as long as
	// the files are in the cache; twice as many each time that a file was not.
	Ahead           func() (Input, bool)
	wanted, running atomic.Int32 // files to be read ahead at the same time

	buffers [][]byte
	streams []*bufio.Reader
	gzips   []*gzip.Reader
	zstds   []*zstd.Decoder
	now     int64 // ns since 1970 at some time in the past; see isOld
}

const (
	// keepBuffer is the largest buffer that a Reader keeps.
	keepBuffer = 64 << 20
	// keepSpares is how many buffers, streams and decompressors of each kind a Reader keeps.
	keepSpares = 4
	// streamBuffer is the size in bytes of one read from a stream.
	streamBuffer = 64 << 10
)

// Close frees the memory. The Reader may be used again after it.
func (r *Reader) Close() {
	for _, z := range r.zstds {
		z.Close()
	}
	for _, b := range r.buffers {
		free(b)
	}
	r.buffers, r.streams, r.gzips, r.zstds = nil, nil, nil, nil
}

// takeBuffer returns an empty buffer, the largest there is, of at least size bytes of capacity.
func (r *Reader) takeBuffer(size int) []byte {
	best := -1
	for i, b := range r.buffers {
		if best < 0 || cap(b) > cap(r.buffers[best]) {
			best = i
		}
	}
	if best < 0 || cap(r.buffers[best]) < size {
		// Leave room: the next files may be a little larger.
		return allocate(size + size/4)
	}
	b := r.buffers[best]
	last := len(r.buffers) - 1
	r.buffers[best] = r.buffers[last]
	r.buffers = r.buffers[:last]
	return b[:0]
}

// giveBuffer takes a buffer back. It keeps the largest ones.
func (r *Reader) giveBuffer(b []byte) {
	if cap(b) > 0 && cap(b) <= keepBuffer {
		if len(r.buffers) < keepSpares {
			r.buffers = append(r.buffers, b)
			return
		}
		for i := range r.buffers {
			if cap(r.buffers[i]) < cap(b) {
				r.buffers[i], b = b, r.buffers[i]
			}
		}
	}
	free(b)
}

func (r *Reader) takeStream(src io.Reader) *bufio.Reader {
	if n := len(r.streams); n > 0 {
		s := r.streams[n-1]
		r.streams = r.streams[:n-1]
		s.Reset(src)
		return s
	}
	return bufio.NewReaderSize(src, streamBuffer)
}

func (r *Reader) giveStream(s *bufio.Reader) {
	s.Reset(nil)
	if len(r.streams) < keepSpares {
		r.streams = append(r.streams, s)
	}
}

func (r *Reader) takeGzip(src io.Reader) (*gzip.Reader, error) {
	n := len(r.gzips)
	if n == 0 {
		return gzip.NewReader(src)
	}
	z := r.gzips[n-1]
	r.gzips = r.gzips[:n-1]
	return z, z.Reset(src)
}

func (r *Reader) giveGzip(z *gzip.Reader) {
	if len(r.gzips) < keepSpares {
		r.gzips = append(r.gzips, z)
	}
}

// maxZstdWindow is the largest window, in bytes, that the zstd command decodes by default (--long=27).
const maxZstdWindow = 128 << 20

func (r *Reader) takeZstd(src io.Reader) (*zstd.Decoder, error) {
	n := len(r.zstds)
	if n == 0 {
		// Decode in this goroutine: the callers are parallel already.
		return zstd.NewReader(src, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
	}
	z := r.zstds[n-1]
	r.zstds = r.zstds[:n-1]
	return z, z.Reset(src)
}

func (r *Reader) giveZstd(z *zstd.Decoder) {
	if len(r.zstds) < keepSpares && z.Reset(nil) == nil {
		r.zstds = append(r.zstds, z)
		return
	}
	z.Close()
}

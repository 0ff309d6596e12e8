package perfdata

import (
	"errors"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

const (
	bufferSize = 1 << 20
	blockSize  = 128 << 10 // of zstd, the most that one step yields
	maxWindow  = 1 << 27   // of zstd at its highest level

	// A recording that does not end its rounds keeps this many buffers; so many records are put in order.
	maxBuffers = 64

	// Limits of the decompressed size.
	minUnpacked = 4 << 30
	maxRatio    = 1000
)

// A buffer holds decompressed records until they are passed on.
type buffer struct {
	data  []byte
	users int // runs in it, and the unpacker
}

// An unpacker decompresses the zstd stream that all compressed records of a recording make up. Records end anywhere in
// the stream, and the stream anywhere in records.
type unpacker struct {
	in           []byte // of the present record
	out          *buffer
	scanned      int // bytes of out whose records were scanned
	spare        []*buffer
	taken        int // buffers in use
	packed, size uint64
	atRound      int // taken, when records were last passed on to save memory

	// step decompresses a piece behind out.data; false: it needs further input.
	step func() (more, ok bool)
	stop func()
	err  error
}

// Read gives the decoder the bytes of the present record, then waits for the next one.
type unpackerSource struct {
	u     *unpacker
	yield func(bool) bool
}

func (s unpackerSource) Read(p []byte) (int, error) {
	for len(s.u.in) == 0 {
		if !s.yield(false) {
			return 0, io.EOF
		}
	}
	n := copy(p, s.u.in)
	s.u.in = s.u.in[n:]
	return n, nil
}

func (u *unpacker) run(yield func(bool) bool) {
	z, err := zstd.NewReader(unpackerSource{u, yield}, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		u.err = err
		return
	}
	defer z.Close()
	for {
		b := u.out
		n, err := z.Read(b.data[len(b.data):cap(b.data)])
		b.data = b.data[:len(b.data)+n]
		u.size += uint64(n)
		if n > 0 && !yield(true) {
			return
		}
		if err != nil {
			u.err = err
			return
		}
	}
}

func (u *unpacker) close() {
	if u.stop != nil {
		u.stop()
	}
}

// left returns the incomplete record at the end of what was decompressed.
func (u *unpacker) left() []byte {
	if u.out == nil {
		return nil
	}
	return u.out.data[u.scanned:]
}

// makeRoom makes room for a piece in out.
func (u *unpacker) makeRoom() {
	if u.out != nil && cap(u.out.data)-len(u.out.data) >= blockSize {
		return
	}
	var b *buffer
	if n := len(u.spare); n > 0 {
		b, u.spare = u.spare[n-1], u.spare[:n-1]
	} else {
		b = &buffer{data: make([]byte, 0, bufferSize)}
	}
	b.users = 1
	u.taken++
	b.data = append(b.data[:0], u.left()...)
	if u.out != nil {
		u.release(u.out)
	}
	u.out, u.scanned = b, 0
}

// release ends one use of a buffer.
func (u *unpacker) release(b *buffer) {
	if b.users--; b.users == 0 {
		u.taken--
		u.spare = append(u.spare, b)
	}
}

// readCompressed decompresses a record and scans the records in it.
func (r *reader) readCompressed(seg *segment, at flaw.Position, kind uint32, body []byte) error {
	u := &r.unpacker
	if seg.buffer != nil {
		return at.Field("type of the record").Got(kind).Want("no compressed record in compressed data").Corrupt()
	}
	if kind == recordCompressed2 {
		if len(body) < 8 || r.u64(body) > uint64(len(body)-8) {
			return at.Field("size of the compressed data").Got("too large").Wantf("at most the %d bytes of the record", len(body)).Corrupt()
		}
		body = body[8 : 8+r.u64(body)]
	}
	r.facts.Compressed = true
	if u.step == nil {
		u.step, u.stop = iter.Pull(u.run)
	}
	u.in = body
	u.packed += uint64(len(body))
	part := &segment{base: at.Offset}
	for {
		u.makeRoom()
		more, ok := u.step()
		switch {
		case !ok:
			return at.Field("zstd stream").Got(u.err).Want("a stream that continues").Because(classOf(u.err))
		case !more:
			return nil
		case u.size > max(minUnpacked, maxRatio*u.packed):
			return at.Field("decompressed size").Gotf("more than %d bytes", u.size-1).Wantf("at most %d times the compressed size", maxRatio).Corrupt()
		}
		if part.buffer != u.out {
			part = &segment{base: at.Offset, buffer: u.out}
			r.queue.open = false
		}
		part.data = u.out.data
		end, err := r.scan(part, u.scanned)
		u.scanned = end
		if err != nil {
			return err
		}
		if err := r.limitQueue(); err != nil {
			return err
		}
	}
}

// limitQueue passes records on if a recording without ends of rounds keeps too much memory.
func (r *reader) limitQueue() error {
	if r.unpacker.taken < maxBuffers/2 || r.unpacker.taken < r.unpacker.atRound+maxBuffers/2 {
		return nil
	}
	if err := r.finishRound(); err != nil {
		return err
	}
	if r.unpacker.taken > maxBuffers {
		if err := r.flush(^uint64(0)); err != nil {
			return err
		}
	}
	r.unpacker.atRound = r.unpacker.taken
	return nil
}

// classOf returns the class of an error of zstd: it is damaged, or larger than allowed.
func classOf(err error) error {
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrUnknownDictionary) {
		return profile.ErrUnsupported
	}
	return profile.ErrCorrupt
}

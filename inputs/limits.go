package inputs

import (
	"bytes"
	"io"
	"math"
	"runtime/debug"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// limits bound what compressed files, archives and streams expand to. Memory is taken
// as the bytes arrive, whatever size is announced, except for the window of a zstd
// stream: up to 128 MiB. Plain files are not limited: their size is known.
//
// None of them but maxSize holds if the caller has set Options.MaxSize.
type limits struct {
	// maxSize is the most bytes of one file, member or stream.
	maxSize int64

	// maxRatio is how many times larger than all compressed bytes read so far a file or member of more than free
	// bytes may be. Up to free bytes anything goes, for good archives are dense: of a thousand profiles of one
	// program the second to last are mostly copies of the one before. One profile alone, half of it hashes,
	// addresses and names, rarely reaches 10. MemProf's access histograms are the exception: 120 was seen.
	maxRatio, free int64

	// total is how many bytes all members of a compressed archive may have together,
	// unless that is less than totalRatio times as many as compressed.
	total, totalRatio int64

	// zeros is how many zeros may stand in a row in a stream. Counters of code that
	// never ran are zeros, but the names between them are not.
	zeros int64

	option string // what allows more, for errors; "" if nothing does
}

var defaultLimits = limits{
	maxSize:  16 << 30,
	maxRatio: 20, free: 128 << 20,
	total: 2 << 30, totalRatio: 100,
	zeros: 256 << 20,
}

const (
	// maxDepth limits containers within containers.
	maxDepth = 4
	// headLen is how many first bytes Options.Recognize gets.
	headLen = streamBuffer
	// firstBuffer is how many bytes are allocated before any have arrived.
	firstBuffer = 64 << 10
	maxInt      = int64(^uint(0) >> 1)
)

// streamLimits returns the limits for a stream that may have recognized bytes, 0 if that is not known.
func (o *Options) streamLimits(recognized int64) limits {
	l := defaultLimits
	if o.limits != nil {
		l = *o.limits
	}
	if o.MaxSize > 0 {
		return limits{
			maxSize: min(o.MaxSize, maxInt-1), maxRatio: math.MaxInt64, total: math.MaxInt64, zeros: math.MaxInt64,
			option: o.MaxSizeOption,
		}
	}
	l.option = o.MaxSizeOption
	if recognized > 0 {
		l.maxSize = min(l.maxSize, recognized)
		l.free = min(l.free, recognized/32)
	}
	// A buffer that grows is copied: it and the one before must fit.
	l.maxSize = min(l.maxSize, debug.SetMemoryLimit(-1)/2, maxInt-1)
	return l
}

// grow returns the capacity of the next buffer for a stream that has filled one of size bytes: twice as much, or
// one byte more than is allowed now, which shows whether it is exceeded.
func (l *limits) grow(size, packed int64) int64 {
	allowed := l.maxSize
	if packed > 0 {
		allowed = min(allowed, max(l.free, size+size/4, packed*min(l.maxRatio, allowed/packed)))
	}
	if next := 2 * size; next < allowed-allowed/8 {
		return next
	}
	return allowed + 1
}

// refuse returns the error about a stream that holds size bytes and continues, made
// from packed compressed bytes (0 if none are), if it exceeds the limits.
func (l *limits) refuse(name string, size, packed, zeros int64) error {
	at := flaw.File(name).Field("size")
	switch {
	case size > l.maxSize:
		return at.Gotf("more than %d bytes", l.maxSize).Wantf("at most %d%s", l.maxSize, l.unless()).Unsupported()
	case packed > 0 && size > l.free && size/l.maxRatio > packed:
		return at.Gotf("%d bytes and more, from %d compressed", size, packed).
			Wantf("at most %d MiB, or %d times the compressed bytes%s", l.free>>20, l.maxRatio, l.unless()).Unsupported()
	case zeros > l.zeros:
		return at.Gotf("%d bytes and more, the last %d of them zeros", size, zeros).
			Wantf("at most %d MiB of zeros in a row%s", l.zeros>>20, l.unless()).Unsupported()
	}
	return nil
}

// unless ends an error by what would allow more.
func (l *limits) unless() string {
	if l.option == "" {
		return ""
	}
	return ", unless " + l.option + " allows more"
}

// A boundedStream fails once more bytes were read than at most free, or ratio times the compressed ones.
type boundedStream struct {
	s           *source
	name        string
	src         io.Reader
	limits      *limits
	free, ratio int64
	n           int64
}

func (b *boundedStream) Read(p []byte) (int, error) {
	n, err := b.src.Read(p)
	b.n += int64(n)
	if packed := b.s.packed(); b.n > b.free && b.n/b.ratio > packed {
		return 0, flaw.File(b.name).Field("size of all that is in it").Gotf("%d bytes and more, from %d compressed", b.n, packed).
			Wantf("at most %d MiB, or %d times the compressed bytes%s", b.free>>20, b.ratio, b.limits.unless()).Unsupported()
	}
	return n, err
}

// trailingZeros returns how many zeros b ends with, if the bytes before it ended with before zeros.
func trailingZeros(b []byte, before int64) int64 {
	if len(b) == 0 || b[len(b)-1] != 0 {
		return before * int64(1-min(len(b), 1))
	}
	if b[0] == 0 && bytes.Equal(b[1:], b[:len(b)-1]) {
		return before + int64(len(b))
	}
	return int64(len(b) - len(bytes.TrimRight(b, "\x00")))
}

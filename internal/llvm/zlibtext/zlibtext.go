// Package zlibtext compresses and decompresses the texts that LLVM's profiles
// store as a zlib stream preceded by its inflated size.
package zlibtext

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"sync"
	"unsafe"
)

// maxRatio is the greatest compression ratio that deflate can reach.
const maxRatio = 1032

// Texts inflate to at most free bytes, or to ratio times their compressed bytes if that
// is more. The names of a large C++ program take a fifth to a tenth of their size when
// they are compressed.
const (
	free  = 128 << 20
	ratio = 20
)

// MaxSize returns how many bytes a text or several texts may inflate to that take
// compressed bytes in a profile.
func MaxSize(compressed int) uint64 { return max(free, ratio*uint64(compressed)) }

// ErrTooLarge is the error of [Inflate] for a text that exceeds the limit.
var ErrTooLarge = errors.New("a text beyond the limit")

// Inflate decompresses a zlib stream that the profile says holds size bytes, at most
// limit. Its buffer grows with the data, whatever size is.
func Inflate(z []byte, size, limit uint64) (string, error) {
	switch {
	case size/maxRatio > uint64(len(z)):
		return "", fmt.Errorf("%d bytes announced to hold %d", len(z), size)
	case size > limit:
		return "", ErrTooLarge
	}
	r, err := takeReader(z)
	if err != nil {
		return "", err
	}
	text, err := ReadAll(r, size)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "", errors.New("a zlib stream that ends early")
	case err != nil:
		return "", err
	}
	readers.Put(r)
	if uint64(len(text)) != size {
		return "", fmt.Errorf("a zlib stream of another size than %d", size)
	}
	// Nobody else has these bytes.
	return unsafe.String(unsafe.SliceData(text), len(text)), nil
}

// ReadAll reads a stream that is announced to have size bytes, to its end or one byte
// further than size. With an error it returns what it has read. Its memory grows with the
// bytes that arrive; a stream of the right size is in a buffer of that size in the end.
func ReadAll(r io.Reader, size uint64) ([]byte, error) {
	// The extra byte shows a stream that is too long.
	b := make([]byte, 0, min(size, 1<<16)+1)
	for uint64(len(b)) <= size {
		if len(b) == cap(b) {
			b = append(make([]byte, 0, min(4*uint64(cap(b)), size+1)), b...)
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

// readers pools zlib readers: each has a window of 32 KiB, larger than most texts.
var readers sync.Pool

func takeReader(z []byte) (io.ReadCloser, error) {
	if r, ok := readers.Get().(io.ReadCloser); ok {
		return r, r.(zlib.Resetter).Reset(bytes.NewReader(z), nil)
	}
	return zlib.NewReader(bytes.NewReader(z))
}

// Deflate compresses text at the best level, as LLVM does. The bytes differ from
// those of C zlib, the inflated text does not.
func Deflate(text string) []byte {
	var z bytes.Buffer
	w, err := zlib.NewWriterLevel(&z, zlib.BestCompression)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("zlib into memory: " + err.Error()) // neither can fail
	}
	return z.Bytes()
}

// Package zlibtext compresses and decompresses the texts in LLVM's profiles, which are zlib streams after their inflated size.
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

// Texts may inflate to free bytes, or to ratio times their compressed bytes if that is more. The
// names of large C++ programs compress to a fifth or a tenth of their size.
const (
	free  = 128 << 20
	ratio = 20
)

// MaxSize returns how many bytes one or more texts may inflate to, given their compressed bytes.
func MaxSize(compressed int) uint64 { return max(free, ratio*uint64(compressed)) }

// ErrTooLarge is the error of [Inflate] for a text that exceeds the limit.
var ErrTooLarge = errors.New("a text beyond the limit")

// Inflate decompresses a zlib stream of size bytes, as the profile claims, and at most limit. The
// buffer grows with the data, whatever the claim.
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

// ReadAll reads a stream with an announced size to its end, or to one byte more than size. On
// error it returns the bytes read so far. The memory grows with the bytes that arrive.
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

// Deflate compresses text at the best level, as LLVM does. The bytes differ from C zlib's output.
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

// Package zlibtext compresses and decompresses the texts that LLVM's profiles
// store as a zlib stream preceded by its inflated size.
package zlibtext

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// maxRatio is the greatest compression ratio that deflate can reach.
const maxRatio = 1032

// Inflate decompresses a zlib stream that the profile says holds size bytes. Its
// buffer grows with the data, whatever size is.
func Inflate(z []byte, size uint64) (string, error) {
	if size/maxRatio > uint64(len(z)) {
		return "", fmt.Errorf("%d bytes announced to hold %d", len(z), size)
	}
	r, err := takeReader(z)
	if err != nil {
		return "", err
	}
	text := make([]byte, 0, min(size, 1<<16)+1) // the extra byte shows a stream that is too long
	for err == nil && uint64(len(text)) <= size {
		if len(text) == cap(text) {
			text = slices.Grow(text, len(text))
		}
		n := 0
		n, err = r.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
	}
	switch {
	case err == nil || err == io.EOF:
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "", errors.New("a zlib stream that ends early")
	default:
		return "", err
	}
	readers.Put(r)
	if uint64(len(text)) != size {
		return "", fmt.Errorf("a zlib stream of another size than %d", size)
	}
	return string(text), nil
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

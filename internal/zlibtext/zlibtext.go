// Package zlibtext packs and unpacks the texts that LLVM's profiles keep as
// zlib streams beside their size.
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

// maxRatio bounds what a zlib stream can inflate to: a size beyond it is a lie.
const maxRatio = 1032

// Inflate unpacks a zlib stream that announces size bytes. The buffer grows
// with the data, never with the announcement.
func Inflate(z []byte, size uint64) (string, error) {
	if size/maxRatio > uint64(len(z)) {
		return "", fmt.Errorf("%d bytes announced to hold %d", len(z), size)
	}
	r, err := takeReader(z)
	if err != nil {
		return "", err
	}
	text := make([]byte, 0, min(size, 1<<16)+1) // one more shows that it is too long
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

// readers are used again: each has a window of 32 KiB, more than most texts.
var readers sync.Pool

func takeReader(z []byte) (io.ReadCloser, error) {
	if r, ok := readers.Get().(io.ReadCloser); ok {
		return r, r.(zlib.Resetter).Reset(bytes.NewReader(z), nil)
	}
	return zlib.NewReader(bytes.NewReader(z))
}

// Deflate packs text at the best level, as LLVM does. The bytes differ from
// those of C zlib, the content does not.
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

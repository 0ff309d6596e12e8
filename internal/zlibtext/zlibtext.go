// Package zlibtext packs and unpacks the texts that LLVM's profiles keep as
// zlib streams beside their size.
package zlibtext

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxRatio bounds what a zlib stream can inflate to: a size beyond it is a lie.
const maxRatio = 1032

// Inflate unpacks a zlib stream that announces size bytes. The buffer grows
// with the data, never with the announcement.
func Inflate(z []byte, size uint64) (string, error) {
	if size/maxRatio > uint64(len(z)) {
		return "", fmt.Errorf("%d bytes announced to hold %d", len(z), size)
	}
	r, err := zlib.NewReader(bytes.NewReader(z))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if size <= 1<<16 {
		b.Grow(int(size))
	}
	n, err := io.Copy(&b, io.LimitReader(r, int64(size)+1))
	if err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("a zlib stream that ends early")
		}
		return "", err
	}
	if uint64(n) != size {
		return "", fmt.Errorf("a zlib stream of another size than %d", size)
	}
	return b.String(), nil
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

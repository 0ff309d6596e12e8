package atomicfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// checksumSuffix is appended to the name of a file for the name of its checksum file, which has the
// form that sha256sum writes and checks:
//
//	64 hexadecimal digits, two spaces, name of the file without its folder
const checksumSuffix = ".sha256"

// maxChecksum is how many bytes of a checksum file are read.
const maxChecksum = 64 << 10

// IsChecksum reports whether a file has the name of a checksum file.
func IsChecksum(name string) bool { return strings.HasSuffix(name, checksumSuffix) }

// ReadChecksum returns the checksum beside a file; ok is false if there is none. If another tool
// wrote several checksums, the line with the file's name counts.
func ReadChecksum(path string) (sum [sha256.Size]byte, ok bool, err error) {
	if isMissing(path + checksumSuffix) {
		return sum, false, nil
	}
	f, err := os.Open(path + checksumSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return sum, false, nil
	}
	if err != nil {
		return sum, false, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxChecksum))
	if err != nil {
		return sum, false, err
	}
	for line := range bytes.Lines(text) {
		digits, name, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		name = strings.TrimLeft(name, " *") // an asterisk stands for binary mode
		n, err := hex.Decode(sum[:], []byte(digits[:min(len(digits), 2*len(sum))]))
		if err == nil && n == len(sum) && len(digits) == 2*len(sum) && (name == "" || name == filepath.Base(path)) {
			return sum, true, nil
		}
	}
	return sum, false, fmt.Errorf("%s has no checksum of %s", path+checksumSuffix, filepath.Base(path))
}

// startChecksum starts to compute the checksum if asked is set or the target has a checksum, which will no longer fit.
func (f *File) startChecksum(asked bool) {
	if f.target.direct != nil {
		return
	}
	if _, err := os.Lstat(f.target.path + checksumSuffix); asked || err == nil {
		f.sum = sha256.New()
	}
}

// removeChecksum removes the old checksum before the file is replaced, so that there is never one that does not fit.
func (f *File) removeChecksum() error {
	if f.sum == nil {
		return nil
	}
	err := os.Remove(f.target.path + checksumSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// writeChecksum writes the checksum after the file has been replaced.
func (f *File) writeChecksum() error {
	if f.sum == nil {
		return nil
	}
	path := f.target.path
	line := fmt.Sprintf("%x  %s\n", f.sum.Sum(nil), filepath.Base(path))
	if err := WriteFile(path+checksumSuffix, strings.NewReader(line)); err != nil {
		return fmt.Errorf("%s: replaced, but without its checksum: %w", f.name, err)
	}
	return nil
}

package sources

import (
	"errors"
	"os"
)

// maxSource is the size, in bytes, of the largest source that is read.
const maxSource = 64 << 20

// ReadSource reads a source file. It refuses anything but a regular file of at most maxSource bytes:
// paths come from profiles, and may name a device.
func ReadSource(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSource {
		return nil, errors.New("no source file")
	}
	return os.ReadFile(path)
}

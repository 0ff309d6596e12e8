//go:build linux

package measure

import (
	"bufio"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// WriteFile writes a file that gets its name when it is complete.
func WriteFile(name string, write func(w *bufio.Writer) error) error {
	f, err := os.Create(name + ".tmp")
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	if err := errors.Join(write(w), w.Flush(), f.Close()); err != nil {
		return err
	}
	return os.Rename(name+".tmp", name)
}

// Exists reports whether a file exists, from this or an earlier run.
func Exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// DropFromCache removes files from the page cache, after writing them to the disk.
func DropFromCache(names ...string) error {
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		err = errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close())
		if err != nil {
			return err
		}
	}
	return nil
}

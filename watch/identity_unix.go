//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

func inodeOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}

// syncPath makes sure that a file and its name are on the disk, where that can
// be asked for.
func syncPath(path string) error {
	for _, name := range []string{path, filepath.Dir(path)} {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrPermission) {
			continue
		} else if err != nil {
			return err
		}
		err = f.Sync()
		f.Close()
		if err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) && !errors.Is(err, syscall.ENOSYS) {
			return err
		}
	}
	return nil
}

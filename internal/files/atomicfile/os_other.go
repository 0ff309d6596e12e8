//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package atomicfile

import (
	"errors"
	"os"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

// descriptor reports false: these systems have no paths for open files.
func descriptor(string) (fd int, ok bool) { return 0, false }

// isMissing reports false: opening the file tells.
func isMissing(string) bool { return false }

// duplicate supports only standard output, which it shares instead of duplicating it.
func duplicate(fd int, _ string) (f *os.File, shared bool, err error) {
	if fd != 1 {
		return nil, false, errors.ErrUnsupported
	}
	return os.Stdout, true, nil
}

func syncUnsupported(error) bool { return false }

// Sync waits until the contents of a file are on disk. It does not wait for the file's name.
func Sync(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// syncPath does nothing: folders cannot be synced here, and NTFS journals renames.
func syncPath(string) error { return nil }

// lockTemp locks nothing: an open file cannot be removed on Windows.
func lockTemp(*os.File) (lock *flock.Flock, ok bool, err error) { return nil, true, nil }

// abandonedAge is the least age of an abandoned file: a file is closed before it is renamed.
const abandonedAge = time.Hour

// removeIfAbandoned removes a temporary file of some age that no process has open.
func removeIfAbandoned(name string) {
	if runtime.GOOS != "windows" {
		return
	}
	if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > abandonedAge && os.Remove(name) == nil {
		os.RemoveAll(name + folderSuffix)
	}
}

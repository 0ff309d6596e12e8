//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package watch

import (
	"io/fs"
	"os"
)

func inodeOf(fs.FileInfo) uint64 { return 0 }

// syncPath makes sure that a file is on the disk. Folders cannot be synced
// here; the renaming of the output is as durable as the system makes it.
func syncPath(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

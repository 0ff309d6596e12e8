package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// startWriteback starts to write a part of a file to the disk. Errors do not matter, because Commit syncs the file.
func startWriteback(f *os.File, offset, size int64) {
	_ = unix.SyncFileRange(int(f.Fd()), offset, size, unix.SYNC_FILE_RANGE_WRITE)
}

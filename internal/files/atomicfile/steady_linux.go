package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// startWriteback has a part of a file written to the disk, without waiting for it. An error
// does not matter: the file is synced in the end.
func startWriteback(f *os.File, offset, size int64) {
	_ = unix.SyncFileRange(int(f.Fd()), offset, size, unix.SYNC_FILE_RANGE_WRITE)
}

package filelock

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Share tries to take a shared lock on the whole of an open file without waiting. busy means that a process holds
// an exclusive fcntl lock (F_SETLK) on the file, as LLVM's profile runtime does while it adds to a file ("%m").
//
// The lock ends with [Unshare], or when the descriptor is closed. It belongs to the open file
// (F_OFD_SETLK), so that closing another descriptor of the file does not end it. Share takes no
// lock where locks are not supported, or on network file systems, where it might block.
func Share(fd int) (busy bool) {
	if isRemote(fd) {
		return false
	}
	err := setLock(fd, unix.F_RDLCK)
	return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES)
}

// Exclude takes an exclusive fcntl lock on the whole of an open file without waiting, as LLVM's profile
// runtime does. It ends with [Unshare], or when the descriptor is closed.
func Exclude(fd int) error { return setLock(fd, unix.F_WRLCK) }

// Unshare ends the lock of [Share].
func Unshare(fd int) { _ = setLock(fd, unix.F_UNLCK) }

func setLock(fd int, kind int16) error {
	lock := unix.Flock_t{Type: kind} // from 0 to the end, wherever that will be
	for {
		if err := unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &lock); err != unix.EINTR {
			return err
		}
	}
}

// HasWriter reports whether any process has the file of fd open for writing or mapped writable. Linux grants a read
// lease, which HasWriter gives back at once, only if no process has. known is false if the file belongs to another
// user or the file system has no leases. fd must be open for reading only.
func HasWriter(fd int) (yes, known bool) {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	switch {
	case errors.Is(err, unix.EAGAIN):
		return true, true
	case err != nil:
		return false, false
	}
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
	return false, err == nil
}

func isRemote(fd int) bool {
	var st unix.Statfs_t
	if unix.Fstatfs(fd, &st) != nil {
		return true
	}
	switch uint32(st.Type) {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC,
		unix.AFS_SUPER_MAGIC, unix.CODA_SUPER_MAGIC, unix.NCP_SUPER_MAGIC, unix.V9FS_MAGIC, unix.CEPH_SUPER_MAGIC:
		return true
	}
	return false
}

package filelock

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Share asks for a shared lock on the whole of an open file and does not wait for it.
// busy means that a process holds a lock of this kind (fcntl, F_SETLK) to write the
// file, as LLVM's profile runtime does while it adds to a file ("%m").
//
// The lock ends with [Unshare], or when the descriptor is closed. It belongs to the open
// file (F_OFD_SETLK), so that closing another descriptor of the file does not end it.
// Where locks are not supported, or asking for one may block because the file is on
// another machine, there is none.
func Share(fd int) (busy bool) {
	if isRemote(fd) {
		return false
	}
	err := setLock(fd, unix.F_RDLCK)
	return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES)
}

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

// HasWriter reports whether a process has an open file open for writing, too, or mapped
// writable. Linux grants a read lease, which HasWriter returns at once, only if there is
// none. known is false if the file belongs to another user or the file system has no
// leases. The descriptor must be for reading only.
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

// isRemote reports whether a file is on a network file system.
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

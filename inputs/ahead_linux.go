package inputs

import "golang.org/x/sys/unix"

// willRead has the system begin to read the first bytes of the file into its cache.
func (f *file) willRead(bytes int64) {
	const most = 128 << 10 // in one call; devices set the limit, and none is below this
	for at := int64(0); at < bytes; at += most {
		if unix.Fadvise(f.fd, at, most, unix.FADV_WILLNEED) != nil {
			return
		}
	}
}

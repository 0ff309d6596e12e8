//go:build !linux

package inputs

// willRead does nothing: the system reads ahead by itself, of files that are open.
func (f *file) willRead(int64) {}

func useLargePages([]byte) {}

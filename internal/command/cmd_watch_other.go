//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package command

// ignoreFileSizeSignal does nothing on systems without the signal.
func ignoreFileSizeSignal() {}

//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package main

// ignoreFileSizeSignal does nothing on systems without the signal.
func ignoreFileSizeSignal() {}

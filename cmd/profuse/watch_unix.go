//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package main

import (
	"os/signal"
	"syscall"
)

// ignoreFileSizeSignal lets writing beyond the limit on file sizes fail like
// writing to a full disk, which is told and tried again. The signal would end
// the process.
func ignoreFileSizeSignal() { signal.Ignore(syscall.SIGXFSZ) }

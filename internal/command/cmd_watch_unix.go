//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package command

import (
	"os/signal"
	"syscall"
)

// ignoreFileSizeSignal makes writing beyond the limit on file sizes fail like writing to a
// full disk, which a watch reports and tries again. The signal would end the process.
func ignoreFileSizeSignal() { signal.Ignore(syscall.SIGXFSZ) }

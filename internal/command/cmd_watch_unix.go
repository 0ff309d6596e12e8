//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package command

import (
	"os/signal"
	"syscall"
)

// ignoreFileSizeSignal makes a write beyond the limit on file sizes fail as on a full disk, which a watch
// reports before it tries again. The signal would end the process.
func ignoreFileSizeSignal() { signal.Ignore(syscall.SIGXFSZ) }

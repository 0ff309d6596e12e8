//go:build !linux

package oracle

import "os/exec"

// runServed needs Linux.
func runServed(*exec.Cmd) (code int, served bool, err error) { return 0, false, nil }

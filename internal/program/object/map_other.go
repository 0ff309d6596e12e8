//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package object

import (
	"errors"
	"os"
)

// mapFile fails: on Windows no other process could replace or delete a file while it is mapped.
func mapFile(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }
func unmapFile([]byte) error                { return nil }

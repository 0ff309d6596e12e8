//go:build !linux

package inputs

import "time"

// writeTime returns the earliest time, in ns since 1970, that a file written from now on
// gets.
func writeTime() int64 { return time.Now().Add(-maxTick).UnixNano() }

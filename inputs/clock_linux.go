package inputs

import (
	"time"

	"golang.org/x/sys/unix"
)

// writeTime returns the earliest time, in ns since 1970, that a file written from now on
// gets: that of the last tick of the clock, 1 to 10 ms ago.
func writeTime() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &t) != nil {
		return time.Now().Add(-maxTick).UnixNano()
	}
	return t.Nano()
}

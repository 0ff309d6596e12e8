package profile

import "iter"

// A Line is a source line on which code of a function begins, and how often
// that code ran.
type Line struct {
	Function Symbol // as [View.Functions] has it
	// File is where the code was written. That of code inlined from a header is
	// another than the function's.
	File   string
	Number uint32 // from 1
	Count  uint64 // at least so often; 0 if the code did not run
}

// A LineView is a [View] that tells which source lines ran. It says nothing of
// lines on which no code begins that the profile counts. Package coverage makes
// line coverage of it.
type LineView interface {
	View
	// Lines iterates over the lines of all functions whose place is known. A
	// line comes once for each piece of code that begins on it. Lines may be
	// kept.
	Lines() iter.Seq[Line]
}

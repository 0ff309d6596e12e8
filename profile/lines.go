package profile

import "iter"

// A Line is a source line on which a piece of a function's code begins, with the execution count of that piece.
type Line struct {
	Function Symbol // as [View].Functions yields it
	// File is the source file of the code. Code inlined from a header has another file than its function.
	File   string
	Number uint32 // from 1
	Count  uint64 // lower bound of the executions; 0 if the code did not run
}

// A LineView is a [View] that knows which source lines ran. It omits lines on which no counted code
// begins. Package coverage computes line coverage from it.
type LineView interface {
	View
	// Lines yields the lines of all functions whose source file is known. It yields a line once for each
	// piece of code that begins on it. The yielded values stay valid.
	Lines() iter.Seq[Line]
}

package profile

import "errors"

// A Warning is a problem that did not stop reading, merging or writing.
type Warning struct {
	File     string // as given by the caller; empty for a profile in memory
	Function string // empty if it concerns the whole file
	Err      error  // matches a class of this package
}

// String formats the warning as "FILE: FUNCTION: MESSAGE".
func (w Warning) String() string {
	s := ""
	var fe *FormatError
	if w.File != "" && !(errors.As(w.Err, &fe) && fe.File == w.File) { // else the message has it
		s = w.File + ": "
	}
	if w.Function != "" {
		s += w.Function + ": "
	}
	return s + w.Err.Error()
}

package profile

import "errors"

// A Warning is a problem despite which reading, merging or writing went on.
type Warning struct {
	File     string // as given by the caller; empty for a profile in memory
	Function string // empty if the warning concerns the whole file
	Err      error  // matches one class of this package
}

// String formats the warning as "FILE: FUNCTION: MESSAGE".
func (w Warning) String() string {
	s := ""
	var fe *FormatError
	if w.File != "" && !(errors.As(w.Err, &fe) && fe.File == w.File) { // otherwise the message contains it
		s = w.File + ": "
	}
	if w.Function != "" {
		s += w.Function + ": "
	}
	return s + w.Err.Error()
}

// A Rescued is a damaged function that a reader skipped or repaired.
type Rescued struct {
	Function string // "" if the name is damaged
	NameRef  uint64 // the function's id in the profile
	Clamped  bool   // read, with other counter values; otherwise skipped
	Err      error  // what is wrong, a [FormatError]
}

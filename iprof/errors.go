package iprof

import "github.com/profuse-pgo/profuse/profile"

// Warning is something that reading, merging or writing noticed and that did
// not stop it.
type Warning struct {
	File string // empty when it concerns no file, or a profile in memory
	Err  error  // matches a class of package profile
}

// String prints the warning as "FILE: MESSAGE".
func (w Warning) String() string {
	return profile.InFile(w.Err, w.File).Error()
}

// errorIn returns an error about an entry of a section or table of a profile in memory,
// or about the whole section if record is -1.
func errorIn(section string, record int, class error, field, found, want string) error {
	return &profile.FormatError{
		Section: section, Offset: -1, Record: record, Field: field, Found: found, Want: want, Err: class,
	}
}

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

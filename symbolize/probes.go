package symbolize

import "github.com/profuse-pgo/profuse/symbolize/internal/dwarf"

// A Probe is what the debug information says of the counters of a function in
// a program built for debug-info correlation (-profile-correlate=debug-info).
// See the fields of Has for what is known.
type Probe = dwarf.Probe

// ProbeFields is a set of fields of a [Probe].
type ProbeFields = dwarf.ProbeFields

// The fields of a [Probe] that can be missing.
const (
	HasFunction = dwarf.HasFunction
	HasHash     = dwarf.HasHash
	HasCounters = dwarf.HasCounters
	HasCounter  = dwarf.HasCounter
	HasEntry    = dwarf.HasEntry
)

// Probes calls yield for every [Probe] in the debug information, in its order.
// Those of compilation units that cannot be read are missing; the error is the
// reason, or that there is no debug information that could be opened.
func (f *File) Probes(yield func(*Probe)) error {
	d, err := f.debugData()
	if err != nil {
		return err
	}
	return f.guard(func() error { return d.data.Probes(yield) })
}

// Package families lists the families of profile formats, for the commands that need more of a
// format than its view.
package families

import (
	"slices"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/family/iprofcmd"
	"github.com/profuse-pgo/profuse/internal/command/family/irpgocmd"
	"github.com/profuse-pgo/profuse/internal/command/family/mipcmd"
	"github.com/profuse-pgo/profuse/internal/command/family/samplecmd"
)

// All lists all families. The first takes the files that no other takes.
var All = []family.Family{irpgocmd.Family(), mipcmd.Family(), iprofcmd.Family(), samplecmd.Family()}

// Of returns the index in All of the family of a file, and the format that package formats
// detects. The error is about a file that is no profile.
func Of(name string, data []byte) (int, formats.Format, error) {
	f, ok := formats.Detect(data)
	// A family's own opinion comes first: damaged iprof files are JSON to package formats.
	for i := range All {
		if takes := All[i].Takes; takes != nil && takes(name, data) {
			return i, f, nil
		}
	}
	if !ok {
		return 0, 0, formats.WrongFormat(name, data, "a profile")
	}
	return Index(f.Family()), f, nil
}

// Index returns the index in All of the family that a format belongs to, 0 for an unknown one.
func Index(kind formats.Family) int {
	return max(slices.IndexFunc(All, func(f family.Family) bool { return slices.Contains(f.Kinds, kind) }), 0)
}

// FactsOfNothing returns the facts of a file of size bytes that could not be read, or that is
// no profile.
func FactsOfNothing(name string, size int, err error) family.Facts {
	return irpgocmd.Unreadable(name, size, err)
}

// Package families lists the families of profile formats, for commands that need more than a view.
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

// All lists all families. Files of no known format belong to the first.
var All = []family.Family{irpgocmd.Family(), mipcmd.Family(), iprofcmd.Family(), samplecmd.Family()}

// Of returns the index in All of the family of a file, and the format that package formats detects.
// It returns an error about a file that is no profile.
func Of(name string, data []byte) (int, formats.Format, error) {
	f, ok := formats.Detect(data)
	// Takes comes first: for package formats, damaged iprof files are JSON.
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

// Index returns the index in All of a family of formats; 0 for an unknown one.
func Index(kind formats.Family) int {
	return max(slices.IndexFunc(All, func(f family.Family) bool { return slices.Contains(f.Kinds, kind) }), 0)
}

// UnreadableFacts returns the facts of a file of size bytes that is no profile or could not be read.
func UnreadableFacts(name string, size int, err error) family.Facts {
	return irpgocmd.Unreadable(name, size, err)
}

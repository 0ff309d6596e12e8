package command

import (
	"slices"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/iprofcmd"
	"github.com/profuse-pgo/profuse/internal/command/irpgocmd"
	"github.com/profuse-pgo/profuse/internal/command/mipcmd"
	"github.com/profuse-pgo/profuse/internal/command/samplecmd"
)

// families lists all families. The first takes the files that no other takes.
var families = []family.Family{irpgocmd.Family(), mipcmd.Family(), iprofcmd.Family(), samplecmd.Family()}

// familyOf returns the index of the family of a file, and the format that package
// formats detects. The error is about a file that is no profile.
func familyOf(name string, data []byte) (int, formats.Format, error) {
	f, ok := formats.Detect(data)
	// A family's own opinion comes first: damaged iprof files are JSON to package formats.
	for i := range families {
		if takes := families[i].Takes; takes != nil && takes(name, data) {
			return i, f, nil
		}
	}
	if !ok {
		return 0, 0, formats.WrongFormat(name, data, "a profile")
	}
	return familyIndex(f.Family()), f, nil
}

// familyIndex returns the index of the family of a kind, 0 for an unknown kind.
func familyIndex(kind formats.Family) int {
	return max(slices.IndexFunc(families, func(f family.Family) bool { return slices.Contains(f.Kinds, kind) }), 0)
}

// factsOfNothing returns the facts of a file of size bytes that could not be read, or that is
// no profile.
func factsOfNothing(name string, size int, err error) family.Facts {
	return irpgocmd.Unreadable(name, size, err)
}

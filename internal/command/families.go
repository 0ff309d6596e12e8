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
// formats detects.
func familyOf(name string, data []byte) (int, formats.Format) {
	f, _ := formats.Detect(data)
	for i := range families {
		if takes := families[i].Takes; takes != nil && takes(name, data) {
			return i, f
		}
	}
	return familyIndex(f.Family()), f
}

// familyIndex returns the index of the family of a kind.
func familyIndex(kind formats.Family) int {
	return max(slices.IndexFunc(families, func(f family.Family) bool { return slices.Contains(f.Kinds, kind) }), 0)
}

// factsOfNothing returns the facts of a file whose bytes could not be read.
func factsOfNothing(name string, err error) family.Facts { return irpgocmd.Unreadable(name, err) }

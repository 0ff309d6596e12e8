// Package families lists the families of profile formats, for commands that need more than a view.
package families

import (
	"flag"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/family/cgdatacmd"
	"github.com/profuse-pgo/profuse/internal/command/family/ctxprofcmd"
	"github.com/profuse-pgo/profuse/internal/command/family/gcovcmd"
	"github.com/profuse-pgo/profuse/internal/command/family/iprofcmd"
	"github.com/profuse-pgo/profuse/internal/command/family/irpgocmd"
	"github.com/profuse-pgo/profuse/internal/command/family/mipcmd"
	"github.com/profuse-pgo/profuse/internal/command/family/samplecmd"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
)

// All lists all families. Files of no known format belong to the first.
var All = []family.Family{irpgocmd.Family(), mipcmd.Family(), iprofcmd.Family(), samplecmd.Family(), ctxprofcmd.Family(), cgdatacmd.Family(), gcovcmd.Family()}

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

// NewPool returns the pool of the profiles that the processes of a command write into an empty folder.
func NewPool(folder string) *irpgocmd.Pool { return irpgocmd.NewPool(folder) }

// Adders holds an adder of each family, in the order of [All], and the options of the adders.
type Adders struct {
	List  []merging.FamilyAdder
	flags *cli.Flags     // of the command
	owner map[string]int // by option: the index of the only family that has it
}

// Declare declares the options of all families. Options that are declared before belong to all families.
func (a *Adders) Declare(f *cli.Flags, watching bool) {
	a.flags, a.owner = f, make(map[string]int)
	known := make(map[string]bool) // options of the command or of an earlier family
	f.VisitAll(func(o *flag.Flag) { known[o.Name] = true })
	for i, family := range All {
		m := family.Adder()
		m.Declare(f, watching)
		a.List = append(a.List, m)
		f.VisitAll(func(o *flag.Flag) {
			if !known[o.Name] {
				known[o.Name], a.owner[o.Name] = true, i
			}
		})
	}
	f.Group("")
}

// Formats lists the formats that the families write, for the help text: "indexed or text for IRPGO;
// memprof-yaml for MemProf; …".
func (a *Adders) Formats() string {
	var parts []string
	for _, m := range a.List {
		for all := m.Results(); len(all) > 0; {
			var names []string
			kind := all[0].Family
			for len(all) > 0 && all[0].Family == kind {
				names, all = append(names, all[0].Name), all[1:]
			}
			parts = append(parts, cli.AnyOf(names)+" for "+string(kind))
		}
	}
	return strings.Join(parts, "; ")
}

// Check returns what is wrong with the options of any family.
func (a *Adders) Check(r *merging.Options) error {
	for _, m := range a.List {
		if err := m.Check(r); err != nil {
			return err
		}
	}
	return nil
}

// Given returns the index of a family that alone has a given option; -1 if there is none.
func (a *Adders) Given() int {
	index := -1
	a.flags.Given(func(name string) {
		if owner, ok := a.owner[name]; ok && index < 0 {
			index = owner
		}
	})
	return index
}

// Refuse returns an error if an option is given that the family with the index does not support.
func (a *Adders) Refuse(index int, r *merging.Options) (err error) {
	refused := a.List[index].Refuses()
	a.flags.Given(func(name string) {
		if owner, ok := a.owner[name]; ok && owner != index || slices.Contains(refused, name) {
			err = cli.Usagef("option --%s does not apply to %s profiles", name, r.Family)
		}
	})
	return err
}

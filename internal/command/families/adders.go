package families

import (
	"flag"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
)

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

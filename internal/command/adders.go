package command

import (
	"flag"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/cli"
	"github.com/profuse-pgo/profuse/internal/command/merging"
)

// adders holds one adder for each family, and the options that they declared.
type adders struct {
	flags *cli.Flags
	all   []merging.Adder
	// flags are those of the command; owner has the index in all of the family that declared an
	// option.
	owner map[string]int // index of the family, for options that only one family has
}

// declare declares the options of all families. The options declared before the
// call belong to all families.
func (a *adders) declare(f *cli.Flags, watching bool) {
	a.flags, a.owner = f, make(map[string]int)
	// Options that were there before the first family, and those that an earlier family declared,
	// have an owner already, or none.
	known := make(map[string]bool)
	f.VisitAll(func(o *flag.Flag) { known[o.Name] = true })
	for i, family := range families {
		m := family.Adder()
		m.Declare(f, watching)
		a.all = append(a.all, m)
		f.VisitAll(func(o *flag.Flag) {
			if !known[o.Name] {
				known[o.Name], a.owner[o.Name] = true, i
			}
		})
	}
	f.Group("")
}

// formats lists the formats that the families write, for the help text: "indexed or text for IRPGO;
// memprof-yaml for MemProf; …".
func (a *adders) formats() string {
	var parts []string
	for _, m := range a.all {
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

// check returns what is wrong with the options of any family.
func (a *adders) check(r *merging.Run) error {
	for _, m := range a.all {
		if err := m.Check(r); err != nil {
			return err
		}
	}
	return nil
}

// given returns the index of a family if an option is given that only this family
// has, otherwise -1.
func (a *adders) given() int {
	at := -1
	a.flags.Given(func(name string) {
		if owner, ok := a.owner[name]; ok && at < 0 {
			at = owner
		}
	})
	return at
}

// refuse returns an error if an option is given that the family does not have.
func (a *adders) refuse(at int, r *merging.Run) (err error) {
	refused := a.all[at].Refuses()
	a.flags.Given(func(name string) {
		if owner, ok := a.owner[name]; ok && owner != at || slices.Contains(refused, name) {
			err = cli.Usagef("option --%s does not apply to %s profiles", name, r.Family)
		}
	})
	return err
}

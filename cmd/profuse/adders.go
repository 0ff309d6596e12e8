package main

import (
	"flag"
	"slices"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
)

// adders are one adder of each family, and the options that they have declared.
type adders struct {
	flags *cli.Flags
	all   []merging.Adder
	owner map[string]int // the family that has an option alone
}

// declare declares the options of all families. Those that are declared already
// are for all.
func (a *adders) declare(f *cli.Flags, watching bool) {
	a.flags, a.owner = f, make(map[string]int)
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

// check finds what is wrong with the options of each family.
func (a *adders) check(r *merging.Run) error {
	for _, m := range a.all {
		if err := m.Check(r); err != nil {
			return err
		}
	}
	return nil
}

// given returns the index of a family of which an option is given that no other
// has, -1 for none.
func (a *adders) given() int {
	at := -1
	a.flags.Given(func(name string) {
		if owner, ok := a.owner[name]; ok && at < 0 {
			at = owner
		}
	})
	return at
}

// refuse finds options among those given that are not for the family at hand.
func (a *adders) refuse(at int, r *merging.Run) (err error) {
	refused := a.all[at].Refuses()
	a.flags.Given(func(name string) {
		if owner, ok := a.owner[name]; ok && owner != at || slices.Contains(refused, name) {
			err = cli.Usagef("option --%s is not for %s profiles, which are merged here", name, r.Family)
		}
	})
	return err
}

// Package iprofcmd implements the commands' operations on profiles of GraalVM native images, and "profuse iprof".
package iprofcmd

import (
	"errors"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
)

// Family returns the family of profiles of GraalVM native images.
func Family() family.Family {
	return family.Family{
		Kinds: []formats.Family{formats.Iprof},
		Help: family.Help{
			Merge: "Profiles of GraalVM native images (iprof) go into one .iprof, compressed if OUTPUT ends in .gz or .zst.",
			Show:  [][2]string{{"iprof", "(GraalVM native images) the hottest methods, contexts and branches, calls with several types, and locks"}},
		},
		Takes: isNamedIprof,
		Show:  func() family.Shower { return show{} },
		Check: func() family.Checker { return new(check) },
		Adder: func() merging.FamilyAdder { return new(adder) },
	}
}

type show struct{}

func (show) Declare(*cli.Flags)           {}
func (show) Open(*sources.Programs) error { return nil }

func (show) Facts(name string, data []byte, _ formats.Format, opt *family.ShowOptions) (family.Facts, error) {
	return collectFacts(name, data, opt.Top, opt.Choose)
}

type check struct {
	classes *classIndex // nil if none are given
}

// Open reads the classes of --classes.
func (c *check) Open(env *cli.Env, p *sources.Programs) (err error) {
	c.classes, err = newClassIndex(env, p)
	return err
}

func (c *check) Admit(name string, data []byte) error {
	if c.classes != nil && !isIprof(name, data) {
		return errors.New("option --classes applies to iprof profiles only")
	}
	return nil
}

func (c *check) Check(name string, data []byte, _ formats.Format) family.Checked {
	res := family.NewChecked(name, formats.IprofProfile)
	checkFile(&res, name, data, c.classes)
	return res
}

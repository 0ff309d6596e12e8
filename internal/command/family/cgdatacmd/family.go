// Package cgdatacmd implements the commands' operations on LLVM's codegen data.
package cgdatacmd

import (
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/cgdata"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/profile"
)

// Family returns the family of codegen data.
func Family() family.Family {
	return family.Family{
		Kinds: []formats.Family{formats.CGData},
		Help: family.Help{
			Merge: `Codegen data (cgdata) of object files, static libraries and .cgdata files go into one
.cgdata, for clang -fcodegen-data-use=OUTPUT.`,
			Show: [][2]string{{"cgdata", "(LLVM's codegen data, also in objects) the outlined sequences, and the functions that can be merged"}},
		},
		Show:  func() family.Shower { return new(show) },
		Check: func() family.Checker { return new(check) },
		Adder: func() merging.FamilyAdder { return new(adder) },
	}
}

type show struct{ programs *sources.Programs }

func (*show) Declare(*cli.Flags) {}

// Open keeps the architecture of universal objects.
func (s *show) Open(p *sources.Programs) error {
	s.programs = p
	return nil
}

func (s *show) Facts(name string, data []byte, f formats.Format, opt *family.ShowOptions) (family.Facts, error) {
	return collectFacts(name, data, f, opt, s.programs.Arch)
}

type check struct{ arch string }

func (c *check) Open(_ *cli.Env, p *sources.Programs) error {
	c.arch = p.Arch
	return nil
}

func (*check) Admit(string, []byte) error { return nil }

// Check checks codegen data. Records are the nodes of the tree and the functions.
func (c *check) Check(name string, data []byte, f formats.Format) family.Checked {
	res := family.NewChecked(name, f)
	all, err := readAll(name, data, f, c.arch, func(err error) { res.Remarks = append(res.Remarks, res.Finding(err)) })
	if err != nil {
		if f == formats.CGDataObject && profile.ClassOf(err) == profile.ErrUnrecognized {
			res = family.NewChecked(name, 0)
		}
		res.Note(err)
		return res
	}
	for _, d := range all {
		res.Version = d.Version
		res.Records += len(d.Tree) + len(d.Functions)
	}
	return res
}

// readAll reads the codegen data of a file, or of each object in it.
func readAll(name string, data []byte, f formats.Format, arch string, warn func(error)) (all []*cgdata.Data, err error) {
	if f != formats.CGDataObject {
		d, err := cgdata.Read(name, data, warn)
		return []*cgdata.Data{d}, err
	}
	err = cgdata.ReadObjects(name, data, arch, func(o *cgdata.Object) error {
		all = append(all, o.Data)
		return nil
	})
	if profile.ClassOf(err) == profile.ErrMismatch { // no codegen data
		err = formats.WrongFormat(name, data, "a profile")
	}
	return all, err
}

// Package gcovcmd implements the commands' operations on GCC's notes and counts.
package gcovcmd

import (
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/gcov"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
)

// Family returns the family of GCC's notes and counts.
func Family() family.Family {
	return family.Family{
		Kinds: []formats.Family{formats.GCov},
		Help: family.Help{
			Merge: `GCC's counts (gcda) are added up for gcc -fprofile-use and gcov: the counts of one object if OUTPUT ends in .gcda;
otherwise OUTPUT is a folder, and the counts of the same name below each input folder go into one file.`,
			Show: [][2]string{{"gcov", "(GCC's notes and counts) functions, runs and kinds of counters"}},
		},
		Show:  func() family.Shower { return new(show) },
		Check: func() family.Checker { return new(check) },
		Adder: func() merging.FamilyAdder { return new(adder) },
	}
}

type show struct{ programs *sources.Programs }

func (*show) Declare(*cli.Flags) {}

// Open keeps the folders that may have the notes.
func (s *show) Open(p *sources.Programs) error {
	s.programs = p
	return nil
}

func (s *show) Facts(name string, data []byte, f formats.Format, opt *family.ShowOptions) (family.Facts, error) {
	return collectFacts(name, data, f, opt, s.programs.Paths)
}

type check struct{ programs []string }

func (c *check) Open(_ *cli.Env, p *sources.Programs) error {
	c.programs = p.Paths
	return nil
}

func (*check) Admit(string, []byte) error { return nil }

// Check checks notes, or counts with the notes beside them. Records are functions.
func (c *check) Check(name string, data []byte, f formats.Format) family.Checked {
	res := family.NewChecked(name, f)
	p, err := read(name, data, f)
	if err != nil {
		res.Note(err)
		return res
	}
	res.FormatVersion, res.Records = p.version().String(), p.functions()
	if p.counts == nil {
		return res
	}
	remarks := p.counts.Oddities()
	u, err := formats.JoinNotes(name, p.counts, c.programs)
	switch {
	case err == nil:
		remarks = append(remarks, u.Doubts()...)
	case !formats.IsWithoutNotes(err):
		res.Note(err)
	}
	for _, err := range remarks {
		res.Remarks = append(res.Remarks, res.Finding(err))
	}
	return res
}

// A parsed file has notes or counts.
type parsed struct {
	notes  *gcov.Notes
	counts *gcov.Counts
}

func read(name string, data []byte, f formats.Format) (p parsed, err error) {
	if f == formats.GCovNotes {
		p.notes, err = gcov.ReadNotes(name, data)
	} else {
		p.counts, err = gcov.ReadCounts(name, data)
	}
	return p, err
}

func (p *parsed) version() gcov.Version {
	if p.notes != nil {
		return p.notes.Version
	}
	return p.counts.Version
}

func (p *parsed) functions() int {
	if p.notes != nil {
		return len(p.notes.Functions)
	}
	return len(p.counts.Functions)
}

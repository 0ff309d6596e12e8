// Package samplecmd implements the commands' operations on LLVM's sample profiles, and on recordings of perf, from which
// such profiles are made.
package samplecmd

import (
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/sampleprof"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
)

// Family returns the family of sample profiles.
func Family() family.Family {
	return family.Family{
		Kinds: []formats.Family{formats.Sample},
		Help: family.Help{
			Merge: "Sample profiles (AutoFDO, CSSPGO) go into one .afdo, for clang -fprofile-sample-use=OUTPUT. With " +
				"--program, recordings of perf and sums of addresses (llvm-profgen --skip-symbolization) become a profile by lines.",
			Show: [][2]string{
				{"samples", "(AutoFDO, CSSPGO) the sections of the file, and the functions or contexts with the most samples"},
				{"perf", "(perf.data, text of perf script) the events, the samples with and without branches, and the programs"},
			},
		},
		Show:  func() family.Shower { return show{} },
		Check: func() family.Checker { return check{} },
		Adder: func() merging.FamilyAdder { return new(adder) },
		Fit:   fitOf,
	}
}

type show struct{}

func (show) Declare(*cli.Flags)           {}
func (show) Open(*sources.Programs) error { return nil }

func (show) Facts(name string, data []byte, f formats.Format, opt *family.ShowOptions) (family.Facts, error) {
	if f.IsRecording() {
		return collectRecording(name, data, f, opt)
	}
	return collectFacts(name, data, f, opt)
}

type check struct{}

func (check) Open(*cli.Env, *sources.Programs) error { return nil }
func (check) Admit(string, []byte) error             { return nil }

// Check checks a profile. The remarks of [sampleprof.Profile.Check] are no findings, because compilers
// use such profiles. Records are functions or contexts.
func (check) Check(name string, data []byte, f formats.Format) family.Checked {
	if f.IsRecording() {
		return checkRecording(name, data, f)
	}
	res := family.NewChecked(name, f)
	if f == formats.SampleSums {
		res.Note(formats.WrongFormat(name, data, "a sample profile"))
		return res
	}
	p, err := sampleprof.Read(name, data, sampleprof.ReaderOptions{})
	if err != nil {
		res.Note(err)
		return res
	}
	res.Records = len(p.Functions)
	res.SetVersion(versionOf(p))
	for _, err := range p.Check() {
		res.Remarks = append(res.Remarks, res.Finding(err))
	}
	return res
}

func versionOf(p *sampleprof.Profile) string { return p.View("").Identity().Version }

package samplecmd

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/sampleprof"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profgen"
	"github.com/profuse-pgo/profuse/profile"
)

// A generator makes a profile of the recordings and unsymbolized profiles among the inputs of a merge: it adds them up
// first, because the profile of a sum is not the sum of profiles.
type generator struct {
	job     *merging.Job
	program *profgen.Program // nil before the first input
	openErr error            // why it cannot be opened
	name    string           // of the program
	buildID []byte
	sum     *profgen.Counts

	recordings int
	account    profgen.Account // of all recordings
}

// open opens the program of option --program, once.
func (g *generator) open() (*profgen.Program, error) {
	if g.program == nil && g.openErr == nil {
		g.program, g.openErr = g.openProgram()
	}
	return g.program, g.openErr
}

func (g *generator) openProgram() (*profgen.Program, error) {
	programs, err := g.job.Programs.Open()
	if err != nil {
		return nil, err
	}
	if len(programs.Files) != 1 {
		return nil, flaw.Field("option --program").Gotf("given for %s", cli.Quantity(len(programs.Files), "program", "programs")).
			Want("the one that ran").Mismatch()
	}
	file := programs.Files[0]
	g.name, g.buildID = file.Name, file.BuildID
	p, err := profgen.Open(file, profgen.Options{})
	switch {
	case p == nil:
		return nil, err
	case p.Probes:
		return nil, flaw.File(file.Name).Field("program").Got("pseudo probes").Want("a program whose profile is by lines").
			Hint("llvm-profgen makes profiles by probes").Unsupported()
	case p.Facts.Functions == 0:
		return nil, errors.Join(flaw.File(file.Name).Field("debug information").Got("no functions with code").
			Want("functions and lines, as -g makes").Hint("give --program the file that was not stripped").Mismatch(), err)
	case err != nil:
		g.job.WarnOf("sample", 0, profile.Warning{File: file.Name, Err: err})
	}
	return p, nil
}

// add adds a recording or an unsymbolized profile to the sum.
func (g *generator) add(in *merge.Profile, f formats.Format) (*merge.Contribution, error) {
	p, err := g.open()
	if err != nil {
		return nil, err
	}
	var c *profgen.Counts
	var faults profgen.Faults
	if f.IsRecording() {
		if c, faults, err = g.read(in); err != nil {
			return nil, err
		}
	} else {
		if c, err = profgen.ReadUnsymbolized(in.Name, in.Data, p.Base); err != nil {
			return nil, err
		}
		faults = p.Faults(c)
	}
	if unfit := saturate.Add(faults.Outside, faults.CrossesJumps); unfit > faults.Runs/2 {
		return nil, flaw.File(in.Name).Field("share of runs that "+g.name+" can make").Gotf("%d of %d", faults.Runs-unfit, faults.Runs).
			Want("most").Hint("give --program the very build that was profiled").Mismatch()
	} else if unfit > faults.Runs/100 {
		g.job.Warn("sample ranges", 0, fmt.Sprintf("%s: %s cannot make %d of the %d runs of instructions between branches", in.Name, g.name, unfit, faults.Runs), "")
	}
	c.AddTo(g.sum, in.Weight)
	return &merge.Contribution{Functions: len(c.Ranges), Count: faults.Runs}, nil
}

// read reads a recording, and says where its samples went. A recording that yields nothing is an error.
func (g *generator) read(in *merge.Profile) (*profgen.Counts, profgen.Faults, error) {
	c, a, err := g.program.ReadRecording(in.Name, in.Data, func(w profile.Warning) { g.job.WarnOf("sample", 0, w) })
	if err != nil {
		return nil, profgen.Faults{}, err
	}
	at := flaw.File(in.Name)
	switch own := hex.EncodeToString(g.buildID); {
	case a.Samples == 0:
		err = at.Field("samples").Got(0).Want("at least one").Empty()
	case !a.Mapped && len(a.OtherBuilds) > 0:
		err = at.Field("build id of " + g.name).Got(strings.Join(a.OtherBuilds, ", ")).Want(own).
			Hint("give --program the very build that was recorded").Mismatch()
	case !a.Mapped:
		err = at.Field("mappings of " + g.name).Got(0).Want("at least one").
			Hint("the recorded processes did not run it, or perf did not record it: \"profuse show\" lists the programs").Mismatch()
	case a.Branchless == a.Samples:
		err = at.Field("samples with branches").Gotf("0 of %d", a.Samples).Want("some").
			Hint("record with -b, on a processor that records branches").Mismatch()
	case a.Used == 0:
		err = at.Field("samples with branches of "+g.name).Gotf("0 of %d", a.Samples).Want("some").Mismatch()
	}
	if err != nil {
		return nil, profgen.Faults{}, err
	}
	if a.Cut != nil {
		g.job.WarnOf("sample", 0, profile.Warning{File: in.Name, Err: a.Cut})
	}
	g.recordings++
	for _, of := range [][2]*uint64{
		{&g.account.Samples, &a.Samples},
		{&g.account.Used, &a.Used},
		{&g.account.Branchless, &a.Branchless},
		{&g.account.Kernel, &a.Kernel},
		{&g.account.Other, &a.Other},
		{&g.account.Unknown, &a.Unknown},
		{&g.account.Lost, &a.Lost},
	} {
		*of[0] = saturate.Add(*of[0], *of[1])
	}
	if len(a.OtherBuilds) > 0 {
		g.job.Warn("sample builds", 0, fmt.Sprintf("%s: samples of other builds of %s are left out: %s", in.Name, g.name, strings.Join(a.OtherBuilds, ", ")), "")
	}
	return c, a.Faults, nil
}

// accountText says in words where the samples of the recordings went; "" if all have branches of the program.
func (g *generator) accountText() string {
	a := &g.account
	text := fmt.Sprintf("of %s in %s, %s have branches of %s", cli.Quantity(a.Samples, "sample", "samples"),
		cli.Quantity(g.recordings, "recording", "recordings"), cli.Count(a.Used), g.name)
	for _, part := range []struct {
		count uint64
		what  string
	}{
		{a.Branchless, "have no branches"},
		{a.Kernel, "are in the kernel"},
		{a.Other, "are in other files"},
		{a.Unknown, "are in no mapped file"},
	} {
		if part.count > 0 {
			text += fmt.Sprintf(", %s %s", cli.Count(part.count), part.what)
		}
	}
	if a.Lost > 0 {
		text += fmt.Sprintf("; the kernel, whose buffer was full, dropped %s more", cli.Count(a.Lost))
	} else if a.Used == a.Samples {
		return ""
	}
	return text
}

// finish makes the profile, if there were inputs for it, and adds it to the sum of profiles.
func (g *generator) finish(m *sampleprof.Merger) error {
	if g.program == nil {
		if g.openErr == nil && len(g.job.Programs.Paths) > 0 {
			return cli.Usagef("option --program is for recordings of perf and unsymbolized profiles; no input is one")
		}
		return nil
	}
	p, err := g.program.Lines(g.sum, profgen.LineOptions{})
	if err != nil {
		g.job.WarnOf("sample", 0, profile.Warning{File: g.name, Err: err})
	}
	if text := g.accountText(); text != "" {
		g.job.Warn("sample account", 0, text, "")
	}
	if d := profgen.Density(p, profgen.HotShare); d > 0 && d < enoughDensity {
		g.job.Warn("sample density", 0, fmt.Sprintf("hot code has %.1f samples at each place; %d or more make a better profile", d, enoughDensity), "")
	}
	_, err = m.AddProfile(g.name, p, 1)
	return err
}

// enoughDensity is the density from which llvm-profgen asks for no more samples.
const enoughDensity = 50

package samplecmd

import (
	"errors"
	"fmt"

	"github.com/profuse-pgo/profuse/formats/sampleprof"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profgen"
	"github.com/profuse-pgo/profuse/profile"
)

// A generator makes a profile of the unsymbolized profiles among the inputs of a merge: it adds them up first, because the
// profile of a sum is not the sum of profiles.
type generator struct {
	job     *merging.Job
	program *profgen.Program // nil before the first input
	openErr error            // why it cannot be opened
	name    string           // of the program
	sum     *profgen.Counts
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
	g.name = file.Name
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

// add adds an unsymbolized profile to the sum.
func (g *generator) add(in *merge.Profile) (*merge.Contribution, error) {
	p, err := g.open()
	if err != nil {
		return nil, err
	}
	c, err := profgen.ReadUnsymbolized(in.Name, in.Data, p.Base)
	if err != nil {
		return nil, err
	}
	f := p.Faults(c)
	if unfit := saturate.Add(f.Outside, f.CrossesJumps); unfit > f.Runs/2 {
		return nil, flaw.File(in.Name).Field("ranges that "+g.name+" can run").Gotf("%d of %d samples", f.Runs-unfit, f.Runs).
			Want("most").Hint("give --program the very build that was profiled").Mismatch()
	} else if unfit > f.Runs/100 {
		g.job.Warn("sample ranges", 0, fmt.Sprintf("%s: %d of %d samples are of ranges that %s cannot run", in.Name, unfit, f.Runs, g.name), "")
	}
	c.AddTo(g.sum, in.Weight)
	return &merge.Contribution{Functions: len(c.Ranges), Count: f.Runs}, nil
}

// finish makes the profile, if there were inputs for it, and adds it to the sum of profiles.
func (g *generator) finish(m *sampleprof.Merger) error {
	if g.program == nil {
		if g.openErr == nil && len(g.job.Programs.Paths) > 0 {
			return cli.Usagef("option --program is for unsymbolized profiles (llvm-profgen --skip-symbolization); no input is one")
		}
		return nil
	}
	p, err := g.program.Lines(g.sum, profgen.LineOptions{})
	if err != nil {
		g.job.WarnOf("sample", 0, profile.Warning{File: g.name, Err: err})
	}
	if d := profgen.Density(p, profgen.HotShare); d > 0 && d < enoughDensity {
		g.job.Warn("sample density", 0, fmt.Sprintf("hot code has %.1f samples at each place; %d or more make a better profile", d, enoughDensity), "")
	}
	_, err = m.AddProfile(g.name, p, 1)
	return err
}

// enoughDensity is the density from which llvm-profgen asks for no more samples.
const enoughDensity = 50

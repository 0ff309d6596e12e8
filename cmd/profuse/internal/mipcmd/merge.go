package mipcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/family"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/filelock"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/mip"
)

// The formats of the result.
const (
	formatMIP     = "mip"
	formatMIPYAML = "yaml"
)

// merge is one run of "profuse merge" of MIP profiles.
type merge struct {
	arch string
}

func (c *merge) Declare(f *cli.Flags) {
	f.Group("MIP profiles")
	f.StringVar(&c.arch, "arch", "", "`ARCH` of a program for several architectures, the one that ran")
}

func (c *merge) Results() []family.Result {
	return []family.Result{{Name: formatMIP, Family: formats.MIP, Text: false}, {Name: formatMIPYAML, Family: formats.MIP, Text: true}}
}

func (c *merge) Refuses() []string { return []string{"weighted-input", "allow-empty"} }

func (c *merge) Check(*merging.Run) error { return nil }

func (c *merge) Merge(ctx context.Context, env *cli.Env, r *merging.Run, ins []inputs.Input, report *merging.Report) error {
	if err := r.CheckName(); err != nil {
		return err
	}
	i, err := findMIPBase(ins)
	if err != nil {
		return err
	}
	base, err := readMIP(ins[i], c.arch, mipWarnings(report))
	if err != nil {
		return err
	}
	out, err := console.OpenOutput(env, r.Output, ins)
	if err != nil {
		return err
	}
	defer out.Discard()
	rest := append(append([]inputs.Input{}, ins[:i]...), ins[i+1:]...)
	m, err := mergeMIP(ctx, base, rest, merging.NumWorkers(r.Workers), report)
	report.Progress.Stop()
	if err != nil {
		return err
	}
	if err := report.Judge(env.Stderr); err != nil {
		return err
	}
	lock, err := lockMIP(ctx, env, r.Output)
	if err != nil {
		return err
	}
	defer lock.Release()
	if r.Format == formatMIPYAML || r.Format == "" && console.IsYAML(r.Output) {
		err = mip.WriteYAML(out, m.profile, mip.YAMLOptions{})
	} else {
		err = mip.WriteMIP(out, m.profile, mip.MIPOptions{})
	}
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		return fmt.Errorf("%s is not written: %w", console.OutputName(r.Output), err)
	}
	if err := keepBuildID(r.Output, base.binary.BuildID, false); err != nil {
		return err
	}
	if !r.Quiet {
		report.PrintWarnings(env.Stderr)
		report.PrintLoss(env.Stderr)
		fmt.Fprintf(env.Stderr, "merged %s: %s → %s (%s on the functions of %s)\n", report.InputsLine(),
			mipContents(m.profile), console.OutputName(r.Output), m.added(), base.name)
	}
	return nil
}

// lockMIP keeps "profuse mip merge" from updating a file while it is replaced.
// A file that does not exist yet needs no lock.
func lockMIP(ctx context.Context, env *cli.Env, path string) (*filelock.Lock, error) {
	if path == "-" {
		return nil, nil
	}
	lock, err := filelock.Acquire(ctx, path, func() {
		fmt.Fprintf(env.Stderr, "waiting for another process that updates %s\n", path)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return lock, err
}

// mipContents sums up a profile.
func mipContents(p *mip.Profile) string {
	t := totalsOf(p)
	s := fmt.Sprintf("%s, %s covered (%s)", cli.Quantity(uint64(t.functions), "function", "functions"),
		cli.Count(uint64(t.covered)), cli.Percent(uint64(t.covered), uint64(t.functions)))
	if p.Type.Has(mip.BlockCoverage) {
		s += fmt.Sprintf(", %s of %s covered (%s)", cli.Count(uint64(t.coveredBlocks)),
			cli.Quantity(uint64(t.blocks), "block", "blocks"), cli.Percent(uint64(t.coveredBlocks), uint64(t.blocks)))
	}
	if p.Type.Has(mip.FunctionCallCount) {
		s += ", " + cli.Quantity(t.calls, "call", "calls")
	}
	return s
}

// mipTotals are sums over the functions of a profile.
type mipTotals struct {
	functions, covered    int
	blocks, coveredBlocks int    // entries included
	calls                 uint64 // saturating
	mostMerged            uint32 // raw profiles of the function that is in most
	codeSize, coveredSize uint64 // bytes
}

func totalsOf(p *mip.Profile) (t mipTotals) {
	t.functions = len(p.Functions)
	for i := range p.Functions {
		f := &p.Functions[i]
		t.codeSize += uint64(f.Size)
		if f.Covered() {
			t.covered++
			t.coveredSize += uint64(f.Size)
		}
		t.blocks += 1 + len(f.Blocks)
		t.coveredBlocks += coveredBlocks(f)
		t.calls = saturate.Add(t.calls, f.CallCount)
		t.mostMerged = max(t.mostMerged, f.MergeCount)
	}
	return t
}

// coveredBlocks counts the blocks that ran, the entry included.
func coveredBlocks(f *mip.Function) (n int) {
	if f.EntryCovered() {
		n++
	}
	for _, b := range f.Blocks {
		if b.Covered {
			n++
		}
	}
	return n
}

// mipWarnings returns what takes note of what a reader or the merger noticed.
func mipWarnings(report *merging.Report) func(mip.Warning) {
	return func(w mip.Warning) { report.AddError("mip", 0, w.File, w.Function, w.Err) }
}

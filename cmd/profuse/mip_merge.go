package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/filelock"
	"github.com/profuse-pgo/profuse/internal/inputs"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/profile"
)

// family decides what kind of profiles is merged: by the option, by the name
// of the output, or by the first input that tells.
func (c *mergeRun) family(ins []inputs.Input) formats.Family {
	switch c.format.Value {
	case formatIndexed, formatText:
		return formats.IRPGO
	case formatMemProfYAML:
		return formats.MemProf
	case formatMIP:
		return formats.MIP
	case formatYAML:
		if f := inputFamily(ins); f == formats.MemProf {
			return f
		}
		return formats.MIP
	case formatIprof:
		return formats.Iprof
	}
	if f, ok := formats.BySuffix(strings.TrimSuffix(c.output, compression(c.output))); ok {
		return f.Family()
	}
	return inputFamily(ins)
}

// inputFamily is that of the first input that tells.
func inputFamily(ins []inputs.Input) formats.Family {
	for _, compressed := range []bool{false, true} {
		for _, in := range ins {
			// Any text is taken for an IRPGO profile.
			if f := peekFormat(in, compressed); f != 0 && f != formats.IRPGOText {
				return f.Family()
			}
		}
	}
	return formats.IRPGO
}

// notForMIP are the options that say nothing about MIP profiles.
var notForMIP = []string{
	"indexed-version", "weighted-input", "sparse", "allow-mixed", "keep-vtable-names", "correlate", "allow-empty",
	"function", "no-function", "remap",
}

// runMIP merges MIP profiles.
func (c *mergeRun) runMIP(ctx context.Context, env *cli.Env, ins []inputs.Input, report *mergeReport) error {
	if err := c.checkMIP(); err != nil {
		return err
	}
	i, err := findMIPBase(ins)
	if err != nil {
		return err
	}
	base, err := readMIP(ins[i], c.arch, report.mipWarning)
	if err != nil {
		return err
	}
	out, err := openOutput(env, c.output, ins)
	if err != nil {
		return err
	}
	defer out.discard()
	rest := append(append([]inputs.Input{}, ins[:i]...), ins[i+1:]...)
	m, err := mergeMIP(ctx, base, rest, numWorkers(c.workers), report)
	report.progress.Stop()
	if err != nil {
		return err
	}
	if err := report.judge(env.Stderr); err != nil {
		return err
	}
	lock, err := lockMIP(ctx, env, c.output)
	if err != nil {
		return err
	}
	defer lock.Release()
	if c.format.Value == formatYAML || c.format.Value == "" && isYAML(c.output) {
		err = mip.WriteYAML(out, m.profile, mip.YAMLOptions{})
	} else {
		err = mip.WriteMIP(out, m.profile, mip.MIPOptions{})
	}
	if err == nil {
		err = out.commit()
	}
	if err != nil {
		return fmt.Errorf("%s is not written: %w", outputName(c.output), err)
	}
	if err := keepBuildID(c.output, base.binary.BuildID, false); err != nil {
		return err
	}
	if !c.quiet {
		report.printWarnings(env.Stderr)
		report.printLoss(env.Stderr)
		fmt.Fprintf(env.Stderr, "merged %s: %s → %s (%s on the functions of %s)\n", report.inputsLine(),
			mipContents(m.profile), outputName(c.output), m.added(), base.name)
	}
	return nil
}

func (c *mergeRun) checkMIP() error {
	err := c.refuse(notForMIP, "MIP")
	if f, ok := formats.BySuffix(c.output); ok && f.Family() != formats.MIP {
		return cli.Usagef("%s is the name of an %v, and MIP profiles are to be merged", c.output, f)
	}
	return err
}

func isYAML(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".yaml" || ext == ".yml"
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
		t.calls = addSaturating(t.calls, f.CallCount)
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

// mipWarning takes note of what a reader or the merger noticed.
func (m *mergeReport) mipWarning(w mip.Warning) {
	text := describeError(w.Err).Message
	if w.Function != "" {
		text = w.Function + ": " + text
	}
	if w.File != "" {
		text = w.File + ": " + text
	}
	field := ""
	if fe := (*profile.FormatError)(nil); errors.As(w.Err, &fe) {
		field = fe.Field
	}
	m.add("mip "+field, 0, text, "")
}

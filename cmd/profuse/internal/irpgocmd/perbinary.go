package irpgocmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/irpgo"
)

// maxBinaries is how many profiles are written at once.
const maxBinaries = 500

// A binaryGroup is the profiles of one binary among the inputs.
type binaryGroup struct {
	name   string // of the result, without its ending
	inputs []int  // that hold any
	// members of archives that belong to it, by input; a plain file is member 0.
	members map[int]map[int]struct{}
}

// groupByBinary looks at the headers of all inputs. What cannot be read is put
// to the first group, where merging says what is wrong with it.
func groupByBinary(ctx context.Context, ins []inputs.Input) ([]*binaryGroup, error) {
	var groups []*binaryGroup
	byName := make(map[string]*binaryGroup)
	type place struct{ input, member int }
	var unknown []place
	put := func(g *binaryGroup, at place) {
		if g.members[at.input] == nil {
			g.members[at.input] = make(map[int]struct{})
			g.inputs = append(g.inputs, at.input)
		}
		g.members[at.input][at.member] = struct{}{}
	}
	var reader inputs.Reader
	defer reader.Close()
	for i, in := range ins {
		if info, err := os.Stat(in.Name); in.Name == inputs.Stdin || err == nil && !info.Mode().IsRegular() {
			return nil, cli.Usagef("--per-binary reads inputs twice, and %s can be read only once", in.Name)
		}
		member := 0
		err := in.Each(&reader, func(d *inputs.Data) error {
			at := place{i, member}
			member++
			r, err := irpgo.NewReader(d.Name(), d.Bytes(), irpgo.ReaderOptions{})
			name := ""
			if err == nil {
				name = programKey(r.Info().BinaryIDs, d.Name(), d.Bytes())
			}
			if name == "" {
				unknown = append(unknown, at)
				return ctx.Err()
			}
			g := byName[name]
			if g == nil {
				g = &binaryGroup{name: name, members: make(map[int]map[int]struct{})}
				byName[name] = g
				if groups = append(groups, g); len(groups) > maxBinaries {
					return fmt.Errorf("the inputs are of more than %d binaries", maxBinaries)
				}
			}
			put(g, at)
			return ctx.Err()
		})
		if ctx.Err() != nil || len(groups) > maxBinaries {
			return nil, err
		}
		if err != nil || member == 0 {
			unknown = append(unknown, place{i, member})
		}
	}
	if len(groups) == 0 {
		groups = []*binaryGroup{{name: "unknown", members: make(map[int]map[int]struct{})}}
	}
	for _, at := range unknown {
		put(groups[0], at)
	}
	for _, g := range groups {
		slices.Sort(g.inputs)
	}
	return groups, nil
}

// mergePerBinary writes one profile for each binary into a folder, all or none.
func (c *merge) mergePerBinary(ctx context.Context, env *cli.Env, r *merging.Run, ins []inputs.Input, opt irpgo.MergeOptions,
	keep func(name string) bool, from reading, report *mergeReport,
) error {
	if r.Output == "-" {
		return cli.Usagef("--per-binary writes into a folder, not to standard output")
	}
	groups, err := groupByBinary(ctx, ins)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.Output, 0o777); err != nil {
		return err
	}
	ending := ".profdata"
	if c.text {
		ending = ".proftext"
	}
	var outs []*console.Output
	defer func() {
		for _, out := range outs {
			out.Discard()
		}
	}()
	var lines []string
	for _, g := range groups {
		part := make([]inputs.Input, len(g.inputs))
		for i, at := range g.inputs {
			part[i] = ins[at]
		}
		before := report.Taken
		report.regroup(g)
		merged, err := mergeInputs(ctx, part, merging.NumWorkers(r.Workers), from, opt, report)
		if err != nil {
			report.Progress.Stop()
			return err
		}
		report.foundIn(merged)
		if keep != nil {
			merged.Functions = slices.DeleteFunc(merged.Functions, func(f irpgo.Function) bool { return !keep(f.Name) })
		}
		if report.Taken == before {
			continue // nothing of it could be used
		}
		path := filepath.Join(r.Output, g.name+ending)
		out, err := console.OpenOutput(env, path, ins)
		if err != nil {
			return err
		}
		outs = append(outs, out)
		what, err := c.encode(out, merged, report)
		if err != nil {
			return fmt.Errorf("%s is not written: %w", path, err)
		}
		lines = append(lines, fmt.Sprintf("merged %s: %s → %s (%s)", cli.Quantity(uint64(report.Taken-before), "profile", "profiles"),
			c.contents(merged), path, what))
	}
	report.Progress.Stop()
	if err := report.Judge(env.Stderr); err != nil {
		return err
	}
	for _, out := range outs {
		if err := out.Commit(); err != nil {
			return fmt.Errorf("%s: not all profiles are written: %w", r.Output, err)
		}
	}
	if r.Quiet {
		return nil
	}
	report.PrintWarnings(env.Stderr)
	report.PrintLoss(env.Stderr)
	for _, line := range lines {
		fmt.Fprintln(env.Stderr, console.Printable(line))
	}
	fmt.Fprintf(env.Stderr, "merged %s into %s in %s\n", report.InputsLine(), cli.Quantity(uint64(len(lines)), "profile", "profiles"), r.Output)
	return nil
}

// regroup says that the next inputs merged are those of a group.
func (m *mergeReport) regroup(g *binaryGroup) {
	m.Report.Regroup(g.inputs, func(input, member int) bool {
		_, ok := g.members[g.inputs[input]][member]
		return ok
	})
	m.sources = make(map[sourceKind]int)
}

package mipcmd

import (
	"context"
	"fmt"
	"io"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/watch"
)

// watching is one run of "profuse watch" that adds MIP profiles up.
type watching struct {
	program, arch string
}

func (c *watching) Declare(f *cli.Flags) {
	f.Group("MIP profiles")
	f.StringVar(&c.program, "program", "", "`FILE` the program, or its .mipmap, that MIP profiles are of")
	f.StringVar(&c.arch, "arch", "", "`ARCH` of a program for several architectures, the one that ran")
}

func (c *watching) Check(*merging.Run) error {
	if c.arch != "" && c.program == "" {
		return cli.Usagef("option --arch is about the --program, and there is none")
	}
	return nil
}

func (c *watching) Asked() bool { return c.program != "" }

func (c *watching) Ignored() []string {
	if c.program == "" {
		return nil
	}
	return []string{c.program}
}

// Adder returns what adds profiles up, on the functions of the output or,
// before there is one, of the program.
func (c *watching) Adder(r *merging.Run, _ func(string), done func(*merging.Report)) (watch.Merge, error) {
	return func(ctx context.Context, base string, files []string) (*watch.Sum, error) {
		var in inputs.Input
		var err error
		switch {
		case base != "":
			in = inputs.File(base)
		case c.program != "":
			in, err = sources.BinaryPath(c.program)
		default:
			err = fmt.Errorf("%s does not exist, and raw profiles do not say which functions there are: add --program, with %s",
				r.Output, mipWanted)
		}
		if err != nil {
			return nil, err
		}
		ins, report := merging.WatchInputs("", files)
		functions, err := readMIP(in, c.arch, mipWarnings(report))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", watch.ErrOutput, err)
		}
		m, err := mergeMIP(ctx, functions, ins, merging.NumWorkers(r.Workers), report)
		if err != nil {
			return nil, err
		}
		outcomes, err := merging.WatchOutcomes("", report)
		if err != nil {
			return nil, err
		}
		done(report)
		return &watch.Sum{
			Files: outcomes, Contents: mipContents(m.profile),
			Write: func(w io.Writer) error {
				if base == "" {
					if err := keepBuildID(r.Output, functions.binary.BuildID, false); err != nil {
						return err
					}
				}
				if functions.format == formats.MIPYAML || base == "" && console.IsYAML(r.Output) {
					return mip.WriteYAML(w, m.profile, mip.YAMLOptions{})
				}
				return mip.WriteMIP(w, m.profile, mip.MIPOptions{DocumentLayout: functions.info.Layout.NamesByLength})
			},
		}, nil
	}, nil
}

package mipcmd

import (
	"context"
	"fmt"
	"io"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// mip2yamlCommand returns "profuse mip mip2yaml". --program is llvm-mipdata's --debug and adds the
// sources of functions.
func mip2yamlCommand() *cli.Command {
	return &cli.Command{
		Name:     "mip2yaml",
		Args:     "[OPTION]... FILE",
		Short:    "print a profile as YAML",
		Long:     `Prints a profile as the YAML that llvm-mipdata prints and "yaml2mip" reads.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &mip2yaml{}
			c.programs.Declare(f)
			f.StringVar(&c.output, "o", "-", "`OUTPUT` file to write; \"-\" is standard output")
			return c.run
		},
	}
}

type mip2yaml struct {
	programs sources.Programs // for the sources of functions
	output   string
}

// run writes the YAML. The source of a function is the innermost frame at its first instruction.
func (c *mip2yaml) run(_ context.Context, env *cli.Env, args []string) error {
	if len(args) != 1 {
		return cli.Usagef("want one profile, got %d", len(args))
	}
	in, err := sources.One(env, args[0])
	if err != nil {
		return err
	}
	warn := console.Warnings(env)
	m, err := readFile(in, c.programs.Arch, warn)
	if err != nil {
		return err
	}
	defer c.programs.Close()
	c.programs.Inputs = sources.Options(env)
	program, err := openProgram(&c.programs, m, m.buildID(warn), warn)
	if err != nil {
		return err
	}
	var opt mip.WriteOptions
	if program != nil {
		addresses := make([]int64, len(m.profile.Functions)) // relative to the program's raw section
		opt.SourceInfo = make([]profile.Symbol, len(addresses))
		for i := range addresses {
			addresses[i] = m.profile.Functions[i].Address
		}
		err := program.Frames(addresses, warn, func(i int, frames []symbolize.Frame) {
			if len(frames) > 0 {
				opt.SourceInfo[i] = profile.Symbol{File: frames[0].File, Name: frames[0].Function, StartLine: int32(frames[0].Line)}
			}
		})
		if err != nil {
			warn(profile.Warning{Err: err})
		}
	}
	return console.Write(env, c.output, []inputs.Input{in}, false, func(w io.Writer) error {
		return mip.WriteYAML(w, m.profile, opt)
	})
}

func yaml2mipCommand() *cli.Command {
	return &cli.Command{
		Name:     "yaml2mip",
		Args:     "-o OUTPUT [OPTION]... [YAML]",
		Short:    "make a profile from YAML",
		Long:     `Writes the profile that a YAML file, or standard input, describes.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &yaml2mip{}
			declareOutput(f, &c.output, &c.checksum)
			f.BoolVar(&c.document, "document-layout", false, documentLayoutUsage)
			return c.run
		},
	}
}

type yaml2mip struct {
	output   string
	checksum console.Checksum
	document bool // write the layout of the format's document instead of llvm-mipdata's
}

// run writes the profile. YAML has no build id, so the file with the build id of an earlier OUTPUT
// is removed.
func (c *yaml2mip) run(ctx context.Context, env *cli.Env, args []string) error {
	switch {
	case c.output == "":
		return cli.Usagef("missing option -o OUTPUT")
	case len(args) == 0:
		args = []string{inputs.Stdin}
	case len(args) > 1:
		return cli.Usagef("want one YAML file, got %d", len(args))
	}
	in, err := sources.One(env, args[0])
	if err != nil {
		return err
	}
	m, err := readFile(in, "", console.Warnings(env))
	if err != nil {
		return err
	}
	if m.format != formats.MIPYAML {
		return fmt.Errorf("%s: format is %v, want %v", in.Name, m.format, formats.MIPYAML)
	}
	err = writeLocked(ctx, env, c.output, []inputs.Input{in}, c.checksum, func(w io.Writer) error {
		return mip.WriteMIP(w, m.profile, mip.WriteOptions{DocumentLayout: c.document})
	})
	if err != nil {
		return err
	}
	return keepBuildID(c.output, nil, false)
}

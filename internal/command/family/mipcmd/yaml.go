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

// mip2yamlCommand stands for llvm-mipdata's command of this name; --program is its --debug and adds
// the sources of functions.
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

// mip2yaml is one run of "profuse mip mip2yaml".
type mip2yaml struct {
	// programs are searched for the one of the profile by its build id; they give the sources.
	programs sources.Programs
	output   string
}

// run writes to standard output unless -o names a file. The source of a function is the innermost
// frame at its first instruction.
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
		// Addresses of a profile are relative to the raw section of the program, as its map has them.
		at := make([]int64, len(m.profile.Functions))
		opt.SourceInfo = make([]profile.Symbol, len(at))
		for i := range at {
			at[i] = m.profile.Functions[i].Address
		}
		err := program.Frames(at, warn, func(i int, frames []symbolize.Frame) {
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

// yaml2mipCommand makes the opposite of mip2yaml.
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

// yaml2mip is one run of "profuse mip yaml2mip".
type yaml2mip struct {
	output   string
	checksum console.Checksum
	// document asks for the layout of the format's document instead of llvm-mipdata's.
	document bool
}

// run refuses binary profiles, although readFile reads them: who converts one made a mistake. YAML
// holds no build id, so one beside an older OUTPUT is removed.
func (c *yaml2mip) run(ctx context.Context, env *cli.Env, args []string) error {
	switch {
	case c.output == "":
		return cli.Usagef("missing option -o OUTPUT")
	case len(args) == 0:
		// llvm-mipdata reads standard input, too, unless it is told a file.
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
	err = replace(ctx, env, c.output, []inputs.Input{in}, c.checksum, func(w io.Writer) error {
		return mip.WriteMIP(w, m.profile, mip.WriteOptions{DocumentLayout: c.document})
	})
	if err != nil {
		return err
	}
	return keepBuildID(c.output, nil, false)
}

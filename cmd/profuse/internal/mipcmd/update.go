package mipcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/filelock"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/mip/debuginfo"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

func mipCreateCommand() *cli.Command {
	return &cli.Command{
		Name:  "create",
		Args:  "-p PROFILE [OPTION]... APP|MAP",
		Short: "make an empty profile of a program",
		Long: `Writes a profile of all functions of a program, none of them covered. The
program is an ELF or Mach-O file or a .dSYM bundle with its map inside, or the
map alone, as a .mipmap. A PROFILE that exists is replaced.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &mipCreate{}
			f.StringVar(&c.profile, "p", "", "`PROFILE` where to write the profile; \"-\" is standard output")
			c.programs.DeclareArch(f)
			f.BoolVar(&c.buildID, "build-id", false, "write the program's build id to PROFILE"+mip.BuildIDSuffix+", too")
			f.BoolVar(&c.document, "document-layout", false, "write the layout of the format's document, which differs from that of llvm-mipdata")
			f.BoolVar(&c.quiet, "q", false, "print no summary")
			return c.run
		},
	}
}

// mipCreate is one run of "profuse mip create".
type mipCreate struct {
	profile                  string
	programs                 sources.Programs
	buildID, document, quiet bool
}

func (c *mipCreate) run(ctx context.Context, env *cli.Env, args []string) error {
	switch {
	case c.profile == "":
		return cli.Usagef("-p says where to write the profile and is missing")
	case len(args) != 1:
		return cli.Usagef("it takes one program or map, not %d arguments", len(args))
	case c.buildID && c.profile == "-":
		return cli.Usagef("option --build-id writes a file beside the profile, which is to go to standard output")
	}
	in, err := sources.BinaryPath(args[0])
	if err != nil {
		return err
	}
	m, err := readMIP(in, c.programs.Arch, func(w profile.Warning) {
		fmt.Fprintf(env.Stderr, "warning: %s\n", console.Printable(w.String()))
	})
	if err != nil {
		return err
	}
	switch {
	case m.format != formats.Binary && m.format != formats.MIPMap:
		return fmt.Errorf("%s: is a %v, and not a program or a map", in.Name, m.format)
	case c.buildID && len(m.binary.BuildID) == 0:
		return fmt.Errorf("%s: has no build id", in.Name)
	}
	opt := mip.MIPOptions{DocumentLayout: c.document}
	if err := replaceMIP(ctx, env, c.profile, []inputs.Input{in}, func(w io.Writer) error {
		return mip.WriteMIP(w, m.profile, opt)
	}); err != nil {
		return err
	}
	if err := keepBuildID(c.profile, m.binary.BuildID, c.buildID); err != nil {
		return err
	}
	if !c.quiet {
		fmt.Fprintf(env.Stderr, "created %s: %s, none covered\n", console.OutputName(c.profile),
			cli.Quantity(uint64(len(m.profile.Functions)), "function", "functions"))
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

// replaceMIP writes a profile that was made anew. A merge that goes on into
// the old one is waited for: it must not come later.
func replaceMIP(ctx context.Context, env *cli.Env, path string, ins []inputs.Input, write func(io.Writer) error) error {
	if path == "-" && console.ToTerminal(env, path) {
		return cli.Usagef("a MIP profile is nothing for a terminal; write it to a file")
	}
	lock, err := lockMIP(ctx, env, path)
	if err != nil {
		return err
	}
	defer lock.Release()
	if err := console.WriteText(env, path, ins, write); err != nil {
		return merging.NotWritten(path, err)
	}
	return nil
}

func mipMergeCommand() *cli.Command {
	return &cli.Command{
		Name:  "merge",
		Args:  "-p PROFILE [OPTION]... INPUT...",
		Short: "merge raw profiles into a profile, in place",
		Long: `Adds raw profiles, or merged ones of the same program, to a PROFILE that "profuse
mip create" or an earlier merge has made. Several merges may go on at once: each
waits for the one before. The PROFILE is replaced whole or left as it was.

An INPUT is what "profuse merge" takes, which makes a new profile in one step.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &mipUpdate{merging.Run{Update: true}}
			f.StringVar(&c.Output, "p", "", "`PROFILE` to merge into")
			c.Loss.Declare(f)
			f.IntVar(&c.Workers, "j", 0, "`N` read N inputs at a time (default one per CPU); the result is the same")
			f.BoolVar(&c.Quiet, "q", false, "print neither progress nor warnings nor summary")
			return c.run
		},
	}
}

// mipUpdate is one run of "profuse mip merge".
type mipUpdate struct{ merging.Run }

func (c *mipUpdate) run(ctx context.Context, env *cli.Env, args []string) error {
	switch {
	case c.Output == "":
		return cli.Usagef("-p says which profile to merge into and is missing")
	case c.Output == "-":
		return cli.Usagef("standard output cannot be merged into")
	case len(args) == 0:
		return cli.Usagef("no inputs")
	case c.Workers < 0:
		return cli.Usagef("option -j takes a number from 1 up")
	}
	if _, err := os.Stat(c.Output); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no such profile; \"profuse mip create\" makes it", c.Output)
	}
	c.Family = formats.MIP
	return c.Merge(ctx, env, "mip merge", args, func([]inputs.Input) (merging.Adder, error) { return new(adder), nil })
}

func mip2yamlCommand() *cli.Command {
	return &cli.Command{
		Name:  "mip2yaml",
		Args:  "[OPTION]... FILE",
		Short: "print a profile as YAML",
		Long:  `Prints a profile as the YAML that llvm-mipdata prints and "yaml2mip" reads.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &mip2yaml{}
			c.declare(f)
			c.programs.Declare(f)
			f.StringVar(&c.output, "o", "-", "`FILE` where to write; \"-\" is standard output")
			return c.run
		},
	}
}

// mip2yaml is one run of "profuse mip mip2yaml".
type mip2yaml struct {
	mipSource
	output string
}

func (c *mip2yaml) run(_ context.Context, env *cli.Env, args []string) error {
	if err := c.take(args); err != nil {
		return err
	}
	m, err := c.read(env)
	if err != nil {
		return err
	}
	debug, err := c.openDebug(env, m.profile)
	if err != nil {
		return err
	}
	defer debug.Close()
	var opt mip.YAMLOptions
	if debug != nil {
		sources, err := c.sources(env, debug, m.profile)
		if err != nil {
			return err
		}
		opt.SourceInfo = func(f *mip.Function) (mip.SourceInfo, bool) {
			s, ok := sources[f.Address]
			return s, ok
		}
	}
	return console.WriteText(env, c.output, []inputs.Input{inputs.File(c.path)}, func(w io.Writer) error {
		return mip.WriteYAML(w, m.profile, opt)
	})
}

// sources returns where the functions begin, by address.
func (c *mip2yaml) sources(env *cli.Env, debug *debuginfo.Program, p *mip.Profile) (map[int64]mip.SourceInfo, error) {
	at := make([]int64, len(p.Functions))
	for i := range at {
		at[i] = p.Functions[i].Address
	}
	sources := make(map[int64]mip.SourceInfo)
	warnings, err := debug.Frames(at, func(i int, frames []symbolize.Frame) {
		if len(frames) > 0 {
			sources[at[i]] = mip.SourceInfo{File: frames[0].File, Function: frames[0].Function, Line: frames[0].Line}
		}
	})
	warnAll(env, warnings)
	return sources, err
}

func yaml2mipCommand() *cli.Command {
	return &cli.Command{
		Name:  "yaml2mip",
		Args:  "-p PROFILE [OPTION]... [YAML]",
		Short: "make a profile from YAML",
		Long:  `Writes the profile that a YAML file, or standard input, describes.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &yaml2mip{}
			f.StringVar(&c.profile, "p", "", "`PROFILE` where to write the profile; \"-\" is standard output")
			f.BoolVar(&c.document, "document-layout", false, "write the layout of the format's document, which differs from that of llvm-mipdata")
			return c.run
		},
	}
}

// yaml2mip is one run of "profuse mip yaml2mip".
type yaml2mip struct {
	profile  string
	document bool
}

func (c *yaml2mip) run(ctx context.Context, env *cli.Env, args []string) error {
	if c.profile == "" {
		return cli.Usagef("-p says where to write the profile and is missing")
	}
	from := mipSource{path: inputs.Stdin}
	if len(args) > 0 {
		from.path = ""
		if err := from.take(args); err != nil {
			return err
		}
	}
	m, err := from.read(env)
	if err != nil {
		return err
	}
	if m.format != formats.MIPYAML {
		return fmt.Errorf("%s: is a %v, and not one in YAML", from.path, m.format)
	}
	err = replaceMIP(ctx, env, c.profile, []inputs.Input{inputs.File(from.path)}, func(w io.Writer) error {
		return mip.WriteMIP(w, m.profile, mip.MIPOptions{DocumentLayout: c.document})
	})
	if err != nil {
		return err
	}
	return keepBuildID(c.profile, nil, false)
}

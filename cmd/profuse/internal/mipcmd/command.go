package mipcmd

import (
	"bytes"
	"context"
	"fmt"
	"regexp"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/family"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/mip/debuginfo"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// Command is "profuse mip", a list of commands of its own.
func Command() *cli.Command {
	return &cli.Command{
		Name:  "mip",
		Args:  "COMMAND [OPTION]... [ARGUMENT]...",
		Short: "work with Machine IR profiles: coverage, order files, YAML",
		Long: `Works with Machine IR profiles (MIP). "profuse mip help" lists the commands, and
"profuse mip help COMMAND" has the options of one.

    profuse merge -o app.mip app *.mipraw
    profuse mip covered app.mip
    profuse mip order --format lld app.mip > app.order`,
		Nested: mipApp,
	}
}

func mipApp() *cli.App {
	return &cli.App{
		Name:  "profuse mip",
		Short: "work with Machine IR profiles",
		Long: `A program built with MIP instrumentation leaves a .mipraw at its end; what the
bytes in it mean is in the map inside the program. "profuse merge -o app.mip APP
RAW..." brings both together in one .mip, which is what the other commands read.`,
		Commands: []*cli.Command{
			mipCreateCommand(),
			mipMergeCommand(),
			mipShowCommand(),
			mipCoveredCommand(),
			mipOrderCommand(),
			mipInfoCommand(),
			mip2yamlCommand(),
			yaml2mipCommand(),
		},
	}
}

// mipSource is the profile that a command reads, and where it finds the
// sources of its functions.
type mipSource struct {
	path     string
	programs sources.Programs
}

func (s *mipSource) declare(f *cli.Flags) {
	f.StringVar(&s.path, "p", "", "`FILE` the profile; it may also stand alone")
}

// take makes the one argument the profile, unless -p named it.
func (s *mipSource) take(args []string) error {
	switch {
	case s.path == "" && len(args) == 1:
		s.path = args[0]
	case s.path == "" && len(args) == 0:
		return cli.Usagef("no profile given")
	case len(args) > 0:
		return cli.Usagef("one profile at a time, and %q is another", args[len(args)-1])
	}
	return nil
}

// input returns the profile as an input.
func (s *mipSource) input(env *cli.Env) (inputs.Input, error) {
	path, err := mip.BinaryFile(s.path)
	if s.path != inputs.Stdin && err != nil {
		return inputs.Input{}, err
	}
	if s.path != inputs.Stdin {
		return inputs.File(path), nil
	}
	ins, err := inputs.Expand([]string{inputs.Stdin}, inputs.Options{Stdin: env.Stdin})
	if err != nil {
		return inputs.Input{}, err
	}
	return ins[0], nil
}

// read reads the profile; what is odd about it is printed.
func (s *mipSource) read(env *cli.Env) (*mipFile, error) {
	in, err := s.input(env)
	if err != nil {
		return nil, err
	}
	return readMIP(in, s.programs.Arch, func(w profile.Warning) {
		fmt.Fprintf(env.Stderr, "warning: %s\n", console.Printable(w.String()))
	})
}

// openDebug opens the program with the sources: the first that is given by name,
// or the one with the profile's build id; nil if none is given. It warns if that
// is not the program of the profile.
func (s *mipSource) openDebug(env *cli.Env, p *mip.Profile) (*debuginfo.Program, error) {
	if len(s.programs.Paths) == 0 {
		return nil, nil
	}
	programs, err := s.programs.Open()
	if err != nil {
		return nil, err
	}
	var file *symbolize.File
	for _, file = range programs.Named() {
		break
	}
	if file == nil {
		id, err := mip.FindBuildID(s.path)
		if err != nil {
			return nil, err
		}
		for found, err := range programs.Find(id) {
			if err != nil {
				return nil, err
			}
			file = found
			break
		}
	}
	if file == nil {
		return nil, fmt.Errorf("%s: its program is not in the folders of --program, which are searched for the build id in %s%s",
			s.path, s.path, mip.BuildIDSuffix)
	}
	d, err := debuginfo.New(file)
	if err != nil {
		return nil, err
	}
	if doubts := mipDoubts(d, s.path, p); doubts != "" {
		fmt.Fprintf(env.Stderr, "warning: %s\n", console.Printable(doubts))
	}
	return d, nil
}

func mipShowCommand() *cli.Command {
	return &cli.Command{
		Name:  "show",
		Args:  "[OPTION]... FILE",
		Short: "list functions and what is known of each",
		Long: `Lists the functions of a profile, or of a map or a program, in the order in
which they were linked: how often each was called, in how many raw profiles it
ran, the mean rank of its first call, and how many of its blocks ran, the entry
included.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &mipShow{list: true}
			c.declare(f)
			c.programs.Declare(f)
			f.StringVar(&c.regex, "function", "", "`REGEX` only functions whose name, mangled or not, matches REGEX")
			f.Alias("function", "r")
			f.BoolVar(&c.blocks, "blocks", false, "list the blocks of each function")
			f.BoolVar(&c.edges, "edges", false, "list who calls whom instead, the most frequent first")
			f.BoolVar(&c.mangled, "mangled", false, "print names as they are in the profile")
			f.BoolVar(&c.json, "json", false, "print everything as a JSON object")
			return c.run
		},
	}
}

func mipInfoCommand() *cli.Command {
	return &cli.Command{
		Name:  "info",
		Args:  "[OPTION]... FILE",
		Short: "sum a profile up",
		Long:  `Tells what kind of profile it is, and how many functions and blocks ran.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &mipShow{}
			c.declare(f)
			c.programs.DeclareArch(f)
			f.BoolVar(&c.json, "json", false, "print everything as a JSON object")
			return c.run
		},
	}
}

// mipShow is one run of "profuse mip show" or "profuse mip info".
type mipShow struct {
	mipSource
	list    bool // the functions, too
	regex   string
	blocks  bool
	edges   bool
	mangled bool
	json    bool
}

func (c *mipShow) run(_ context.Context, env *cli.Env, args []string) error {
	if err := c.take(args); err != nil {
		return err
	}
	opt := mipFactsOptions{blocks: c.blocks, edges: c.edges, arch: c.programs.Arch}
	if c.list {
		var err error
		if opt.choose, err = regexp.Compile(c.regex); err != nil {
			return cli.Usagef("option --function: %v", err)
		}
	}
	in, err := c.input(env)
	if err != nil {
		return err
	}
	d, err := in.Open(nil)
	if err != nil {
		return err
	}
	defer d.Close()
	var facts *mipFacts
	err = inputs.Guard(func() error {
		if len(c.programs.Paths) > 0 {
			m, err := parseMIP(d.Name(), d.Bytes(), c.programs.Arch, nil)
			if err != nil {
				return err
			}
			if opt.debug, err = c.openDebug(env, m.profile); err != nil {
				return err
			}
		}
		facts, err = collectMIPFacts(d.Name(), d.Bytes(), opt)
		return err
	}, d)
	defer opt.debug.Close()
	if facts == nil {
		return err
	}
	var text bytes.Buffer
	if c.json {
		console.WriteJSON(&text, facts, "")
	} else {
		p := &family.Printer{Printer: console.Printer{W: &text, Term: env.Terminal(env.Stdout), Mangled: c.mangled}, Counts: c.blocks}
		facts.Print(p)
	}
	if _, err := text.WriteTo(env.Stdout); err != nil {
		return err
	}
	return err
}

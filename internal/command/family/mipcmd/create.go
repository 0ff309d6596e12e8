package mipcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/internal/mip/buildid"
)

// createCommand returns "profuse mip create", which replaces "llvm-mipdata create". "profuse merge
// --update" adds to the empty profile.
func createCommand() *cli.Command {
	return &cli.Command{
		Name:  "create",
		Args:  "-o OUTPUT [OPTION]... PROGRAM|MAP",
		Short: "make an empty profile of a program",
		Long: `Writes a profile of all functions of a program, none of them covered. PROGRAM is
an ELF or Mach-O file or a .dSYM bundle, with a map inside; MAP is the map alone,
a .mipmap.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &create{}
			declareOutput(f, &c.output, &c.checksum)
			c.programs.DeclareArch(f)
			f.BoolVar(&c.buildID, "build-id", false, "also write the program's build id, to OUTPUT"+buildid.Suffix)
			f.BoolVar(&c.document, "document-layout", false, documentLayoutUsage)
			f.BoolVar(&c.quiet, "q", false, "print no summary")
			return c.run
		},
	}
}

// documentLayoutUsage describes --document-layout, which sets [mip.WriteOptions.DocumentLayout].
const documentLayoutUsage = "write the layout of the format's document, which differs from llvm-mipdata's"

// declareOutput declares -o and its alias -p, as in llvm-mipdata, and --checksum.
func declareOutput(f *cli.Flags, output *string, checksum *console.Checksum) {
	checksum.Declare(f)
	f.StringVar(output, "o", "", "`OUTPUT` file to write; \"-\" is standard output")
	f.Alias("o", "p")
}

type create struct {
	output   string
	checksum console.Checksum
	programs sources.Programs
	buildID  bool // write the build id, which must be known
	document bool // write the layout of the format's document
	quiet    bool
}

// run writes the empty profile. It refuses merged profiles, which readFile accepts.
func (c *create) run(ctx context.Context, env *cli.Env, args []string) error {
	switch {
	case c.output == "":
		return cli.Usagef("missing option -o OUTPUT")
	case len(args) != 1:
		return cli.Usagef("want one program or map, got %d", len(args))
	case c.buildID && c.output == "-":
		return cli.Usagef("option --build-id needs a file as the output: the build id goes beside it")
	}
	in, err := sources.BinaryPath(args[0], sources.Options(env))
	if err != nil {
		return err
	}
	m, err := readFile(in, c.programs.Arch, console.Warnings(env))
	if err != nil {
		return err
	}
	switch {
	case m.format != formats.Binary && m.format != formats.MIPMap:
		return fmt.Errorf("%s: format is %v, want a program or a map", in.Name, m.format)
	case c.buildID && len(m.binary.BuildID) == 0:
		return fmt.Errorf("%s: has no build id", in.Name)
	}
	opt := mip.WriteOptions{DocumentLayout: c.document}
	if err := writeLocked(ctx, env, c.output, []inputs.Input{in}, c.checksum, func(w io.Writer) error {
		return mip.WriteMIP(w, m.profile, opt)
	}); err != nil {
		return err
	}
	if err := keepBuildID(c.output, m.binary.BuildID, c.buildID); err != nil {
		return err
	}
	if !c.quiet {
		fmt.Fprintf(env.Stderr, "created %s: %s, none covered\n", console.OutputName(c.output),
			cli.Quantity(uint64(len(m.profile.Functions)), "function", "functions"))
	}
	return nil
}

// writeLocked writes a new profile. It waits for a merge that updates the file, so that the merge
// does not overwrite the new profile.
func writeLocked(ctx context.Context, env *cli.Env, path string, ins []inputs.Input, checksum console.Checksum, write func(io.Writer) error) error {
	if err := console.RefuseTerminal(env, path, "a MIP profile", ""); err != nil {
		return err
	}
	if path != "-" {
		lock, err := merging.Lock(ctx, env, path, nil)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // without the folder, writing gives the better error
			return err
		}
		defer lock.Release()
	}
	return console.Write(env, path, ins, checksum, write)
}

// keepBuildID updates the file beside a new profile that holds the program's build id
// ([buildid.Suffix]), because MIP profiles have no field for it. It creates the file only if
// asked. If the build id is unknown, it removes an earlier file, which may be wrong.
func keepBuildID(profilePath string, id []byte, asked bool) error {
	if profilePath == "-" {
		return nil
	}
	path := profilePath + buildid.Suffix
	if _, err := os.Stat(path); !asked && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if len(id) == 0 {
		err := os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	var file bytes.Buffer
	if err := buildid.Write(&file, id); err != nil {
		return err
	}
	return atomicfile.WriteFile(path, &file)
}

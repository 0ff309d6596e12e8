package command

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
)

// demoCommand is "profuse demo". It runs the commands on profiles that are embedded in the binary.
func demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Args:  "[-o DIR]",
		Short: "merge and show the profiles of a small program, step by step",
		Long: `Puts the raw profiles of three runs of a small program into a folder, merges them
into one indexed profile, and shows it here and as a page for a browser, explaining each
step. It needs no compiler.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &demoRun{}
			f.StringVar(&c.dir, "o", "", "`DIR` folder for the files, created if needed (default a temporary one)")
			return c.run
		},
	}
}

type demoRun struct {
	dir string // folder of the files; set by unpack if -o is not given
}

// run explains and runs each step. It ends at the first step that fails, whose command has printed why.
func (c *demoRun) run(ctx context.Context, env *cli.Env, args []string) error {
	if len(args) > 0 {
		return cli.Usagef("want no arguments; -o DIR names the folder for the files")
	}
	runs, err := c.unpack()
	if err != nil {
		return err
	}
	say := func(format string, args ...any) { fmt.Fprintf(env.Stdout, format+"\n", args...) }
	term := env.Terminal(env.Stdout)
	command := func(line string) { say("%s\n", term.Paint(cli.Bold, "  $ "+line)) }
	app := filepath.Join(c.dir, "app.profdata")

	say(`A program that clang 22 built with -fprofile-generate ran three times and left
three raw profiles, which count how often each part of it ran:
`)
	for _, name := range runs {
		say("  %s", name)
	}
	say(`
Compilers do not read raw profiles. First, merge them into one indexed profile:
`)
	// Messages of the commands are part of the story.
	story := &cli.Env{Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stdout, Getenv: env.Getenv, Stores: env.Stores}
	profuse := func(args ...string) bool {
		command("profuse " + strings.Join(args, " "))
		return demoApp().Run(ctx, story, args) == cli.ExitOK
	}
	if !profuse("merge", "-o", app, filepath.Join(c.dir, "run*.profraw")) {
		return cli.ErrReported
	}
	say(`
The line above sums up the result. The same compiler can read its indexed version.
This is what the file contains:
`)
	if !profuse("show", "--top", "5", app) {
		return cli.ErrReported
	}
	say(`
The same for a browser, with all functions, drawings and search:
`)
	page := filepath.Join(c.dir, "app.html")
	if !profuse("report", "-o", page, app) {
		return cli.ErrReported
	}
	say("Open %s.", page)
	say(`
Now the compiler can use it: it inlines and lays out hot code, and moves code that
never ran out of the way. Try it with clang 19 or newer:
`)
	command(fmt.Sprintf("cd %s && clang -O2 -fprofile-use=app.profdata src/store.c src/main.c src/report.cpp -lstdc++ -o store", c.dir))
	say(`For your own program: build it with -fprofile-generate, run it on typical work,
merge the *.profraw files that it leaves, and build it again with -fprofile-use.

The files of this demo are in %s.`, c.dir)
	return nil
}

func demoApp() *cli.App {
	// The whole app would contain the demo.
	return &cli.App{Name: "profuse", Commands: []*cli.Command{mergeCommand(), showCommand(), reportCommand()}}
}

// demoFiles has the raw profiles of three runs of one program, built by clang 22 with -fprofile-generate,
// and the sources of the program. They are the fixtures of testdata/irpgo.
//
//go:embed demo
var demoFiles embed.FS

// unpack writes the profiles and the sources into the folder and returns the paths of the profiles.
func (c *demoRun) unpack() (runs []string, err error) {
	// The folder stays after the demo.
	if c.dir == "" {
		if c.dir, err = os.MkdirTemp("", "profuse-demo-"); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(filepath.Join(c.dir, "src"), 0o777); err != nil {
		return nil, err
	}
	for _, pattern := range []string{"demo/src/*", "demo/*.profraw"} {
		names, err := fs.Glob(demoFiles, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			data, err := demoFiles.ReadFile(name)
			if err != nil {
				return nil, err
			}
			to := filepath.Join(c.dir, filepath.FromSlash(strings.TrimPrefix(name, "demo/")))
			if err := os.WriteFile(to, data, 0o666); err != nil {
				return nil, err
			}
			if path.Ext(name) == ".profraw" {
				runs = append(runs, to)
			}
		}
	}
	return runs, nil
}

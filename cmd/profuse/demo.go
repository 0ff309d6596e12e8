package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/testdata"
)

func demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Args:  "[-o FOLDER]",
		Short: "merge and show real profiles that profuse brings along",
		Long: `Puts the raw profiles of three runs of a small program into a folder, merges them
into one indexed profile and shows it, explaining each step. Nothing but profuse
is needed.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &demoRun{}
			f.StringVar(&c.dir, "o", "", "`FOLDER` where to put the files; it is made if need be (default a temporary one)")
			return c.run
		},
	}
}

// demoRun is one run of "profuse demo".
type demoRun struct {
	dir string
}

func (c *demoRun) run(ctx context.Context, env *cli.Env, args []string) error {
	if len(args) > 0 {
		return cli.Usagef("demo takes no arguments; -o FOLDER says where to put the files")
	}
	runs, err := c.unpack()
	if err != nil {
		return err
	}
	say := func(format string, args ...any) { fmt.Fprintf(env.Stdout, format+"\n", args...) }
	term := env.Terminal(env.Stdout)
	command := func(line string) { say("%s\n", term.Paint(cli.Bold, "  $ "+line)) }
	app := filepath.Join(c.dir, "app.profdata")

	say(`Three runs of a program that clang 22 built with -fprofile-generate have left
three raw profiles, which say how often every part of it ran:
`)
	for _, name := range runs {
		say("  %s", name)
	}
	say(`
Compilers do not read raw profiles. First they are added up into one indexed
profile:
`)
	merge := []string{"merge", "-o", app, filepath.Join(c.dir, "run*.profraw")}
	command("profuse " + strings.Join(merge, " "))
	// What the command prints belongs into the story.
	story := &cli.Env{Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stdout, Getenv: env.Getenv}
	if code := demoApp().Run(ctx, story, merge); code != cli.ExitOK {
		return cli.ErrReported
	}
	say(`
The line above says what came of it. Its indexed version is one that the same
compiler can read. This is what is in the file:
`)
	show := []string{"show", "--top", "5", app}
	command("profuse " + strings.Join(show, " "))
	if code := demoApp().Run(ctx, story, show); code != cli.ExitOK {
		return cli.ErrReported
	}
	say(`
Now the compiler can use it: it inlines and lays out the code for what is hot,
and keeps out of the way what never ran. With clang 19 or newer, try it:
`)
	command(fmt.Sprintf("cd %s && clang -O2 -fprofile-use=app.profdata src/store.c src/main.c src/report.cpp -lstdc++ -o store", c.dir))
	say(`For a program of your own: build it with -fprofile-generate, run it on typical
work, merge the *.profraw files it leaves, and build it again with -fprofile-use.`)
	return nil
}

// demoApp has the commands that the demo carries out.
func demoApp() *cli.App {
	return &cli.App{Name: "profuse", Commands: []*cli.Command{mergeCommand(), showCommand()}}
}

// unpack writes the profiles and the sources they belong to into the folder
// and returns the paths of the profiles.
func (c *demoRun) unpack() (runs []string, err error) {
	if c.dir == "" {
		if c.dir, err = os.MkdirTemp("", "profuse-demo-"); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(filepath.Join(c.dir, "src"), 0o777); err != nil {
		return nil, err
	}
	for i, name := range testdata.DemoRuns {
		run := filepath.Join(c.dir, fmt.Sprintf("run%d.profraw", i+1))
		if err := unpackFile(name, run); err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	for _, name := range testdata.DemoSources {
		if err := unpackFile(name, filepath.Join(c.dir, "src", path.Base(name))); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

func unpackFile(embedded, to string) error {
	data, err := testdata.Demo.ReadFile(embedded)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o666)
}

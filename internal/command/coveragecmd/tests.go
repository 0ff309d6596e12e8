package coveragecmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/files/responsefile"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// testsCommand is "profuse coverage tests". docs/coverage.md shows how to record the profiles of single tests.
func testsCommand() *cli.Command {
	return &cli.Command{
		Name:  "tests",
		Args:  "[--program PATH]... [-o OUTPUT] [OPTION]... [TEST=]INPUT...",
		Short: "print which tests run which lines",
		Long: `Prints how many lines each test runs, and how many of these
no other test runs. --line and --changed select lines and print the tests
that run them, beginning with the tests that run most of them.

TEST=INPUT is a profile of the test TEST, of any format, or a tracefile; several of one
test add up. An INPUT without a test is a tracefile with test names (TN), or a profile,
or a folder of profiles, whose tests are named after their files. @FILE lists more
inputs. Programs and paths are as for "profuse coverage".

-o writes a tracefile with a section for each test and source file, for lcov and genhtml
--show-details.

The exit code is 0 if the tests could be read, 1 if not, 4 if an input is damaged, and 2
if the command line is wrong.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &testsRun{}
			c.declare(f)
			return c.run
		},
	}
}

type testsRun struct {
	shared
	lines  cli.List // from --line
	before bool     // the profiles are of the sources before the patch
	names  bool     // print only names

	matrix  testMatrix
	misfits map[string]bool // functions that a profile does not fit, with their objects
	// The tracefile, nil without one, and its state while it is written.
	out     io.Writer
	titles  map[string]string         // names in the tracefile, by test
	written map[string]bool           // source files with a section
	idle    map[string]*coverage.File // source files without a section yet
}

// declare declares the options. The loss budget keeps its defaults: a test with a damaged profile is no test result.
func (c *testsRun) declare(f *cli.Flags) {
	f.StringVar(&c.output, "o", "", "`OUTPUT` also write a tracefile; \"-\" is standard output, without the table")
	f.Var(&c.lines, "line", "`FILE:LINE` or FILE:FIRST-LAST: print the tests that run these lines; repeatable")
	f.StringVar(&c.changed, "changed", "", "`PATCH` print the tests that run lines that this unified diff adds; \"-\" is standard input")
	f.BoolVar(&c.before, "before", false, "the profiles are of the sources before PATCH: take the lines that it removes, and the lines around its additions")
	f.BoolVar(&c.names, "names", false, "print only the names of the tests, one on each line")
	f.BoolVar(&c.quiet, "q", false, "print no warnings or notes")
	c.shared.declare(f)
	c.merge.Loss.Declare(cli.NewFlags("coverage tests"), false)
}

// run reads one test after the other into the matrix, then prints the tests of the selected lines or of all.
func (c *testsRun) run(ctx context.Context, env *cli.Env, args []string) error {
	switch {
	case len(args) == 0:
		return cli.Usagef("no inputs")
	case c.json && (c.names || c.output == "-"), c.names && c.output == "-":
		return cli.Usagef("options --json, --names and -o - exclude each other")
	case c.before && c.changed == "":
		return cli.Usagef("option --before needs --changed")
	}
	if err := c.shared.check(); err != nil {
		return err
	}
	selected, err := c.selections(env)
	if err != nil {
		return err
	}
	c.titles, c.written, c.idle = make(map[string]string), make(map[string]bool), make(map[string]*coverage.File)
	c.misfits = make(map[string]bool)
	if err := c.readAll(ctx, env, args); err != nil {
		return err
	}
	c.warnBehind(env, c.quiet)
	switch {
	case len(c.matrix.names) == 0:
		return errors.New("the inputs name no test: TEST=INPUT does")
	case !c.matrix.anyLines():
		return errors.New("the inputs know no lines: name the programs (--program), or classes (--classes)")
	}
	if n := len(c.misfits); n > 0 && !c.quiet {
		fmt.Fprintf(env.Stderr, "mismatched: %s left out (profuse coverage --mismatched lists them)\n", cli.Quantity(n, "function", "functions"))
	}
	out := bufio.NewWriter(env.Stdout)
	r := newTestsResult(&c.matrix, selected)
	switch {
	case c.json:
		r.writeJSON(out, c.matrix.names)
	case c.names:
		for _, t := range r.tests {
			fmt.Fprintln(out, console.Printable(t.Name))
		}
	case c.output != "-":
		r.print(&console.Printer{W: out, Term: env.Terminal(env.Stdout)})
	}
	return out.Flush()
}

// readAll reads the inputs, and writes the tracefile meanwhile, so that the coverage of only one test is in memory.
func (c *testsRun) readAll(ctx context.Context, env *cli.Env, args []string) error {
	c.merge.Programs.Mappings = new(formats.Mappings)
	defer func() {
		if programs := c.merge.Programs.Mappings.Programs; programs != nil {
			programs.Close()
		}
	}()
	tests, traces, err := namedTests(env, args)
	if err != nil {
		return err
	}
	if c.output == "" {
		return c.readTests(ctx, env, tests, traces)
	}
	out, err := console.OpenOutput(env, c.output, traces, false)
	if err != nil {
		return err
	}
	defer out.Discard()
	c.out = out
	if err := c.readTests(ctx, env, tests, traces); err != nil {
		return err
	}
	// Files that no test ran get a section without a test, so that their lines count as not run.
	idle := &coverage.Coverage{Files: slices.Collect(maps.Values(c.idle))}
	idle.Finish()
	if err = c.writeSections(idle, ""); err == nil {
		err = out.Commit()
	}
	if err != nil {
		return console.NotWritten(c.output, err)
	}
	return nil
}

// readTests adds the tests that the command line names, then the tests in tracefiles.
func (c *testsRun) readTests(ctx context.Context, env *cli.Env, tests []namedTest, traces []inputs.Input) error {
	quiet := c.quiet
	defer func() { c.quiet = quiet }()
	c.quiet = true // there may be a thousand tests
	for _, g := range tests {
		if err := ctx.Err(); err != nil {
			return err
		}
		cov, err := c.read(ctx, env, g.inputs)
		// As cli.Message prints a PathError: without its operation ("open").
		if pe, ok := err.(*fs.PathError); ok {
			err = fmt.Errorf("%s: %w", pe.Path, pe.Err)
		}
		if err != nil {
			return fmt.Errorf("test %s: %w", g.name, err)
		}
		if err := c.addTest(g.name, cov); err != nil {
			return err
		}
	}
	for _, in := range traces {
		err := in.Each(nil, func(d *inputs.Data) error {
			return coverage.ReadTests(d.Name(), d.Bytes(), func(test string, f *coverage.File) error {
				cov := coverage.Union(&coverage.Coverage{HasLines: true, Files: []*coverage.File{f}})
				cov.Rename(c.path)
				c.exclude(env, cov)
				return c.addTest(test, cov)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// addTest adds what a test ran. A test without a name counts only if it ran something.
func (c *testsRun) addTest(test string, cov *coverage.Coverage) error {
	for _, m := range cov.Misfits {
		c.misfits[m.Object+"\x00"+m.Function] = true
	}
	if test != "" {
		c.matrix.number(test)
	}
	ran := &coverage.Coverage{HasLines: cov.HasLines}
	for _, f := range cov.Files {
		c.matrix.addFile(test, f)
		switch {
		case c.out == nil:
		// A test has sections only for the files that it ran: otherwise the tracefile would have a
		// section for each test and file.
		case f.Total.Lines.Covered+f.Total.Functions.Covered+f.Total.Branches.Covered > 0:
			ran.Files = append(ran.Files, f)
			c.written[f.Path] = true
			delete(c.idle, f.Path)
		case !c.written[f.Path]:
			c.idle[f.Path] = f
		}
	}
	if c.out == nil {
		return nil
	}
	return c.writeSections(ran, c.title(test))
}

func (c *testsRun) writeSections(cov *coverage.Coverage, title string) error {
	opt := c.writeOptions()
	opt.Test, opt.Roots = title, c.roots.Given()
	return coverage.Write(c.out, cov, "lcov", opt)
}

// title returns the name of a test in the tracefile, for which lcov allows letters, digits and underscores.
// Different tests get different titles.
func (c *testsRun) title(test string) string {
	if title, ok := c.titles[test]; ok || test == "" {
		return title
	}
	clean := strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' {
			return r
		}
		return '_'
	}, test)
	title := clean
	// Keys that begin with a zero byte, which no test does, mark the titles in use.
	for n := 2; c.titles["\x00"+title] != ""; n++ {
		title = clean + "_" + strconv.Itoa(n)
	}
	c.titles["\x00"+title], c.titles[test] = title, title
	return title
}

type namedTest struct {
	name   string
	inputs []string
}

// namedTests returns the tests of the command line, in its order, and the tracefiles, which name their
// tests. It gathers all inputs of a test.
func namedTests(env *cli.Env, args []string) (tests []namedTest, traces []inputs.Input, err error) {
	if args, err = responsefile.Expand(args); err != nil {
		return nil, nil, err
	}
	index := make(map[string]int)
	add := func(name, input string) {
		i, ok := index[name]
		if !ok {
			i = len(tests)
			index[name] = i
			tests = append(tests, namedTest{name: name})
		}
		tests[i].inputs = append(tests[i].inputs, input)
	}
	for _, arg := range args {
		if name, input, ok := strings.Cut(arg, "="); ok && name != "" && input != "" {
			if _, err := os.Stat(arg); err != nil { // no file with "=" in its name
				add(name, input)
				continue
			}
		}
		if arg == inputs.Stdin {
			return nil, nil, cli.Usagef("standard input has no name: want TEST=-")
		}
		ins, err := inputs.Expand([]string{arg}, sources.TraceOptions(env))
		if err != nil {
			return nil, nil, err
		}
		for _, in := range ins {
			if trace, _ := isTrace(in); trace { // a file that cannot be read fails later
				traces = append(traces, in)
			} else {
				add(testName(in.Name), in.Name)
			}
		}
	}
	return tests, traces, nil
}

// testName makes a test's name of the path of its profile: "parse" of "unit/parse.profraw.gz".
func testName(path string) string {
	name := filepath.Base(path)
	for _, suffix := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, suffix)
	}
	if bare := strings.TrimSuffix(name, filepath.Ext(name)); bare != "" {
		return bare
	}
	return name
}

// A selection is lines of a source file that options name.
type selection struct {
	path  string // as the option or the patch spells it
	lines []uint32
}

// selections returns the lines that --line and --changed name; nil if neither is given. With --before
// they are lines of the sources before the patch.
func (c *testsRun) selections(env *cli.Env) (selected []selection, err error) {
	const most = 1 << 20 // lines of one range
	for _, arg := range c.lines {
		at := strings.LastIndexByte(arg, ':')
		first, last, several := strings.Cut(arg[at+1:], "-")
		if !several {
			last = first
		}
		from, err1 := strconv.ParseUint(first, 10, 31)
		to, err2 := strconv.ParseUint(last, 10, 31)
		if at <= 0 || err1 != nil || err2 != nil || from == 0 || to < from || to-from >= most {
			return nil, cli.Usagef("option --line takes FILE:LINE or FILE:FIRST-LAST, not %q", arg)
		}
		s := selection{path: arg[:at]}
		for n := from; n <= to; n++ {
			s.lines = append(s.lines, uint32(n))
		}
		selected = append(selected, s)
	}
	if c.changed == "" {
		return selected, nil
	}
	files, err := readPatch(env, c.changed)
	if err != nil {
		return nil, err
	}
	selected = append([]selection{}, selected...)
	for _, f := range files {
		s := selection{f.path, f.lines}
		if c.before {
			s = selection{f.oldPath, f.oldLines}
		}
		if s.path != noFile && len(s.lines) > 0 {
			selected = append(selected, s)
		}
	}
	return selected, nil
}

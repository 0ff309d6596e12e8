package coveragecmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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

// testsCommand is "profuse coverage tests", which keeps for each line not how often but by
// which tests it ran (testMatrix). docs/coverage.md shows how to record the profiles of single
// tests.
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
			c := &coverageTests{}
			c.declare(f)
			return c.run
		},
	}
}

// coverageTests is one run of "profuse coverage tests".
type coverageTests struct {
	coverageRun
	// lines are those of --line; before and names are options.
	lines         cli.List
	before, names bool

	// The result and, while the inputs are read, what is known of the tracefile.
	matrix  testMatrix
	out     io.Writer                 // tracefile; nil without one
	titles  map[string]string         // names of tests in the tracefile
	written map[string]bool           // source files of which the tracefile has a section
	idle    map[string]*coverage.File // the others
	misfits map[string]bool           // functions and objects
}

// declare declares its own options and those of coverageRun that apply to tests. The loss budget
// keeps its defaults: a test with a damaged profile is no test result.
func (c *coverageTests) declare(f *cli.Flags) {
	f.StringVar(&c.Output, "o", "", "`OUTPUT` also write a tracefile; \"-\" is standard output, without the table")
	f.Var(&c.lines, "line", "`FILE:LINE` or FILE:FIRST-LAST: print the tests that run these lines; repeatable")
	f.StringVar(&c.changed, "changed", "", "`PATCH` print the tests that run lines that this unified diff adds; \"-\" is standard input")
	f.BoolVar(&c.before, "before", false, "the profiles are of the sources before PATCH: take the lines that it removes, and the lines around its additions")
	f.BoolVar(&c.names, "names", false, "print only the names of the tests, one on each line")
	f.BoolVar(&c.Quiet, "q", false, "print no warnings or notes")
	c.declareSources(f)
	c.Loss.Declare(cli.NewFlags("coverage tests"), false)
}

// run reads one test after the other into the matrix, then prints the tests of the selected lines
// or of all.
func (c *coverageTests) run(ctx context.Context, env *cli.Env, args []string) error {
	switch {
	case len(args) == 0:
		return cli.Usagef("no inputs")
	case c.json && (c.names || c.Output == "-"), c.names && c.Output == "-":
		return cli.Usagef("options --json, --names and -o - exclude each other")
	case c.before && c.changed == "":
		return cli.Usagef("option --before needs --changed")
	case c.Workers < 0:
		return cli.Usagef("option -j takes a number from 1 up")
	}
	if err := c.checkPaths(); err != nil {
		return err
	}
	selected, err := c.selectedLines(env)
	if err != nil {
		return err
	}
	c.titles, c.written, c.idle = make(map[string]string), make(map[string]bool), make(map[string]*coverage.File)
	c.misfits = make(map[string]bool)
	if err := c.readAll(ctx, env, args); err != nil {
		return err
	}
	switch {
	case len(c.matrix.names) == 0:
		return errors.New("the inputs name no test: TEST=INPUT does")
	case !c.matrix.anyLines():
		return errors.New("the inputs know no lines: name the programs (--program), or classes (--classes)")
	}
	if n := len(c.misfits); n > 0 && !c.Quiet {
		fmt.Fprintf(env.Stderr, "mismatched: %s left out (profuse coverage --mismatched lists them)\n", cli.Quantity(uint64(n), "function", "functions"))
	}
	out := bufio.NewWriter(env.Stdout)
	// All that follows prints; nothing can be wrong any more but the output.
	r := newTestsResult(&c.matrix, selected)
	switch {
	case c.json:
		r.writeJSON(out, c.matrix.names)
	case c.names:
		for _, t := range r.tests {
			fmt.Fprintln(out, console.Printable(t.name))
		}
	case c.Output != "-":
		r.print(&console.Printer{W: out, Term: env.Terminal(env.Stdout)})
	}
	return out.Flush()
}

// readAll reads the inputs, and writes the tracefile meanwhile: no more than the coverage
// of one test is in memory.
func (c *coverageTests) readAll(ctx context.Context, env *cli.Env, args []string) error {
	c.Programs.Mappings = new(formats.Mappings)
	groups, traces, err := groupTests(env, args)
	if err != nil {
		return err
	}
	if c.Output != "" {
		out, err := console.OpenOutput(env, c.Output, traces, false)
		if err != nil {
			return err
		}
		defer out.Discard()
		c.out = out
		if err := c.readTests(ctx, env, groups, traces); err != nil {
			return err
		}
		// Files that no test ran get a section without a test, so that their lines count as not
		// run.
		idle := new(coverage.Coverage)
		for _, f := range c.idle {
			idle.Files = append(idle.Files, f)
		}
		idle.Finish()
		if err = c.writeTraces(idle, ""); err == nil {
			err = out.Commit()
		}
		if err != nil {
			return console.NotWritten(c.Output, err)
		}
		return nil
	}
	return c.readTests(ctx, env, groups, traces)
}

// readTests adds the tests that the command line names and then those that tracefiles name, file by
// file.
func (c *coverageTests) readTests(ctx context.Context, env *cli.Env, groups []testGroup, traces []inputs.Input) error {
	quiet := c.Quiet
	defer func() { c.Quiet = quiet }()
	c.Quiet = true // notes about each of a thousand tests help no one
	for _, g := range groups {
		if err := ctx.Err(); err != nil {
			return err
		}
		cov, err := c.read(ctx, env, g.inputs)
		// The operation ("open") in a PathError helps no one here.
		if pe, ok := err.(*fs.PathError); ok { // worded as without a test
			err = fmt.Errorf("%s: %w", pe.Path, pe.Err)
		}
		if err != nil {
			return fmt.Errorf("test %s: %w", g.name, err)
		}
		if err := c.add(g.name, cov); err != nil {
			return err
		}
	}
	for _, in := range traces {
		err := in.Each(nil, func(d *inputs.Data) error {
			return coverage.ReadTests(d.Name(), d.Bytes(), func(test string, f *coverage.File) error {
				// Paths and markers apply to sections of tracefiles as to profiles.
				cov := coverage.Union(&coverage.Coverage{HasLines: true, Files: []*coverage.File{f}})
				cov.Rename(c.path)
				if !c.noMarkers {
					c.exclude(env, cov)
				}
				return c.add(test, cov)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// add adds what a test ran. A test without a name counts only if it ran something.
func (c *coverageTests) add(test string, cov *coverage.Coverage) error {
	for _, m := range cov.Misfits {
		c.misfits[m.Object+"\x00"+m.Function] = true
	}
	if test != "" {
		c.matrix.test(test)
	}
	ran := &coverage.Coverage{HasLines: cov.HasLines}
	for _, f := range cov.Files {
		c.matrix.add(test, f)
		switch {
		case c.out == nil:
		// A test's section has the files that it ran: others would make the tracefile as large as
		// tests times files.
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
	return c.writeTraces(ran, c.title(test))
}

// writeTraces writes the sections of a test.
func (c *coverageTests) writeTraces(cov *coverage.Coverage, title string) error {
	opt := c.writeOptions()
	opt.Test = title
	return coverage.Write(c.out, cov, "lcov", opt)
}

// title returns the name of a test in tracefiles, where lcov allows letters, digits and
// underscores. Different tests have different titles.
func (c *coverageTests) title(test string) string {
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
	// c.titles has titles that are taken under keys that no name of a test can be.
	taken := func() bool { return c.titles["\x00"+title] != "" }
	for n := 2; taken(); n++ {
		title = clean + "_" + strconv.Itoa(n)
	}
	c.titles["\x00"+title], c.titles[test] = title, title
	return title
}

// A testGroup is the inputs of one test.
type testGroup struct {
	name   string
	inputs []string
}

// groupTests returns the inputs of the tests that the command line names, in its order, and the
// tracefiles that name their tests. Several inputs of one test are added up, wherever they stand.
func groupTests(env *cli.Env, args []string) (groups []testGroup, traces []inputs.Input, err error) {
	if args, err = responsefile.Expand(args); err != nil {
		return nil, nil, err
	}
	index := make(map[string]int)
	add := func(name, input string) {
		i, ok := index[name]
		if !ok {
			i = len(groups)
			index[name] = i
			groups = append(groups, testGroup{name: name})
		}
		groups[i].inputs = append(groups[i].inputs, input)
	}
	for _, arg := range args {
		if name, input, ok := strings.Cut(arg, "="); ok && name != "" && input != "" {
			if _, err := os.Stat(arg); err != nil { // it is no file with "=" in its name
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
			if trace, _ := isTrace(in); trace { // a file that cannot be read is one of the others
				traces = append(traces, in)
			} else {
				add(fileTest(in.Name), in.Name)
			}
		}
	}
	return groups, traces, nil
}

// fileTest returns the name of the test of a profile that names none: its file name without the
// suffixes of formats and compression. For example that of "unit/parse.profraw.gz" is "parse".
func fileTest(path string) string {
	name := filepath.Base(path)
	for _, suffix := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, suffix)
	}
	if bare := strings.TrimSuffix(name, filepath.Ext(name)); bare != "" {
		return bare
	}
	return name
}

// selectedLines are lines of a source file that options name.
type selectedLines struct {
	path  string // as the option or the patch has it
	lines []uint32
}

// selectedLines returns the lines that --line and --changed name; nil if neither is given. With
// --before these are lines of the sources before the patch, which the profiles are of.
func (c *coverageTests) selectedLines(env *cli.Env) (selected []selectedLines, err error) {
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
		s := selectedLines{path: arg[:at]}
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
	selected = append([]selectedLines{}, selected...)
	for _, f := range files {
		s := selectedLines{f.path, f.lines}
		if c.before {
			s = selectedLines{f.oldPath, f.oldLines}
		}
		if s.path != noFile && len(s.lines) > 0 {
			selected = append(selected, s)
		}
	}
	return selected, nil
}

package coveragecmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// Command is "profuse coverage". Package coverage adds up and writes; the files
// coverage_*.go read inputs, run commands, judge limits and print. docs/coverage.md describes all
// of it.
func Command() *cli.Command {
	return &cli.Command{
		Name:  "coverage",
		Args:  "[--program PATH]... [-o OUTPUT] [OPTION]... INPUT... | -- COMMAND [ARGUMENT]...",
		Short: "print how many lines, functions, branches and regions ran",
		Long: `Prints a table of the source files and folders: how many of their lines, regions,
functions, branches and conditions (MC/DC) ran. -o also writes a file for other tools:
a tracefile of lcov or another format (--to), and --html pages that show the sources.

An INPUT is a profile of any format, raw ones included, or a tracefile of lcov.
profuse adds up several inputs within the loss budget of "profuse merge". For clang
-fprofile-instr-generate -fcoverage-mapping and rustc -C instrument-coverage, name
each program and library that ran (--program), or a folder to find them in. MIP needs
the program's debug information, iprof its classes.

"profuse coverage tests" lists the tests that run a line or a change.

With a COMMAND, such as -- cargo test or -- ctest, profuse runs it and prints
the coverage of its processes. It finds their programs below target, build* and
out, unless --program names them. If COMMAND fails, profuse exits with its exit
code.

A place of the sources counts once, however many functions, instances and
programs contain it. profuse prints the number of functions that the profile does
not fit on standard error; --mismatched lists them with the probable causes. Markers in the
sources, such as LCOV_EXCL_LINE, exclude lines and branches.

The exit code is 0 if the coverage could be printed and no limit is missed, 1 if not,
4 if too many inputs are unusable, and 2 if the command line is wrong.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &coverageRun{}
			c.declare(f)
			return c.run
		},
		Commands: []*cli.Command{testsCommand()},
	}
}

// coverageRun is one run of "profuse coverage". It reads inputs (coverage_read.go), with a command
// after running it (coverage_run.go), and compares the result with a patch (coverage_changed.go), a
// baseline (coverage_baseline.go) and limits (coverage_gates.go). Then it prints and writes.
type coverageRun struct {
	// Run has the options of a merge: several inputs are merged within its loss budget. Its Output
	// is the file for other tools.
	merging.Options
	// demangle is for the file for other tools, mangled for what is printed.
	json, demangle, mangled bool
	to                      cli.Choice
	command                 []string // to run, with its arguments; nil to read profiles

	// These choose source files and lines. checkPaths makes path and excluded of them.
	source           string
	pathMaps         cli.List
	include, ignore  cli.List
	noMarkers        bool
	excludeGenerated bool
	excludeLines     cli.List
	fixedLines       bool // lines are not those of the sources as they are now

	// mismatched lists the functions that the profile does not fit; strict fails if there are any.
	mismatched, strict bool
	gates              coverageGates
	// changed is a patch, baseline a profile or tracefile, to compare with.
	changed, baseline string
	html              string // file of pages, or a folder for it

	path     func(string) string    // what becomes of the path of a source file; "" to leave it out
	excluded func(line []byte) bool // what --exclude-lines excludes; nil without it
}

// declare declares all options. Those about sources are those of "profuse coverage tests", too.
func (c *coverageRun) declare(f *cli.Flags) {
	for _, format := range coverage.Formats() {
		c.to.Allowed = append(c.to.Allowed, string(format))
	}
	f.StringVar(&c.Output, "o", "", "`OUTPUT` also write a file for other tools; \"-\" is standard output, without the table")
	c.to.Value = "lcov"
	f.Var(&c.to, "to", "`FORMAT` format of OUTPUT: "+c.to.Words()+"; \"profuse help export\" describes them")
	f.StringVar(&c.html, "html", "", "`OUTPUT` also write pages for a browser, with the sources, as one file, or as index.html into a folder")
	f.BoolVar(&c.mangled, "mangled", false, "print mangled names")
	c.declareSources(f)
	f.BoolVar(&c.mismatched, "mismatched", false, "list each function that the profile does not fit, with the probable cause")
	f.BoolVar(&c.strict, "strict", false, "fail if the profile does not fit a function")
	c.gates.declare(f)
	f.StringVar(&c.changed, "changed", "", "`PATCH` list the lines that this unified diff adds and that did not run; \"-\" is standard input")
	f.StringVar(&c.baseline, "baseline", "", "`OTHER` list what ran less than in this profile or tracefile")
	f.BoolVar(&c.Quiet, "q", false, "print no table, progress, warnings or summary")
	c.Loss.Declare(f, false)
	f.TakesCommand(&c.command)
}

// declareSources declares the options about inputs, programs and source files.
func (c *coverageRun) declareSources(f *cli.Flags) {
	f.BoolVar(&c.json, "json", false, "print JSON")
	f.BoolVar(&c.demangle, "demangle", false, "demangle C++ and Rust names in OUTPUT")
	f.StringVar(&c.source, "source", "", "`DIR` folder of the sources, put before relative file names")
	f.Var(&c.pathMaps, "path-map", "`FROM=TO` replace the folder FROM at the beginning of paths with TO, which may be empty; repeatable, the first that matches counts")
	f.Var(&c.include, "include", "`REGEX` only source files whose path matches REGEX; repeatable")
	f.Var(&c.ignore, "ignore", "`REGEX` leave out source files whose path matches REGEX; repeatable")
	f.BoolVar(&c.noMarkers, "no-markers", false, "do not read markers such as LCOV_EXCL_LINE from the sources")
	f.BoolVar(&c.excludeGenerated, "exclude-generated", false, "leave out source files whose first lines say that a tool made them, such as \"@generated\"")
	f.Var(&c.excludeLines, "exclude-lines", "`REGEX` leave out source lines that match REGEX, as if marked; repeatable")
	f.IntVar(&c.Workers, "j", 0, "`N` read N inputs at the same time; the result does not depend on N (default one per CPU)")
	c.Programs.Declare(f)
	c.Programs.DeclareClasses(f)
	c.Programs.DeclareCoverage(f)
}

// run reads the inputs or first runs the command that makes them.
func (c *coverageRun) run(ctx context.Context, env *cli.Env, args []string) error {
	if err := c.check(args); err != nil {
		return err
	}
	if len(c.command) > 0 {
		return c.ran(ctx, env)
	}
	return c.report(ctx, env, args)
}

// report reads the inputs and prints and writes their coverage, also if it misses a limit: whoever
// is told so needs to see where.
func (c *coverageRun) report(ctx context.Context, env *cli.Env, args []string) error {
	// Only pages show the details of coverage mappings.
	c.Programs.CoverageDetails = c.html != ""
	cov, err := c.read(ctx, env, args)
	if err != nil {
		return err
	}
	result := &coverageResult{Coverage: cov, run: c}
	if c.changed != "" {
		if result.changed, err = c.readChanges(env, cov); err != nil {
			return err
		}
	}
	if c.baseline != "" {
		base, err := c.readBaseline(ctx, env)
		if err != nil {
			return err
		}
		result.worse = compareCoverage(base, cov)
	}
	result.missed = c.gates.judge(result)
	if c.Output != "" {
		if err := c.write(env, cov); err != nil {
			return err
		}
	}
	if c.html != "" {
		if err := result.writePages(ctx, env, args); err != nil {
			return err
		}
	}
	out := bufio.NewWriter(env.Stdout)
	p := &console.Printer{W: out, Term: env.Terminal(env.Stdout), Mangled: c.mangled}
	switch {
	case c.json:
		result.writeJSON(out)
	case !c.Quiet && c.Output != "-":
		result.print(p)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return result.verdict(env)
}

// check returns what is wrong with the command line. It reads no file.
func (c *coverageRun) check(args []string) error {
	switch {
	case len(args) == 0 && len(c.command) == 0:
		return cli.Usagef("no inputs")
	case len(args) > 0 && len(c.command) > 0:
		return cli.Usagef("want inputs or, after --, a command")
	case c.Workers < 0:
		return cli.Usagef("option -j takes a number from 1 up")
	case c.html == "-":
		return cli.Usagef("option --html takes a file or a folder")
	case c.Output == "-" && c.json:
		return cli.Usagef("options --json and -o - exclude each other")
	}
	if err := c.gates.check(c.changed != ""); err != nil {
		return err
	}
	return c.checkPaths()
}

// checkPaths parses the options about paths into c.path, which applies --path-map, then --source,
// then --include and --ignore, and those about lines into c.excluded.
func (c *coverageRun) checkPaths() error {
	type pathMap struct{ from, to string }
	var maps []pathMap
	for _, m := range c.pathMaps {
		from, to, ok := strings.Cut(m, "=")
		if !ok || from == "" {
			return cli.Usagef("option --path-map takes FROM=TO, not %q", m)
		}
		maps = append(maps, pathMap{trimSlash(from), trimSlash(to)})
	}
	patterns := func(option string, list []string) (all []*regexp.Regexp, err error) {
		for _, text := range list {
			re, err := console.Pattern(option, text)
			if err != nil {
				return nil, err
			}
			all = append(all, re)
		}
		return all, nil
	}
	lines, err := patterns("exclude-lines", c.excludeLines)
	if err != nil {
		return err
	}
	if len(lines) > 0 {
		c.excluded = func(line []byte) bool {
			return slices.ContainsFunc(lines, func(re *regexp.Regexp) bool { return re.Match(line) })
		}
	}
	if c.noMarkers && (c.excludeGenerated || len(lines) > 0) {
		return cli.Usagef("options --exclude-generated and --exclude-lines need the sources, which --no-markers does not read")
	}
	// An empty list of --include includes all files.
	include, err := patterns("include", c.include)
	if err != nil {
		return err
	}
	ignore, err := patterns("ignore", c.ignore)
	if err != nil {
		return err
	}
	matches := func(list []*regexp.Regexp, path string) bool {
		return slices.ContainsFunc(list, func(re *regexp.Regexp) bool { return re.MatchString(path) })
	}
	c.path = func(path string) string {
		for _, m := range maps {
			if rest, ok := cutFolder(path, m.from); ok {
				path = rest
				if m.to != "" {
					path = m.to + "/" + rest
				}
				break
			}
		}
		if c.source != "" && !isAbsolute(path) {
			path = trimSlash(c.source) + "/" + path
		}
		if len(include) > 0 && !matches(include, path) || matches(ignore, path) {
			return ""
		}
		return path
	}
	return nil
}

// trimSlash returns a folder without the separator at its end. The root is "".
func trimSlash(dir string) string { return strings.TrimRight(dir, `/\`) }

// cutFolder returns the rest of a path below a folder, whichever separator the system of the build
// had.
func cutFolder(path, dir string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, dir)
	if !ok || rest == "" || rest[0] != '/' && rest[0] != '\\' {
		return path, false
	}
	return rest[1:], true
}

// isAbsolute reports whether a path of this or another system is absolute. Profiles of a Windows
// build may be read elsewhere, and the other way round.
func isAbsolute(path string) bool {
	return path != "" && (path[0] == '/' || path[0] == '\\') || len(path) > 2 && path[1] == ':' && (path[2] == '/' || path[2] == '\\')
}

// write writes the output. LLVM's JSON has regions and instances that only LLVM's own mapping
// knows, so it is made while that is read and not from the sum.
func (c *coverageRun) write(env *cli.Env, cov *coverage.Coverage) error {
	if cov.LLVMJSON == nil && c.to.Value == "llvm-json" {
		return errors.New("--to llvm-json is for one LLVM profile, or a sum of some, with its programs: without tracefiles, --path-map, --source, --include, --ignore and --exclude-generated")
	}
	return console.Write(env, c.Output, nil, false, func(w io.Writer) error {
		return coverage.Write(w, cov, coverage.Format(c.to.Value), c.writeOptions())
	})
}

// writeOptions returns the options of the file for other tools: where sources are, and names as
// --demangle asks for.
func (c *coverageRun) writeOptions() coverage.WriteOptions {
	opt := coverage.WriteOptions{Source: readSource}
	if c.demangle {
		opt.Name = func(s *profile.Symbol) string { return symbols.Demangle(s.String()) + s.Signature }
	}
	return opt
}

// coverageResult is the coverage with what the options compare it with.
type coverageResult struct {
	*coverage.Coverage
	run     *coverageRun
	changed *changedLines  // nil without --changed
	worse   *worseCoverage // nil without --baseline
	missed  []missedGate
}

// verdict prints the limits that are missed and returns the error of the command. All limits are
// told, not only the first that is missed.
func (r *coverageResult) verdict(env *cli.Env) error {
	for _, m := range r.missed {
		fmt.Fprintf(env.Stderr, "profuse coverage: %s\n", m.sentence())
	}
	failed := len(r.missed) > 0
	if n := len(r.Misfits); n > 0 && r.run.strict {
		fmt.Fprintf(env.Stderr, "profuse coverage: the profile does not fit %s, and --strict allows none\n", cli.Quantity(uint64(n), "function", "functions"))
		failed = true
	}
	if failed {
		return cli.ErrReported
	}
	return nil
}

// A coverageKind is a kind of parts of the sources.
type coverageKind struct {
	name string // "lines", as in options and JSON
	// ratio returns the part of a summary for this kind.
	ratio func(*coverage.Summary) *coverage.Ratio
}

// coverageKinds are the kinds in the order of columns, options and JSON. Inputs that do not know a
// kind have a total of 0 of it, and no column.
var coverageKinds = []coverageKind{
	{"lines", func(s *coverage.Summary) *coverage.Ratio { return &s.Lines }},
	{"regions", func(s *coverage.Summary) *coverage.Ratio { return &s.Regions }},
	{"functions", func(s *coverage.Summary) *coverage.Ratio { return &s.Functions }},
	{"branches", func(s *coverage.Summary) *coverage.Ratio { return &s.Branches }},
	{"mcdc", func(s *coverage.Summary) *coverage.Ratio { return &s.MCDC }},
}

// title is the name in texts.
func (k *coverageKind) title() string {
	if k.name == "mcdc" {
		return "MC/DC"
	}
	return k.name
}

// percent prints a share in percent. Only what ran whole is 100 %: 99.999 % becomes 99.99 %.
func percent(r coverage.Ratio) string {
	switch share := 100 * r.Share(); {
	case r.Total == 0:
		return "–"
	case r.Covered < r.Total:
		return fmt.Sprintf("%.2f %%", min(share, 99.99))
	default:
		return "100.00 %"
	}
}

// print prints the table, a row for each file and folder below the one before, and what the options
// ask for.
func (r *coverageResult) print(p *console.Printer) {
	var kinds []coverageKind
	for _, k := range coverageKinds {
		if k.ratio(&r.Total).Total > 0 {
			kinds = append(kinds, k)
		}
	}
	var header []string
	for _, k := range kinds {
		// Each kind has two columns, "covered/total" and the share.
		header = append(header, k.title(), "")
	}
	header = append(header, "file")
	var rows [][]string
	row := func(name string, s coverage.Summary) {
		var cells []string
		for _, k := range kinds {
			ratio := *k.ratio(&s)
			count := ""
			if ratio.Total > 0 {
				count = cli.Count(uint64(ratio.Covered)) + "/" + cli.Count(uint64(ratio.Total))
			}
			cells = append(cells, count, percent(ratio))
		}
		rows = append(rows, append(cells, name))
	}
	for _, t := range coverage.Tree(r.Files) {
		row(strings.Repeat("  ", t.Depth)+console.Printable(t.Label), t.Total)
	}
	row("total", r.Total)
	p.Table(header, rows)
	if r.run.mismatched {
		r.printMisfits(p)
	}
	if r.changed != nil {
		r.changed.print(p)
	}
	if r.worse != nil {
		r.worse.print(p)
	}
}

// printMisfits lists the functions that the profile does not fit: those of which program and
// profile have different hashes.
func (r *coverageResult) printMisfits(p *console.Printer) {
	if len(r.Misfits) > 0 {
		fmt.Fprintf(p.W, "\n%s\n", p.Term.Paint(cli.Bold, "Functions that the profile does not fit"))
	}
	for i := range r.Misfits {
		m := &r.Misfits[i]
		name := m.Function
		if !p.Mangled {
			name = symbols.Demangle(name)
		}
		fmt.Fprintf(p.W, "%s in %s\n", console.Printable(name), console.Printable(m.Object))
		p.Item(fmt.Sprintf("hash %s in the object, %s in the profile: %s", hashText(m.Hash), hashesText(m.Have), console.Printable(m.Cause)))
	}
}

// hashText prints a CFG hash.
func hashText(hash uint64) string { return fmt.Sprintf("%#x", hash) }

// hashesText prints the first of several CFG hashes.
func hashesText(hashes []uint64) string {
	var list []string
	for i, h := range hashes {
		if i == console.MaxListed {
			list = append(list, "…")
			break
		}
		list = append(list, hashText(h))
	}
	return strings.Join(list, ", ")
}

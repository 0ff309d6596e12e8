package coveragecmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/families"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/files/responsefile"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// read returns the coverage of the inputs, with the paths that the options ask for and without the lines that they
// exclude. It merges the profiles before it collects their coverage, and adds the coverage of each tracefile.
func (c *shared) read(ctx context.Context, env *cli.Env, args []string) (*coverage.Coverage, error) {
	groups, traces, err := splitInputs(env, args)
	if err != nil {
		return nil, err
	}
	var parts []*coverage.Coverage
	for _, profiles := range groups {
		v, err := c.view(ctx, env, profiles)
		if err != nil {
			return nil, err
		}
		cov := coverage.Collect(v, nil)
		if len(cov.Files) == 0 && c.merge.Programs.Mappings == nil {
			return nil, c.noSources(v, cov)
		}
		c.reportFit(env, cov)
		parts = append(parts, cov)
	}
	for _, in := range traces {
		err := in.Each(nil, func(d *inputs.Data) error {
			part, err := coverage.ReadLCOV(d.Name(), d.Bytes())
			parts = append(parts, part)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	cov := coverage.Union(parts...)
	before := len(cov.Files)
	cov.Rename(c.path)
	if before > 0 && len(cov.Files) == 0 && c.merge.Programs.Mappings == nil {
		return nil, fmt.Errorf("options --include and --ignore leave none of the %s", cli.Quantity(before, "source file", "source files"))
	}
	if !c.fixedLines || c.excludeGenerated {
		c.exclude(env, cov)
	}
	return cov, nil
}

// splitInputs tells tracefiles of lcov from profiles by their first bytes, and groups the profiles by family: a program may
// have objects of several compilers. Inputs of no known family belong to the first group. An argument with profiles of one
// group stays as it is, so that messages of the merge have the folder or pattern of the user.
func splitInputs(env *cli.Env, args []string) (groups [][]string, traces []inputs.Input, err error) {
	if args, err = responsefile.Expand(args); err != nil {
		return nil, nil, err
	}
	at := make(map[int]int) // by family: the index of its group
	known := false          // the family of the first group
	group := func(f formats.Format) int {
		if len(groups) == 0 {
			groups = append(groups, nil)
		}
		if f == 0 {
			return 0
		}
		i := families.Index(f.Family())
		g, ok := at[i]
		switch {
		case ok:
		case !known:
			known, at[i] = true, 0
		default:
			g = len(groups)
			groups, at[i] = append(groups, nil), g
		}
		return g
	}
	for _, arg := range args {
		// Standard input can be read only once, so it is taken for a profile unread.
		if arg == inputs.Stdin {
			g := group(0)
			groups[g] = append(groups[g], arg)
			continue
		}
		ins, err := inputs.Expand([]string{arg}, sources.TraceOptions(env))
		if err != nil {
			return nil, nil, err
		}
		of := make(map[int][]string) // by group
		for _, in := range ins {
			trace, err := isTrace(in)
			if err != nil && profile.ClassOf(err) == profile.Unreadable && len(args) == 1 {
				return nil, nil, err // a second attempt would wait for the writer again
			}
			if trace {
				traces = append(traces, in)
				continue
			}
			g := group(sources.PeekFormat(in, true))
			of[g] = append(of[g], in.Name)
		}
		if len(ins) == 0 { // an empty folder
			of[group(0)] = []string{arg}
		}
		for g, names := range of {
			if len(names) == len(ins) {
				names = []string{arg}
			}
			groups[g] = append(groups[g], names...)
		}
	}
	return groups, traces, nil
}

// errSeen ends the reading of an input after its first file.
var errSeen = errors.New("seen")

// isTrace reports whether an input is a tracefile, or an archive that begins with a tracefile. An input
// that can be read only once is taken for a profile.
func isTrace(in inputs.Input) (trace bool, err error) {
	if !in.Reopens() {
		return false, nil
	}
	err = in.Each(nil, func(d *inputs.Data) error {
		trace = coverage.IsLCOV(d.Bytes())
		return errSeen
	})
	if errors.Is(err, errSeen) {
		err = nil
	}
	return trace, err
}

// view returns the view of a profile, or of the sum of several. It does not merge a single sound profile.
func (c *shared) view(ctx context.Context, env *cli.Env, profiles []string) (profile.View, error) {
	opt, err := c.merge.Programs.ViewOptions(env)
	if err != nil {
		return nil, err
	}
	if len(profiles) == 1 && profiles[0] != inputs.Stdin && !c.merge.Loss.Given() {
		if ins, err := inputs.Expand(profiles, sources.Options(env)); err == nil && len(ins) == 1 && !holdsSeveral(ins[0]) {
			v, err := sources.ReadView(env, profiles[0], opt, nil)
			switch profile.ClassOf(err) {
			case profile.ErrCorrupt, profile.ErrTruncated, profile.ErrMismatch:
				// A merge reads past damaged functions, and adds to a profile the functions of its program.
			default:
				return v, err
			}
		}
	}
	// The sum stays in memory, in bytes if it has no view.
	var sum *merging.Sum
	var written bytes.Buffer
	run := c.merge
	run.Open, run.Quiet = sources.Options(env), c.quiet
	run.Into = func(s *merging.Sum) (err error) {
		if sum = s; sum.View == nil {
			_, err = sum.Write(&written)
		}
		return err
	}
	err = run.Merge(ctx, env, profiles, func(ins []inputs.Input) (merging.FamilyAdder, error) {
		run.Family = merging.InputFamily(ins)
		a := families.All[families.Index(run.Family)].Adder()
		// The options of the family get their defaults.
		a.Declare(cli.NewFlags("coverage"), false)
		return a, a.Check(&run)
	})
	if err != nil {
		return nil, err
	}
	opt.Warn = console.Warnings(env)
	if !slices.Contains(profiles, inputs.Stdin) {
		// If programs have different functions of the same name, each program needs its own counts.
		// Standard input cannot be read again.
		opt.Parts = func(read func(string, []byte)) error { return readParts(env, profiles, read) }
	}
	const name = "the merged profile"
	if sum.View != nil {
		return sum.View(name, opt)
	}
	return formats.View(name, written.Bytes(), opt)
}

// holdsSeveral reports whether an input is an archive of several files. It reads no further than the second file.
func holdsSeveral(in inputs.Input) bool {
	if !in.Reopens() || !in.Heads(true, func([]byte) bool { return false }) {
		return false
	}
	files := 0
	_ = in.Each(nil, func(*inputs.Data) error {
		if files++; files > 1 {
			return errSeen
		}
		return nil
	})
	return files > 1
}

// readParts reads the profiles of a merge again. It ignores a profile that cannot be read, which the
// merge has reported.
func readParts(env *cli.Env, profiles []string, read func(name string, data []byte)) error {
	ins, err := inputs.Expand(profiles, sources.Options(env))
	for _, in := range ins {
		_ = in.Each(nil, func(d *inputs.Data) error {
			read(d.Name(), d.Bytes())
			return nil
		})
	}
	return err
}

// noSources returns the error for a profile without source lines. It says what is missing: the program,
// its classes, or their debug information.
func (c *shared) noSources(v profile.View, cov *coverage.Coverage) error {
	id := v.Identity()
	const missing = "the source lines of the functions are not known: "
	if len(c.merge.Programs.Paths) == 0 && len(c.merge.Programs.Classes) == 0 {
		return fmt.Errorf("%s: %sthey are in the program that was profiled (--program), or in its classes (--classes)", id.File, missing)
	}
	in := strings.Join(append(slices.Clone(c.merge.Programs.Paths), c.merge.Programs.Classes...), ", ")
	if n := len(cov.Misfits); n > 0 {
		cause, _ := likelyCause(cov)
		return fmt.Errorf("%s: %sof the %s of %s that the profile also has none fits, probably: %s", id.File, missing, cli.Quantity(n, "function", "functions"), in, cause)
	}
	if len(c.merge.Programs.Paths) == 0 {
		return fmt.Errorf("%s: %s%s has none of the profile: give the classes of the program, compiled by javac with -g:lines, which is its default", id.File, missing, in)
	}
	return fmt.Errorf("%s: %s%s has none: %s; MIP needs debug information", id.File, missing, in, coverageFlags)
}

// reportFit prints how many functions the profile does not fit, with the most frequent cause, how many
// counts are below zero, and how many functions have no known source.
func (c *shared) reportFit(env *cli.Env, cov *coverage.Coverage) {
	if c.quiet {
		return
	}
	if n := len(cov.Misfits); n > 0 {
		cause, of := likelyCause(cov)
		fmt.Fprintf(env.Stderr, "mismatched: %s left out, %s of them probably: %s (--mismatched lists them)\n",
			cli.Quantity(n, "function", "functions"), cli.Count(of), cause)
	}
	if n := cov.BelowZero; n > 0 {
		fmt.Fprintf(env.Stderr, "warning: %s below zero, because threads lost counts: they count as 0; -fprofile-update=atomic makes counts exact\n",
			cli.Quantity(n, "count is", "counts are"))
	}
	if u := cov.Unplaced.Functions; u.Total > 0 {
		fmt.Fprintf(env.Stderr, "note: the source of %s in the profile is not known; %s of them ran (--mismatched lists them)\n",
			cli.Quantity(u.Total, "function", "functions"), cli.Count(u.Covered))
	}
}

// likelyCause returns the most frequent cause of misfits, and how many have it.
func likelyCause(cov *coverage.Coverage) (cause string, of int) {
	causes := make(map[string]int)
	for _, m := range cov.Misfits {
		causes[m.Cause]++
	}
	// Sorted, so that the choice among equally frequent causes is always the same.
	cause = slices.MaxFunc(slices.Sorted(maps.Keys(causes)), func(a, b string) int { return causes[a] - causes[b] })
	return console.Printable(cause), causes[cause]
}

const maxUnread = 3

// exclude leaves out the lines that markers and options exclude, and prints their number. A note lists
// the first sources that cannot be read. With --no-markers it leaves out only the lines behind the end of their source.
func (c *shared) exclude(env *cli.Env, cov *coverage.Coverage) {
	var unread []string
	marked, generated, behind := 0, 0, 0
	before := cov.Total.Lines.Total
	cov.Files = slices.DeleteFunc(cov.Files, func(f *coverage.File) bool {
		source, err := sources.ReadSource(f.Path)
		if c.noMarkers {
			source = bytes.Map(func(r rune) rune { // lines without text
				if r == '\n' || r == '\r' {
					return r
				}
				return ' '
			}, source)
		}
		switch {
		case err != nil:
			unread = append(unread, f.Path)
		case c.excludeGenerated && isGenerated(source):
			generated++
			return true
		case !c.fixedLines && f.Exclude(source, c.excluded):
			marked++
		}
		if f.Behind > 0 {
			c.behind[f.Path] = max(c.behind[f.Path], f.Behind)
			behind += f.Behind
		}
		return false
	})
	if generated > 0 {
		// LLVM's document would still have the generated files.
		cov.LLVMJSON = nil
	}
	cov.Finish()
	if c.quiet {
		return
	}
	if marked+generated > 0 {
		var by []string
		if marked > 0 {
			how := "by markers"
			if c.excluded != nil {
				how += " and --exclude-lines"
			}
			by = append(by, how+" in "+cli.Quantity(marked, "source file", "source files"))
		}
		if generated > 0 {
			by = append(by, "in "+cli.Quantity(generated, "generated source file", "generated source files"))
		}
		fmt.Fprintf(env.Stderr, "excluded: %s, %s (--no-markers counts them)\n",
			cli.Quantity(before-behind-cov.Total.Lines.Total, "line", "lines"), strings.Join(by, " and "))
	}
	if n := len(unread); n > 0 && !c.noMarkers {
		fmt.Fprintf(env.Stderr, "note: cannot look for markers in %s: %s\n",
			cli.Quantity(n, "source file", "source files"), someOf(unread))
	}
}

// someOf lists the first sources.
func someOf(paths []string) string {
	list := strings.Join(paths[:min(len(paths), maxUnread)], ", ")
	if len(paths) > maxUnread {
		list += ", …"
	}
	return console.Printable(list)
}

// warnBehind names the sources that have fewer lines than what was compiled of them.
func (c *shared) warnBehind(env *cli.Env, quiet bool) {
	if len(c.behind) == 0 || quiet {
		return
	}
	lines := 0
	for _, n := range c.behind {
		lines += n
	}
	paths := slices.Sorted(maps.Keys(c.behind))
	fmt.Fprintf(env.Stderr, "warning: left out %s behind the end of %s, which differ from what was compiled: %s\n",
		cli.Quantity(lines, "line", "lines"), cli.Quantity(len(paths), "source file", "source files"), someOf(paths))
}

// generatedWords matches what tools write at the beginning of the sources that they generate.
var generatedWords = regexp.MustCompile(`@generated\b|(?i:\b(automatically |auto-?)generated\b|\bgenerated\b.*\bdo not edit\b|\bdo not edit\b.*\bgenerated\b|\ball changes made in this file will be lost\b)`)

// isGenerated reports whether a source says at its beginning, in its first 20 lines or 8 KiB, that a tool
// made it. Further down such words are about something else.
func isGenerated(source []byte) bool {
	const most = 20 // lines
	n := 0
	for line := range bytes.Lines(source[:min(len(source), 8<<10)]) {
		if n++; n > most {
			break
		}
		if generatedWords.Match(line) {
			return true
		}
	}
	return false
}

package coveragecmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/families"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/files/responsefile"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// read returns the sum of what the arguments name, with the paths and without the lines that the
// options ask for. Profiles are merged first and then become coverage once; each tracefile is
// coverage of its own.
func (c *coverageRun) read(ctx context.Context, env *cli.Env, args []string) (*coverage.Coverage, error) {
	profiles, traces, err := splitTraces(env, args)
	if err != nil {
		return nil, err
	}
	var parts []*coverage.Coverage
	if len(profiles) > 0 {
		v, err := c.view(ctx, env, profiles)
		if err != nil {
			return nil, err
		}
		cov := coverage.Collect(v, nil)
		if len(cov.Files) == 0 && c.Programs.Mappings == nil {
			return nil, c.noSources(v)
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
	if before > 0 && len(cov.Files) == 0 && c.Programs.Mappings == nil {
		return nil, fmt.Errorf("options --include and --ignore leave none of the %s", cli.Quantity(uint64(before), "source file", "source files"))
	}
	if !c.noMarkers && (!c.fixedLines || c.excludeGenerated) {
		c.exclude(env, cov)
	}
	return cov, nil
}

// splitTraces tells profiles from tracefiles of lcov. It looks at their first bytes and not at
// their names. Profiles keep the argument that named them if it names no tracefile, so that
// messages of the merge have the folder or pattern that the user gave.
func splitTraces(env *cli.Env, args []string) (profiles []string, traces []inputs.Input, err error) {
	if args, err = responsefile.Expand(args); err != nil {
		return nil, nil, err
	}
	for _, arg := range args {
		// Standard input can be read only once, so it is not looked into: a profile.
		if arg == inputs.Stdin {
			profiles = append(profiles, arg)
			continue
		}
		ins, err := inputs.Expand([]string{arg}, sources.TraceOptions(env))
		if err != nil {
			return nil, nil, err
		}
		var others []string
		for _, in := range ins {
			trace, err := isTrace(in)
			if err != nil && profile.ClassOf(err) == profile.Unreadable && len(args) == 1 {
				return nil, nil, err // and not after waiting again for who writes it
			}
			if trace {
				traces = append(traces, in)
			} else {
				others = append(others, in.Name)
			}
		}
		if len(others) == len(ins) {
			others = []string{arg} // as "profuse merge" names what it passes over
		}
		profiles = append(profiles, others...)
	}
	return profiles, traces, nil
}

// errSeen ends the reading of an input once it is known what it is.
var errSeen = errors.New("seen")

// isTrace reports whether an input is a tracefile, or an archive that begins with one. The error is
// that of reading it. An input that can be read only once is none.
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

// view returns the view of a profile, or of the sum of several. A single sound profile needs no
// merge.
func (c *coverageRun) view(ctx context.Context, env *cli.Env, profiles []string) (profile.View, error) {
	opt, err := c.Programs.ViewOptions(env)
	if err != nil {
		return nil, err
	}
	if len(profiles) == 1 && profiles[0] != inputs.Stdin && !c.Loss.Given() {
		if ins, err := inputs.Expand(profiles, sources.Options(env)); err == nil && len(ins) == 1 {
			// What a merge can repair or complete is left to it; any other error is final.
			v, err := sources.ReadView(env, profiles[0], opt, nil)
			switch profile.ClassOf(err) {
			case profile.ErrCorrupt, profile.ErrTruncated, profile.ErrMismatch:
				// A merge reads past damaged functions, and adds profiles to the functions of
				// their programs without which they have no view.
			default:
				return v, err
			}
		}
	}
	var merged bytes.Buffer
	run := c.Options
	// The sum stays in memory: no file, no name that could choose a format.
	run.Output, run.Into, run.Open = "", &merged, sources.Options(env)
	err = run.Merge(ctx, env, profiles, func(ins []inputs.Input) (merging.Adder, error) {
		run.Family = merging.InputFamily(ins)
		a := families.All[families.Index(run.Family)].Adder()
		// The family's own options get their defaults; coverage does not offer them.
		a.Declare(cli.NewFlags("coverage"), false)
		return a, a.Check(&run)
	})
	if err != nil {
		return nil, err
	}
	opt.Warn = console.Warnings(env)
	if !slices.Contains(profiles, inputs.Stdin) {
		// Functions of several programs that share a name but not their code need the counts of
		// their own program. Standard input cannot be read again.
		opt.Parts = func(read func(string, []byte)) error { return readParts(env, profiles, read) }
	}
	return formats.View("the merged profile", merged.Bytes(), opt)
}

// readParts reads the profiles of a merge again. The merge has told of those that cannot be
// read.
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

// noSources returns the error about a profile without source lines, which says what the user left
// out: the program, its classes, or debug information in them.
func (c *coverageRun) noSources(v profile.View) error {
	id := v.Identity()
	const missing = "the source lines of the functions are not known: "
	if len(c.Programs.Paths) == 0 && len(c.Programs.Classes) == 0 {
		return fmt.Errorf("%s: %sthey are in the program that was profiled (--program), or in its classes (--classes)", id.File, missing)
	}
	in := strings.Join(append(slices.Clone(c.Programs.Paths), c.Programs.Classes...), ", ")
	return fmt.Errorf("%s: %s%s has none: %s; MIP needs debug information", id.File, missing, in, coverageFlags)
}

// reportFit prints how many functions the profile does not fit, with the most frequent cause, and
// of how many no source is known. Neither fails the command.
func (c *coverageRun) reportFit(env *cli.Env, cov *coverage.Coverage) {
	if c.Quiet {
		return
	}
	if n := len(cov.Misfits); n > 0 {
		causes := make(map[string]int)
		for _, m := range cov.Misfits {
			causes[m.Cause]++
		}
		// Sorted, so that of equally frequent causes always the same one is told.
		most := slices.MaxFunc(slices.Sorted(maps.Keys(causes)), func(a, b string) int { return causes[a] - causes[b] })
		fmt.Fprintf(env.Stderr, "mismatched: %s left out, %s of them probably: %s (--mismatched lists them)\n",
			cli.Quantity(uint64(n), "function", "functions"), cli.Count(uint64(causes[most])), console.Printable(most))
	}
	if u := cov.Unplaced.Functions; u.Total > 0 {
		fmt.Fprintf(env.Stderr, "note: the source of %s in the profile is not known; %s of them ran\n",
			cli.Quantity(uint64(u.Total), "function", "functions"), cli.Count(uint64(u.Covered)))
	}
}

// readBaseline reads the baseline. The lines of a tracefile are those of the sources as they
// were, and their markers had effect when it was made.
func (c *coverageRun) readBaseline(ctx context.Context, env *cli.Env) (*coverage.Coverage, error) {
	base := *c
	base.Programs.CoverageDetails = false
	profiles, _, err := splitTraces(env, []string{c.baseline})
	if err != nil {
		return nil, err
	}
	base.fixedLines = len(profiles) == 0
	return base.read(ctx, env, []string{c.baseline})
}

// maxUnread limits the list of sources that cannot be read.
const maxUnread = 3

// exclude leaves out what markers and options exclude, and prints how much that was. A source that
// cannot be read has no markers; a note lists some of these.
func (c *coverageRun) exclude(env *cli.Env, cov *coverage.Coverage) {
	var unread []string
	marked, generated := 0, 0
	before := cov.Total.Lines.Total
	cov.Files = slices.DeleteFunc(cov.Files, func(f *coverage.File) bool {
		source, err := readSource(f.Path)
		switch {
		case err != nil:
			unread = append(unread, f.Path)
		case c.excludeGenerated && isGenerated(source):
			generated++
			return true
		case !c.fixedLines && f.Exclude(source, c.excluded):
			marked++
		}
		return false
	})
	if generated > 0 {
		// LLVM's document would still have the files that are left out.
		cov.LLVMJSON = nil
	}
	cov.Finish()
	if c.Quiet {
		return
	}
	if marked+generated > 0 {
		var by []string
		if marked > 0 {
			how := "by markers"
			if c.excluded != nil {
				how += " and --exclude-lines"
			}
			by = append(by, how+" in "+cli.Quantity(uint64(marked), "source file", "source files"))
		}
		if generated > 0 {
			by = append(by, "those of "+cli.Quantity(uint64(generated), "generated source file", "generated source files"))
		}
		fmt.Fprintf(env.Stderr, "excluded: %s, %s (--no-markers counts them)\n",
			cli.Quantity(uint64(before-cov.Total.Lines.Total), "line", "lines"), strings.Join(by, " and "))
	}
	if n := len(unread); n > 0 {
		list := strings.Join(unread[:min(n, maxUnread)], ", ")
		if n > maxUnread {
			list += ", …"
		}
		fmt.Fprintf(env.Stderr, "note: markers are not seen in %s that cannot be read: %s\n",
			cli.Quantity(uint64(n), "source file", "source files"), console.Printable(list))
	}
}

// generatedWords are what tools write at the beginning of their output.
var generatedWords = regexp.MustCompile(`@generated\b|(?i:\b(automatically |auto-?)generated\b|\bgenerated\b.*\bdo not edit\b|\bdo not edit\b.*\bgenerated\b|\ball changes made in this file will be lost\b)`)

// isGenerated reports whether one of the first lines of a source says that a tool made it. Only the
// first 20 lines, or 8 KiB, are searched: further down the words are about something else.
func isGenerated(source []byte) bool {
	const most = 20 // lines
	n := 0
	for line := range bytes.Lines(source[:min(len(source), 8<<10)]) {
		if generatedWords.Match(line) {
			return true
		}
		if n++; n == most {
			break
		}
	}
	return false
}

// maxSource is the size, in bytes, of the largest source that is searched for markers.
const maxSource = 64 << 20

// readSource reads a source file. Anything but a regular file of sensible size is refused: paths
// come from profiles, and may name a device.
func readSource(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSource {
		return nil, errors.New("no source file")
	}
	return os.ReadFile(path)
}

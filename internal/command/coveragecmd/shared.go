package coveragecmd

import (
	"regexp"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/sourcepath"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// shared has the options of both commands, and reads their inputs.
type shared struct {
	// merge has the options of the merge of several inputs, within its loss budget.
	merge    merging.Options
	output   string // file for other tools
	changed  string // patch
	json     bool
	demangle bool // names in output
	quiet    bool

	// The source files and lines that count. check makes path and excluded of them.
	source           string
	pathMaps         cli.List
	roots            sources.Roots // of the names in output
	include, ignore  cli.List
	noMarkers        bool
	excludeGenerated bool
	excludeLines     cli.List
	fixedLines       bool // the sources have changed since: their markers and excludeLines do not apply

	behind   map[string]int         // lines behind the end of their source, which are left out, by path
	path     func(string) string    // returns the path to report for a source file; "" leaves the file out
	excluded func(line []byte) bool // reports whether --exclude-lines excludes a line; nil without it
}

func (c *shared) declare(f *cli.Flags) {
	f.BoolVar(&c.json, "json", false, "print JSON")
	f.BoolVar(&c.demangle, "demangle", false, "demangle C++ and Rust names in OUTPUT")
	f.StringVar(&c.source, "source", "", "`DIR` folder of the sources, put before relative file names")
	f.Var(&c.pathMaps, "path-map", "`FROM=TO` replace the folder FROM at the beginning of paths with TO, which may be empty; repeatable, the first that matches counts")
	c.roots.Declare(f)
	f.Var(&c.include, "include", "`REGEX` only source files whose path matches REGEX; repeatable")
	f.Var(&c.ignore, "ignore", "`REGEX` leave out source files whose path matches REGEX; repeatable")
	f.BoolVar(&c.noMarkers, "no-markers", false, "do not heed markers such as LCOV_EXCL_LINE in the sources")
	f.BoolVar(&c.excludeGenerated, "exclude-generated", false, "leave out source files whose first lines say that a tool made them, such as \"@generated\"")
	f.Var(&c.excludeLines, "exclude-lines", "`REGEX` leave out source lines that match REGEX, as if marked; repeatable")
	f.IntVar(&c.merge.Workers, "j", 0, "`N` read N inputs at the same time; the result does not depend on N (default one per CPU)")
	c.merge.Programs.Declare(f)
	c.merge.Programs.DeclareClasses(f)
	c.merge.Programs.DeclareCoverage(f)
}

// check parses the options about paths into c.path, and the options about lines into c.excluded.
func (c *shared) check() error {
	c.behind = make(map[string]int)
	if c.merge.Workers < 0 {
		return cli.Usagef("option -j takes a number from 1 up")
	}
	var maps []pathMap
	for _, m := range c.pathMaps {
		from, to, ok := strings.Cut(m, "=")
		if !ok || from == "" {
			return cli.Usagef("option --path-map takes FROM=TO, not %q", m)
		}
		maps = append(maps, pathMap{sourcepath.TrimSlash(from), sourcepath.TrimSlash(to)})
	}
	lines, err := compilePatterns("exclude-lines", c.excludeLines)
	if err != nil {
		return err
	}
	if len(lines) > 0 {
		c.excluded = func(line []byte) bool { return lines.match(string(line)) }
	}
	if c.noMarkers && (c.excludeGenerated || len(lines) > 0) {
		return cli.Usagef("options --exclude-generated and --exclude-lines exclude --no-markers")
	}
	include, err := compilePatterns("include", c.include)
	if err != nil {
		return err
	}
	ignore, err := compilePatterns("ignore", c.ignore)
	if err != nil {
		return err
	}
	c.path = func(path string) string {
		path = c.mapPath(maps, path)
		if len(include) > 0 && !include.match(path) || ignore.match(path) {
			return ""
		}
		return path
	}
	return nil
}

// A pathMap replaces a folder at the beginning of paths.
type pathMap struct{ from, to string }

// mapPath applies --path-map, then --source. Of a Windows path, what --path-map leaves and relative paths get slashes,
// so that they join the paths of other systems and name files on this one.
func (c *shared) mapPath(maps []pathMap, path string) string {
	i := slices.IndexFunc(maps, func(m pathMap) bool { _, ok := sourcepath.Below(path, m.from); return ok })
	switch {
	case i >= 0:
		path = maps[i].replace(path)
	case sourcepath.IsWindows(path) && !sourcepath.IsAbsolute(path):
		path = sourcepath.Slashed(path)
	}
	if c.source != "" && !sourcepath.IsAbsolute(path) {
		path = sourcepath.TrimSlash(c.source) + "/" + path
	}
	return path
}

func (m *pathMap) replace(path string) string {
	rest, _ := sourcepath.Below(path, m.from)
	switch {
	case sourcepath.IsWindows(m.to) && !strings.Contains(m.to, "/"):
		return m.to + `\` + strings.ReplaceAll(rest, "/", `\`)
	case m.to != "":
		return m.to + "/" + rest
	}
	return rest
}

// patterns are the values of a repeatable option.
type patterns []*regexp.Regexp

func compilePatterns(option string, list []string) (all patterns, err error) {
	for _, text := range list {
		re, err := console.Pattern(option, text)
		if err != nil {
			return nil, err
		}
		all = append(all, re)
	}
	return all, nil
}

func (p patterns) match(text string) bool {
	return slices.ContainsFunc(p, func(re *regexp.Regexp) bool { return re.MatchString(text) })
}

func (c *shared) writeOptions() coverage.WriteOptions {
	opt := coverage.WriteOptions{}
	if c.demangle {
		opt.Name = func(s *profile.Symbol) string { return symbols.Demangle(s.String()) + s.Signature }
	}
	return opt
}

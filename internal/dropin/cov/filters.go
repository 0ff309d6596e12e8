package cov

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/dropin/ere"
	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
	"github.com/profuse-pgo/profuse/internal/program/covmap"
)

// A filter selects the functions that at least one of its rules accepts.
type filter []func(f *covmap.Function) bool

// makeFilters sets the filters of functions and of files. Names and percentages are two
// filters: a function is shown if any rule about names and any rule about percentages accepts
// the function (CoverageFiltersMatchAll of CoverageFilters).
func (t *tool) makeFilters() error {
	o := &t.opt
	var names, shares filter
	for _, part := range o.name {
		names = append(names, func(f *covmap.Function) bool { return strings.Contains(f.Name, part) })
	}
	if len(o.nameFile) > 0 {
		list, err := readAllowlist(o.nameFile)
		if err != nil {
			t.fail("", err.Error()) // and goes on, as llvm-cov does
		} else {
			names = append(names, func(f *covmap.Function) bool { return list.allows(f.Name) })
		}
	}
	for _, pattern := range o.nameRE {
		match, err := t.compile(pattern)
		if err != nil {
			return err
		}
		names = append(names, func(f *covmap.Function) bool { return match(f.Name) })
	}
	for _, rule := range []struct {
		limit   *float64
		accepts func(f *covmap.Function, limit float64) bool
	}{
		{o.regionLT, func(f *covmap.Function, limit float64) bool { return percent(f.Summary().Regions) < limit }},
		{o.regionGT, func(f *covmap.Function, limit float64) bool { return percent(f.Summary().Regions) > limit }},
		{o.lineLT, func(f *covmap.Function, limit float64) bool { return percent(f.Summary().Lines) < limit }},
		{o.lineGT, func(f *covmap.Function, limit float64) bool { return percent(f.Summary().Lines) > limit }},
	} {
		if rule.limit != nil {
			shares = append(shares, func(f *covmap.Function) bool { return rule.accepts(f, *rule.limit) })
		}
	}
	for _, f := range []filter{names, shares} {
		if len(f) > 0 {
			t.filters = append(t.filters, f)
		}
	}
	for _, of := range []struct {
		patterns []string
		rules    *[]func(string) bool
	}{{o.ignoreFile, &t.ignore}, {o.includeFile, &t.include}} {
		for _, pattern := range of.patterns {
			match, err := t.compile(pattern)
			if err != nil {
				return err
			}
			*of.rules = append(*of.rules, match)
		}
	}
	return nil
}

// compile compiles a regular expression. An invalid expression matches nothing, as in
// llvm-cov, and is a warning. An expression that only LLVM can compile is an error.
func (t *tool) compile(pattern string) (func(string) bool, error) {
	match, err := ere.Compile(pattern)
	switch {
	case err == nil:
		return match, nil
	case !errors.Is(err, ere.ErrUnsupported):
		t.warn("", fmt.Sprintf("regular expression '%s' matches nothing: %v", pattern, err))
		return func(string) bool { return false }, nil
	}
	return nil, fmt.Errorf("regular expression '%s': %w", pattern, err)
}

func (t *tool) accepts(f *covmap.Function) bool {
	return !slices.ContainsFunc(t.filters, func(any filter) bool {
		return !slices.ContainsFunc(any, func(accepts func(*covmap.Function) bool) bool { return accepts(f) })
	})
}

// An allowlist holds the functions of --name-allowlist: the part of LLVM's special case lists that llvm-cov uses.
type allowlist []section

// A section applies to llvm-cov if its name, a pattern, matches "llvmcov".
type section struct {
	applies  bool
	patterns []func(string) bool
}

// readAllowlist reads files with lines of the form
//
//	[section]
//	allowlist_fun:pattern
func readAllowlist(paths []string) (l allowlist, err error) {
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("can't open file '%s': %s", path, withcolor.Words(err))
		}
		if err := l.parse(string(data)); err != nil {
			return nil, fmt.Errorf("error parsing file '%s': %w", path, err)
		}
	}
	return l, nil
}

// parse adds the sections of one file. The first section begins without a header and always
// applies. A first line "#!special-case-list-v1" chooses the older syntax of patterns.
// Errors are in the words of llvm::SpecialCaseList, with line numbers from 1.
func (l *allowlist) parse(data string) error {
	pattern, kind := compileGlob, "glob"
	if header, ok := strings.CutPrefix(data, "#!special-case-list-v"); ok && isOne(header) {
		pattern, kind = compileStarred, "regex"
	}
	// Rules before the first header are for every tool.
	own := section{applies: true}
	for i, line := range strings.Split(data, "\n") {
		number := i + 1
		if strings.HasPrefix(line, "#") {
			continue
		}
		line = strings.Trim(line, " \t\n\v\f\r")
		if line == "" {
			continue
		}
		if name, ok := strings.CutPrefix(line, "["); ok {
			if name, ok = strings.CutSuffix(name, "]"); !ok {
				return fmt.Errorf("malformed section header on line %d: %s", number, line)
			}
			match, err := pattern(name)
			if err != nil {
				return fmt.Errorf("malformed section at line %d: '%s': %w", number, name, err)
			}
			*l = append(*l, own)
			own = section{applies: match("llvmcov")}
			continue
		}
		prefix, rest, _ := strings.Cut(line, ":")
		if rest == "" {
			return fmt.Errorf("malformed line %d: '%s'", number, line)
		}
		// llvm-cov asks for rules without a category.
		text, category, _ := strings.Cut(rest, "=")
		match, err := pattern(text)
		if err != nil {
			return fmt.Errorf("malformed %s in line %d: '%s': %w", kind, number, text, err)
		}
		if prefix == "allowlist_fun" && category == "" {
			own.patterns = append(own.patterns, match)
		}
	}
	*l = append(*l, own)
	return nil
}

// isOne reports whether the number at the beginning of s is 0 or 1.
func isOne(s string) bool {
	n := len(s) - len(strings.TrimLeft(s, "0123456789"))
	digits := strings.TrimLeft(s[:n], "0")
	return n > 0 && (digits == "" || digits == "1")
}

// allows reports whether a pattern of a section that applies matches the name, which is not demangled.
func (l allowlist) allows(name string) bool {
	return slices.ContainsFunc(l, func(s section) bool {
		return s.applies && slices.ContainsFunc(s.patterns, func(match func(string) bool) bool { return match(name) })
	})
}

// compileStarred compiles a pattern of version 1: a regular expression in which "*" stands for ".*".
func compileStarred(pattern string) (func(string) bool, error) {
	if pattern == "" {
		return nil, message("Supplied regex was blank")
	}
	return ere.Compile("^(" + strings.ReplaceAll(pattern, "*", ".*") + ")$")
}

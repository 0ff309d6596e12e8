package instrument

import (
	"bufio"
	"bytes"
	"fmt"
	"path"
	"strings"
)

// ParseSpecialCaseList parses a list of functions to skip, in the special case
// list format of LLVM's sanitizers, and returns the function for [Options.Skip]:
//
//	# comment
//	[mip]
//	fun:_Z*debug*=block
//	fun:main
//
// Lines count if they stand before the first section or in a section whose name matches "mip", their kind
// is fun and their category, if any, "block"; other lines are for other tools. In patterns * matches any
// characters, ? one character, [a-z] one of a class. On Mach-O names begin with an underscore, as in the
// symbol table.
func ParseSpecialCaseList(list []byte) (skip func(name string) bool, err error) {
	exact := map[string]bool{}
	var patterns []string
	ours := true
	s := bufio.NewScanner(bytes.NewReader(list))
	s.Buffer(nil, len(list)+1)
	for n := 1; s.Scan(); n++ {
		line := strings.TrimSpace(s.Text())
		switch {
		case line == "" || line[0] == '#':
			continue
		case line[0] == '[':
			if !strings.HasSuffix(line, "]") {
				return nil, fmt.Errorf("%w: special-case list, line %d: section without ]", ErrOptions, n)
			}
			if ours, err = path.Match(line[1:len(line)-1], "mip"); err != nil {
				return nil, fmt.Errorf("%w: special-case list, line %d: section %s: %w", ErrOptions, n, line, err)
			}
			continue
		}
		kind, pattern, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("%w: special-case list, line %d: %q is not KIND:PATTERN", ErrOptions, n, line)
		}
		category := "block"
		if i := strings.LastIndexByte(pattern, '='); i >= 0 {
			pattern, category = pattern[:i], pattern[i+1:]
		}
		if !ours || kind != "fun" || category != "block" {
			continue
		}
		if !strings.ContainsAny(pattern, `*?[\`) {
			exact[pattern] = true
			continue
		}
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("%w: special-case list, line %d: pattern %q: %w", ErrOptions, n, pattern, err)
		}
		patterns = append(patterns, pattern)
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%w: special-case list: %w", ErrOptions, err)
	}
	return func(name string) bool {
		if exact[name] {
			return true
		}
		for _, p := range patterns {
			// In path.Match * does not match a slash, here it does. Symbols do not contain \x01.
			if ok, _ := path.Match(strings.ReplaceAll(p, "/", "\x01"), strings.ReplaceAll(name, "/", "\x01")); ok {
				return true
			}
		}
		return false
	}, nil
}

package main

import (
	"os"
	"regexp"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/irpgo"
)

// selection returns which functions are kept, by the names that they have in
// the end; nil if all are.
func (c *mergeRun) selection() (func(name string) bool, error) {
	only, err := functionPattern("function", c.only)
	if err != nil {
		return nil, err
	}
	without, err := functionPattern("no-function", c.without)
	if err != nil || only == nil && without == nil {
		return nil, err
	}
	return func(name string) bool {
		return (only == nil || matchesFunction(only, name)) && (without == nil || !matchesFunction(without, name))
	}, nil
}

// renaming returns how functions are renamed, nil if they are not.
func (c *mergeRun) renaming() (func(name string) string, error) {
	if c.remap == "" {
		return nil, nil
	}
	text, err := os.ReadFile(c.remap)
	if err != nil {
		return nil, err
	}
	m, err := irpgo.ParseRemapping(c.remap, text)
	if err != nil {
		return nil, err
	}
	return m.Rename, nil
}

// functionPattern returns nil for an option that was not given.
func functionPattern(option, pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		dashes := "--"
		if len(option) == 1 {
			dashes = "-"
		}
		return nil, cli.Usagef("option %s%s: %v", dashes, option, err)
	}
	return re, nil
}

// matchesFunction tries a name as it is and as people write it.
func matchesFunction(re *regexp.Regexp, name string) bool {
	return re.MatchString(name) || re.MatchString(symbols.Demangle(name))
}

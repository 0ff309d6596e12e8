package console

import (
	"regexp"

	"github.com/profuse-pgo/profuse/internal/command/cli"
	"github.com/profuse-pgo/profuse/internal/symbols"
)

// FunctionPattern returns nil for an option that was not given. A wrong expression is an
// error of usage that names the option.
func FunctionPattern(option, pattern string) (*regexp.Regexp, error) {
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

// MatchesFunction tries a name as it is and as people write it.
func MatchesFunction(re *regexp.Regexp, name string) bool {
	return re.MatchString(name) || re.MatchString(symbols.Demangle(name))
}

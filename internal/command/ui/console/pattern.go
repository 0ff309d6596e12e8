package console

import (
	"regexp"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/symbols"
)

// Pattern compiles the value of an option. A wrong expression is an error of usage.
func Pattern(option, value string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(value)
	if err != nil {
		return nil, cli.Usagef("option --%s: %v", option, err)
	}
	return re, nil
}

// FunctionPattern is [Pattern] that returns nil for an option that was not given.
func FunctionPattern(option, value string) (*regexp.Regexp, error) {
	if value == "" {
		return nil, nil
	}
	return Pattern(option, value)
}

// MatchesFunction tries a name as it is and as people write it.
func MatchesFunction(re *regexp.Regexp, name string) bool {
	return re.MatchString(name) || re.MatchString(symbols.Demangle(name))
}

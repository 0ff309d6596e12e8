package console

import (
	"regexp"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/symbols"
)

// Pattern compiles the regular expression of an option. The error is a usage error.
func Pattern(option, value string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(value)
	if err != nil {
		return nil, cli.Usagef("option --%s: %v", option, err)
	}
	return re, nil
}

// FunctionPattern is [Pattern], but returns nil for "": the option was not given.
func FunctionPattern(option, value string) (*regexp.Regexp, error) {
	if value == "" {
		return nil, nil
	}
	return Pattern(option, value)
}

// MatchesFunction reports whether a name matches, mangled or demangled.
func MatchesFunction(re *regexp.Regexp, name string) bool {
	return re.MatchString(name) || re.MatchString(symbols.Demangle(name))
}

package irpgocmd

import (
	"os"

	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/llvm/remapping"
)

// selection returns the filter of --function and --no-function; nil keeps all functions. It takes
// names after --remap.
func (c *adder) selection() (func(name string) bool, error) {
	only, err := console.FunctionPattern("function", c.only)
	if err != nil {
		return nil, err
	}
	without, err := console.FunctionPattern("no-function", c.without)
	if err != nil || only == nil && without == nil {
		return nil, err
	}
	return func(name string) bool {
		return (only == nil || console.MatchesFunction(only, name)) && (without == nil || !console.MatchesFunction(without, name))
	}, nil
}

// renaming returns the function that renames functions; nil if none are renamed.
func (c *adder) renaming() (func(name string) string, error) {
	if c.remap == "" {
		return nil, nil
	}
	text, err := os.ReadFile(c.remap)
	if err != nil {
		return nil, err
	}
	return remapping.Parse(c.remap, text)
}

package profdata

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/dropin/ere"
	"github.com/profuse-pgo/profuse/internal/llvm/remapping"
	"github.com/profuse-pgo/profuse/profile"
)

// filterFunctions removes the functions that --function and --no-function exclude, and prints their number. It asks for
// the functions only with one of these options.
func filterFunctions[F any](t *tool, functions func() *[]F, name func(F) string) error {
	want, err := compileFilter(t.opt.function)
	if err != nil {
		return err
	}
	reject, err := compileFilter(t.opt.noFunction)
	if err != nil || want == nil && reject == nil {
		return err
	}
	list := functions()
	all := len(*list)
	*list = slices.DeleteFunc(*list, func(f F) bool {
		return reject != nil && reject(name(f)) || want != nil && !want(name(f))
	})
	t.msg.plain("%d of %d functions in the original profile are filtered.", all-len(*list), all)
	return nil
}

// remapping (SymbolRemapper) returns the renaming of functions by --remapping-file, or nil without that option.
func (t *tool) remapping() (func(string) string, error) {
	name := t.opt.remappingFile
	if name == "" {
		return nil, nil
	}
	text, err := t.readList(name)
	if err != nil {
		return nil, inFile(err, name)
	}
	rename, err := remapping.Parse(name, text)
	if e := (*profile.FormatError)(nil); errors.As(err, &e) {
		err = &failure{
			whence: fmt.Sprintf("%s:%d", name, e.Line), message: "unexpected line in remapping file",
			hint: "expected 'old_symbol new_symbol'",
		}
	}
	return rename, err
}

// compileFilter returns nil for an empty filter. A filter that begins with a question mark is a
// part of a name mangled by Microsoft's rules, not an expression.
func compileFilter(s string) (match func(name string) bool, err error) {
	switch {
	case s == "":
		return nil, nil
	case s[0] == '?':
		return func(name string) bool { return strings.Contains(name, s) }, nil
	}
	return ere.Compile(s)
}

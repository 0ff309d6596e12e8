package profdata

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/dropin/ere"
	"github.com/profuse-pgo/profuse/profile"
)

// filter (filterFunctions) removes the functions that --function and --no-function exclude, and
// prints their number.
func (t *tool) filter(m *irpgo.Merged) error {
	want, reject, err := t.filters()
	if err != nil || want == nil && reject == nil {
		return err
	}
	p := m.Profile()
	all := len(p.Functions)
	p.Functions = slices.DeleteFunc(p.Functions, func(f irpgo.Function) bool {
		return reject != nil && reject(f.Name) || want != nil && !want(f.Name)
	})
	t.msg.plain("%d of %d functions in the original profile are filtered.", all-len(p.Functions), all)
	return nil
}

// filters returns the matchers of --function and --no-function; nil without the option.
func (t *tool) filters() (want, reject func(name string) bool, err error) {
	if want, err = compileFilter(t.opt.function); err == nil {
		reject, err = compileFilter(t.opt.noFunction)
	}
	return want, reject, err
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
	rename, err := irpgo.ParseRemapping(name, text)
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

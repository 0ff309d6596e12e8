package console

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile"
)

// SymbolName returns the text for a function of a view: the name, demangled unless Mangled, the
// signature of a method, and in brackets the file of a local function.
func (p *Printer) SymbolName(s *profile.Symbol) string {
	name := s.String()
	if !p.Mangled {
		name = symbols.Demangle(name)
	}
	name += s.Signature
	if s.File != "" {
		name += " [" + s.File + "]"
	}
	return Printable(name)
}

// maxStackFrames limits the frames of a stack in a line.
const maxStackFrames = 1000

// StackName returns the text for a stack, the callee first. It has at most maxStackFrames frames and
// the number of the others.
func (p *Printer) StackName(frames []profile.Frame) string {
	var line []byte
	for i := range frames {
		f := &frames[i]
		if i > 0 {
			line = append(line, " < "...)
		}
		if i == maxStackFrames && len(frames) > maxStackFrames+1 {
			line = fmt.Appendf(line, "%s frames more", cli.Count(len(frames)-i))
			break
		}
		s := profile.Symbol{Name: f.Name, ID: f.ID}
		line = append(line, p.SymbolName(&s)...)
		switch {
		case f.Line != 0:
			line = fmt.Appendf(line, ":%d", f.Line)
		case f.BCI != 0:
			line = fmt.Appendf(line, "@%d", f.BCI)
		}
	}
	return string(line)
}

// Cutoff is an entry of a summary.
type Cutoff struct {
	Cutoff uint64 `json:"cutoff"` // share of the total count, in millionths
	// Counters is how many of the greatest counters make up the cutoff, MinCount the least of them.
	MinCount uint64 `json:"min_count"`
	Counters uint64 `json:"counters"`
}

// NewCutoffs converts the cutoffs of a distribution, without null in JSON.
func NewCutoffs(from profile.Cutoffs) []Cutoff {
	out := make([]Cutoff, len(from))
	for i, c := range from {
		out[i] = Cutoff{Cutoff: c.Share, MinCount: c.Min, Counters: c.Values}
	}
	return out
}

// Symbol names a function or another symbol in three ways.
type Symbol struct {
	Name      string `json:"name"`      // as in the profile; "" if unknown
	Demangled string `json:"demangled"` // without the file
	File      string `json:"file"`      // of a function of local linkage, else ""
}

// InsertBounded inserts e into a list that is sorted by order, before equal elements, and returns the
// first limit elements of the list.
func InsertBounded[E any](list []E, e E, limit int, order func(a, b E) int) []E {
	i, _ := slices.BinarySearchFunc(list, e, order)
	if i == limit {
		return list
	}
	list = slices.Insert(list, i, e)
	return list[:min(len(list), limit)]
}

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

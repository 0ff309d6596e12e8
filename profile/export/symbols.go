package export

import (
	"strings"

	"github.com/profuse-pgo/profuse/internal/numbering"
	mangled "github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile"
)

// symbols numbers the symbols of a file in the order of their first use and caches their display names.
type symbols struct {
	opt       Options
	table     numbering.Table[profile.Symbol]
	names     []string
	overloads bool // reports that symbols have signatures which their names lack
}

func (t *symbols) number(s *profile.Symbol) (n int, fresh bool) {
	number, fresh := t.table.Add(*s)
	return int(number), fresh
}

func (t *symbols) name(s *profile.Symbol) string {
	n, _ := t.number(s)
	return t.nameOf(n)
}

func (t *symbols) nameOf(n int) string {
	for len(t.names) <= n {
		t.names = append(t.names, t.display(&t.table.Keys[len(t.names)]))
	}
	return t.names[n]
}

func (t *symbols) display(s *profile.Symbol) string {
	name := s.String()
	if t.opt.Demangle {
		name = mangled.Demangle(name)
	}
	if s.Signature != "" {
		if t.opt.Signatures {
			return name + s.Signature
		}
		t.overloads = true
	}
	return name
}

// line returns the line of a frame: a line of its file, a line relative to its function,
// or a bytecode index; 0 if there is none.
func (e *exporter) line(f *profile.Frame) int32 {
	switch {
	case e.features.Lines || e.features.LineOffsets:
		return f.Line
	case e.features.Bytecodes:
		return max(f.BCI, 0)
	}
	return 0
}

func (e *exporter) loseSignatures() {
	if e.symbols.overloads {
		e.lose(0, "signatures", "methods of one name look like one: ask for signatures")
	}
}

// loseLines records the meaning of line numbers that are not lines of the source file.
func (e *exporter) loseLines() {
	switch {
	case e.features.Lines:
	case e.features.LineOffsets:
		e.lose(0, "source lines", "the profile has lines counted from the beginning of the function: line numbers are those")
	case e.features.Bytecodes:
		e.lose(0, "source lines", "the profile has bytecode indexes: line numbers are those")
	}
}

// clean replaces bytes that would end a name: line breaks with spaces, separators with commas.
func (e *exporter) clean(name, separators string) string {
	if !strings.ContainsAny(name, separators) {
		return name
	}
	e.lose(1, "names with characters that separate", "the format has no way to write them: replaced")
	return strings.Map(func(r rune) rune {
		switch {
		case !strings.ContainsRune(separators, r):
			return r
		case r == '\n' || r == '\r':
			return ' '
		}
		return ','
	}, name)
}

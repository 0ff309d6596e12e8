package layout

import (
	"iter"
	"slices"
	"strings"
)

// A SymbolSet holds the symbols of the program that is to be laid out, to find
// those of a profile of another build among them.
type SymbolSet struct {
	count      map[string]int      // how many symbols have a name
	byBase     map[string][]string // names by what baseName makes of them, sorted
	underscore bool
}

// SymbolOptions adjust [NewSymbolSet]. The zero value is right for ELF.
type SymbolOptions struct {
	// Underscore: all symbols that come from C have a leading underscore, as
	// in Mach-O.
	Underscore bool
}

// NewSymbolSet returns the set of the given names. A name that comes several
// times is one of several functions, local to their files.
func NewSymbolSet(symbols iter.Seq[string], opt SymbolOptions) *SymbolSet {
	s := &SymbolSet{count: make(map[string]int), byBase: make(map[string][]string), underscore: opt.Underscore}
	for name := range symbols {
		s.count[name]++
		if s.count[name] == 1 {
			base := baseName(name)
			s.byBase[base] = append(s.byBase[base], name)
		}
	}
	for _, names := range s.byBase {
		slices.Sort(names)
	}
	return s
}

// Len returns the number of different names.
func (s *SymbolSet) Len() int { return len(s.count) }

// A Match says which symbols the names of a profile stand for.
type Match struct {
	Symbols    []string   // what to write, in the order of the names, each once
	Kept       int        // names that are symbols as they are, repetitions aside
	Renamed    []Renaming // names that stand for symbols with other suffixes
	Missing    []string   // names that stand for none
	Duplicates []string   // names that stand for what names before them do
	// Ambiguous are those kept that several functions of the program have, of
	// which linkers place all together, or the first.
	Ambiguous []string
}

// A Renaming is a name of the profile and the symbols that it stands for.
type Renaming struct {
	From string
	To   []string
}

// Unique matches names with themselves: only duplicates are found.
func Unique(names []string) Match {
	var m Match
	taken := make(map[string]bool, len(names))
	for _, n := range names {
		if m.take(taken, n) {
			m.Kept++
		} else {
			m.Duplicates = append(m.Duplicates, n)
		}
	}
	return m
}

// Match finds the symbols of the names of a profile, which are in the order
// wanted.
//
// A name that is no symbol stands for all symbols that differ from it in the
// suffixes that compilers append, ".llvm.1234" say, which change from build to
// build: for the cold part of a function if it names that and there is one,
// otherwise never for cold parts. Where Mach-O's underscore is missing or too
// much, names are looked for with or without it.
func (s *SymbolSet) Match(names []string) Match {
	var m Match
	taken := make(map[string]bool, len(names))
	strip := !s.underscore && !slices.ContainsFunc(names, func(n string) bool { return !strings.HasPrefix(n, "_") })
	for _, n := range names {
		symbols := s.find(n, strip)
		if len(symbols) == 0 {
			m.Missing = append(m.Missing, n)
			continue
		}
		symbols = slices.DeleteFunc(symbols, func(symbol string) bool { return !m.take(taken, symbol) })
		switch {
		case len(symbols) == 0:
			m.Duplicates = append(m.Duplicates, n)
		case len(symbols) > 1 || symbols[0] != n:
			m.Renamed = append(m.Renamed, Renaming{n, symbols})
		default:
			m.Kept++
			if s.count[n] > 1 {
				m.Ambiguous = append(m.Ambiguous, n)
			}
		}
	}
	return m
}

// take appends a symbol unless it has been taken.
func (m *Match) take(taken map[string]bool, symbol string) bool {
	if taken[symbol] {
		return false
	}
	taken[symbol] = true
	m.Symbols = append(m.Symbols, symbol)
	return true
}

// find returns the symbols that a name stands for. strip allows for a leading
// underscore that the symbols do not have.
func (s *SymbolSet) find(name string, strip bool) []string {
	spellings := []string{name}
	switch {
	case s.underscore:
		spellings = append(spellings, "_"+name)
	case strip:
		spellings = append(spellings, name[1:])
	}
	for _, n := range spellings {
		if s.count[n] > 0 {
			return []string{n}
		}
	}
	for _, n := range spellings {
		var warm, cold []string
		for _, symbol := range s.byBase[baseName(n)] {
			if _, isCold := cutCold(symbol); isCold {
				cold = append(cold, symbol)
			} else {
				warm = append(warm, symbol)
			}
		}
		if _, isCold := cutCold(n); isCold && len(cold) > 0 {
			return cold
		}
		if len(warm) > 0 {
			return warm
		}
	}
	return nil
}

// The suffixes of clones and parts of functions; most come with a number.
var (
	numberedSuffixes = []string{
		".llvm",                                           // promoted from its file by ThinLTO
		".__uniq",                                         // -funique-internal-linkage-names
		".part", ".cold", ".constprop", ".isra", ".clone", // what GCC and LLVM split off or specialize
		".lto_priv", // made local by GCC's LTO
	}
	plainSuffixes = []string{".cold", ".localalias"}
)

// baseName returns the name without suffixes of compilers.
func baseName(name string) string {
	for {
		short := cutSuffix(name)
		if short == name {
			return name
		}
		name = short
	}
}

// cutSuffix removes the last suffix of a compiler, if there is one.
func cutSuffix(name string) string {
	if i := strings.LastIndexByte(name, '.'); i > 0 && isNumber(name[i+1:]) {
		for _, s := range numberedSuffixes {
			if short, ok := strings.CutSuffix(name[:i], s); ok && short != "" {
				return short
			}
		}
	}
	for _, s := range plainSuffixes {
		if short, ok := strings.CutSuffix(name, s); ok && short != "" {
			return short
		}
	}
	return name
}

// cutCold removes the suffix of a cold part, ".cold" or ".cold.1".
func cutCold(name string) (function string, cold bool) {
	if i := strings.LastIndexByte(name, '.'); i > 0 && isNumber(name[i+1:]) {
		name = name[:i]
	}
	function, cold = strings.CutSuffix(name, ".cold")
	return function, cold && function != ""
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

package order

import (
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/symbols"
)

// A symbolSet holds the symbols of the program to be laid out. It matches the names
// of a profile, possibly of another build, with them.
type symbolSet struct {
	count      map[string]int      // number of symbols by name
	byBase     map[string][]string // sorted names by base name
	underscore bool
}

// SymbolOptions adjust [MatchSymbols] and [NewImage]. The zero value is right for ELF.
type SymbolOptions struct {
	Underscore bool // means that all C symbols have a leading underscore, as in Mach-O
}

// newSymbolSet returns the set of the given names. A name that occurs several times
// stands for several functions that are local to their files.
func newSymbolSet(names []string, opt SymbolOptions) *symbolSet {
	s := &symbolSet{count: make(map[string]int), byBase: make(map[string][]string), underscore: opt.Underscore}
	for _, name := range names {
		s.count[name]++
		if s.count[name] == 1 {
			base := symbols.BaseName(name)
			s.byBase[base] = append(s.byBase[base], name)
		}
	}
	for _, names := range s.byBase {
		slices.Sort(names)
	}
	return s
}

// A Match is the result of matching the names of a profile with symbols.
type Match struct {
	Symbols    []string   // symbols to write, in the order of the names, each once
	Kept       int        // number of distinct names that are symbols
	Renamed    []Renaming // names that match symbols with other suffixes
	Missing    []string   // names without a symbol
	Duplicates []string   // names whose symbols previous names match already
	// Ambiguous are the kept names that several functions of the program share.
	// Linkers place all of them together, or only the first.
	Ambiguous []string
}

// A Renaming is a name of the profile and the symbols that it matches.
type Renaming struct {
	From string
	To   []string
}

// Unique matches the names with themselves, which removes duplicates.
func Unique(names []string) Match {
	var m Match
	taken := make(map[string]bool, len(names))
	for _, n := range names {
		if m.addSymbol(taken, n) {
			m.Kept++
		} else {
			m.Duplicates = append(m.Duplicates, n)
		}
	}
	return m
}

// MatchSymbols finds the names of a profile, possibly of another build, among the
// symbols of the program to be laid out, in the order of the names. A symbol that
// occurs several times stands for several functions that are local to their files.
//
// A name that is not a symbol matches all symbols that differ from it only in what changes from build to build:
// the suffixes that compilers append, such as ".llvm.1234", and Rust's hashes. The name of a cold part matches
// cold parts if there are any; other names never do. MatchSymbols adds or removes Mach-O's underscore if the names
// and the symbols differ in it.
func MatchSymbols(names, symbols []string, opt SymbolOptions) Match {
	return newSymbolSet(symbols, opt).match(names)
}

func (s *symbolSet) match(names []string) Match {
	var m Match
	taken := make(map[string]bool, len(names))
	strip := !s.underscore && !slices.ContainsFunc(names, func(n string) bool { return !strings.HasPrefix(n, "_") })
	for _, n := range names {
		found := s.findSymbols(n, strip)
		if len(found) == 0 {
			m.Missing = append(m.Missing, n)
			continue
		}
		found = slices.DeleteFunc(found, func(symbol string) bool { return !m.addSymbol(taken, symbol) })
		switch {
		case len(found) == 0:
			m.Duplicates = append(m.Duplicates, n)
		case len(found) > 1 || found[0] != n:
			m.Renamed = append(m.Renamed, Renaming{n, found})
		default:
			m.Kept++
			if s.count[n] > 1 {
				m.Ambiguous = append(m.Ambiguous, n)
			}
		}
	}
	return m
}

func (m *Match) addSymbol(taken map[string]bool, symbol string) bool {
	if taken[symbol] {
		return false
	}
	taken[symbol] = true
	m.Symbols = append(m.Symbols, symbol)
	return true
}

// findSymbols returns the symbols that a name matches. With strip it also tries the name
// without its first byte, an underscore.
func (s *symbolSet) findSymbols(name string, strip bool) []string {
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
		for _, symbol := range s.byBase[symbols.BaseName(n)] {
			if _, isCold := symbols.CutCold(symbol); isCold {
				cold = append(cold, symbol)
			} else {
				warm = append(warm, symbol)
			}
		}
		if _, isCold := symbols.CutCold(n); isCold && len(cold) > 0 {
			return cold
		}
		if len(warm) > 0 {
			return warm
		}
	}
	return nil
}

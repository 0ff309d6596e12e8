package gcov

import "fmt"

// A Kind says what counters count. The numbers of kinds in files differ between releases; [Kind] does not.
type Kind int

// The kinds of counters (gcc/gcov-counter.def). All but the first are for PGO or need options.
const (
	KindArcs       Kind = iota // how often the arcs of the flow graph were taken
	KindInterval               // how often values were in an interval, above and below it
	KindPower                  // how often values were powers of 2, or not
	KindValues                 // the most frequent values
	KindCalls                  // the idents of the functions that indirect calls called most
	KindAverage                // sums and numbers of values
	KindOr                     // all values, or-ed
	KindTime                   // ordinal of the first call among all functions of the program, 0 if never
	KindConditions             // outcomes of the terms of decisions, as bits (GCC 14 on)
	KindPaths                  // prime paths taken, as bits (GCC 15 on)
	KindSingle                 // one value, its balance and the total, before GCC 10
	KindDelta                  // differences of values, before GCC 8
	KindOldValues              // a total and four values with their counts, GCC 9 and 10
	KindOldCalls               // the same of indirect calls before GCC 11; before GCC 10 a value, its balance and the total
	KindOldTop                 // the most frequent functions of indirect calls, GCC 4.9 to 9
	kindUnknown                // of a later release: kindUnknown + number in the file
)

var kindNames = [...]string{
	"arcs", "interval", "pow2", "topn", "indirect_call", "average", "ior", "time_profiler", "conditions", "paths",
	"single", "delta", "topn", "indirect_call", "indirect_call_topn",
}

// String returns GCC's word for the kind.
func (k Kind) String() string {
	if k >= kindUnknown {
		return fmt.Sprintf("kind %d", int(k-kindUnknown))
	}
	return kindNames[k]
}

// isList reports whether the counters are lists of values.
func (k Kind) isList() bool { return k == KindValues || k == KindCalls }

// kindsOf returns the kinds of a release, by their number in files.
func kindsOf(release int) []Kind {
	const none = kindUnknown
	switch {
	case release >= releaseLists:
		return []Kind{KindArcs, KindInterval, KindPower, KindValues, KindCalls, KindAverage, KindOr, KindTime, KindConditions, KindPaths}
	case release >= 1000:
		return []Kind{KindArcs, KindInterval, KindPower, KindOldValues, KindOldCalls, KindAverage, KindOr, KindTime}
	case release >= releaseFolder:
		return []Kind{KindArcs, KindInterval, KindPower, KindOldValues, KindOldCalls, KindAverage, KindOr, KindTime, KindOldTop, none}
	case release >= releaseSpans:
		return []Kind{KindArcs, KindInterval, KindPower, KindSingle, KindOldCalls, KindAverage, KindOr, KindTime, KindOldTop}
	}
	return []Kind{KindArcs, KindInterval, KindPower, KindSingle, KindDelta, KindOldCalls, KindAverage, KindOr, KindTime, KindOldTop}
}

// kindOf returns the kind that a tag stands for.
func kindOf(tag uint32, release int) Kind {
	n := int(tag-tagCounters) >> kindShift
	if kinds := kindsOf(release); n < len(kinds) && kinds[n] != kindUnknown {
		return kinds[n]
	}
	return kindUnknown + Kind(n)
}

// tagOf is the inverse of kindOf.
func tagOf(k Kind, release int) uint32 {
	n := int(k - kindUnknown)
	if k < kindUnknown {
		for i, of := range kindsOf(release) {
			if of == k {
				n = i
			}
		}
	}
	return tagCounters + uint32(n)<<kindShift
}

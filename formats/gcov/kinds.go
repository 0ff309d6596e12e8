package gcov

import "fmt"

// A Kind says what counters count. The numbers of kinds in files differ between releases; [Kind] does not.
type Kind int

// The kinds of counters (gcc/gcov-counter.def). All but the first are for PGO or need options.
const (
	kindArcs       Kind = iota // how often the arcs of the flow graph were taken
	kindInterval               // how often values were in an interval, above and below it
	kindPower                  // how often values were powers of 2, or not
	kindValues                 // the most frequent values
	kindCalls                  // the idents of the functions that indirect calls called most
	kindAverage                // sums and numbers of values
	kindOr                     // all values, or-ed
	kindTime                   // ordinal of the first call among all functions of the program, 0 if never
	kindConditions             // outcomes of the terms of decisions, as bits (GCC 14 on)
	kindPaths                  // prime paths taken, as bits (GCC 15 on)
	kindSingle                 // one value, its balance and the total, before GCC 10
	kindDelta                  // differences of values, before GCC 8
	kindOldValues              // a total and four values with their counts, GCC 9 and 10
	kindOldCalls               // the same of indirect calls before GCC 11; before GCC 10 a value, its balance and the total
	kindOldTop                 // the most frequent functions of indirect calls, GCC 4.9 to 9
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
func (k Kind) isList() bool { return k == kindValues || k == kindCalls }

// kindsOf returns the kinds of a release, by their number in files.
func kindsOf(release int) []Kind {
	const none = kindUnknown
	switch {
	case release >= releaseLists:
		return []Kind{kindArcs, kindInterval, kindPower, kindValues, kindCalls, kindAverage, kindOr, kindTime, kindConditions, kindPaths}
	case release >= 1000:
		return []Kind{kindArcs, kindInterval, kindPower, kindOldValues, kindOldCalls, kindAverage, kindOr, kindTime}
	case release >= releaseFolder:
		return []Kind{kindArcs, kindInterval, kindPower, kindOldValues, kindOldCalls, kindAverage, kindOr, kindTime, kindOldTop, none}
	case release >= releaseSpans:
		return []Kind{kindArcs, kindInterval, kindPower, kindSingle, kindOldCalls, kindAverage, kindOr, kindTime, kindOldTop}
	}
	return []Kind{kindArcs, kindInterval, kindPower, kindSingle, kindDelta, kindOldCalls, kindAverage, kindOr, kindTime, kindOldTop}
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

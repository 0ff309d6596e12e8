package report

import (
	"math"
	"math/bits"

	"github.com/profuse-pgo/profuse/profile"
)

// LLVM 14 to 22 promote indirect calls, that is, replace them by a comparison
// with the likely target and a direct call, by these defaults.
const (
	// promoteOfRest is the least share of the calls not yet promoted, in percent
	// (-icp-remaining-percent-threshold).
	promoteOfRest  = 30
	promoteOfTotal = 5 // the least share of all calls (-icp-total-percent-threshold)
	maxPromoted    = 3 // the greatest number of targets of a site (-icp-max-prom)
)

// LLVM 14 to 22 make versions of memory operations for single sizes by these defaults.
const (
	minSizeCount = 1000 // the least count of a site and of a size (-pgo-memop-count-threshold)
	// versionOfRest is the least share of the operations without a version, in
	// percent (-pgo-memop-percent-threshold).
	versionOfRest  = 40
	maxVersions    = 3   // the greatest number of sizes (-pgo-memop-max-version)
	maxVersionSize = 128 // the greatest size (-memop-value-prof-max-opt-size)
	annotatedSizes = 4   // the number of sizes that the pass sees at all (-memop-max-annotations)
)

// A fate is what the compiler does with a site, and why.
type fate int

// The fates. fateWords describes them.
const (
	notPredicted  fate = iota // of kinds that are not predicted
	isPromoted                // at least one target
	isCold                    // the count is not hot
	isScattered               // the first target is too rare
	isUnknown                 // the first target is not known
	isRare                    // sizes: too few operations
	isWithoutSize             // sizes: none that is single and small enough
)

var fateWords = [...]string{
	notPredicted: "", isPromoted: "promoted", isCold: "not hot", isScattered: "none dominant",
	isUnknown: "target unknown", isRare: "too rare", isWithoutSize: "no single size",
}

// String returns a word for the page, "" if the fate is not known.
func (f fate) String() string { return fateWords[f] }

// promotion predicts what LLVM does with the indirect calls and the memory
// operations of a profile. Profiles for other compilers have neither.
type promotion struct {
	hot uint64 // least count of a site that LLVM promotes; 0 if unknown
}

func (p *promotion) setFate(s *valueSite) {
	switch s.kind {
	case profile.IndirectCall:
		s.promoted, s.fate = p.calls(s)
	case profile.MemOpSize:
		s.promoted, s.fate = sizeVersions(s)
	}
}

// calls follows ICallPromotionAnalysis: it promotes the most frequent targets, up to the first that is too rare or
// that the compiler does not know. The profile does not tell whether a target is in the module and may be called
// with these arguments.
func (p *promotion) calls(s *valueSite) (n int, f fate) {
	rest := s.total
	for n < min(maxPromoted, len(s.targets)) {
		t := &s.targets[n]
		if !reaches(t.count, rest, promoteOfRest) || !reaches(t.count, s.total, promoteOfTotal) {
			f = isScattered
			break
		}
		if t.unknown() {
			f = isUnknown
			break
		}
		rest -= t.count
		n++
	}
	switch {
	case n == 0:
		return 0, f
	case s.total < max(p.hot, 1):
		return 0, isCold
	}
	return n, isPromoted
}

// sizeVersions follows MemOPSizeOpt except that LLVM scales the counts of the
// site to the count of its block, which the profile does not contain.
func sizeVersions(s *valueSite) (n int, f fate) {
	if s.total < minSizeCount {
		return 0, isRare
	}
	rest, seen := s.total, false
	for i := range s.targets[:min(len(s.targets), annotatedSizes)] {
		t := &s.targets[i]
		if !singleSize(t.size) || t.size > maxVersionSize {
			continue
		}
		seen = true
		if n == maxVersions || t.count < minSizeCount || t.count < percentOf(rest, versionOfRest) {
			break
		}
		rest -= t.count
		n++
	}
	switch {
	case n > 0:
		return n, isPromoted
	case seen:
		return 0, isScattered
	}
	return 0, isWithoutSize
}

func (s *valueSite) promotedTargets() []valueTarget {
	if s.kind != profile.MemOpSize {
		return s.targets[:s.promoted]
	}
	var list []valueTarget
	for _, t := range s.targets {
		if len(list) < s.promoted && singleSize(t.size) && t.size <= maxVersionSize {
			list = append(list, t)
		}
	}
	return list
}

func reaches(n, total, percent uint64) bool {
	nHigh, nLow := bits.Mul64(n, 100)
	high, low := bits.Mul64(total, percent)
	return nHigh > high || nHigh == high && nLow >= low
}

// percentOf returns the percentage of n, rounded down; percent is below 100.
func percentOf(n, percent uint64) uint64 {
	high, low := bits.Mul64(n, percent)
	q, _ := bits.Div64(high, low, 100)
	return q
}

// singleSize reports whether the runtime counts this length by itself and not
// in a range: lengths up to 8 and powers of two.
func singleSize(size uint64) bool { return size <= 8 || size&(size-1) == 0 }

// maxRange is the least length of the last range, which has no upper limit.
const maxRange = 513

// sizeRangeOf returns the range of LLVM's runtime that a length belongs to. high equals low if the length is
// counted by itself, and is 2^64-1 for the last range.
func sizeRangeOf(size uint64) (low, high uint64) {
	switch {
	case size >= maxRange:
		return maxRange, math.MaxUint64
	case singleSize(size):
		return size, size
	}
	below := uint64(1) << (bits.Len64(size) - 1)
	return below + 1, 2*below - 1
}

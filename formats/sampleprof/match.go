package sampleprof

import (
	"maps"
	"slices"

	"github.com/profuse-pgo/profuse/internal/addup"
	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/internal/symbols"
)

// The limits of SampleProfileMatcher.
const (
	minSimilarity = 80 // percent of the calls, exclusive (func-profile-similarity-threshold)
	minBlocks     = 5  // of a function, to be compared (min-func-count-for-cg-matching)
	minCalls      = 3  // ... (min-call-count-for-cg-matching)
)

// Limits of the work: maxCells for one alignment of call lists, maxAllCells for all alignments,
// maxPairs for the compared pairs of functions. A program with 100,000 functions takes a tenth.
const maxCells, maxAllCells, maxPairs = 1 << 22, 1 << 27, 1 << 20

// A matcher finds renamed functions and aligns the calls of functions (SampleProfileMatcher).
type matcher struct {
	*fitter
	taken   map[*programFunction]*flatFunction // new functions that are renamed old ones
	similar map[[2]uint64]bool                 // by the ids of a program function and a profile function
	cells   int                                // compared so far
	queue   []*flatFunction
}

// A call is a location of calls and the functions called there.
type call struct {
	at      Location
	callees calleeList
}

// matchAll aligns the calls of all common functions, and then of the renamed functions found on the way.
func (m *matcher) matchAll() {
	m.matchNames()
	for _, id := range slices.Sorted(maps.Keys(m.byID)) {
		if flat := m.byID[id]; flat.in != nil || flat.newName != nil {
			m.queue = append(m.queue, flat)
		}
	}
	for len(m.queue) > 0 {
		flat := m.queue[0]
		m.queue = m.queue[1:]
		m.matchCalls(flat)
	}
}

// isNew reports whether a function of the program is neither in the profile or its symbol list nor matched.
func (m *matcher) isNew(in *programFunction) bool {
	if in == nil || in.name == "" || m.taken[in] != nil || m.byID[in.id] != nil {
		return false
	}
	_, known := slices.BinarySearch(m.profile.Symbols, in.name)
	_, knownID := slices.BinarySearch(m.profile.SymbolIDs, in.id)
	return !known && !knownID
}

// rename records that a function of the profile has another name in the program.
func (m *matcher) rename(flat *flatFunction, in *programFunction) {
	flat.newName = in
	m.taken[in] = flat
}

// matchNames matches functions by demangled name, such as Rust functions with another hash, and then
// by name without scopes and parameters. It matches only names that are unique on both sides.
func (m *matcher) matchNames() {
	for _, readable := range []func(string) string{fullName, symbols.FunctionName} {
		type found struct {
			flat  *flatFunction
			in    *programFunction
			twice bool
		}
		byName := make(map[string]*found)
		for _, flat := range m.byID {
			if flat.in != nil || flat.newName != nil {
				continue
			}
			if name := readable(guid.Canonical(flat.Name.Text)); name != "" {
				if old := byName[name]; old != nil {
					old.twice = true
				} else {
					byName[name] = &found{flat: flat}
				}
			}
		}
		if len(byName) == 0 {
			continue
		}
		for id, in := range m.program.functions {
			if id != in.id || !m.isNew(in) {
				continue
			}
			if match := byName[readable(in.name)]; match != nil {
				match.twice = match.twice || match.in != nil
				match.in = in
			}
		}
		for _, match := range byName {
			if match.in != nil && !match.twice {
				m.rename(match.flat, match.in)
			}
		}
	}
}

// fullName returns the demangled name; "" if the name is not mangled.
func fullName(name string) string {
	if readable := symbols.Demangle(name); readable != name {
		return readable
	}
	return ""
}

// matchCalls aligns the calls of a function, and records the callees that have another name in the program.
func (m *matcher) matchCalls(flat *flatFunction) {
	in := flat.in
	if in == nil {
		in = flat.newName
	}
	if !(m.fit.Checksums && m.program.calls || m.fit.Lines && in.startLine) {
		return
	}
	profile, program := callsOf(flat.callees), m.callsIn(in)
	aligned := m.align(program, profile, true)
	flat.Calls, flat.Aligned = len(profile), len(aligned)
	for _, pair := range aligned {
		a, b := program[pair[0]].callees, profile[pair[1]].callees
		if len(b) != 1 || slices.Contains(a, b[0]) {
			continue
		}
		for _, id := range a {
			callee, old := m.program.functions[id], m.byID[b[0]]
			if m.similar[[2]uint64{id, b[0]}] && m.isNew(callee) && old != nil && old.newName == nil {
				m.rename(old, callee)
				m.queue = append(m.queue, old)
				break
			}
		}
	}
	if flat.in != nil {
		m.countCalls(flat, program, profile, aligned)
	}
}

// countCalls counts the calls whose callee has changed (recordCallsiteMatchStates).
func (m *matcher) countCalls(flat *flatFunction, program, profile []call, aligned [][2]int) {
	recovered := make(map[Location]bool, len(aligned))
	for _, pair := range aligned {
		recovered[profile[pair[1]].at] = true
	}
	s := &m.fit.Staleness
	unchanged := m.fit.Checksums && slices.Contains(flat.in.hashes, flat.checksum)
	for i := range profile {
		c := &profile[i]
		s.Calls++
		if unchanged { // missing calls were optimized away
			continue
		}
		at, ok := slices.BinarySearchFunc(program, c.at, func(p call, at Location) int { return p.at.compare(at) })
		var there calleeList
		if ok {
			there = program[at].callees
		}
		switch {
		case ok && (slices.Contains(there, unknownCallee) || m.sameCall(there, c.callees)):
			continue
		case !ok && m.fit.Lines:
			// Calls through pointers are not visible in code. If the line has code, it may have one.
			if !m.isStale(flat, c.at) {
				continue
			}
		}
		s.StaleCalls++
		if recovered[c.at] {
			s.RecoveredStales++
		}
	}
}

// callsIn returns the calls in a function of the program, by location.
func (m *matcher) callsIn(in *programFunction) []call {
	calls := callsOf(in.callees)
	if m.byLine {
		for i := range calls {
			calls[i].at.Discriminator = 0
			calls[i].callees = slices.Clone(calls[i].callees)
		}
		calls = addup.Equal(calls, func(a, b *call) int { return a.at.compare(b.at) }, func(to, from *call) {
			for _, callee := range from.callees {
				to.callees.add(callee)
			}
		})
	}
	return calls
}

// callsOf returns calls in the order of locations, without lines before the function.
func callsOf(callees map[Location]calleeList) []call {
	calls := make([]call, 0, len(callees))
	for at, l := range callees {
		if at.Line&negativeLine == 0 {
			calls = append(calls, call{at, l})
		}
	}
	slices.SortFunc(calls, func(a, b call) int { return a.at.compare(b.at) })
	return calls
}

// sameCall reports whether a location of the program has the calls that the profile has: of the same
// function, or of several functions through a pointer. Without discriminators, a line may have
// several calls; then one common callee is enough.
func (m *matcher) sameCall(program, profile calleeList) bool {
	if m.byLine && len(profile) > 1 && slices.ContainsFunc(profile, func(id uint64) bool { return slices.Contains(program, id) }) {
		return true
	}
	if len(profile) != 1 {
		return slices.Contains(program, unknownCallee)
	}
	if slices.Contains(program, profile[0]) {
		return true
	}
	old := m.byID[profile[0]]
	return old != nil && old.newName != nil && slices.Contains(program, old.newName.id)
}

// align returns the longest common subsequence of calls, as pairs of indexes. With find, a callee may
// have another name if it is similar. Beyond the limits, align returns the common beginning and end.
func (m *matcher) align(program, profile []call, find bool) (pairs [][2]int) {
	same := func(a, b call) bool {
		if m.sameCall(a.callees, b.callees) {
			return true
		}
		return find && len(b.callees) == 1 && slices.ContainsFunc(a.callees, func(id uint64) bool { return m.isSimilar(id, b.callees[0]) })
	}
	// Most lists are nearly equal. Their common beginning and end need no table.
	first := 0
	for first < min(len(program), len(profile)) && same(program[first], profile[first]) {
		pairs = append(pairs, [2]int{first, first})
		first++
	}
	a, b := program[first:], profile[first:]
	var tail [][2]int
	for len(a) > 0 && len(b) > 0 && same(a[len(a)-1], b[len(b)-1]) {
		tail = append(tail, [2]int{first + len(a) - 1, first + len(b) - 1})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if cells := len(a) * len(b); cells > 0 && cells <= maxCells && m.cells+cells <= maxAllCells {
		m.cells += cells
		for _, pair := range common(a, b, same) {
			pairs = append(pairs, [2]int{first + pair[0], first + pair[1]})
		}
	}
	slices.Reverse(tail)
	return append(pairs, tail...)
}

// common returns the longest common subsequence of two lists.
func common[T any](a, b []T, same func(a, b T) bool) (pairs [][2]int) {
	width := len(b) + 1
	length := make([]int32, (len(a)+1)*width) // of the result for a[i:] and b[j:]
	match := make([]bool, len(a)*len(b))
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if same(a[i], b[j]) {
				match[i*len(b)+j] = true
				length[i*width+j] = length[(i+1)*width+j+1] + 1
			} else {
				length[i*width+j] = max(length[(i+1)*width+j], length[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case match[i*len(b)+j]:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case length[(i+1)*width+j] >= length[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// isSimilar reports whether a new function of the program may be a renamed function of the profile
// (functionMatchesProfileHelper): it has the same checksum, or calls mostly the same functions in the
// same order. It remembers the answer.
func (m *matcher) isSimilar(program, profile uint64) bool {
	in, flat := m.program.functions[program], m.byID[profile]
	if flat == nil || flat.in != nil || flat.newName != nil || !m.isNew(in) {
		return false
	}
	key := [2]uint64{program, profile}
	if known, ok := m.similar[key]; ok || len(m.similar) >= maxPairs {
		return known
	}
	m.similar[key] = false
	m.similar[key] = m.compare(in, flat)
	return m.similar[key]
}

// compare computes the answer of isSimilar.
func (m *matcher) compare(in *programFunction, flat *flatFunction) bool {
	size := len(in.lines)
	if m.fit.Checksums {
		size = len(in.blocks)
	}
	if min(size, len(flat.locations)) < minBlocks {
		return false
	}
	if m.fit.Checksums && slices.Contains(in.hashes, flat.checksum) {
		return true
	}
	m.cells += len(in.callees) + len(flat.callees)
	if m.cells > maxAllCells {
		return false
	}
	program, profile := m.callsIn(in), callsOf(flat.callees)
	if min(len(program), len(profile)) < minCalls {
		return false
	}
	return len(m.align(program, profile, false))*100 > minSimilarity*len(profile)
}

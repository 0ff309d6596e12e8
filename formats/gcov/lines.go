package gcov

import "slices"

// maxWork limits the steps in which the cycles of all lines of a unit are found: real units take less than a
// thousandth, a hostile flow graph of n blocks on one line would take n².
const maxWork = 1 << 27

// maxCyclic limits the blocks of a line whose cycles are found, which is the depth of a recursion.
const maxCyclic = 1 << 18

type lineKey struct {
	source int
	number uint32
}

// line returns the line of a source, which it adds to the result if it is new.
func (s *solver) line(source int, number uint32) int {
	key := lineKey{source, number}
	i, ok := s.index[key]
	if !ok {
		i = len(s.Lines)
		s.index[key] = i
		s.Lines = append(s.Lines, Line{Source: source, Number: number, Exceptional: true})
	}
	return i
}

// collectLines gives the lines of the function their counts.
func (s *solver) collectLines() {
	if s.index == nil {
		s.index = make(map[lineKey]int)
	}
	clear(s.index)
	f := s.Function
	locations := s.byBlock()
	for b := range uint32(f.Blocks) {
		// A block ends on the last line of each of its locations: of the location before, if this one has no lines.
		line := -1
		for _, k := range locations[s.locationAt[b]:s.locationAt[b+1]] {
			at := &f.Locations[k]
			for _, number := range at.Lines {
				line = s.line(at.Source, number)
				l := &s.Lines[line]
				if !s.exceptional[b] {
					l.Exceptional = false
					if s.Counts[b] == 0 {
						l.Unexecuted = true
					}
				}
				l.Count += s.Counts[b]
			}
			if line >= 0 && b != 0 && int(b) != f.Blocks-1 {
				l := &s.Lines[line]
				l.HasBlocks = true
				l.blocks = append(l.blocks, b)
				out := s.out(b)
				for k, i := range out {
					a := &f.Arcs[i]
					fake := a.flags&arcFake != 0
					l.Branches = append(l.Branches, Branch{
						Count: s.arcs[i], Block: s.Counts[b], Call: fake && b != 0, Throw: s.throws[i],
						Fallthrough: a.flags&arcFallthrough != 0, Unconditional: s.plain[b] == 1 && !fake,
						Last: k == len(out)-1,
					})
				}
			}
		}
	}
	for i := range s.Lines {
		if l := &s.Lines[i]; l.HasBlocks {
			l.Count = s.entered(l.blocks)
		}
	}
}

// byBlock returns the indexes of the locations, grouped by block.
func (s *solver) byBlock() []uint32 {
	f := s.Function
	s.locationAt, s.locations = reset(s.locationAt, f.Blocks+2), reset(s.locations, len(f.Locations))
	for i := range f.Locations {
		s.locationAt[f.Locations[i].Block+2]++
	}
	for b := range f.Blocks {
		s.locationAt[b+1] += s.locationAt[b]
	}
	for i := range f.Locations {
		at := &s.locationAt[f.Locations[i].Block+1]
		s.locations[*at] = uint32(i)
		*at++
	}
	return s.locations
}

// cycles finds the cycles of one line after the other: the algorithm for elementary circuits of Hawick and James, of 2008, as
// gcov changed it. Each arc has a remainder, at first its count. A circuit takes the least of its remainders away from all of them.
type cycles struct {
	locations, locationAt []uint32

	on      []uint32 // by block: the number of the line
	marks   uint32
	rest    []int64  // remainders, by arc
	blocked []uint32 // by block: the search that blocked it
	search  uint32
	waiting [][]uint32 // by block: blocks to unblock with it
	path    []uint32   // arcs
	dry     int        // index in path of the first arc without a remainder; -1 for none
	free    []uint32   // stack of unblock
	ran     int64      // sum of the circuits
}

// entered returns how often control entered the blocks of a line, and how often the cycles among them ran. A block
// that stands twice on the line counts twice.
func (s *solver) entered(blocks []uint32) (n int64) {
	if len(s.on) < s.Blocks {
		s.on, s.blocked, s.waiting = make([]uint32, s.Blocks), make([]uint32, s.Blocks), make([][]uint32, s.Blocks)
		s.marks, s.search = 0, 0
	}
	if s.marks++; s.marks == 0 {
		clear(s.on)
		s.marks = 1
	}
	for _, b := range blocks {
		s.on[b] = s.marks
	}
	s.rest = growTo(s.rest, len(s.Function.Arcs))
	back := false
	for _, b := range blocks {
		for _, i := range s.in(b) {
			if s.on[s.Function.Arcs[i].From] != s.marks {
				n += s.arcs[i]
			}
		}
		for _, i := range s.out(b) {
			s.rest[i] = s.arcs[i]
			a := &s.Function.Arcs[i]
			back = back || a.To <= b && s.on[a.To] == s.marks && s.arcs[i] > 0
		}
	}
	if !back { // a cycle has an arc that leads back
		return n
	}
	if len(blocks) > maxCyclic {
		s.Complex = true
		return n
	}
	s.ran = 0
	for _, b := range blocks {
		if s.search++; s.search == 0 {
			clear(s.blocked)
			s.search = 1
		}
		s.path, s.dry = s.path[:0], -1
		s.circuit(b, b)
	}
	return n + s.ran
}

func growTo[T any](s []T, n int) []T {
	if len(s) < n {
		return make([]T, n)
	}
	return s
}

// open reports whether a circuit from start may go through the arc.
func (s *solver) open(i, start uint32) bool {
	to := s.Function.Arcs[i].To
	return to >= start && s.rest[i] > 0 && s.on[to] == s.marks
}

// circuit looks for circuits from start through v, and reports whether it found one.
func (s *solver) circuit(v, start uint32) (found bool) {
	s.blocked[v], s.waiting[v] = s.search, s.waiting[v][:0]
	for _, i := range s.out(v) {
		if s.work--; s.work < 0 {
			s.Complex = true
			return false
		}
		if !s.open(i, start) {
			continue
		}
		s.path = append(s.path, i)
		switch w := s.Function.Arcs[i].To; {
		case w == start:
			found = s.take() || found
		case s.dry < 0 && s.blocked[w] != s.search:
			found = s.circuit(w, start) || found
		}
		s.path = s.path[:len(s.path)-1]
		if s.dry >= len(s.path) {
			s.dry = -1
		}
	}
	if found {
		s.unblock(v)
		return true
	}
	for _, i := range s.out(v) {
		if !s.open(i, start) {
			continue
		}
		w := s.Function.Arcs[i].To
		s.work -= len(s.waiting[w])
		if s.blocked[w] == s.search && !slices.Contains(s.waiting[w], v) {
			s.waiting[w] = append(s.waiting[w], v)
		}
	}
	return false
}

// take counts the circuit on the path. It returns false if an arc of it has nothing left.
func (s *solver) take() bool {
	s.work -= len(s.path)
	least := s.rest[s.path[0]]
	for _, i := range s.path {
		least = min(least, s.rest[i])
	}
	if least <= 0 {
		return false
	}
	s.ran += least
	for k, i := range s.path {
		if s.rest[i] -= least; s.rest[i] == 0 && s.dry < 0 {
			s.dry = k
		}
	}
	return true
}

func (s *solver) unblock(v uint32) {
	s.free = append(s.free[:0], v)
	for len(s.free) > 0 {
		u := s.free[len(s.free)-1]
		s.free = s.free[:len(s.free)-1]
		if s.blocked[u] != s.search {
			continue
		}
		s.blocked[u] = 0
		s.free = append(s.free, s.waiting[u]...)
		s.waiting[u] = s.waiting[u][:0]
	}
}

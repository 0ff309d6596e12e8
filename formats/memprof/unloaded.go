package memprof

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// A library that the program closed (dlclose) is in no segment of the profile, but its addresses are in the call
// stacks. Each follows a call, so a library that the user named is found again: it was at a place, whole pages
// from where it was linked to be, with a call before each of the addresses that lie in it there.

const (
	// maxChance is how likely it may be that a library which was not there fits by accident.
	maxChance = 0.01
	// maxTries bounds the places that are tried, for all addresses together.
	maxTries = 1 << 20
)

// placeUnloaded places libraries that the user named and that are in no segment.
func (s *symbolizer) placeUnloaded(b *Binaries) error {
	segments := make(placements, len(s.raw.Segments))
	for i, g := range s.raw.Segments {
		segments[i] = placement{start: g.Start, end: g.End}
	}
	stray := s.strayPCs(segments.sort())
	if len(stray) == 0 || s.raw.Version < 3 {
		return nil
	}
	for _, prog := range b.files {
		if !s.raw.wasUnloaded(prog) {
			continue
		}
		code, err := prog.machineCode()
		if err != nil {
			return err
		}
		bias, calls, ok := code.placeOf(stray, segments)
		if !ok {
			continue
		}
		for _, c := range prog.executable() {
			s.places = append(s.places, placement{c.Addr + bias, c.Addr + bias + c.MemSize, -bias, prog, nil})
		}
		s.places.sort()
		s.warn(flaw.In("segments").InFile(s.raw.Name).Field("segment of "+prog.path).
			Gotf("missing, because the library was closed before the profile was written; that it was at %#x follows from calls at %d addresses", bias, calls).
			Want("libraries that stay loaded until the exit (link them with -Wl,-z,nodelete)").Remark())
		stray = slices.DeleteFunc(stray, func(pc uint64) bool { return s.places.find(pc) != nil })
	}
	return nil
}

// strayPCs returns the PCs in no segment, by address.
func (s *symbolizer) strayPCs(segments placements) []uint64 {
	var stray []uint64
	for _, pc := range s.pcs.list {
		if segments.find(pc) == nil && s.places.find(pc) == nil {
			stray = append(stray, pc)
		}
	}
	slices.Sort(stray)
	return stray
}

// wasUnloaded reports whether the program may be a library that was closed: it is in no segment.
func (p *RawProfile) wasUnloaded(prog *program) bool {
	f := prog.file
	return f.Arch == "x86_64" && f.PositionIndependent && !slices.ContainsFunc(p.Segments, func(s Segment) bool {
		return string(s.BuildID) == string(f.BuildID)
	})
}

// machineCode is the x86-64 code of a library.
type machineCode struct {
	low, high uint64 // addresses; high is after the code
	sections  []codeSection
}

type codeSection struct {
	addr uint64
	data []byte
}

func (p *program) machineCode() (*machineCode, error) {
	m := &machineCode{low: math.MaxUint64}
	for _, segment := range p.executable() {
		m.low, m.high = min(m.low, segment.Addr), max(m.high, segment.Addr+segment.MemSize)
		for _, s := range p.file.Sections {
			if s.Addr < segment.Addr || s.Addr-segment.Addr >= segment.MemSize {
				continue
			}
			data, err := s.Data()
			if err != nil {
				return nil, err
			}
			if len(data) > 0 {
				m.sections = append(m.sections, codeSection{s.Addr, data})
			}
		}
	}
	slices.SortFunc(m.sections, func(a, b codeSection) int { return cmp.Compare(a.addr, b.addr) })
	return m, nil
}

// followsCall reports whether the address is after a call.
func (m *machineCode) followsCall(addr uint64) bool {
	i, ok := slices.BinarySearchFunc(m.sections, addr, func(s codeSection, addr uint64) int { return cmp.Compare(s.addr, addr) })
	if !ok {
		i--
	}
	if i < 0 || addr-m.sections[i].addr > uint64(len(m.sections[i].data)) {
		return false
	}
	before := m.sections[i].data[:addr-m.sections[i].addr]
	n := len(before)
	if n >= 5 && before[n-5] == 0xe8 { // call rel32, to code of the library
		target := addr + uint64(int64(int32(binary.LittleEndian.Uint32(before[n-4:]))))
		if target >= m.low && target < m.high {
			return true
		}
	}
	// call r/m64: opcode ff, and 2 as the middle field of the next byte, whose other fields say how long the rest is.
	for length := 2; length <= 7 && length <= n; length++ {
		if before[n-length] == 0xff && callLength(before[n-length+1:]) == length-1 {
			return true
		}
	}
	return false
}

// callLength returns how many bytes follow the opcode of a call whose operand begins with b; 0 if it is no call.
func callLength(b []byte) int {
	mod, middle, rm := b[0]>>6, b[0]>>3&7, b[0]&7
	if middle != 2 {
		return 0
	}
	n := 1
	if mod < 3 && rm == 4 { // a SIB byte
		n++
		if mod == 0 && len(b) > 1 && b[1]&7 == 5 {
			return n + 4
		}
	}
	switch {
	case mod == 1:
		n++
	case mod == 2, mod == 0 && rm == 5:
		n += 4
	}
	return n
}

// placeOf returns how far from where it was linked to be the library was, and how many addresses show it. Only
// one place may have most addresses, all addresses there must follow calls, and no segment may be there.
func (m *machineCode) placeOf(stray []uint64, segments placements) (bias uint64, calls int, ok bool) {
	if m.low >= m.high || m.high-m.low > maxTries*pageSize {
		return 0, 0, false
	}
	pages := (m.high - m.low + pageSize - 1) / pageSize
	if pages*uint64(len(stray)) > maxTries {
		return 0, 0, false
	}
	votes := make(map[uint64]int)
	for _, pc := range stray {
		after := pc + 1
		for addr := m.low + (after-m.low)%pageSize; addr <= m.high; addr += pageSize {
			if m.followsCall(addr) {
				votes[after-addr]++
			}
		}
	}
	several := false
	for at, n := range votes {
		switch {
		case n < calls || !m.fits(at, n, stray, segments):
		case n == calls:
			several = true
		default:
			bias, calls, several = at, n, false
		}
	}
	if calls == 0 || several {
		return 0, 0, false
	}
	chance := float64(pages) * math.Pow(float64(m.countCalls())/float64(m.high-m.low), float64(calls))
	return bias, calls, chance <= maxChance
}

// fits reports whether the library may have been at the place, where n stray addresses follow calls.
func (m *machineCode) fits(bias uint64, n int, stray []uint64, segments placements) bool {
	from, _ := slices.BinarySearch(stray, m.low+bias)
	to, _ := slices.BinarySearch(stray, m.high+bias)
	low, high := m.low+bias, m.high+bias
	if to-from != n || low >= high {
		return false
	}
	after, _ := slices.BinarySearchFunc(segments, low, func(g placement, low uint64) int { return cmp.Compare(g.end, low+1) })
	return after == len(segments) || segments[after].start >= high
}

// countCalls returns how many addresses of the code follow a call, at least 1.
func (m *machineCode) countCalls() int {
	n := 1
	for _, s := range m.sections {
		for i := range s.data {
			if m.followsCall(s.addr + uint64(i)) {
				n++
			}
		}
	}
	return n
}

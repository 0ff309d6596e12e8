package sampleprof

import (
	"cmp"
	"encoding/binary"
	"iter"
	"maps"
	"slices"

	"github.com/profuse-pgo/profuse/symbolize"
)

type code struct {
	arch     string
	sections []codeSection       // by address
	starts   map[uint64][]uint64 // GUIDs of functions by first address
	sorted   []uint64            // keys of starts
}

type codeSection struct {
	addr uint64
	data []byte
}

func (s *codeSection) end() uint64 { return s.addr + uint64(len(s.data)) }

// read reads the sections in executable segments.
func (c *code) read(f *symbolize.File) error {
	c.arch, c.starts = f.Arch, make(map[uint64][]uint64)
	segments := f.Segments
	for _, s := range f.Sections {
		if s.Addr == 0 || s.Size == 0 || !slices.ContainsFunc(segments, func(g symbolize.Segment) bool {
			return g.Executable && s.Addr >= g.Addr && s.Addr-g.Addr < g.MemSize
		}) {
			continue
		}
		data, err := s.Data()
		if err != nil {
			return err
		}
		c.sections = append(c.sections, codeSection{s.Addr, data})
	}
	slices.SortFunc(c.sections, func(a, b codeSection) int { return cmp.Compare(a.addr, b.addr) })
	return nil
}

// sectionAt returns the section that contains an address, or nil.
func (c *code) sectionAt(addr uint64) *codeSection {
	i, found := slices.BinarySearchFunc(c.sections, addr, func(s codeSection, addr uint64) int { return cmp.Compare(s.addr, addr) })
	if !found {
		i--
	}
	if i < 0 || addr >= c.sections[i].end() {
		return nil
	}
	return &c.sections[i]
}

func (c *code) has(addr uint64) bool { return c.sectionAt(addr) != nil }

// addStart records that a function begins at an address. Functions with identical code may share one.
func (c *code) addStart(addr, function uint64) {
	l := calleeList(c.starts[addr])
	l.add(function)
	c.starts[addr] = l
}

// sort prepares within, after all calls of addStart.
func (c *code) sort() {
	c.sorted = slices.Sorted(maps.Keys(c.starts))
}

// within reports whether an address belongs to the function that begins at start.
func (c *code) within(addr, start uint64) bool {
	i, found := slices.BinarySearch(c.sorted, addr)
	if !found {
		i--
	}
	return i >= 0 && c.sorted[i] == start
}

// calleesAt returns the functions at the target of a direct call or jump; nil for other instructions and targets.
func (c *code) calleesAt(addr uint64) []uint64 {
	s := c.sectionAt(addr)
	if s == nil {
		return nil
	}
	if target, ok := c.target(s, int(addr-s.addr)); ok {
		return c.starts[target]
	}
	return nil
}

// target returns the target of the direct call or jump at offset at of a section.
func (c *code) target(s *codeSection, at int) (target uint64, ok bool) {
	addr := s.addr + uint64(at)
	switch c.arch {
	case "x86_64", "i386":
		if len(s.data)-at < 5 || s.data[at]&^1 != 0xe8 { // E8 CALL rel32, E9 JMP rel32
			return 0, false
		}
		target = addr + 5 + uint64(int64(int32(binary.LittleEndian.Uint32(s.data[at+1:]))))
		if c.arch == "i386" {
			target &= 1<<32 - 1
		}
	case "aarch64", "arm64":
		if len(s.data)-at < 4 {
			return 0, false
		}
		word := binary.LittleEndian.Uint32(s.data[at:])
		if word&0x7c000000 != 0x14000000 { // B, BL
			return 0, false
		}
		// imm26 counts instructions of four bytes.
		target = addr + uint64(int64(int32(word<<6))>>4)
	default:
		return 0, false
	}
	return target, true
}

// calls yields address and target of every direct call of a function, and of every jump to the beginning
// of another function. It does not disassemble: on x86, it tries a call at every byte. Bytes that are not
// a call hardly ever yield the first address of a function.
func (c *code) calls() iter.Seq2[uint64, uint64] {
	step := 1
	if c.arch == "aarch64" || c.arch == "arm64" {
		step = 4
	}
	return func(yield func(uint64, uint64) bool) {
		for i := range c.sections {
			s := &c.sections[i]
			for at := 0; at < len(s.data); at += step {
				target, ok := c.target(s, at)
				if !ok || c.starts[target] == nil {
					continue
				}
				addr := s.addr + uint64(at)
				// A jump to the beginning of another function is a tail call.
				jump := s.data[at] == 0xe9
				if step == 4 {
					jump = s.data[at+3]&0x80 == 0
				}
				if jump && c.within(addr, target) {
					continue // a loop
				}
				if !yield(addr, target) {
					return
				}
			}
		}
	}
}

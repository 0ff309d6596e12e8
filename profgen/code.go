package profgen

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/internal/parallel"
	"github.com/profuse-pgo/profuse/internal/program/decode"
	"github.com/profuse-pgo/profuse/symbolize"
)

// code is the instructions of a program, decoded when they are needed. Decoding begins anew at every symbol, and code
// before the first symbol of a section has no instructions, as in llvm-profgen.
type code struct {
	decode   decode.Decoder
	sections []codeSection // by address
}

type codeSection struct {
	addr   uint64
	data   []byte
	starts []uint64 // of symbols, distinct and sorted
	done   []bool   // whether the code from each start on has been decoded
	// at has for each byte what begins there: the size of the instruction and its class; 0 for no instruction.
	at []uint8
}

// at holds sizes in sizeBits bits. Longer instructions, of many prefixes, have the greatest size.
const (
	sizeBits = 5
	maxSize  = 1<<sizeBits - 1
)

func (s *codeSection) end() uint64 { return s.addr + uint64(len(s.data)) }

func (c *code) read(f *symbolize.File, starts map[int][]uint64) error {
	for index, at := range starts {
		s := f.Sections[index]
		data, err := s.Data()
		if err != nil {
			return err
		}
		c.add(s.Addr, data, at)
	}
	slices.SortFunc(c.sections, func(a, b codeSection) int { return cmp.Compare(a.addr, b.addr) })
	return nil
}

// add adds a section. starts are the addresses of its symbols.
func (c *code) add(addr uint64, data []byte, starts []uint64) {
	slices.Sort(starts)
	starts = slices.Compact(starts)
	from, _ := slices.BinarySearch(starts, addr)
	to, _ := slices.BinarySearch(starts, addr+uint64(len(data)))
	if starts = starts[from:max(from, to)]; len(starts) > 0 {
		c.sections = append(c.sections, codeSection{
			addr: addr, data: data, starts: starts, done: make([]bool, len(starts)), at: make([]uint8, len(data)),
		})
	}
}

func (c *code) decodeAll() int {
	var invalid atomic.Int64
	for i := range c.sections {
		s := &c.sections[i]
		const some = 64
		parallel.Each((len(s.starts)+some-1)/some, func(k int) {
			n := 0
			for j := k * some; j < min((k+1)*some, len(s.starts)); j++ {
				n += s.decode(c.decode, j)
			}
			invalid.Add(int64(n))
		})
	}
	return int(invalid.Load())
}

// decode decodes the code from the i-th start to the next one. It returns how many stretches do not decode.
func (s *codeSection) decode(decode decode.Decoder, i int) (invalid int) {
	if s.done[i] {
		return 0
	}
	s.done[i] = true
	end := s.end()
	if i+1 < len(s.starts) {
		end = s.starts[i+1]
	}
	bad := false
	for addr := s.starts[i]; addr < end; {
		in := decode(s.data[addr-s.addr:], addr)
		if in.Valid {
			s.at[addr-s.addr] = uint8(min(in.Size, maxSize)) | uint8(in.Class)<<sizeBits
		} else if !bad {
			invalid++
		}
		bad = !in.Valid
		addr += uint64(in.Size)
	}
	return invalid
}

// section returns the index of the first section that ends behind an address.
func (c *code) section(addr uint64) int {
	i, found := slices.BinarySearchFunc(c.sections, addr, func(s codeSection, addr uint64) int { return cmp.Compare(s.end(), addr) })
	if found {
		i++
	}
	return i
}

// An instruction is one of the program.
type instruction struct {
	addr  uint64
	size  int
	class decode.Class
}

// is reports whether an instruction begins at an address.
func (c *code) is(addr uint64) bool {
	in, ok := c.next(addr, addr)
	return ok && in.addr == addr
}

// next returns the first instruction that begins at or behind from and not behind to.
func (c *code) next(from, to uint64) (in instruction, ok bool) {
	for i := c.section(from); i < len(c.sections) && c.sections[i].addr <= to; i++ {
		if in, ok = c.sections[i].next(c.decode, from, to); ok {
			return in, true
		}
	}
	return in, false
}

func (s *codeSection) next(decode decode.Decoder, from, to uint64) (in instruction, ok bool) {
	from = max(from, s.starts[0])
	for from <= to && from < s.end() {
		i, found := slices.BinarySearch(s.starts, from)
		if !found {
			i--
		}
		s.decode(decode, i)
		end := s.end()
		if i+1 < len(s.starts) {
			end = s.starts[i+1]
		}
		for ; from < end && from <= to; from++ {
			if at := s.at[from-s.addr]; at != 0 {
				return instruction{from, int(at & maxSize), classOf(at)}, true
			}
		}
	}
	return in, false
}

func classOf(at uint8) decode.Class { return decode.Class(at >> sizeBits) }

// runs reports whether control can pass from the instruction at start to the one at end without a taken branch.
func (c *code) runs(start, end uint64) bool {
	if start > end {
		return false
	}
	for start < end {
		in, ok := c.next(start, end-1)
		if !ok {
			return true
		}
		if in.class.EndsRun() {
			return false
		}
		start = in.addr + 1
	}
	return true
}

package perfdata

import (
	"cmp"
	"slices"
)

// Spaces are the address spaces of the processes of a recording as they are at one moment: which file is mapped
// where. A handler calls the methods with the records as they come. The zero value is ready to use.
//
// T is what the caller knows of a mapped file, such as its index in a list.
type Spaces[T any] struct {
	processes map[int32]*space[T]
	kernel    *space[T]
	last      *space[T] // of process lastPID
	lastPID   int32
	regions   int // in all spaces
	mappings  int // that were added
}

// maxShared limits the regions that processes have because they were forked. A process beyond it begins without
// mappings.
const maxShared = 1 << 20

// A space is the address space of one process, or of several until one of them maps a file. Its regions are in blocks,
// none of them empty, so that adding one does not move all others.
type space[T any] struct {
	blocks [][]region[T] // ascending, without overlaps
	size   int           // regions in all blocks
	last   position      // of the region that was found last
	users  int           // processes
}

// maxBlock is the greatest number of regions in a block.
const maxBlock = 512

// A position is a block, and a region in it.
type position struct{ block, region int }

type region[T any] struct {
	start, end uint64 // end is inside, so that it can be the last address
	offset     uint64 // in the file, of start
	value      T
}

// Kernel is the process id of mappings of the kernel, which all processes have.
const Kernel = -1

// Map adds a mapping, which replaces what was at its addresses.
func (s *Spaces[T]) Map(m *Mapping, value T) {
	if m.Len == 0 || m.Addr+(m.Len-1) < m.Addr {
		return // it wraps
	}
	p := s.own(m.PID)
	s.regions -= p.size
	p.add(region[T]{m.Addr, m.Addr + (m.Len - 1), m.Offset, value})
	s.regions += p.size
	s.mappings++
}

// own returns the space of a process, which no other process has.
func (s *Spaces[T]) own(pid int32) *space[T] {
	p := s.of(pid)
	if p != nil && p.users == 1 {
		return p
	}
	mine := &space[T]{users: 1}
	if p != nil && s.regions+p.size <= maxShared+8*s.mappings {
		for _, block := range p.blocks {
			mine.blocks = append(mine.blocks, slices.Clone(block))
		}
		mine.size = p.size
		s.regions += p.size
	}
	if p != nil {
		p.users--
	}
	s.set(pid, mine)
	return mine
}

func (s *Spaces[T]) set(pid int32, p *space[T]) {
	if s.processes == nil {
		s.processes = make(map[int32]*space[T])
	}
	s.processes[pid] = p
	if s.last = nil; pid == Kernel {
		s.kernel = p
	}
}

// add adds a region and cuts others down to what it leaves of them.
func (p *space[T]) add(r region[T]) {
	first := p.search(r.start)
	if first.block == len(p.blocks) { // behind all others
		if len(p.blocks) == 0 {
			p.blocks = append(p.blocks, nil)
		}
		first.block = len(p.blocks) - 1
		first.region = len(p.blocks[first.block])
	}
	var around [3]region[T]
	list := around[:0]
	block := p.blocks[first.block]
	if first.region < len(block) && block[first.region].start < r.start {
		before := block[first.region]
		before.end = r.start - 1
		list = append(list, before)
	}
	list = append(list, r)
	end, last, covered := p.covered(first, r.end)
	if covered > 0 && last.end > r.end {
		last.offset += r.end + 1 - last.start
		last.start = r.end + 1
		list = append(list, last)
	}
	p.size += len(list) - covered
	if end.block == first.block {
		block = slices.Replace(block, first.region, end.region, list...)
	} else {
		if end.region > 0 {
			p.blocks[end.block] = slices.Delete(p.blocks[end.block], 0, end.region)
		}
		p.blocks = slices.Delete(p.blocks, first.block+1, end.block)
		block = append(block[:first.region], list...)
	}
	p.blocks[first.block] = block
	if half := len(block) / 2; len(block) > maxBlock {
		p.blocks[first.block] = block[:half:half]
		p.blocks = slices.Insert(p.blocks, first.block+1, slices.Clone(block[half:]))
	}
}

// covered returns where the regions end that begin at an address or before, their number from first on, and the last one.
func (p *space[T]) covered(first position, addr uint64) (end position, last region[T], n int) {
	for end = first; end.block < len(p.blocks); end = (position{end.block + 1, 0}) {
		for block := p.blocks[end.block]; end.region < len(block); end.region++ {
			if block[end.region].start > addr {
				return end, last, n
			}
			last = block[end.region]
			n++
		}
	}
	return end, last, n
}

// search returns the first region that ends at an address or later.
func (p *space[T]) search(addr uint64) position {
	ends := func(r region[T], addr uint64) int { return cmp.Compare(r.end, addr) }
	i, _ := slices.BinarySearchFunc(p.blocks, addr, func(block []region[T], addr uint64) int { return ends(block[len(block)-1], addr) })
	if i == len(p.blocks) {
		return position{i, 0}
	}
	j, _ := slices.BinarySearchFunc(p.blocks[i], addr, ends)
	return position{i, j}
}

// of returns the space of a process, or nil.
func (s *Spaces[T]) of(pid int32) *space[T] {
	if s.last == nil || s.lastPID != pid {
		s.last, s.lastPID = s.processes[pid], pid
	}
	return s.last
}

// Fork gives a new process the mappings of its parent.
func (s *Spaces[T]) Fork(t *Task) {
	if t.PID == t.Parent {
		return // a thread
	}
	s.drop(t.PID) // of an earlier process with this id
	if parent := s.of(t.Parent); parent != nil {
		parent.users++
		s.set(t.PID, parent)
	}
}

// Exec drops the mappings of a process that executes another program.
func (s *Spaces[T]) Exec(c *Command) {
	if c.Exec {
		s.drop(c.PID)
	}
}

// Exit drops the mappings of a process that ends.
func (s *Spaces[T]) Exit(t *Task) {
	if t.PID == t.TID {
		s.drop(t.PID)
	}
}

func (s *Spaces[T]) drop(pid int32) {
	if p := s.of(pid); p != nil && pid != Kernel {
		if p.users--; p.users == 0 {
			s.regions -= p.size
		}
		delete(s.processes, pid)
		s.last = nil
	}
}

// Find returns what is mapped at an address of a process or, if it has nothing there, of the kernel: the value, and
// the offset of the address in the file.
func (s *Spaces[T]) Find(pid int32, addr uint64) (value T, offset uint64, ok bool) {
	r := s.of(pid).find(addr)
	if r == nil {
		r = s.kernel.find(addr)
	}
	if r == nil {
		return value, 0, false
	}
	return r.value, r.offset + (addr - r.start), true
}

func (p *space[T]) find(addr uint64) *region[T] {
	if p == nil {
		return nil
	}
	if r := p.at(p.last); r != nil && r.start <= addr && addr <= r.end {
		return r
	}
	found := p.search(addr)
	if r := p.at(found); r != nil && r.start <= addr {
		p.last = found
		return r
	}
	return nil
}

// at returns the region at a position, or nil.
func (p *space[T]) at(i position) *region[T] {
	if i.block >= len(p.blocks) || i.region >= len(p.blocks[i.block]) {
		return nil
	}
	return &p.blocks[i.block][i.region]
}

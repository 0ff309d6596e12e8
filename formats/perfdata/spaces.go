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

// A space is the address space of one process, or of several until one of them maps a file.
type space[T any] struct {
	regions []region[T] // ascending, without overlaps
	last    int         // the region that was found last
	users   int         // processes
}

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
	s.regions -= len(p.regions)
	p.add(region[T]{m.Addr, m.Addr + (m.Len - 1), m.Offset, value})
	s.regions += len(p.regions)
	s.mappings++
}

// own returns the space of a process, which no other process has.
func (s *Spaces[T]) own(pid int32) *space[T] {
	p := s.of(pid)
	if p != nil && p.users == 1 {
		return p
	}
	mine := &space[T]{users: 1}
	if p != nil && s.regions+len(p.regions) <= maxShared+8*s.mappings {
		mine.regions = slices.Clone(p.regions)
		s.regions += len(mine.regions)
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
	end := first
	var around [3]region[T]
	list := around[:0]
	if first < len(p.regions) && p.regions[first].start < r.start {
		before := p.regions[first]
		before.end = r.start - 1
		list = append(list, before)
	}
	list = append(list, r)
	for end < len(p.regions) && p.regions[end].start <= r.end {
		if after := p.regions[end]; after.end > r.end {
			after.start, after.offset = r.end+1, after.offset+(r.end+1-after.start)
			list = append(list, after)
		}
		end++
	}
	p.regions = slices.Replace(p.regions, first, end, list...)
}

// search returns the first region that ends at an address or later.
func (p *space[T]) search(addr uint64) int {
	i, _ := slices.BinarySearchFunc(p.regions, addr, func(r region[T], addr uint64) int { return cmp.Compare(r.end, addr) })
	return i
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
			s.regions -= len(p.regions)
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
	if p.last < len(p.regions) {
		if r := &p.regions[p.last]; r.start <= addr && addr <= r.end {
			return r
		}
	}
	i := p.search(addr)
	if i < len(p.regions) && p.regions[i].start <= addr {
		p.last = i
		return &p.regions[i]
	}
	return nil
}

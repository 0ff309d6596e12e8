package memprof

import (
	"cmp"
	"maps"
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// sites maps pairs of function and call stack to values.
type sites[T any] struct {
	keys   numbering[uint64] // see siteKey
	values []T               // by number of the key
}

func siteKey(function int32, stack StackIndex) uint64 { return uint64(function)<<32 | uint64(stack) }

func splitSiteKey(key uint64) (function int32, stack StackIndex) {
	return int32(key >> 32), StackIndex(key)
}

// append returns the number of a key that is new, and gives it a value.
func (s *sites[T]) append(key uint64, value T) int32 {
	s.values = append(s.values, value)
	return s.keys.append(key)
}

// numberOf returns the number of a key, which gets the value if it is new.
func (s *sites[T]) numberOf(key uint64, value T) int32 {
	if n := s.keys.find(key); n >= 0 {
		return n
	}
	return s.append(key, value)
}

type allocSite struct {
	function int32 // in the accumulator
	mib      uint32
}

// addAllocSites merges the alloc sites of an input with one call stack, and returns how
// many sums saturated. It sorts the sites. If own is true, mibs are the first MIBs of the
// sum and may stay where they are.
//
// Most stacks have the same sites in all inputs, so the merger numbers the sites of a stack
// one after the other and finds them again without a hash table.
func (m *Merger) addAllocSites(stack StackIndex, in []allocSite, mibs []MIB, weight uint64, own bool) (cut int) {
	slices.SortFunc(in, func(a, b allocSite) int { return cmp.Compare(a.function, b.function) })
	if n := int(stack) + 1 - len(m.first); n > 0 {
		m.first = append(m.first, make([]int32, max(n, len(m.first)/2))...)
	}
	numbers := m.scratch[:0]
	isNew := m.first[stack] == 0
	next := m.first[stack] - 1
	for i, a := range in {
		key := siteKey(a.function, stack)
		switch {
		case i > 0 && a.function == in[i-1].function:
			numbers = append(numbers, numbers[i-1])
			own = false // this site would add to a MIB that other sites have yet to read
			continue
		case isNew:
			numbers = append(numbers, m.allocs.append(key, noMIB))
			continue
		case int(next) < len(m.allocs.keys.list) && m.allocs.keys.list[next] == key:
			numbers = append(numbers, next)
		default:
			numbers = append(numbers, m.allocs.numberOf(key, noMIB))
		}
		next++
	}
	if isNew {
		m.first[stack] = numbers[0] + 1
	}
	m.scratch = numbers
	// Sites that share a MIB in both share the sum, which is computed once.
	for i, n := 0, 0; i < len(in); i += n {
		have := m.allocs.values[numbers[i]]
		for n = 1; i+n < len(in) && in[i+n].mib == in[i].mib && numbers[i+n] != numbers[i+n-1] && m.allocs.values[numbers[i+n]] == have; n++ {
		}
		sum, overflow := in[i].mib, false
		if own && have == noMIB && m.uses[sum] == 0 {
			m.uses[sum] = uint32(n)
			m.mibs[sum].AccessHistogram = 0
		} else if sum, overflow = m.addMIB(have, n, &mibs[sum], weight); overflow {
			cut++
		}
		for _, site := range numbers[i : i+n] {
			m.allocs.values[site] = sum
		}
	}
	return cut
}

const noMIB = ^uint32(0)

// addMIB adds a MIB to the sum that some sites have, or noMIB, and returns the index of the new sum.
func (m *Merger) addMIB(have uint32, sites int, in *MIB, weight uint64) (sum uint32, overflow bool) {
	if have != noMIB && int(m.uses[have]) == sites {
		return have, m.mibs[have].merge(in, weight)
	}
	sum = uint32(len(m.mibs))
	m.uses = append(m.uses, uint32(sites))
	if have == noMIB {
		m.mibs = append(m.mibs, *in)
	} else {
		m.mibs = append(m.mibs, m.mibs[have])
		m.uses[have] -= uint32(sites)
	}
	to := &m.mibs[sum]
	to.AccessHistogram = 0
	to.Histogram = slices.Clone(to.Histogram)
	if have == noMIB {
		return sum, to.scale(weight)
	}
	return sum, to.merge(in, weight)
}

func (m *Merger) addCallSite(function int32, stack StackIndex, callees []uint64) {
	to := &m.calls.values[m.calls.numberOf(siteKey(function, stack), nil)]
	for _, c := range callees {
		if i, ok := slices.BinarySearch(*to, c); !ok {
			*to = slices.Insert(*to, i, c)
		}
	}
}

// add accumulates p. If own is true, the sum is empty and takes over the stacks and MIBs of p.
func (m *Merger) add(name string, p *Profile, weight uint64, own bool) {
	cut := 0
	var stacks []StackIndex
	if own {
		m.stacks, m.mibs, m.uses = p.Stacks, p.MIBs, make([]uint32, len(p.MIBs))
		stacks = upTo[StackIndex](m.stacks.numNodes() + 1)
	} else {
		stacks = m.stacks.addAll(&p.Stacks)
	}
	functions := make([]int32, len(p.Records))
	ends := make([]uint32, len(stacks)+1) // by stack: the end of its sites in sorted
	for i := range p.Records {
		r := &p.Records[i]
		functions[i], _ = m.records.add(r.GUID)
		for _, a := range r.AllocSites {
			ends[a.Stack+1]++
		}
		for _, c := range r.CallSites {
			m.addCallSite(functions[i], stacks[c.Stack], c.Callees)
		}
	}
	for i := range stacks {
		ends[i+1] += ends[i]
	}
	sorted := make([]allocSite, ends[len(stacks)])
	for i := range p.Records {
		for _, a := range p.Records[i].AllocSites {
			sorted[ends[a.Stack]] = allocSite{functions[i], a.MIB}
			ends[a.Stack]++
		}
	}
	start := uint32(0)
	for i, stack := range stacks {
		if ends[i] > start {
			cut += m.addAllocSites(stack, sorted[start:ends[i]], p.MIBs, weight, own)
		}
		start = ends[i]
	}
	m.addSources(p.Names, p.Sources)
	cut += m.addDataAccess(p.DataAccess, weight)
	m.warn(name, cut)
}

func (m *Merger) addSums(o *Merger) {
	stacks := m.stacks.addAll(&o.stacks)
	functions := make([]int32, len(o.records.list))
	for i, guid := range o.records.list {
		functions[i], _ = m.records.add(guid)
	}
	cut := 0
	keys := o.allocs.keys.list
	var group []allocSite
	for i := 0; i < len(keys); {
		_, stack := splitSiteKey(keys[i])
		group = group[:0]
		for ; i < len(keys) && StackIndex(keys[i]) == stack; i++ {
			function, _ := splitSiteKey(keys[i])
			group = append(group, allocSite{functions[function], o.allocs.values[i]})
		}
		cut += m.addAllocSites(stacks[stack], group, o.mibs, 1, false)
	}
	for i, key := range o.calls.keys.list {
		function, stack := splitSiteKey(key)
		m.addCallSite(functions[function], stacks[stack], o.calls.values[i])
	}
	m.addSources(o.names, o.sources)
	cut += m.addDataAccess(o.dataAccess(), 1)
	m.warn("", cut)
}

func (m *Merger) addRaw(s *symbolizer, weight uint64) {
	s.out.Stacks = m.stacks
	leaves := make([][]allocSite, len(s.found)) // by PC: the sites of contexts that it allocates in
	const outer, all = 1, 2
	called := make([]uint8, len(s.found)) // by PC: which of its frames are call sites
	mib := make([]MIB, 1)
	cut := 0
	s.eachContext(func(c *rawContext, ids []int32, stack StackIndex) {
		leaf := ids[0]
		if leaves[leaf] == nil {
			leaves[leaf] = m.allocating(s, leaf)
		}
		s.readMIB(c, &mib[0])
		cut += m.addAllocSites(stack, leaves[leaf], mib, weight, false)
		called[leaf] |= outer
		for _, id := range ids[1:] {
			called[id] |= all
		}
	})
	for id, which := range called {
		if which == 0 {
			continue
		}
		frames := s.chain(int32(id))
		stack := StackIndex(0)
		for _, f := range slices.Backward(frames) {
			stack = s.out.Stacks.push(stack, f)
		}
		if which == outer {
			frames = frames[1:]
		}
		for _, f := range frames {
			function, _ := m.records.add(s.out.Stacks.Frames[f].GUID)
			m.addCallSite(function, stack, nil)
		}
	}
	m.stacks = s.out.Stacks
	m.warn(s.raw.Name, cut)
}

// allocating returns the alloc sites at a PC: in the function that allocates and in the functions around its inlined copy.
func (m *Merger) allocating(s *symbolizer, leaf int32) (sites []allocSite) {
	for _, f := range s.chain(leaf) {
		frame := s.out.Stacks.Frames[f]
		function, _ := m.records.add(frame.GUID)
		if site := (allocSite{function: function}); !slices.Contains(sites, site) {
			sites = append(sites, site)
		}
		if !frame.Inline {
			break
		}
	}
	return sites
}

func (m *Merger) addSources(names map[uint64]string, sources map[uint64]SourceLocation) {
	if m.names == nil {
		m.names = make(map[uint64]string)
		m.sources = make(map[uint64]SourceLocation)
	}
	for id, n := range names {
		if have, ok := m.names[id]; !ok || n < have {
			m.names[id] = n
		}
	}
	for id, at := range sources {
		if have, ok := m.sources[id]; !ok || at.compare(have) < 0 {
			m.sources[id] = at
		}
	}
}

func (m *Merger) warn(name string, cut int) {
	if cut > 0 && m.opt.Warn != nil {
		m.opt.Warn(profile.Warning{File: name, Err: flaw.In("memprof").InFile(name).
			Field("number of contexts with a sum that outgrew its field and was cut").Got(cut).Want(0).Because(flaw.ErrSaturated)})
	}
}

// addAll adds the frames and stacks of o, and returns the index in s of each stack of o.
func (s *Stacks) addAll(o *Stacks) []StackIndex {
	if len(s.Frames) == 0 && s.numNodes() == 0 {
		s.Frames, s.frameIndex = slices.Clone(o.Frames), maps.Clone(o.frameIndex)
		s.nodes.list = slices.Clone(o.nodes.list)
		return upTo[StackIndex](s.numNodes() + 1)
	}
	frames := make([]frameIndex, len(o.Frames))
	for i, f := range o.Frames {
		frames[i] = s.addFrame(f)
	}
	stacks := make([]StackIndex, o.numNodes()+1)
	for i, n := range o.nodes.list {
		stacks[i+1] = s.push(stacks[n.caller()], frames[n.frame()])
	}
	return stacks
}

// upTo returns the numbers 0 to n-1.
func upTo[T ~int | ~int32 | ~uint32](n int) []T {
	numbers := make([]T, n)
	for i := range numbers {
		numbers[i] = T(i)
	}
	return numbers
}

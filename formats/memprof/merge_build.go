package memprof

import (
	"cmp"
	"slices"
)

// build returns the accumulated profile, with frames by fields, stacks by frames from the outermost, records by GUID.
func (m *Merger) build() *Profile {
	p := &Profile{MIBs: m.mibs, DataAccess: m.dataAccess()}
	if len(m.names) > 0 {
		p.Names = m.names
	}
	if len(m.sources) > 0 {
		p.Sources = m.sources
	}
	guids := m.records.list
	order := upTo[int32](len(guids)) // functions by GUID
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(guids[a], guids[b]) })
	position := make([]int32, len(guids)) // by function
	for i, f := range order {
		position[f] = int32(i)
	}
	used := make([]bool, m.stacks.numNodes()+1)
	for _, keys := range [][]uint64{m.allocs.keys.list, m.calls.keys.list} {
		for _, k := range keys {
			_, stack := splitSiteKey(k)
			used[stack] = true
		}
	}
	stacks := m.stacks.canonical(used, &p.Stacks)
	allocs := orderSites(m.allocs.keys.list, position, stacks)
	calls := orderSites(m.calls.keys.list, position, stacks)
	p.Records = make([]Record, len(guids))
	for i, f := range order {
		r := &p.Records[i]
		r.GUID = guids[f]
		sites := cutSites(&allocs, int32(i))
		r.AllocSites = make([]AllocSite, len(sites))
		for j, s := range sites {
			p.Stacks.markWhole(s.stack)
			r.AllocSites[j] = AllocSite{s.stack, m.allocs.values[s.number]}
		}
		sites = cutSites(&calls, int32(i))
		r.CallSites = make([]CallSite, len(sites))
		for j, s := range sites {
			p.Stacks.markWhole(s.stack)
			r.CallSites[j] = CallSite{s.stack, m.calls.values[s.number]}
		}
	}
	return p
}

type orderedSite struct {
	record int32
	stack  StackIndex
	number int32 // in the accumulator
}

// orderSites orders sites by the position of their function, then by stack.
func orderSites(keys []uint64, position []int32, stacks []StackIndex) []orderedSite {
	out := make([]orderedSite, len(keys))
	for i, k := range keys {
		f, stack := splitSiteKey(k)
		out[i] = orderedSite{position[f], stacks[stack], int32(i)}
	}
	slices.SortFunc(out, func(a, b orderedSite) int {
		return cmp.Or(cmp.Compare(a.record, b.record), cmp.Compare(a.stack, b.stack))
	})
	return out
}

// cutSites cuts off the sites of a record, which come first.
func cutSites(s *[]orderedSite, record int32) []orderedSite {
	n := 0
	for n < len(*s) && (*s)[n].record == record {
		n++
	}
	sites := (*s)[:n]
	*s = (*s)[n:]
	return sites
}

// canonical adds the used stacks and their callers to the empty Stacks to, sorted by their
// frames from the outermost on, and the frames of these stacks, sorted by their fields. It
// returns the index in to of each stack of s.
func (s *Stacks) canonical(used []bool, to *Stacks) []StackIndex {
	through := make([]uint32, len(s.nodes.list)+1)
	for i := len(s.nodes.list); i > 0; i-- {
		if used[i] || through[i] > 0 {
			through[i] = 1
			through[s.nodes.list[i-1].caller()] = 1
		}
	}
	wanted := make([]bool, len(s.Frames))
	for i, n := range s.nodes.list {
		if through[i+1] > 0 {
			wanted[n.frame()] = true
		}
	}
	order := make([]frameIndex, 0, len(s.Frames))
	for i, w := range wanted {
		if w {
			order = append(order, frameIndex(i))
		}
	}
	slices.SortFunc(order, func(a, b frameIndex) int { return s.Frames[a].compare(s.Frames[b]) })
	rank := make([]uint32, len(s.Frames))
	for i, f := range order {
		rank[f] = uint32(i)
		to.addFrame(s.Frames[f])
	}
	tree := s.children(through, rank)
	out := make([]StackIndex, len(s.nodes.list)+1)
	// Depth first: todo is the stack of nodes to visit, the next one last.
	todo := []StackIndex{0}
	for len(todo) > 0 {
		node := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if node != 0 {
			n := s.nodes.list[node-1]
			out[node] = to.push(out[n.caller()], frameIndex(rank[n.frame()]))
		}
		group := tree.callees(node)
		for _, callee := range slices.Backward(group) {
			todo = append(todo, callee)
		}
	}
	return out
}

func (f Frame) compare(o Frame) int {
	return cmp.Or(cmp.Compare(f.GUID, o.GUID), cmp.Compare(f.LineOffset, o.LineOffset), cmp.Compare(f.Column, o.Column),
		cmp.Compare(f.inline(), o.inline()))
}

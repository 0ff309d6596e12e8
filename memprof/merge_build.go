package memprof

import (
	"cmp"
	"maps"
	"slices"
)

// build makes a profile of what was accumulated, in an order that depends on
// nothing but the content: frames by what they say, stacks from the outermost
// frame on, records by GUID, sites by their stacks.
func (m *Merger) build() *Profile {
	p := &Profile{MIBs: m.mibs, DataAccess: m.dataAccess()}
	if len(m.names) > 0 {
		p.Names = m.names
	}
	used := make([]bool, m.stacks.NumNodes()+1)
	guids := slices.Sorted(maps.Keys(m.records))
	position := make([]uint32, len(guids)) // by number of the function
	for i, g := range guids {
		position[m.records[g]] = uint32(i)
	}
	allocs := orderSites(m.allocs, position, used)
	calls := orderSites(m.calls, position, used)
	stacks := m.stacks.canonical(used, &p.Stacks)
	for _, keys := range [][]siteKey{allocs, calls} {
		for i := range keys {
			keys[i].stack = stacks[keys[i].stack]
		}
		slices.SortFunc(keys, func(a, b siteKey) int {
			return cmp.Or(cmp.Compare(a.record, b.record), cmp.Compare(a.stack, b.stack))
		})
	}
	original := make([]StackIndex, p.Stacks.NumNodes()+1)
	for old, now := range stacks {
		if used[old] {
			original[now] = StackIndex(old)
		}
	}
	p.Records = make([]Record, len(guids))
	for i, g := range guids {
		r := &p.Records[i]
		r.GUID = g
		number := m.records[g]
		for ; len(allocs) > 0 && allocs[0].record == uint32(i); allocs = allocs[1:] {
			stack := allocs[0].stack
			p.Stacks.MarkWhole(stack)
			r.AllocSites = append(r.AllocSites, AllocSite{stack, m.allocs[siteKey{number, original[stack]}]})
		}
		for ; len(calls) > 0 && calls[0].record == uint32(i); calls = calls[1:] {
			stack := calls[0].stack
			p.Stacks.MarkWhole(stack)
			r.CallSites = append(r.CallSites, CallSite{stack, m.calls[siteKey{number, original[stack]}]})
		}
	}
	return p
}

// orderSites returns the keys of sites with the function's position for its
// number and marks their stacks as used.
func orderSites[T any](sites map[siteKey]T, position []uint32, used []bool) []siteKey {
	keys := make([]siteKey, 0, len(sites))
	for k := range sites {
		used[k.stack] = true
		keys = append(keys, siteKey{position[k.record], k.stack})
	}
	return keys
}

// canonical adds to the empty to the used stacks and their callers, ordered
// from the outermost frame on, and their frames, ordered by what they say. It
// returns by stack of s which it is there.
func (s *Stacks) canonical(used []bool, to *Stacks) []StackIndex {
	through := make([]uint64, len(s.nodes)+1)
	for i := len(s.nodes); i > 0; i-- {
		if used[i] || through[i] > 0 {
			through[i] = 1
			through[s.nodes[i-1].caller] = 1
		}
	}
	wanted := make([]bool, len(s.frames))
	for i, n := range s.nodes {
		if through[i+1] > 0 {
			wanted[n.frame] = true
		}
	}
	order := make([]FrameIndex, 0, len(s.frames))
	for i, w := range wanted {
		if w {
			order = append(order, FrameIndex(i))
		}
	}
	slices.SortFunc(order, func(a, b FrameIndex) int { return s.frames[a].compare(s.frames[b]) })
	rank := make([]uint32, len(s.frames))
	for i, f := range order {
		rank[f] = uint32(i)
		to.AddFrame(s.frames[f])
	}
	tree := s.children(through, rank)
	out := make([]StackIndex, len(s.nodes)+1)
	// Depth first; what is still to be visited, the next one last.
	todo := []StackIndex{0}
	for len(todo) > 0 {
		node := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if node != 0 {
			n := s.nodes[node-1]
			out[node] = to.Push(out[n.caller], FrameIndex(rank[n.frame]))
		}
		group := tree.sorted[tree.first[node]:tree.first[node+1]]
		for i := len(group) - 1; i >= 0; i-- {
			todo = append(todo, group[i])
		}
	}
	return out
}

// compare orders frames by their fields.
func (f Frame) compare(o Frame) int {
	inline := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	return cmp.Or(
		cmp.Compare(f.GUID, o.GUID),
		cmp.Compare(f.LineOffset, o.LineOffset),
		cmp.Compare(f.Column, o.Column),
		cmp.Compare(inline(f.Inline), inline(o.Inline)),
	)
}

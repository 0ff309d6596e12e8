package mip

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// CallEdge says how often a function was called from one place.
//
// The numbers are estimates: of the calls of a function only some were looked
// at, each for all the calls around it, and of a function that was tail-called
// what is known is the place from which the function before it was called.
type CallEdge struct {
	// Source is the return address less the start of the raw section, usually
	// negative (SectionRelativeSourceAddress); 0 for calls from outside of the
	// program or library.
	Source int32
	// Weight is the number of calls, of all runs together.
	Weight uint64
}

// Call is a [CallEdge] whose place has been looked up.
type Call struct {
	// Caller and Callee are indexes of functions of the profile. Caller is -1
	// if the profile does not know the caller: code that is not instrumented,
	// or outside of the program.
	Caller, Callee int
	// Offset is that of the return address from the start of the caller, in
	// bytes; 0 without a caller. It is that of the instruction after the call,
	// and the size of the caller if the call is the last.
	Offset uint32
	CallEdge
}

// Calls returns the call edges of all functions, those of one callee together,
// in the order of the profile and of places.
func (p *Profile) Calls() []Call {
	n := 0
	for i := range p.Functions {
		n += len(p.Functions[i].CallEdges)
	}
	if n == 0 {
		return nil
	}
	ranges := newCodeRanges(p.Functions)
	calls := make([]Call, 0, n)
	for i := range p.Functions {
		for _, e := range p.Functions[i].CallEdges {
			c := Call{Caller: ranges.caller(e.Source), Callee: i, CallEdge: e}
			if c.Caller >= 0 {
				c.Offset = uint32(int64(e.Source) - p.Functions[c.Caller].Address)
			}
			calls = append(calls, c)
		}
	}
	return calls
}

// viewEdges yields the calls, those of one caller together and by place. symbol
// returns that of the function with an index.
func (p *Profile) viewEdges(symbol func(i int) profile.Symbol, yield func(*profile.Edge) bool) {
	calls := slices.DeleteFunc(p.Calls(), func(c Call) bool { return c.Caller < 0 })
	slices.SortStableFunc(calls, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.Caller, b.Caller), cmp.Compare(a.Offset, b.Offset))
	})
	var e profile.Edge
	for i, c := range calls {
		caller := &p.Functions[c.Caller]
		site := e.Site
		switch {
		case i == 0 || calls[i-1].Caller != c.Caller:
			site = 0
		case calls[i-1].Offset != c.Offset:
			site++
		}
		e = profile.Edge{
			Kind: profile.Call, Caller: symbol(c.Caller), Hash: uint64(caller.CFG), Site: site,
			Target: symbol(c.Callee), Count: c.Weight,
		}
		if !yield(&e) {
			return
		}
	}
}

// codeRanges finds functions by address.
type codeRanges struct {
	functions []Function
	order     []int // by address
}

func newCodeRanges(functions []Function) *codeRanges {
	r := &codeRanges{functions: functions, order: make([]int, len(functions))}
	for i := range r.order {
		r.order[i] = i
	}
	slices.SortStableFunc(r.order, func(a, b int) int { return cmp.Compare(functions[a].Address, functions[b].Address) })
	return r
}

// caller returns the function that a return address is in, -1 for none. The
// call is before the address, and so may be the last thing in the function.
func (r *codeRanges) caller(source int32) int {
	if source == 0 {
		return -1
	}
	at := int64(source) - 1
	n := sort.Search(len(r.order), func(k int) bool { return r.functions[r.order[k]].Address > at })
	if n == 0 {
		return -1
	}
	f := &r.functions[r.order[n-1]]
	// Folded functions share an address: the first stands for all.
	for n > 1 && r.functions[r.order[n-2]].Address == f.Address {
		n--
	}
	i := r.order[n-1]
	if at-r.functions[i].Address >= int64(r.functions[i].Size) {
		return -1
	}
	return i
}

// checkEdges returns what is wrong with call edges: they are sorted, each
// place is there once.
func (f *Function) checkEdges(i int) error {
	if uint64(len(f.CallEdges)) > math.MaxUint32 {
		return invalid(i, "number of call edges", fmt.Sprint(len(f.CallEdges)), "at most 2^32-1")
	}
	for k := 1; k < len(f.CallEdges); k++ {
		if a, b := f.CallEdges[k-1].Source, f.CallEdges[k].Source; a >= b {
			return invalid(i, "SectionRelativeSourceAddress", fmt.Sprintf("%#x after %#x", uint32(b), uint32(a)), "ascending addresses")
		}
	}
	return nil
}

// edgeKey is the function called and the return address.
type edgeKey struct {
	callee int32 // index
	source int32
}

// edgeSums are the weights of a merger's edges.
type edgeSums map[edgeKey]uint64

// add adds calls of an edge, as often as times says.
func (s *edgeSums) add(k edgeKey, calls, times uint64) {
	if *s == nil {
		*s = edgeSums{}
	}
	(*s)[k], _ = saturate.AddScaled((*s)[k], calls, times)
}

// fill sets the edges of the functions.
func (s edgeSums) fill(functions []Function) {
	keys := make([]edgeKey, 0, len(s))
	for k := range s {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b edgeKey) int {
		return cmp.Or(cmp.Compare(a.callee, b.callee), cmp.Compare(a.source, b.source))
	})
	edges := make([]CallEdge, len(keys))
	for lo := 0; lo < len(keys); {
		hi := lo
		for ; hi < len(keys) && keys[hi].callee == keys[lo].callee; hi++ {
			edges[hi] = CallEdge{keys[hi].source, s[keys[hi]]}
		}
		functions[keys[lo].callee].CallEdges = edges[lo:hi:hi]
		lo = hi
	}
}

// mover translates the places in functions of one profile into those of the
// profile merged into, which may be of a later build.
type mover struct {
	from   []Function
	ranges *codeRanges // nil if nothing has moved
	to     []Function
	target []int // as of Merger.match
	lost   int   // edges whose place is no more
}

// newMover returns nil for functions without edges.
func newMover(from, to []Function, target []int) *mover {
	moved, edges := target != nil, false
	for i := range from {
		edges = edges || len(from[i].CallEdges) > 0
		moved = moved || from[i].Address != to[i].Address || from[i].Size != to[i].Size
	}
	if !edges {
		return nil
	}
	m := &mover{from: from, to: to, target: target}
	if moved {
		m.ranges = newCodeRanges(from)
	}
	return m
}

// move returns the new place, 0 if it is not known: the caller has changed, or
// is none of the functions.
func (m *mover) move(source int32) int32 {
	if m.ranges == nil || source == 0 {
		return source
	}
	if i := m.ranges.caller(source); i >= 0 {
		t := i
		if m.target != nil {
			t = m.target[i]
		}
		if t >= 0 && m.to[t].Size == m.from[i].Size {
			if at := int64(source) - m.from[i].Address + m.to[t].Address; int64(int32(at)) == at {
				return int32(at)
			}
		}
	}
	m.lost++
	return 0
}

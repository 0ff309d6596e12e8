package mip

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// A CallEdge counts the calls of a function from one call site.
//
// The counts are estimates: the runtime samples the calls of a function, and each sample stands for the
// calls around it. A tail call has the call site of the last ordinary call before it.
type CallEdge struct {
	// Source is the return address minus the start of the raw section, usually negative
	// (SectionRelativeSourceAddress); 0 for calls from outside of the program or library.
	Source int32
	// Weight is the number of calls in all runs together.
	Weight uint64
}

// A Call is a [CallEdge] with its caller.
type Call struct {
	// Caller and Callee are indexes of functions of the profile. Caller is -1 for
	// code that is not instrumented or outside of the program.
	Caller, Callee int
	// Offset is the offset of the return address from the start of the caller, in bytes; 0 without a
	// caller. It equals the size of the caller if the call is the last instruction.
	Offset uint32
	CallEdge
}

// Calls returns the call edges of all functions, grouped by callee, in the order of the
// profile and then of call sites.
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

// edges yields the calls with a known caller as edges that newEdge makes, grouped by caller, in the order
// of call sites.
func (v *view) edges(newEdge func() *profile.Edge) iter.Seq[*profile.Edge] {
	return func(yield func(*profile.Edge) bool) {
		calls := slices.DeleteFunc(v.p.Calls(), func(c Call) bool { return c.Caller < 0 })
		slices.SortStableFunc(calls, func(a, b Call) int {
			return cmp.Or(cmp.Compare(a.Caller, b.Caller), cmp.Compare(a.Offset, b.Offset))
		})
		site := int32(0)
		for i, c := range calls {
			switch {
			case i == 0 || calls[i-1].Caller != c.Caller:
				site = 0
			case calls[i-1].Offset != c.Offset:
				site++
			}
			e := newEdge()
			*e = profile.Edge{
				Kind: profile.Call, Caller: v.symbol(c.Caller), Hash: uint64(v.p.Functions[c.Caller].CFG), Site: site,
				Target: v.symbol(c.Callee), Count: c.Weight,
			}
			if !yield(e) {
				return
			}
		}
	}
}

type codeRanges struct {
	functions []Function
	order     []int // by address
}

func newCodeRanges(functions []Function) *codeRanges {
	return &codeRanges{functions, sortedBy(functions, func(f *Function) int64 { return f.Address })}
}

// sortedBy returns the indexes of functions in ascending order of a key.
func sortedBy(functions []Function, key func(*Function) int64) []int {
	order := make([]int, len(functions))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(key(&functions[a]), key(&functions[b])) })
	return order
}

// caller returns the function that contains the call before a return address, -1 for none. The call may
// be the last instruction, so the address may be the end of the function.
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

// checkEdges returns an error unless the call sites of the edges are in ascending order.
func (f *Function) checkEdges(i int) error {
	if uint64(len(f.CallEdges)) > math.MaxUint32 {
		return flaw.In("functions").InRecord(i).Field("number of call edges").Got(len(f.CallEdges)).
			Want("at most 2^32-1").Corrupt()
	}
	for k := 1; k < len(f.CallEdges); k++ {
		if a, b := f.CallEdges[k-1].Source, f.CallEdges[k].Source; a >= b {
			return flaw.In("functions").InRecord(i).Field("SectionRelativeSourceAddress").
				Gotf("%#x after %#x", uint32(b), uint32(a)).Want("ascending addresses").Corrupt()
		}
	}
	return nil
}

type edgeKey struct {
	callee int32 // index
	source int32
}

type edgeSums map[edgeKey]uint64

// add adds calls of an edge, times times.
func (s *edgeSums) add(k edgeKey, calls, times uint64) {
	if *s == nil {
		*s = edgeSums{}
	}
	(*s)[k], _ = saturate.AddScaled((*s)[k], calls, times)
}

func (s edgeSums) fillEdges(functions []Function) {
	keys := slices.SortedFunc(maps.Keys(s), func(a, b edgeKey) int {
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

// A mover translates call sites in the functions of one profile to call sites in the profile
// merged into, which may be of a later build.
type mover struct {
	from   []Function
	ranges *codeRanges // nil if nothing has moved
	to     []Function
	target []int // see Merger.match
	lost   int   // edges whose call site no longer exists
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

// moveSite returns the new call site; 0 if the caller has changed or is not one of the functions.
func (m *mover) moveSite(source int32) int32 {
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

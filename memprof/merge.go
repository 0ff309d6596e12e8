package memprof

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// MergeOptions adjust a [Merger]. The zero value is right for most uses.
type MergeOptions struct {
	// Warn, if not nil, is called for every input with which sums saturated, from
	// the goroutine that calls Add or AddProfile.
	Warn func(profile.Warning)
}

// Added says what one input brought.
type Added struct {
	Records int // of functions
	Cut     int // contexts with a sum that outgrew its field and was cut
}

// A Merger merges heap profiles. It does no I/O and keeps one accumulator, however many
// inputs there are.
//
// Contexts are the same if all their frames are the same. Their MIBs are merged field by
// field in each function; see the package documentation for the rules. The result is
// equal for any order and grouping of the inputs, and its records, sites and stacks have
// a canonical order. The exception is a single input with weight 1, which is returned
// unchanged, in its own order and with equal contexts unmerged.
//
// Mergers are not safe for concurrent use. For parallel merging give each
// worker a Merger with the same options, and [Merger.Merge] them into the first.
type Merger struct {
	opt    MergeOptions
	inputs int      // number of inputs that are not empty
	only   *Profile // the only input so far, of weight 1

	stacks  Stacks
	records numbering[uint64] // GUIDs of functions
	allocs  sites[MIBIndex]
	calls   sites[calleeList]
	mibs    []MIB
	uses    []uint32   // by MIBIndex: number of sites
	free    []MIBIndex // unused places in mibs
	names   map[uint64]string
	sources map[uint64]SourceLocation

	data map[dataKey]*DataAccessRecord
	cold map[dataKey]struct{} // symbols and hashes known to be cold
	has  bool                 // some input has a data-access profile
}

// sites maps pairs of function and call stack to values.
type sites[T any] struct {
	keys   numbering[uint64] // see siteKey
	values []T               // by number of the key
}

// siteKey returns the key of a function, given by its number, and a call stack in it.
func siteKey(function int32, stack StackIndex) uint64 { return uint64(function)<<32 | uint64(stack) }

func splitSiteKey(key uint64) (function int32, stack StackIndex) {
	return int32(key >> 32), StackIndex(key)
}

// at returns the number of a key, which gets the zero value if it is new.
func (s *sites[T]) at(key uint64) (n int32, isNew bool) {
	if n, isNew = s.keys.add(key); isNew {
		var zero T
		s.values = append(s.values, zero)
	}
	return n, isNew
}

// A calleeList is a sorted list of distinct callees.
type calleeList []uint64

// NewMerger returns an empty Merger.
func NewMerger(opt MergeOptions) *Merger { return &Merger{opt: opt} }

// AddProfile merges p with the given weight, at least 1. The Merger may keep p:
// it must not be changed afterwards. name is used in errors and warnings.
func (m *Merger) AddProfile(name string, p *Profile, weight uint64) (Added, error) {
	if weight == 0 {
		return Added{}, flaw.File(name).Field("weight").Got(0).Want("at least 1").Mismatch()
	}
	if err := p.validate(); err != nil {
		return Added{}, flaw.InFile(err, name)
	}
	added := Added{Records: len(p.Records)}
	if p.Empty() {
		return added, nil
	}
	m.inputs++
	if m.inputs == 1 && weight == 1 {
		m.only = p
		return added, nil
	}
	m.addOnly()
	added.Cut = m.add(name, p, weight)
	return added, nil
}

// addOnly adds the only input so far, which Add kept, to the accumulator.
func (m *Merger) addOnly() {
	if p := m.only; p != nil {
		m.only = nil
		m.add("", p, 1)
	}
}

// Merge adds the inputs of another Merger to m and leaves the other unusable.
// There is always a place for what it holds: the error is nil.
func (m *Merger) Merge(o *Merger) error {
	switch {
	case o.inputs == 0:
	case m.inputs == 0:
		opt := m.opt
		*m = *o
		m.opt = opt
	default:
		m.addOnly()
		m.inputs += o.inputs
		m.add("", o.Profile(), 1)
	}
	*o = Merger{}
	return nil
}

// Profile returns the merged profile, empty without inputs. It uses the Merger's
// memory: nothing may be added afterwards.
func (m *Merger) Profile() *Profile {
	if m.only != nil {
		return m.only
	}
	return m.build()
}

// mibPair is a MIB of the accumulator and one of the input to be merged.
type mibPair struct{ have, in MIBIndex }

const noMIB = ^MIBIndex(0)

// add accumulates p, and returns the number of contexts with sums that were cut.
func (m *Merger) add(name string, p *Profile, weight uint64) (cut int) {
	if m.names == nil {
		m.names = make(map[uint64]string)
		m.sources = make(map[uint64]SourceLocation)
		m.data = make(map[dataKey]*DataAccessRecord)
		m.cold = make(map[dataKey]struct{})
	}
	stacks := m.stacks.addAll(&p.Stacks)
	// Sites that share a MIB in both profiles share the sum, which is computed
	// once. A MIB without sites is reused, but only for the next input: until then
	// it identifies a pair.
	merged := make(map[mibPair]MIBIndex, len(p.MIBs))
	var released []MIBIndex
	for i := range p.Records {
		r := &p.Records[i]
		function, _ := m.records.add(r.GUID)
		for _, a := range r.AllocSites {
			site, isNew := m.allocs.at(siteKey(function, stacks[a.Stack]))
			pair := mibPair{noMIB, a.MIB}
			if !isNew {
				pair.have = m.allocs.values[site]
			}
			sum, ok := merged[pair]
			if !ok {
				var overflow bool
				if sum, overflow = m.mergeMIB(pair, &p.MIBs[a.MIB], weight); overflow {
					cut++
				}
				merged[pair] = sum
			}
			m.allocs.values[site] = sum
			m.uses[sum]++
			if !isNew {
				if m.uses[pair.have]--; m.uses[pair.have] == 0 {
					released = append(released, pair.have)
				}
			}
		}
		for j := range r.CallSites {
			c := &r.CallSites[j]
			site, _ := m.calls.at(siteKey(function, stacks[c.Stack]))
			m.calls.values[site] = m.calls.values[site].unite(c.Callees)
		}
	}
	// A released MIB may have got sites again.
	slices.Sort(released)
	for _, i := range slices.Compact(released) {
		if m.uses[i] == 0 {
			m.mibs[i] = MIB{}
			m.free = append(m.free, i)
		}
	}
	for id, n := range p.Names {
		if have, ok := m.names[id]; !ok || n < have {
			m.names[id] = n
		}
	}
	for id, at := range p.Sources {
		if have, ok := m.sources[id]; !ok || at.compare(have) < 0 {
			m.sources[id] = at
		}
	}
	cut += m.addDataAccess(p.DataAccess, weight)
	if cut > 0 && m.opt.Warn != nil {
		m.opt.Warn(profile.Warning{File: name, Err: flaw.In("memprof").InFile(name).
			Field("number of contexts with a sum that outgrew its field and was cut").Got(cut).Want(0).Because(flaw.ErrSaturated)})
	}
	return cut
}

// mergeMIB returns a place with the sum of a pair.
func (m *Merger) mergeMIB(pair mibPair, in *MIB, weight uint64) (sum MIBIndex, overflow bool) {
	if n := len(m.free); n > 0 {
		sum, m.free = m.free[n-1], m.free[:n-1]
	} else {
		sum = MIBIndex(len(m.mibs))
		m.mibs = append(m.mibs, MIB{})
		m.uses = append(m.uses, 0)
	}
	to := &m.mibs[sum]
	if pair.have == noMIB {
		*to = *in
		to.AccessHistogram = 0
		return sum, to.scale(weight)
	}
	*to = m.mibs[pair.have]
	to.Histogram = slices.Clone(to.Histogram)
	return sum, to.merge(in, weight)
}

// unite returns the union of l and any callees.
func (l calleeList) unite(callees []uint64) calleeList {
	for _, c := range callees {
		if i, ok := slices.BinarySearch(l, c); !ok {
			l = slices.Insert(l, i, c)
		}
	}
	return l
}

// addAll adds the frames and stacks of o, and returns the index in s of each stack of
// o.
func (s *Stacks) addAll(o *Stacks) []StackIndex {
	frames := make([]FrameIndex, len(o.frames))
	for i, f := range o.frames {
		frames[i] = s.addFrame(f)
	}
	stacks := make([]StackIndex, len(o.nodes.list)+1)
	for i, n := range o.nodes.list {
		stacks[i+1] = s.push(stacks[n.caller()], frames[n.frame()])
	}
	return stacks
}

// addDataAccess adds a data-access profile and returns how many sums saturated.
func (m *Merger) addDataAccess(d *DataAccess, weight uint64) (cut int) {
	if d == nil {
		return 0
	}
	m.has = true
	for i := range d.Records {
		in := &d.Records[i]
		to := m.data[in.key()]
		if to == nil {
			to = &DataAccessRecord{Symbol: in.Symbol, Hash: in.Hash}
			m.data[in.key()] = to
		}
		var o overflowing
		to.AccessCount = o.add(to.AccessCount, in.AccessCount, weight, math.MaxUint64)
		if o.happened {
			cut++
		}
		for _, l := range in.Locations {
			if i, ok := slices.BinarySearchFunc(to.Locations, l, SourceLocation.compare); !ok {
				to.Locations = slices.Insert(to.Locations, i, l)
			}
		}
	}
	for _, s := range d.ColdSymbols {
		m.cold[dataKey{symbol: s}] = struct{}{}
	}
	for _, h := range d.ColdHashes {
		m.cold[dataKey{hash: h}] = struct{}{}
	}
	return cut
}

func (l SourceLocation) compare(o SourceLocation) int {
	return cmp.Or(cmp.Compare(l.File, o.File), cmp.Compare(l.Line, o.Line))
}

// dataAccess returns the merged data-access profile. Data sampled in one input is not
// cold, even if it is cold in another.
func (m *Merger) dataAccess() *DataAccess {
	if !m.has {
		return nil
	}
	d := &DataAccess{}
	for _, k := range slices.SortedFunc(maps.Keys(m.data), dataKey.compare) {
		d.Records = append(d.Records, *m.data[k])
	}
	for _, k := range slices.SortedFunc(maps.Keys(m.cold), dataKey.compare) {
		switch _, sampled := m.data[k]; {
		case sampled:
		case k.symbol != "":
			d.ColdSymbols = append(d.ColdSymbols, k.symbol)
		default:
			d.ColdHashes = append(d.ColdHashes, k.hash)
		}
	}
	return d
}

func (k dataKey) compare(o dataKey) int {
	return cmp.Or(cmp.Compare(k.symbol, o.symbol), cmp.Compare(k.hash, o.hash))
}

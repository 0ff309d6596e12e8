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

// A Merger merges heap profiles. It does no I/O and keeps one accumulator, however many inputs there are.
//
// Contexts are the same if all their frames are the same. Their MIBs are merged field by field in each
// function; see the package documentation for the rules. The result is equal for any order and grouping
// of the inputs, and its records, sites and stacks have a canonical order. The exception is a single
// input with weight 1, which is returned unchanged, in its own order and with equal contexts unmerged.
//
// Mergers are not safe for concurrent use. For parallel merging give each
// worker a Merger with the same options, and [Merger.Merge] them into the first.
type Merger struct {
	opt    MergeOptions
	inputs int      // number of inputs that are not empty
	only   *Profile // the only input so far, of weight 1
	own    bool     // nobody else uses only

	stacks  Stacks
	records numbering[uint64] // GUIDs of functions
	allocs  sites[uint32]
	first   []int32         // by StackIndex: the first of its alloc sites, plus 1
	calls   sites[[]uint64] // sorted callees
	mibs    []MIB
	uses    []uint32 // by uint32: number of sites
	scratch []int32
	names   map[uint64]string
	sources map[uint64]SourceLocation

	data map[dataKey]*DataAccessRecord
	cold map[dataKey]struct{} // symbols and hashes known to be cold
	has  bool                 // some input has a data-access profile
}

// NewMerger returns an empty Merger.
func NewMerger(opt MergeOptions) *Merger { return &Merger{opt: opt} }

// AddProfile merges p with the given weight, at least 1. The Merger may keep p:
// it must not be changed afterwards. name is used in errors and warnings.
func (m *Merger) AddProfile(name string, p *Profile, weight uint64) error {
	if weight == 0 {
		return noWeight(name)
	}
	if err := p.validate(); err != nil {
		return flaw.InFile(err, name)
	}
	if p.Empty() {
		return nil
	}
	m.inputs++
	if m.inputs == 1 && weight == 1 {
		m.only = p
		return nil
	}
	m.addOnly()
	m.add(name, p, weight, false)
	return nil
}

func noWeight(name string) error {
	return flaw.File(name).Field("weight").Got(0).Want("at least 1").Mismatch()
}

// AddRaw symbolizes p and merges the result as AddProfile does, but does not make a profile of each
// input: it finds the call stacks in the sum. It does not call opt.Overflow for sums.
func (m *Merger) AddRaw(p *RawProfile, b *Binaries, opt SymbolizeOptions, weight uint64) (*Coverage, error) {
	if weight == 0 {
		return nil, noWeight(p.Name)
	}
	only := m.inputs == 0 && weight == 1
	s, err := p.symbolizer(b, opt, only)
	switch {
	case err != nil:
		return nil, err
	case only, opt.KeepNames, len(p.contexts) == 0:
		heap := s.profile()
		err = m.AddProfile(p.Name, heap, weight)
		m.own = m.only == heap
		return &s.about, err
	}
	m.inputs++
	m.addOnly()
	m.addRaw(s, weight)
	return &s.about, nil
}

// addOnly adds the only input so far, which Add kept, to the accumulator.
func (m *Merger) addOnly() {
	if p := m.only; p != nil {
		m.only = nil
		m.add("", p, 1, m.own)
	}
}

// Merge adds the inputs of another Merger to m and leaves the other unusable. The error is always nil.
func (m *Merger) Merge(o *Merger) error {
	switch {
	case o.inputs == 0:
	case m.inputs == 0:
		opt := m.opt
		*m = *o
		m.opt = opt
	default:
		m.addOnly()
		o.addOnly()
		m.inputs += o.inputs
		m.addSums(o)
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

// addDataAccess adds a data-access profile and returns how many sums saturated.
func (m *Merger) addDataAccess(d *DataAccess, weight uint64) (cut int) {
	if d == nil {
		return 0
	}
	if !m.has {
		m.has = true
		m.data = make(map[dataKey]*DataAccessRecord)
		m.cold = make(map[dataKey]struct{})
	}
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

// dataAccess returns the merged data-access profile. Data sampled in one input is not cold.
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

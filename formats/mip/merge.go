package mip

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// MergeOptions adjust a [Merger]. The zero value is right for most uses.
type MergeOptions struct {
	// Warn, if not nil, is called for every function that cannot be merged and for raw files that seem to
	// be of another build. The goroutine that calls Add calls it.
	Warn func(profile.Warning)
}

// A Merger merges raw and merged profiles of one module. It does no I/O and keeps one
// accumulator, however many inputs there are. Sums saturate, and the result is equal for
// any order and grouping of the inputs.
//
// It starts with a base profile, often the empty one of a map, which determines the
// functions; inputs add to its counts but never to its functions.
//
// Mergers are not safe for concurrent use. For parallel merging give each
// worker a [Merger.Fork] and [Merger.Merge] the forks into the first.
type Merger struct {
	opt    MergeOptions
	shape  *shape
	sums   []sums // by function
	blocks []bool // by block of the shape: covered
	edges  edgeSums
	raw    rawSums // not yet in sums and blocks
	files  uint64  // raw profiles in the sum, of private coverage
}

// sums are the counts of one function. The number of merges has 64 bits; Profile caps it
// to the 32 bits of the format.
type sums struct {
	merges, calls, timestamps uint64
}

// A shape holds what all profiles of a module share. Forks share it, too.
type shape struct {
	base       *Profile // counts are not used after NewMerger
	firstBlock []int    // by function: index of its first block; one more at the end
	rawOffsets []uint32
	rawMin     uint64 // smallest offset of a raw record
	rawSize    uint64 // least size of a raw file
	index      map[functionKey][]int
	byRaw      map[uint32]int32 // functions by raw offset; only for return addresses
	// noise is the flip of all inputs, plus one; 0 before the first input.
	noise atomic.Uint64
}

type functionKey struct {
	name   string
	cfg    uint32
	blocks int
}

func keyOf(f *Function) functionKey { return functionKey{f.Name, f.CFG, len(f.Blocks)} }

// NewMerger returns a Merger that starts with the functions and counts of base, which
// must not change while the Merger is in use. It warns of functions with overlapping raw
// records, because they are counted as one.
func NewMerger(base *Profile, opt MergeOptions) (*Merger, error) {
	if err := base.validate(); err != nil {
		return nil, err
	}
	m := newMerger(newShape(base), opt)
	m.shape.reportOverlaps(opt.Warn)
	m.addFunctions("", base.Functions, nil, 1)
	return m, m.addNoise(base, 1)
}

func newMerger(s *shape, opt MergeOptions) *Merger {
	return &Merger{
		opt: opt, shape: s,
		sums:   make([]sums, len(s.base.Functions)),
		blocks: make([]bool, s.firstBlock[len(s.base.Functions)]),
	}
}

func newShape(base *Profile) *shape {
	n := len(base.Functions)
	s := &shape{
		base:       base,
		firstBlock: make([]int, n+1),
		rawOffsets: make([]uint32, n),
		rawMin:     math.MaxUint64,
		rawSize:    headerSizeA,
		index:      make(map[functionKey][]int, n),
	}
	for i := range base.Functions {
		f := &base.Functions[i]
		s.firstBlock[i+1] = s.firstBlock[i] + len(f.Blocks)
		s.rawOffsets[i] = uint32(f.RawOffset) // below 2 GiB, see validate
		s.rawMin = min(s.rawMin, f.RawOffset)
		s.rawSize = max(s.rawSize, f.rawEnd(base.Type))
		s.index[keyOf(f)] = append(s.index[keyOf(f)], i)
	}
	if base.Type.Has(ReturnAddress) {
		s.byRaw = make(map[uint32]int32, n)
		for i := n - 1; i >= 0; i-- { // of functions with one record the first
			s.byRaw[s.rawOffsets[i]] = int32(i)
		}
	}
	return s
}

// reportOverlaps warns of every function whose raw record begins inside the raw record of another
// function. The reference writes such records for functions of one name that are local to their files.
func (s *shape) reportOverlaps(warn func(profile.Warning)) {
	if warn == nil {
		return
	}
	p := s.base
	order := sortedBy(p.Functions, func(f *Function) int64 { return int64(f.RawOffset) })
	last := 0 // the function whose record has the greatest end so far
	for k, i := range order {
		f, g := &p.Functions[i], &p.Functions[order[last]]
		if k > 0 && f.RawOffset < g.rawEnd(p.Type) {
			warn(profile.Warning{Function: f.Name, Err: flaw.In("functions").InRecord(i).Field("raw record").
				Gotf("at %#x, inside the record of function %d, %s", f.RawOffset, order[last], g.Name).
				Want("one of its own").Mismatch()})
		}
		if f.rawEnd(p.Type) > g.rawEnd(p.Type) {
			last = k
		}
	}
}

// Fork returns an empty Merger for another worker, with the functions and options of m.
func (m *Merger) Fork() *Merger { return newMerger(m.shape, m.opt) }

// Add merges a raw or merged profile of the same module and type. A weight w, at least 1, counts the
// input w times. If Add fails, the input does not count.
//
// Add matches the functions of a merged profile by name, control flow signature and number of blocks, and
// functions that agree in these by their order. It warns of functions without a match and skips them.
func (m *Merger) Add(r *Reader, weight uint64) error {
	switch r.Info.Format {
	case FormatRaw:
		return m.AddRaw(r.name, r.data, weight)
	case FormatRet:
		err := checkWeight(weight)
		if err == nil {
			err = m.addRet(r.name, r.data, 0, weight)
		}
		return flaw.InFile(err, r.name)
	}
	if err := m.shape.checkModule(r.Info.Type, r.Info.ModuleHash); err != nil {
		return flaw.InFile(err, r.name)
	}
	p, err := r.Profile()
	if err != nil {
		return err
	}
	return m.addProfile(r.name, p, weight)
}

func checkWeight(weight uint64) error {
	if weight == 0 {
		return flaw.Field("weight").Got(0).Want("at least 1").Mismatch()
	}
	return nil
}

// addProfile is [Merger.Add] for a merged profile in memory. name is for errors and warnings.
func (m *Merger) addProfile(name string, p *Profile, weight uint64) error {
	err := cmp.Or(checkWeight(weight), m.shape.checkModule(p.Type, p.ModuleHash))
	var target []int
	if err == nil {
		target, err = m.match(name, p)
	}
	if err == nil {
		err = m.addNoise(p, weight)
	}
	if err != nil {
		return flaw.InFile(err, name)
	}
	m.addFunctions(name, p.Functions, target, weight)
	return nil
}

// checkModule returns an error for another module or type.
func (s *shape) checkModule(t ProfileType, hash uint32) error {
	if base := s.base; hash != base.ModuleHash {
		return flaw.In("header").Field("ModuleHash").Gotf("%#x", hash).
			Wantf("%#x as the profile merged into", base.ModuleHash).
			Because(&llvmerr.MIPError{Code: llvmerr.MIPModuleHash, Found: toolHex(uint64(hash)), Expected: toolHex(uint64(base.ModuleHash))})
	} else if t != base.Type {
		return flaw.In("header").Field("ProfileType").Got(t.String()).
			Want(base.Type.String() + " as the profile merged into").Mismatch()
	}
	return nil
}

// addNoise counts the files of private coverage, unless the profile is empty. It fails if the noise
// differs from the noise of the other inputs: only sums of equal probability have an estimate.
func (m *Merger) addNoise(p *Profile, weight uint64) error {
	n := p.noise()
	if n.flip == 0 && !slices.ContainsFunc(p.Functions, func(f Function) bool { return f.MergeCount > 0 }) {
		return nil
	}
	return m.countNoise(n, weight)
}

func (m *Merger) countNoise(n noise, weight uint64) error {
	mark := uint64(n.flip) + 1
	if !m.shape.noise.CompareAndSwap(0, mark) && m.shape.noise.Load() != mark || n.flip > 0 && weight != 1 {
		return flaw.In("header").Field("Reserved, the probability that coverage was flipped, in units of 2^-32,").Gotf("%#x, weight %d", n.flip, weight).
			Wantf("%#x as in the other inputs, weight 1 unless 0", m.shape.noise.Load()-1).Mismatch()
	}
	m.files, _ = saturate.AddScaled(m.files, n.files, weight)
	return nil
}

// match returns for each function of p the index of the function of the base, -1 for
// none; nil if all indexes are equal. A profile without any function of the base is an error.
func (m *Merger) match(name string, p *Profile) (target []int, err error) {
	base := m.shape.base.Functions
	if slices.EqualFunc(base, p.Functions, func(a, b Function) bool { return keyOf(&a) == keyOf(&b) }) {
		return nil, nil
	}
	target = make([]int, len(p.Functions))
	seen := make(map[functionKey]int, len(p.Functions))
	for i := range p.Functions {
		seen[keyOf(&p.Functions[i])]++
	}
	rank := make(map[functionKey]int)
	var unknown []profile.Warning
	for i := range p.Functions {
		f := &p.Functions[i]
		key := keyOf(f)
		same := m.shape.index[key]
		if len(same) == seen[key] { // otherwise the match would be ambiguous
			target[i] = same[rank[key]]
			rank[key]++
			continue
		}
		target[i] = -1
		unknown = append(unknown, profile.Warning{File: name, Function: f.Name, Err: flaw.In("functions").InRecord(i).Field("function").
			Gotf("one of %d with CFG signature %#x and %d blocks", seen[key], f.CFG, len(f.Blocks)).
			Wantf("as many as in the profile merged into, which has %d", len(same)).Mismatch()})
	}
	if len(unknown) > 0 && len(unknown) == len(target) {
		return nil, unknown[0].Err
	}
	for _, w := range unknown {
		if m.opt.Warn != nil {
			m.opt.Warn(w)
		}
	}
	return target, nil
}

// addFunctions adds the weighted counts of functions to the targets; nil means the same indexes.
func (m *Merger) addFunctions(name string, functions []Function, target []int, weight uint64) {
	mover := newMover(functions, m.shape.base.Functions, target)
	for i := range functions {
		to := i
		if target != nil {
			to = target[i]
		}
		if to < 0 {
			continue
		}
		f := &functions[i]
		m.addSums(to, sums{uint64(f.MergeCount), f.CallCount, f.TimestampSum}, weight)
		covered := m.blocks[m.shape.firstBlock[to]:]
		for b := range f.Blocks {
			covered[b] = covered[b] || f.Blocks[b].Covered
		}
		for _, e := range f.CallEdges {
			m.edges.add(edgeKey{int32(to), mover.moveSite(e.Source)}, e.Weight, weight)
		}
	}
	if mover != nil && mover.lost > 0 && m.opt.Warn != nil {
		m.opt.Warn(profile.Warning{File: name, Err: flaw.In("functions").Field("call edges").
			Gotf("%d from code that has changed", mover.lost).
			Want("the same code: they are kept without their callers").Mismatch()})
	}
}

// addSums adds s, weighted, to the counts of function i. Under function coverage the
// number of calls is 0 or 1.
func (m *Merger) addSums(i int, s sums, weight uint64) {
	to := &m.sums[i]
	to.merges, _ = saturate.AddScaled(to.merges, s.merges, weight)
	to.timestamps, _ = saturate.AddScaled(to.timestamps, s.timestamps, weight)
	if m.shape.base.Type.Has(FunctionCoverage) {
		to.calls = max(to.calls, s.calls)
	} else {
		to.calls, _ = saturate.AddScaled(to.calls, s.calls, weight)
	}
}

// Merge adds the inputs of another Merger, a fork or one with a base of its own, to m.
// The other is unusable afterwards.
func (m *Merger) Merge(o *Merger) error {
	if m.shape != o.shape {
		return m.addProfile("", o.Profile(), 1)
	}
	o.drainRaw(1)
	for i, s := range o.sums {
		m.addSums(i, s, 1)
	}
	for i, covered := range o.blocks {
		m.blocks[i] = m.blocks[i] || covered
	}
	for k, weight := range o.edges {
		m.edges.add(k, weight, 1)
	}
	m.files = saturate.Add(m.files, o.files)
	return nil
}

// Profile returns the sum of the base and the inputs so far.
func (m *Merger) Profile() *Profile {
	m.drainRaw(1)
	p := m.shape.base.clone()
	for i, s := range m.sums {
		f := &p.Functions[i]
		f.MergeCount = uint32(min(s.merges, math.MaxUint32))
		f.CallCount, f.TimestampSum = s.calls, s.timestamps
		for b, covered := range m.blocks[m.shape.firstBlock[i]:m.shape.firstBlock[i+1]] {
			f.Blocks[b].Covered = covered
		}
		f.CallEdges = nil
	}
	m.edges.fillEdges(p.Functions)
	if p.Flip, p.Files = 0, m.files; m.files > 0 {
		p.Flip = float64(m.shape.noise.Load()-1) / flipOne
	}
	return p
}

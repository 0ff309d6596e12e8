package memprof

import (
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// Bounds of the frames on all stacks of a profile: per address more than compilers
// inline on average. Only hostile programs exceed them.
const (
	maxFramesPerPC = 256
	freeFrames     = 1 << 20
)

// A recordBuilder turns contexts into records.
type recordBuilder struct {
	*symbolizer
	ids []int32 // the current context's PCs that have frames, leaf first

	records functionTable
	callers functionTable
	sites   [][]int32   // by index in callers: PCs of call sites
	sited   []siteState // by PC
	mibs    []MIBIndex  // by stack, plus 1; without LLVMCompat

	calls, frames int // on all stacks
}

// A siteState says in which functions of its frames a PC is already recorded as a call
// site.
type siteState uint8

const (
	notSited   siteState = iota
	outerSited           // in all but the innermost, which allocates
	allSited
)

// build makes the records.
func (s *symbolizer) build() error {
	b := recordBuilder{symbolizer: s, sited: make([]siteState, len(s.chains))}
	s.out.MIBs = make([]MIB, 0, len(s.raw.contexts))
	for i := range s.raw.contexts {
		if err := b.addContext(&s.raw.contexts[i]); err != nil {
			return err
		}
	}
	if s.about.Dropped == s.about.Contexts && (s.about.Contexts > 0 || s.opt.LLVMCompat) {
		return s.noFrames()
	}
	b.addCallSites()
	return nil
}

// addContext records a context, and notes the call sites on its stack.
func (b *recordBuilder) addContext(c *rawContext) error {
	b.ids = b.ids[:0]
	for pcs := b.raw.pcs(c); len(pcs) > 0; pcs = pcs[8:] {
		id := b.pcs.find(le.Uint64(pcs))
		if n := b.chains[id].len(); n > 0 {
			b.ids = append(b.ids, id)
			b.frames += n
		}
	}
	b.calls += len(b.ids)
	if b.frames > freeFrames+maxFramesPerPC*b.calls {
		return flaw.In("stacks").Field("frames of the call stacks").Gotf("%d of %d calls", b.frames, b.calls).
			Wantf("at most %d of each", maxFramesPerPC).Unsupported()
	}
	if len(b.ids) == 0 {
		b.about.Dropped++
		return nil
	}
	if site, ok := b.measure(c); ok {
		b.addAllocSites(site)
	}
	for i, id := range b.ids {
		b.noteCallSite(id, i == 0)
	}
	return nil
}

// addStack adds the current context's call stack to the profile.
func (b *recordBuilder) addStack() StackIndex {
	at := StackIndex(0)
	for k := len(b.ids) - 1; k >= 0; k-- {
		c := &b.chains[b.ids[k]]
		for i := c.end - 1; i >= c.start; i-- {
			at = b.out.Stacks.push(at, b.arena[i])
		}
	}
	b.out.Stacks.markWhole(at)
	return at
}

// measure adds the MIB of the current context. If another stack of addresses has the
// same frames, it merges the MIB and returns false.
func (b *recordBuilder) measure(c *rawContext) (site AllocSite, ok bool) {
	out := b.out
	var m MIB
	b.raw.readMIB(c, &m)
	if c.layout == 1 {
		estimateDensities(&m)
	}
	if !b.opt.LLVMCompat || m.AccessHistogramSize > 0 {
		m.AccessHistogram = 0
	}
	stack := b.addStack()
	if !b.opt.LLVMCompat {
		if n := int(stack) + 1 - len(b.mibs); n > 0 {
			b.mibs = append(b.mibs, make([]MIBIndex, max(n, len(b.mibs)/2))...)
		}
		if i := b.mibs[stack]; i > 0 {
			if out.MIBs[i-1].merge(&m, 1) && b.opt.Overflow != nil {
				b.opt.Overflow(i - 1)
			}
			return AllocSite{}, false
		}
	}
	out.MIBs = append(out.MIBs, m)
	i := MIBIndex(len(out.MIBs))
	if !b.opt.LLVMCompat {
		b.mibs[stack] = i
	}
	return AllocSite{stack, i - 1}, true
}

// addAllocSites records a context in the function that allocates and those it
// is inlined into.
func (b *recordBuilder) addAllocSites(site AllocSite) {
	for _, f := range b.chain(b.ids[0]) {
		r := b.record(f)
		// A function inlined into itself has the context once.
		if n := len(r.AllocSites); b.opt.LLVMCompat || n == 0 || r.AllocSites[n-1] != site {
			r.AllocSites = append(r.AllocSites, site)
		}
		if !b.out.Stacks.Frame(f).Inline {
			return
		}
	}
}

// record returns the record of a frame's function, and adds it if it is missing.
func (b *recordBuilder) record(f FrameIndex) *Record {
	guid := b.guid(f)
	i, added := b.records.index(f, guid)
	if added {
		b.out.Records = append(b.out.Records, Record{GUID: guid})
	}
	return &b.out.Records[i]
}

// noteCallSite records a PC as a call site in the functions of its frames. At the leaf
// of a context the innermost frame is not a call site, because its call is the
// allocation.
func (b *recordBuilder) noteCallSite(id int32, leaf bool) {
	id = b.chains[id].same
	frames := b.chain(id)
	switch state := b.sited[id]; {
	case state == allSited || leaf && state == outerSited:
	case leaf:
		b.noteCalls(id, frames[1:])
		b.sited[id] = outerSited
	case state == outerSited:
		// The function may be inlined into itself.
		if !slices.ContainsFunc(frames[1:], func(f FrameIndex) bool { return b.guid(f) == b.guid(frames[0]) }) {
			b.noteCalls(id, frames[:1])
		}
		b.sited[id] = allSited
	default:
		b.noteCalls(id, frames)
		b.sited[id] = allSited
	}
}

// noteCalls records a call site once in each of the functions.
func (b *recordBuilder) noteCalls(id int32, frames []FrameIndex) {
	for _, f := range frames {
		i, added := b.callers.index(f, b.guid(f))
		if added {
			b.sites = append(b.sites, nil)
		}
		if n := len(b.sites[i]); n == 0 || b.sites[i][n-1] != id {
			b.sites[i] = append(b.sites[i], id)
		}
	}
}

// chain returns the frames at a PC, innermost first.
func (b *recordBuilder) chain(id int32) []FrameIndex {
	return b.arena[b.chains[id].start:b.chains[id].end]
}

func (b *recordBuilder) guid(f FrameIndex) uint64 { return b.out.Stacks.Frame(f).GUID }

// addCallSites adds the call sites to the records.
func (b *recordBuilder) addCallSites() {
	for i, guid := range b.callers.guids.list {
		r, added := b.records.guids.add(guid)
		if added {
			b.out.Records = append(b.out.Records, Record{GUID: guid})
		}
		sites := make([]CallSite, len(b.sites[i]))
		for k, id := range b.sites[i] {
			sites[k].Stack = b.out.Stacks.addStack(b.chain(id))
		}
		b.out.Records[r].CallSites = sites
	}
}

// estimateDensities sets the access densities of a MIB of raw version 1 as if all its
// blocks were alike: accesses per 100 bytes, and these per second of lifetime.
func estimateDensities(m *MIB) {
	if m.AllocCount == 0 || m.TotalSize == 0 {
		return
	}
	n := uint64(m.AllocCount)
	var o overflowing
	density := o.mul(m.TotalAccessCount, 100) / m.TotalSize
	lifetime := o.mul(density, 1000) / max(m.TotalLifetime/n, 1)
	total, totalLifetime := o.mul(density, n), o.mul(lifetime, n)
	if !o.happened {
		m.set(totalAccessDensity, total)
		m.set(totalLifetimeAccessDensity, totalLifetime)
	}
}

// functionTable numbers functions by first appearance.
type functionTable struct {
	guids   numbering[uint64]
	byFrame []int32 // the same by frame, plus 1; 0 if not looked up yet
}

// index returns the number of a frame's function. added reports whether it is
// new.
func (t *functionTable) index(f FrameIndex, guid uint64) (i int32, added bool) {
	if n := int(f) + 1 - len(t.byFrame); n > 0 {
		t.byFrame = append(t.byFrame, make([]int32, n)...)
	}
	if i := t.byFrame[f]; i > 0 {
		return i - 1, false
	}
	i, added = t.guids.add(guid)
	t.byFrame[f] = i + 1
	return i, added
}

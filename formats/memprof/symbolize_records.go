package memprof

import "slices"

// A recordBuilder turns contexts into records.
type recordBuilder struct {
	*symbolizer

	records functionTable
	callers functionTable
	sites   [][]int32   // by index in callers: PCs of call sites
	sited   []siteState // by PC
	mibs    []uint32    // by stack, plus 1; without LLVMCompat
}

// together is the number of contexts that follow advances at the same time.
const together = 16

// A stackPath is the progress of a context's stack in the tree of all stacks, from the outermost frame inwards.
type stackPath struct {
	ids  []int32    // the PCs that have frames, leaf first
	at   StackIndex // the node reached
	call int        // index in ids of the call with the next frame; -1 after the last frame
	next int        // index in the arena of the next frame
	lost lossPath
}

func (p *stackPath) step(s *symbolizer) {
	if p.next > s.chains[p.ids[p.call]].start {
		p.next--
		return
	}
	if p.call--; p.call >= 0 {
		p.next = s.chains[p.ids[p.call]].end - 1
	}
}

// nextPC returns the number of the PC at the start of b. Calls take the PCs of all contexts in order.
func (s *symbolizer) nextPC(b []byte) int32 {
	if len(s.ids) == 0 {
		return s.pcs.find(le.Uint64(b))
	}
	id := s.ids[0]
	s.ids = s.ids[1:]
	return int32(id)
}

// follow starts the paths of contexts and advances them through the nodes that the tree
// already has. Each step needs the result of the previous step and memory that is in no
// cache, so follow advances all paths by one step at a time.
func (s *symbolizer) follow(contexts []rawContext, paths []stackPath) {
	nodes := &s.out.Stacks.nodes
	var active [together]*stackPath
	n := 0
	for i := range contexts {
		p := &paths[i]
		*p = stackPath{ids: p.ids[:0]}
		// The innermost call is in MemProf's runtime, whose debug information is seldom there.
		runtime, last := true, int32(-1)
		for pcs := s.raw.pcs(&contexts[i]); len(pcs) > 0; pcs = pcs[8:] {
			id := s.nextPC(pcs)
			last = -1
			switch {
			case id < 0:
			case s.chains[id].end > s.chains[id].start:
				p.lost.known(&s.lost, id, len(p.ids) == 0)
				p.ids = append(p.ids, id)
				last = id
			case !runtime:
				p.lost.lost(&s.lost, id, len(p.ids) == 0)
			}
			runtime = false
		}
		if last >= 0 {
			s.endOfStack(&p.lost, last, int(contexts[i].depth))
		}
		if p.call = len(p.ids) - 1; p.call < 0 {
			continue
		}
		p.next = s.chains[p.ids[p.call]].end - 1
		active[n] = p
		n++
	}
	for n > 0 {
		var keys [together]stackNode
		var found [together]int32
		for i, p := range active[:n] {
			keys[i] = nodeOf(p.at, s.arena[p.next])
		}
		nodes.findAll(keys[:n], found[:n])
		left := 0
		for i, p := range active[:n] {
			if found[i] < 0 {
				continue
			}
			p.at = StackIndex(found[i] + 1)
			if p.step(s); p.call >= 0 {
				active[left] = p
				left++
			}
		}
		n = left
	}
}

// A siteState says which functions at a PC already have a call site for the PC.
type siteState uint8

const (
	notSited   siteState = iota
	outerSited           // all but the innermost, which allocates
	allSited
)

// eachContext calls use with every context that has frames, its PCs that have frames, leaf first, and its stack.
func (s *symbolizer) eachContext(use func(c *rawContext, ids []int32, stack StackIndex)) {
	s.importChains()
	paths := make([]stackPath, together)
	for contexts := range slices.Chunk(s.raw.contexts, together) {
		s.follow(contexts, paths)
		for i := range contexts {
			p := &paths[i]
			s.measureLoss(&contexts[i], &p.lost, len(p.ids) > 0)
			if len(p.ids) == 0 {
				continue
			}
			for ; p.call >= 0; p.step(s) {
				p.at = s.out.Stacks.push(p.at, s.arena[p.next])
			}
			use(&contexts[i], p.ids, p.at)
		}
	}
	s.finishLosses()
}

func (s *symbolizer) profile() *Profile {
	b := recordBuilder{symbolizer: s, sited: make([]siteState, len(s.found))}
	n := len(s.raw.contexts)
	s.out.MIBs = make([]MIB, 0, n+n/16) // the next profile has a few more
	s.eachContext(func(c *rawContext, ids []int32, stack StackIndex) {
		s.out.Stacks.markWhole(stack)
		if site, ok := b.measure(c, stack); ok {
			b.addAllocSites(ids[0], site)
		}
		for i, id := range ids {
			b.noteCallSite(id, i == 0)
		}
	})
	b.addCallSites()
	return s.out
}

// measure adds the MIB of a context, or merges it and returns false if the context has frames of another stack.
func (b *recordBuilder) measure(c *rawContext, stack StackIndex) (site AllocSite, ok bool) {
	out := b.out
	var m MIB
	b.readMIB(c, &m)
	if !b.opt.LLVMCompat || m.AccessHistogramSize > 0 {
		m.AccessHistogram = 0
	}
	if !b.opt.LLVMCompat {
		if n := int(stack) + 1 - len(b.mibs); n > 0 {
			b.mibs = append(b.mibs, make([]uint32, max(n, len(b.mibs)/2))...)
		}
		if i := b.mibs[stack]; i > 0 {
			if out.MIBs[i-1].merge(&m, 1) && b.opt.Overflow != nil {
				b.opt.Overflow(i - 1)
			}
			return AllocSite{}, false
		}
	}
	out.MIBs = append(out.MIBs, m)
	i := uint32(len(out.MIBs))
	if !b.opt.LLVMCompat {
		b.mibs[stack] = i
	}
	return AllocSite{stack, i - 1}, true
}

// addAllocSites records a context in the function that allocates and the functions that this is inlined into.
func (b *recordBuilder) addAllocSites(leaf int32, site AllocSite) {
	for _, f := range b.chain(leaf) {
		r := b.recordOf(f)
		// A function inlined into itself has the context once.
		if n := len(r.AllocSites); b.opt.LLVMCompat || n == 0 || r.AllocSites[n-1] != site {
			r.AllocSites = append(r.AllocSites, site)
		}
		if !b.out.Stacks.Frames[f].Inline {
			return
		}
	}
}

// recordOf returns the record of a frame's function, and adds it if it is missing.
func (b *recordBuilder) recordOf(f frameIndex) *Record {
	guid := b.guid(f)
	i, added := b.records.index(f, guid)
	if added {
		b.out.Records = append(b.out.Records, Record{GUID: guid})
	}
	return &b.out.Records[i]
}

// noteCallSite records a PC as a call site of its functions; at the leaf of a context, not of the innermost.
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
		if !slices.ContainsFunc(frames[1:], func(f frameIndex) bool { return b.guid(f) == b.guid(frames[0]) }) {
			b.noteCalls(id, frames[:1])
		}
		b.sited[id] = allSited
	default:
		b.noteCalls(id, frames)
		b.sited[id] = allSited
	}
}

// noteCalls records a call site once in each of the functions.
func (b *recordBuilder) noteCalls(id int32, frames []frameIndex) {
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
func (s *symbolizer) chain(id int32) []frameIndex {
	return s.arena[s.chains[id].start:s.chains[id].end]
}

func (b *recordBuilder) guid(f frameIndex) uint64 { return b.out.Stacks.Frames[f].GUID }

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

func (s *symbolizer) readMIB(c *rawContext, m *MIB) {
	s.raw.readMIB(c, m)
	if c.layout == 1 {
		estimateDensities(m)
	}
}

// estimateDensities sets the access densities of a MIB of raw version 1 as if all its blocks were alike.
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
	byFrame []int32 // by frame: number of its function plus 1; 0 if not looked up yet
}

// index returns the number of a frame's function. added reports whether it is new.
func (t *functionTable) index(f frameIndex, guid uint64) (i int32, added bool) {
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

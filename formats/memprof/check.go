package memprof

import (
	"cmp"
	"fmt"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// Check returns what is readable but cannot be right in a profile: records of functions that are not on
// their stacks, sites without allocations, minima above maxima, totals outside of both, a stored
// summary that does not match the records. It returns each kind of finding once, a
// *[profile.FormatError] with the first position and the number of occurrences. Remarks, in the same
// form, are rare in sound profiles: functions on stacks without a record, callees that are on no stack,
// contexts that functions measure differently, columns of 2^16 and more.
//
// LLVM's tools and runtime can cause all of these (the maxima of raw version 1 are
// wrong, for example), so readers do not call Check.
func (p *Profile) Check() (findings, remarks []error) {
	var c checker
	for i := range p.Records {
		c.record = i
		c.checkRecord(p, &p.Records[i])
	}
	c.record = -1
	if stored := p.summary; stored != nil && !p.contradicts() {
		computed := p.writtenSummary()
		have, want := stored.fields(), computed.fields()
		for i, name := range [...]string{
			"number of contexts", "number of cold contexts", "number of hot contexts",
			"largest cold context", "largest warm context", "largest hot context",
		} {
			if *have[i] != *want[i] {
				c.note(name+" of the summary", fmt.Sprint(*have[i]), fmt.Sprintf("%d, as the records have it", *want[i]))
			}
		}
	}
	return c.findings(), p.remarks()
}

// maxColumn is the greatest column that LLVM keeps.
const maxColumn = 1<<16 - 1

// remarks returns the findings that sound profiles have seldom.
func (p *Profile) remarks() []error {
	c := checker{record: -1}
	recorded := make(map[uint64]bool, len(p.Records))
	for i := range p.Records {
		recorded[p.Records[i].GUID] = true
	}
	seen := make(map[uint64]bool, len(recorded))
	var missing []uint64
	for _, f := range p.Stacks.Frames {
		if !seen[f.GUID] && !recorded[f.GUID] {
			missing = append(missing, f.GUID)
		}
		seen[f.GUID] = true
		if f.Column > maxColumn {
			c.note("column of a frame", fmt.Sprint(f.Column), fmt.Sprintf("at most %d", maxColumn))
		}
	}
	if few(len(missing), len(seen)) {
		for _, guid := range missing {
			c.note("function of a frame", fmt.Sprintf("%#x", guid), "one with a record")
		}
	}
	if differ, contexts := p.contradictions(); few(differ, contexts) {
		c.note("number of contexts that functions measure differently", fmt.Sprint(differ), "0")
	}
	for i := range p.Records {
		c.record = i
		for _, s := range p.Records[i].CallSites {
			for _, guid := range s.Callees {
				if !seen[guid] {
					c.note("callee", fmt.Sprintf("%#x", guid), "a function on the stacks")
				}
			}
		}
	}
	return c.findings()
}

// contradictions returns how many contexts several functions measure differently, and how
// many contexts there are. A stack that a function has twice does not count: it stands for
// contexts that differed in unknown frames.
func (p *Profile) contradictions() (differ, contexts int) {
	type site struct {
		record         int
		mib            uint32
		twice, differs bool
	}
	sites := make(map[StackIndex]site)
	for i := range p.Records {
		for _, a := range p.Records[i].AllocSites {
			s, again := sites[a.Stack]
			if !again {
				sites[a.Stack] = site{record: i, mib: a.MIB}
				continue
			}
			s.twice = s.twice || s.record == i
			s.differs = s.differs || s.mib != a.MIB && !p.MIBs[s.mib].equal(&p.MIBs[a.MIB])
			s.record = i
			sites[a.Stack] = s
		}
	}
	for _, s := range sites {
		if s.differs && !s.twice {
			differ++
		}
	}
	return differ, len(sites)
}

// few reports whether some of all are an exception, and not the way in which the profile was made.
func few(some, all int) bool { return some > 0 && 8*some <= all }

// Check returns the contexts of a raw profile whose measurements cannot be right: without allocations,
// with minima above maxima, with totals outside of both. Findings have the same form as in
// [Profile.Check]. Check ignores the maxima of raw version 1, which are wrong.
func (p *RawProfile) Check() []error {
	c := checker{section: "MIBs"}
	var m MIB
	for i := range p.contexts {
		c.record = i
		p.readMIB(&p.contexts[i], &m)
		if p.contexts[i].layout == 1 {
			m.keepFields(rawSchema1 &^ (1<<maxAccessCount | 1<<maxSize | 1<<maxLifetime))
		}
		c.checkMIB(&m)
	}
	return c.findings()
}

// contradicts reports whether functions measure a context differently, so that a summary depends on their order.
func (p *Profile) contradicts() bool {
	for c := range p.Contexts() {
		if c.Differs {
			return true
		}
	}
	return false
}

// A checker collects findings, the first of each kind.
type checker struct {
	section string // empty stands for "memprof"
	record  int
	first   []finding
	index   map[string]int // of fields in first
}

type finding struct {
	problem flaw.Problem
	found   string
	times   int
}

func (c *checker) note(field, found, want string) {
	if i, ok := c.index[field]; ok {
		c.first[i].times++
		return
	}
	if c.index == nil {
		c.index = make(map[string]int)
	}
	c.index[field] = len(c.first)
	at := flaw.In(cmp.Or(c.section, "memprof")).InRecord(c.record)
	c.first = append(c.first, finding{at.Field(field).Want(want), found, 1})
}

func (c *checker) findings() []error {
	var out []error
	for _, f := range c.first {
		if f.times > 1 {
			f.found += fmt.Sprintf(" (the first of %d)", f.times)
		}
		out = append(out, f.problem.Got(f.found).Corrupt())
	}
	return out
}

func (c *checker) checkRecord(p *Profile, r *Record) {
	guid := fmt.Sprintf("%#x", r.GUID)
	if len(r.AllocSites) == 0 && len(r.CallSites) == 0 {
		c.note("sites of function", guid+" without any", "an alloc site or a call site")
	}
	for _, a := range r.AllocSites {
		if !p.Stacks.hasFrameOf(a.Stack, r.GUID, true) {
			c.note("alloc site of function", guid+" that is not among the inlined frames of the allocation", "a record of a function that allocates")
		}
		c.checkMIB(&p.MIBs[a.MIB])
	}
	for _, s := range r.CallSites {
		if !p.Stacks.hasFrameOf(s.Stack, r.GUID, false) {
			c.note("call site of function", guid+" that is not among its frames", "a call in the function")
		}
	}
}

// hasFrameOf reports whether the function is on the stack; with inlined, among its innermost inlined frames.
func (s *Stacks) hasFrameOf(i StackIndex, guid uint64, inlined bool) bool {
	for frame := range s.Walk(i) {
		if frame.GUID == guid {
			return true
		}
		if inlined && !frame.Inline {
			break
		}
	}
	return false
}

// families are the measures that have a total, a least and a greatest value.
var families = [...]struct {
	total, low, high field
	exact            bool // low and high have the width and unit of the total
}{
	{totalAccessCount, minAccessCount, maxAccessCount, true},
	{totalSize, minSize, maxSize, true},
	{totalLifetime, minLifetime, maxLifetime, true},
	{totalAccessDensity, minAccessDensity, maxAccessDensity, false},
	{totalLifetimeAccessDensity, minLifetimeAccessDensity, maxLifetimeAccessDensity, false},
}

// limits are the greatest values of one allocation: the runtime refuses sizes above 2^40; lifetimes have 32 bits.
var limits = [...]struct {
	total field
	most  uint64
}{
	{totalSize, 1 << 40},
	{totalLifetime, 1<<32 - 1},
}

// checkMIB checks totals against the limits, minima against maxima, and exact totals against both.
func (c *checker) checkMIB(m *MIB) {
	if m.Fields.has(allocCount) && m.AllocCount == 0 {
		c.note("AllocCount", "0", "at least 1")
	}
	if m.Fields.has(allocCount) && m.AllocCount > 0 {
		for _, l := range limits {
			most, _ := saturate.Mul(l.most, uint64(m.AllocCount))
			if total := m.get(l.total); m.Fields.has(l.total) && total > most && total < 1<<64-1 {
				c.note(l.total.String(), fmt.Sprint(total), fmt.Sprintf("at most %d, for %d allocations", most, m.AllocCount))
			}
		}
	}
	for _, f := range families {
		low, high := m.get(f.low), m.get(f.high)
		if !m.Fields.has(f.low) || !m.Fields.has(f.high) {
			continue
		}
		if low > high {
			c.note(f.low.String(), fmt.Sprint(low), fmt.Sprintf("at most %d, %v", high, f.high))
			continue
		}
		total := m.get(f.total)
		if !f.exact || !m.Fields.has(f.total) || !m.Fields.has(allocCount) || m.AllocCount == 0 || total == 1<<64-1 {
			continue
		}
		least, _ := saturate.Mul(low, uint64(m.AllocCount))
		most, _ := saturate.Mul(high, uint64(m.AllocCount))
		if total < least || total > most {
			c.note(f.total.String(), fmt.Sprint(total), fmt.Sprintf("%d to %d, for %d allocations", least, most, m.AllocCount))
		}
	}
}

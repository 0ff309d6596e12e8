package irpgo

import (
	"math/bits"
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/internal/symbols"
)

// plausible looks for numbers that the format allows but that no compiler or run produces. It makes only remarks.
// If many records of a file break a rule, the file was made in another way, and the rule is not applied.
type plausible struct {
	*checker
	r    *Reader
	seen *seenRecords

	hashes   misfits
	sizes    misfits
	targets  map[uint64]int // by name reference of a target: a record that has it
	busy     []siteTotal    // sites with more values than the counters so far allow
	top      counterAt      // the greatest counter
	promoted promotedRecords
	maxOther uint64 // the second greatest counter
}

type siteTotal struct {
	record int
	name   string
	kind   int
	total  uint64
}

type counterAt struct {
	record int
	name   string
	value  uint64
}

// misfits holds the remarks of a rule, and how many records or values keep the rule.
type misfits struct {
	kept  int
	found []error // at most maxMisfits
}

// maxMisfits limits the misfits of a rule: with more of them, the file is not damaged but made in another way.
const maxMisfits = 4096

// usual reports whether most break the rule, so that it need not be tested further.
func (m *misfits) usual() bool { return len(m.found) == maxMisfits && m.kept < maxMisfits }

func (m *misfits) add(err error) {
	if len(m.found) < maxMisfits {
		m.found = append(m.found, err)
	}
}

// minority reports the misfits if at least four times as many records or values kept the rule.
func (m *misfits) minority(c *checker) {
	if m.kept < 4*len(m.found) {
		return
	}
	for _, err := range m.found {
		c.remark(err)
	}
}

// promotedRecords are the context-sensitive records of functions that ThinLTO exported from their modules,
// "f.llvm.123". The number depends on the contents of the module, so it is another one in the build that uses the profile.
type promotedRecords struct {
	records int
	first   string
}

func (p *plausible) add(r *Record, i int) {
	if r.IsCS() && symbols.IsPromoted(r.Name) {
		if p.promoted.records++; p.promoted.records == 1 {
			p.promoted.first = r.Name
		}
	}
	variant := p.r.Info.Variant
	if raw, ok := p.r.dec.(*rawReader); ok {
		variant = raw.cur.variant // a file may hold profiles of several kinds
	}
	if variant.Has(IRLevel) && !variant.Has(SingleByte) && hashOfIR(r.Hash) { // checker reports other hashes
		p.hash(r, i, variant)
	}
	if !variant.Has(SingleByte) && r.Pseudo() == 0 {
		p.counters(r, i)
		if !variant.Has(EntryOnly) {
			p.siteSums(r, i)
		}
	}
	for _, site := range r.Values[MemOPSize] {
		for _, v := range site {
			if sizeOfMemOP(v.Value) {
				p.sizes.kept++
			} else {
				p.sizes.add(flaw.In("records").InRecord(i).Field("size of a memory operation of " + r.Name).
					Got(v.Value).Want("one that stands for a range: 0 to 9, 16, 17, 32, 33 … 512, 513 or 8192").Corrupt())
			}
		}
	}
	for _, kind := range []int{IndirectCallTarget, VTableTarget} {
		for _, site := range r.Values[kind] {
			for _, v := range site {
				if v.Value != 0 {
					if _, ok := p.targets[v.Value]; !ok {
						p.targets[v.Value] = i
					}
				}
			}
		}
	}
}

// end reports what only the whole profile shows.
func (p *plausible) end() {
	p.hashes.minority(p.checker)
	p.sizes.minority(p.checker)
	p.sums()
	p.alone()
	if n := p.promoted.records; n > 0 {
		p.remark(flaw.In("records").Field("context-sensitive records of functions that ThinLTO exported").
			Gotf("%d, such as %s", n, p.promoted.first).
			Want("none: the number is another one in the build that uses the profile, which then has no counts for them").Corrupt())
	}
	switch d := p.r.dec.(type) {
	case *indexedReader:
		p.references(d)
	case *textReader:
		p.names(d)
	}
}

// sizeOfMemOP reports whether runtimes record a size. They record sizes up to 8 unchanged. Up to 512 they
// record a power of two unchanged, and all sizes between two powers as the first of these sizes. All
// larger sizes are 513. LLVM up to 11 recorded 9 for all sizes between 8 and 8192, and 8192 for larger
// sizes (InstrProfGetRangeRepValue, -memop-size-large).
func sizeOfMemOP(size uint64) bool {
	return size <= 9 || size <= 513 && (size&(size-1) == 0 || (size-1)&(size-2) == 0) || size == 8192
}

// siteSlack is how many times the greatest counter of the file a site's total may be. The counters of
// the site's own function are no limit: the counter of a loop is written after the loop, which a call
// of exit in the loop never reaches. Counters also lose increments if several threads increment them.
const siteSlack, siteSlackFew = 64, 1024

// siteSums keeps the sites with more values than all others.
func (p *plausible) siteSums(r *Record, i int) {
	for kind, sites := range r.Values {
		for _, site := range sites {
			s := siteTotal{record: i, name: r.Name, kind: kind}
			for _, v := range site {
				s.total = saturate.Add(s.total, v.Count)
			}
			if s.total > siteSlackFew && s.total/siteSlack > p.top.value {
				p.busy = append(p.busy, s)
			}
		}
	}
}

// sums reports the sites with more values than the counters allow.
func (p *plausible) sums() {
	for _, s := range p.busy {
		if s.total/siteSlack > p.top.value {
			p.remark(flaw.In("records").InRecord(s.record).Field("values that a site of kind "+valueKindNames[s.kind]+" of "+s.name+" saw").
				Got(s.total).Wantf("not more than %d times the greatest counter, %d", siteSlack, p.top.value).Corrupt())
		}
	}
}

func (p *plausible) counters(r *Record, i int) {
	for _, c := range r.Counts {
		if c > p.top.value {
			p.maxOther, p.top = p.top.value, counterAt{i, r.Name, c}
		} else {
			p.maxOther = max(p.maxOther, c)
		}
	}
}

// lonely is the smallest counter that is remarked on if it is far above all others: a loop takes half a
// minute to count so far.
const lonely = 1 << 36

// lonelier is from where it is a finding: a loop takes a quarter of an hour for it. Merges warn of
// inputs with such total counts (flippedBit of internal/command/merging).
const lonelier = 1 << 40

// alone looks for a counter that exceeds the counters of others by a power of two.
func (p *plausible) alone() {
	c := p.top.value
	if c < lonely || c>>16 <= p.maxOther {
		return
	}
	tell := p.remark
	if c >= lonelier && p.maxOther > 0 {
		tell = p.note
	}
	if k := bits.Len64(c) - 1; c-1<<k <= p.maxOther {
		tell(flaw.In("counters").InRecord(p.top.record).Field("counter of "+p.top.name).Got(c).
			Wantf("about %d at most, as the others: it is 2^%d above one of theirs", p.maxOther, k).Corrupt())
	}
}

// references looks for targets that are one bit away from a function of the profile.
// Functions without instrumentation have the reference 0, so most are known.
func (p *plausible) references(r *indexedReader) {
	var unknown []uint64
	for ref := range p.targets {
		if !p.seen.knows(ref) && r.symbols().Name(ref) == "" {
			unknown = append(unknown, ref)
		}
	}
	if len(unknown) == 0 || len(unknown) > fewUnknown(len(p.targets)) {
		return // the profile may be a part of another profile
	}
	known := r.symbols()
	slices.Sort(unknown)
	for _, ref := range unknown {
		for bit := range 64 {
			if name := known.Name(ref ^ 1<<bit); name != "" {
				p.remark(flaw.In("records").InRecord(p.targets[ref]).Field("name reference of a target").
					Gotf("%#x", ref).Wantf("%#x, the reference of %s, one bit away", ref^1<<bit, name).Corrupt())
			}
		}
	}
}

func fewUnknown(targets int) int { return max(1, targets/50) }

// names looks in text for names that are not text, and for targets that are one bit
// away from a function of the profile.
func (p *plausible) names(d *textReader) {
	known := make(map[string]bool, len(d.names))
	for i, name := range d.names {
		known[name] = true
		if !symbols.IsText(name) {
			p.remark(flaw.In("records").InRecord(i).Field("function name").Gotf("%q", name).
				Want("text without control characters").Corrupt())
		}
	}
	var unknown []string
	for name, t := range d.targets {
		if !t.vtable && !known[name] {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > fewUnknown(len(d.targets)) {
		return
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		near := []byte(name)
		for bit := range 8 * len(near) {
			near[bit/8] ^= 1 << (bit % 8)
			if known[string(near)] {
				p.remark(flaw.In("records").Field("target").Got(name).Wantf("%s, one bit away", near).Corrupt())
			}
			near[bit/8] ^= 1 << (bit % 8)
		}
	}
}

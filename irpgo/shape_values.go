package irpgo

import (
	"math/bits"
	"slices"
)

// siteSum adds up the values of one site over the profiles of a shape.
//
// Sites are merged by value, and finding out which function an address is of
// takes longer than all else. So each value remembers an address it had: if a
// profile brings addresses that were there before, each once, and if all
// values of the site differ, then they are added without a look at what the
// addresses mean. All other cases go through [mergeSite].
type siteSum struct {
	entries []siteEntry
	mixed   bool // a value stands there twice, or there are many
}

// siteEntry is a value and how often it was seen.
type siteEntry struct {
	value, count uint64
	home         uint64 // an address of it, in the profile that the shape was made from
}

// maxKnown is how many values a site may have for the quick way.
const maxKnown = 64

// home is where an address would be in the profile that the shape was made
// from; an address wider than the target's stays what it is, unknown.
func (p *shapedProfile) home(kind ValueKind, v uint64) uint64 {
	if kind == MemOPSize || v > p.mask {
		return v
	}
	return (v - p.slide) & p.mask
}

// translate returns what the value at home is in an indexed profile.
func (s *shape) translate(kind ValueKind, home uint64) uint64 {
	switch {
	case s.raw == nil || kind == MemOPSize:
		return home
	case kind == VTableTarget:
		return s.raw.addrs.vtable(home)
	}
	return s.raw.addrs.callee(home)
}

// addValues adds the values of a profile site by site, in the way of the
// general merge.
func (sum *shapeSum) addValues(m *Merger, p *shapedProfile, weight uint64) {
	at := 0
	for i, function := range sum.shape.valued {
		b := p.data[p.blobs[i]+valueDataHeader:]
		for k, n := range sum.shape.functions[function].sites {
			if n == 0 {
				continue
			}
			lengths := b[valueKindHeader : valueKindHeader+n]
			b = b[valueKindHeader+(n+7)&^7:]
			for _, l := range lengths {
				if l > 0 {
					site, pairs := &sum.sites[at], b[:int(l)*valueDataPair]
					if !site.addKnown(p, ValueKind(k), pairs, weight) {
						sum.addSite(m, site, p, ValueKind(k), pairs, weight)
					}
					b = b[len(pairs):]
				}
				at++
			}
		}
	}
}

// addKnown adds pairs of value and count if all values are known, each once.
func (t *siteSum) addKnown(p *shapedProfile, kind ValueKind, pairs []byte, weight uint64) bool {
	if t.mixed || len(pairs) > maxKnown*valueDataPair {
		return false
	}
	var places [maxKnown]uint8
	taken := uint64(0)
	n := 0
	for b := pairs; len(b) >= valueDataPair; b = b[valueDataPair:] {
		place := t.find(p.home(kind, p.order.Uint64(b)), n)
		if place < 0 || taken>>place&1 != 0 {
			return false
		}
		taken |= 1 << place
		places[n] = uint8(place)
		n++
	}
	for i := range n {
		e := &t.entries[places[i]]
		e.count = addScaled(e.count, p.order.Uint64(pairs[i*valueDataPair+8:]), weight)
	}
	return true
}

// find returns the entry with that home, -1 if there is none. hint is where it
// is if this profile saw the values in the order of the one before.
func (t *siteSum) find(home uint64, hint int) int {
	if hint < len(t.entries) && t.entries[hint].home == home {
		return hint
	}
	for i := range t.entries {
		if t.entries[i].home == home {
			return i
		}
	}
	return -1
}

// addScaled returns sum + weight·count, saturating.
func addScaled(sum, count, weight uint64) uint64 {
	hi, lo := bits.Mul64(count, weight)
	sum, carry := bits.Add64(sum, lo, 0)
	if hi != 0 || carry != 0 {
		return 1<<64 - 1
	}
	return sum
}

// addSite adds pairs of value and count in the general way.
func (sum *shapeSum) addSite(m *Merger, t *siteSum, p *shapedProfile, kind ValueKind, pairs []byte, weight uint64) {
	src := make([]siteEntry, 0, len(pairs)/valueDataPair)
	for b := pairs; len(b) >= valueDataPair; b = b[valueDataPair:] {
		home := p.home(kind, p.order.Uint64(b))
		src = append(src, siteEntry{value: sum.shape.translate(kind, home), count: p.order.Uint64(b[8:]), home: home})
	}
	if sum.files == 0 {
		for i := range src {
			src[i].count = addScaled(0, src[i].count, weight)
		}
		t.set(siteOf(src), src, nil)
	} else {
		site, _ := mergeSite(siteOf(t.entries), siteOf(src), weight, m.opt.LLVMCompat)
		t.set(site, t.entries, src)
	}
	if m.opt.LLVMCompat {
		t.set(byCount(siteOf(t.entries)), t.entries, nil)
	}
}

// siteOf returns the values of entries.
func siteOf(entries []siteEntry) ValueSite {
	if len(entries) == 0 {
		return nil
	}
	site := make(ValueSite, len(entries))
	for i, e := range entries {
		site[i] = ValueData{e.value, e.count}
	}
	return site
}

// set makes site the values; where each was is looked up in a and b.
func (t *siteSum) set(site ValueSite, a, b []siteEntry) {
	entries := make([]siteEntry, len(site))
	mixed := t.mixed || len(site) > maxKnown
	for i, v := range site {
		entries[i] = siteEntry{value: v.Value, count: v.Count}
		if mixed {
			continue
		}
		same := func(e siteEntry) bool { return e.value == v.Value }
		if slices.ContainsFunc(entries[:i], same) {
			mixed = true
		} else if j := slices.IndexFunc(a, same); j >= 0 {
			entries[i].home = a[j].home
		} else {
			entries[i].home = b[slices.IndexFunc(b, same)].home
		}
	}
	t.entries, t.mixed = entries, mixed
}

// joinSites adds the sites of another sum.
func (sum *shapeSum) joinSites(o *shapeSum) {
	for i := range o.sites {
		to, from := &sum.sites[i], &o.sites[i]
		switch {
		case len(from.entries) == 0:
		case len(to.entries) == 0:
			*to = *from
		default:
			site, _ := mergeSite(siteOf(to.entries), siteOf(from.entries), 1, false)
			to.mixed = to.mixed || from.mixed
			to.set(site, to.entries, from.entries)
		}
	}
}

// finishedSites returns the sites as the general merge leaves them: ordered by
// value unless there was but one profile, and by count when that is compatible
// with LLVM.
func (sum *shapeSum) finishedSites(compat bool) []ValueSite {
	values := 0
	for i := range sum.sites {
		values += len(sum.sites[i].entries)
	}
	out := make([]ValueSite, len(sum.sites))
	block := make(ValueSite, 0, values)
	order := byRank
	if compat {
		order = byValue
	}
	for i := range sum.sites {
		entries := sum.sites[i].entries
		if len(entries) == 0 {
			continue
		}
		start := len(block)
		for _, e := range entries {
			block = append(block, ValueData{e.value, e.count})
		}
		out[i] = block[start:len(block):len(block)]
		if sum.files > 1 {
			sortSite(out[i], order)
		}
		if compat {
			out[i] = byCount(out[i])
		}
	}
	return out
}

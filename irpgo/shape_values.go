package irpgo

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/profuse-pgo/profuse/internal/saturate"
)

// siteSum adds up the values of one site over the profiles of a shape.
//
// Sites are merged by value, and finding out which function an address is of
// takes longer than all else. So each value remembers an address it had: if a
// profile brings addresses that were there before, each once, and if all
// values of the site differ, then they are added without a look at what the
// addresses mean. All other cases go through [mergeSite].
//
// Runs of one program mostly see values in one order, of which short runs see
// the beginning. So the values that differ stand in the order of the profile
// that brought the last new one.
type siteSum struct {
	entries []siteEntry
	index   map[uint64]int32 // entries by home, once it was needed
	mixed   bool             // a value stands there twice, or there are many
}

// siteEntry is a value and how often it was seen.
type siteEntry struct {
	value, count uint64
	home         uint64 // an address of it, in the profile that the shape was made from
	seen         uint32 // number of the profile that had it last
}

// Limits of the quick way, in values of a site.
const (
	maxKnown   = 1 << 16
	maxScanned = 16 // without an index
)

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
					if !sum.addKnown(site, p, ValueKind(k), pairs, weight) {
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
func (sum *shapeSum) addKnown(t *siteSum, p *shapedProfile, kind ValueKind, pairs []byte, weight uint64) bool {
	if t.mixed {
		return false
	}
	if p.order == binary.ByteOrder(le) && p.mask == 1<<64-1 {
		slide := p.slide
		if kind == MemOPSize {
			slide = 0
		}
		if t.addInOrder(pairs, slide, weight) {
			return true
		}
	}
	places, next := sum.places[:0], 0
	number := uint32(sum.files) + 1
	for b := pairs; len(b) >= valueDataPair; b = b[valueDataPair:] {
		place := t.find(p.home(kind, p.order.Uint64(b)), next)
		if place < 0 || t.entries[place].seen == number {
			return false
		}
		t.entries[place].seen = number
		places = append(places, int32(place))
		next = place + 1
	}
	sum.places = places
	for i, place := range places {
		e := &t.entries[place]
		e.count, _ = saturate.AddScaled(e.count, p.order.Uint64(pairs[i*valueDataPair+8:]), weight)
	}
	return true
}

// addInOrder adds pairs of a 64-bit little-endian program if their values are
// the first of those known, in that order.
func (t *siteSum) addInOrder(pairs []byte, slide, weight uint64) bool {
	n := len(pairs) / valueDataPair
	if n > len(t.entries) {
		return false
	}
	entries := t.entries[:n]
	diff := uint64(0)
	for i, b := 0, pairs; i < len(entries) && len(b) >= valueDataPair; i, b = i+1, b[valueDataPair:] {
		diff |= (le.Uint64(b) - slide) ^ entries[i].home
	}
	if diff != 0 {
		return false
	}
	for i, b := 0, pairs; i < len(entries) && len(b) >= valueDataPair; i, b = i+1, b[valueDataPair:] {
		entries[i].count, _ = saturate.AddScaled(entries[i].count, le.Uint64(b[8:]), weight)
	}
	return true
}

// find returns the entry with that home, -1 if there is none. hint is where it
// is if this profile saw the values in the order of those before.
func (t *siteSum) find(home uint64, hint int) int {
	if hint < len(t.entries) && t.entries[hint].home == home {
		return hint
	}
	if len(t.entries) > maxScanned {
		if t.index == nil {
			t.index = make(map[uint64]int32, len(t.entries))
			for i := range t.entries {
				t.index[t.entries[i].home] = int32(i)
			}
		}
		if i, ok := t.index[home]; ok {
			return int(i)
		}
		return -1
	}
	for i := range t.entries {
		if t.entries[i].home == home {
			return i
		}
	}
	return -1
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
			src[i].count, _ = saturate.Mul(src[i].count, weight)
		}
		values := siteOf(src)
		sortSite(values, byValue)
		t.entries, t.mixed = src, repeats(values)
	} else {
		site, _ := mergeSite(siteOf(t.entries), siteOf(src), weight, m.opt.LLVMCompat)
		t.set(site, src, t.entries)
	}
	if m.opt.LLVMCompat && (t.mixed || len(t.entries) > maxValuesPerSite) {
		// LLVM orders and cuts a site after every step. With fewer values that
		// all differ that makes no difference in the end.
		t.setMixed(byCount(siteOf(t.entries)))
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

// repeats reports whether a value stands twice in a site ordered by value.
func repeats(site ValueSite) bool {
	for i := 1; i < len(site); i++ {
		if site[i].Value == site[i-1].Value {
			return true
		}
	}
	return false
}

// set makes site, which is ordered by value, the values. Where each was is
// known from a and b, the order in which they are to stand as well.
func (t *siteSum) set(site ValueSite, a, b []siteEntry) {
	if t.mixed || len(site) > maxKnown || repeats(site) {
		t.setMixed(site)
		return
	}
	entries := make([]siteEntry, 0, len(site))
	taken := make([]bool, len(site))
	for _, list := range [][]siteEntry{a, b} {
		for _, e := range list {
			i, _ := slices.BinarySearchFunc(site, e.value, func(v ValueData, value uint64) int { return cmp.Compare(v.Value, value) })
			if !taken[i] {
				taken[i] = true
				entries = append(entries, siteEntry{value: e.value, count: site[i].Count, home: e.home})
			}
		}
	}
	t.entries, t.index = entries, nil
}

// setMixed makes site the values, which are not for the quick way.
func (t *siteSum) setMixed(site ValueSite) {
	entries := make([]siteEntry, len(site))
	for i, v := range site {
		entries[i] = siteEntry{value: v.Value, count: v.Count}
	}
	*t = siteSum{entries: entries, mixed: true}
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

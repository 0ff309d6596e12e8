package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/internal/slab"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile"
)

// An item is a function or a stack of one profile: the sum of its records.
type item struct {
	key     string
	symbol  profile.Symbol
	frames  []profile.Frame
	count   uint64   // saturating
	most    uint64   // greatest count of its blocks, which decides its temperature
	hash    uint64   // of the first record
	more    []uint64 // other hashes
	hashed  bool
	ran     bool
	matched bool  // with an item of the base
	index   int32 // in the items
}

// A collection holds the items of a profile, by first appearance and by their keys.
type collection struct {
	side  Side
	value profile.ValueType
	byID  bool // functions are known by their ids, because some have no name
	items []*item
	byKey map[string]*item
	room  slab.Slab[item]
}

func (c *collection) item(key string) (it *item, fresh bool) {
	it = c.byKey[key]
	if it != nil {
		return it, false
	}
	it = &c.room.Make(1)[0]
	it.key, it.index = key, int32(len(c.items))
	c.byKey[key] = it
	c.items = append(c.items, it)
	return it, true
}

func (it *item) addHash(hash uint64) {
	switch {
	case !it.hashed:
		it.hash, it.hashed = hash, true
	case it.hash != hash && !slices.Contains(it.more, hash):
		it.more = append(it.more, hash)
	}
}

func (it *item) hasHash(hash uint64) bool { return it.hash == hash || slices.Contains(it.more, hash) }

func anyNameless(v profile.View, opt Options) bool {
	nameless := func(s *profile.Symbol) bool { return s.Name == "" && s.ID != 0 }
	if opt.Table == profile.FunctionSet {
		for f := range profile.ReusedFunctions(v) {
			if nameless(&f.Symbol) {
				return true
			}
		}
		return false
	}
	for _, set := range v.Stacks() {
		if set.Name != opt.Table {
			continue
		}
		for s := range set.ReusedStacks {
			for i := range s.Frames {
				if nameless(&s.Frames[i].Symbol) {
					return true
				}
			}
		}
	}
	return false
}

// maxExpected bounds the items for which collect reserves memory.
const maxExpected = 1 << 20

// collect sums the records of each item and computes the thresholds of temperature.
func collect(v profile.View, opt Options, byID bool) (*collection, error) {
	c := &collection{byKey: make(map[string]*item), byID: byID}
	c.side.Identity = v.Identity()
	var d profile.Distribution
	shares := []uint64{opt.Hot, opt.Cold}
	if opt.Table == profile.FunctionSet {
		s := profile.Summarize(v, shares)
		d = s.Counts
		c.byKey = make(map[string]*item, min(s.Functions, maxExpected))
		c.functions(v, s.OfCalls)
	} else {
		set, at, err := findSet(v, opt)
		if err != nil {
			return nil, err
		}
		c.value = set.Values[at]
		c.stacks(set, at, opt.Contexts)
		d = profile.Distribute(func(yield func(uint64) bool) {
			for _, it := range c.items {
				if !yield(it.count) {
					return
				}
			}
		}, shares)
	}
	c.side.HotMin = max(d.Cutoffs[0].Min, 1)
	c.side.ColdMax = d.Cutoffs[1].Min
	c.side.Items = len(c.items)
	for _, it := range c.items {
		c.side.Total += float64(it.count)
		switch c.temperature(it) {
		case Hot:
			c.side.Hot++
			c.side.Ran++
		case Warm, Cold:
			c.side.Ran++
		}
	}
	return c, nil
}

// temperature returns the item's temperature by the thresholds of compilers. If all
// counts are equal, every item that ran is hot.
func (c *collection) temperature(it *item) Temperature {
	switch {
	case it == nil:
		return Absent
	case !it.ran:
		return NeverRan
	case it.most >= c.side.HotMin:
		return Hot
	case it.most <= c.side.ColdMax:
		return Cold
	}
	return Warm
}

func (c *collection) functions(v profile.View, ofCalls bool) {
	hashes := v.Features().Hashes
	for f := range profile.ReusedFunctions(v) {
		it, fresh := c.item(c.functionKey(&f.Symbol))
		if fresh {
			it.symbol = f.Symbol
		}
		count, most := f.Total(), f.Max()
		if ofCalls {
			count, most = f.Calls, f.Calls
		}
		it.count = saturate.Add(it.count, count)
		it.most = max(it.most, most)
		it.ran = it.ran || f.Covered
		if f.Covered && most == 0 {
			// Coverage without counts: the profile knows only that it ran.
			it.count, it.most = max(it.count, 1), max(it.most, 1)
		}
		if hashes {
			it.addHash(f.Hash)
		}
	}
}

// stacks sums the stacks of a set. With contexts, stacks that differ only in the line of the innermost
// function are one.
func (c *collection) stacks(set profile.StackSet, at int, contexts bool) {
	var key strings.Builder
	for s := range set.ReusedStacks {
		key.Reset()
		for i := range s.Frames {
			f := s.Frames[i]
			if i == 0 && contexts {
				f.Line, f.BCI = 0, 0
			}
			fmt.Fprintf(&key, "%s\x00%d\x00%d\x01", c.functionKey(&f.Symbol), f.Line, f.BCI)
		}
		it, fresh := c.item(key.String())
		if fresh {
			it.frames = slices.Clone(s.Frames)
			if contexts && len(s.Frames) > 0 {
				it.frames[0].Line, it.frames[0].Column, it.frames[0].BCI = 0, 0, 0
			}
			if len(s.Frames) > 0 {
				it.symbol = s.Frames[0].Symbol
			}
		}
		value := s.Values[at]
		switch set.Values[at].Combine {
		case profile.Min:
			if fresh || value < it.count {
				it.count = value
			}
		case profile.Max:
			it.count = max(it.count, value)
		default:
			it.count = saturate.Add(it.count, value)
		}
		it.most = it.count
		it.ran = it.count > 0
	}
}

// findSet finds the stack set and the index of the value that opt names.
func findSet(v profile.View, opt Options) (set profile.StackSet, at int, err error) {
	var names []string
	for _, set = range v.Stacks() {
		names = append(names, set.Name)
		if set.Name != opt.Table {
			continue
		}
		if opt.Value == "" {
			return set, 0, nil
		}
		var values []string
		for at, value := range set.Values {
			if value.Name == opt.Value {
				return set, at, nil
			}
			values = append(values, value.Name)
		}
		return set, 0, fmt.Errorf("%s: %s have no value %q, but %s", v.Identity().File, opt.Table, opt.Value, strings.Join(values, ", "))
	}
	has := "no stacks"
	if len(names) > 0 {
		has = strings.Join(names, ", ")
	}
	return set, 0, fmt.Errorf("%s: there are no stacks %q, but %s", v.Identity().File, opt.Table, has)
}

// functionKey returns the key that identifies a function in both profiles: its name, its signature and,
// if the format records it, its file. It is the id if the function has no name or the collection is byID.
func (c *collection) functionKey(s *profile.Symbol) string {
	switch {
	case c.byID && s.ID == 0 && s.Name != "":
		return idKey(guid.Of(guid.Canonical(s.Name)))
	case c.byID || s.Name == "":
		return idKey(s.ID)
	}
	if s.Signature == "" && s.File == "" && strings.IndexByte(s.Name, keySeparator[0]) < 0 {
		return s.Name
	}
	return s.Name + keySeparator + s.Signature + keySeparator + s.File
}

// keySeparator separates the parts of keys.
const keySeparator = "\x03"

func idKey(id uint64) string { return "\x02" + keySeparator + strconv.FormatUint(id, 16) }

// pair matches the items of two profiles by key. It matches functions whose file or suffix
// changed, or is known on one side only, by name if that is unambiguous.
func pair(base, other *collection) []Change {
	changes := make([]Change, 0, max(len(base.items), len(other.items)))
	add := func(b, n *item) { changes = append(changes, base.change(other, b, n)) }
	var baseOnly, otherOnly []*item
	next := 0 // most items come in the same order in both
	for _, b := range base.items {
		var n *item
		if next < len(other.items) && other.items[next].key == b.key {
			n = other.items[next]
		} else {
			n = other.byKey[b.key]
		}
		if n != nil {
			next = int(n.index) + 1
			n.matched = true
			add(b, n)
		} else {
			baseOnly = append(baseOnly, b)
		}
	}
	for _, n := range other.items {
		if !n.matched {
			otherOnly = append(otherOnly, n)
		}
	}
	moved := unambiguous(other, otherOnly)
	fromBase := unambiguous(base, baseOnly)
	for _, b := range baseOnly {
		name := base.looseKey(b)
		to := moved[name]
		if to != nil && fromBase[name] == b {
			to.matched = true
		} else {
			to = nil
		}
		add(b, to)
	}
	for _, n := range otherOnly {
		if !n.matched {
			add(nil, n)
		}
	}
	// Sorted, the changes are in the same order whichever profile is the base.
	sortBy(changes, func(a, b *Change) int {
		return cmp.Or(cmp.Compare(a.Symbol.Name, b.Symbol.Name), cmp.Compare(a.Symbol.Signature, b.Symbol.Signature), cmp.Compare(a.Symbol.File, b.Symbol.File))
	})
	return changes
}

// looseKey is the name of a function without its file and without what changes from build to build
// (symbols.BaseName), or the id that LLVM gives the name if the collection is byID. It is "" for stacks,
// which have no loose keys.
func (c *collection) looseKey(it *item) string {
	s := &it.symbol
	switch {
	case it.frames != nil:
		return ""
	case c.byID && s.Name != "":
		return idKey(guid.Of(guid.Canonical(s.Name)))
	case c.byID:
		return idKey(s.ID)
	case s.Name == "":
		return ""
	}
	key := symbols.BaseName(s.Name) + keySeparator + s.Signature
	if _, cold := symbols.CutCold(s.Name); cold {
		key += keySeparator + "cold"
	}
	return key
}

// unambiguous maps each loose key to the only item that has it, or to nil if several have it.
func unambiguous(c *collection, items []*item) map[string]*item {
	m := make(map[string]*item)
	for _, it := range items {
		name := c.looseKey(it)
		if name == "" {
			continue
		}
		if _, ok := m[name]; ok {
			it = nil
		}
		m[name] = it
	}
	return m
}

// sameHashes reports whether the hashes of two profiles are comparable.
func (c *collection) sameHashes(other *collection) bool {
	a, b := &c.side.Identity, &other.side.Identity
	return a.Family == b.Family && a.Hashes == b.Hashes
}

// change returns the change of an item; b or n is nil if the profile lacks it.
func (c *collection) change(other *collection, b, n *item) Change {
	ch := Change{Before: c.temperature(b), After: other.temperature(n)}
	if b != nil {
		ch.Symbol, ch.Frames, ch.Base, ch.baseMost = b.symbol, b.frames, b.count, b.most
		if c.side.Total > 0 {
			ch.BaseShare = float64(b.count) / c.side.Total
		}
	}
	if n != nil {
		if b == nil || n.symbol.Name != "" || b.symbol.Name == "" {
			ch.Symbol, ch.Frames = n.symbol, n.frames
		}
		ch.New, ch.newMost = n.count, n.most
		if other.side.Total > 0 {
			ch.NewShare = float64(n.count) / other.side.Total
		}
	}
	ch.Delta = ch.NewShare - ch.BaseShare
	if b != nil && n != nil && b.hashed && n.hashed && c.sameHashes(other) {
		ch.HashChanged = !n.hasHash(b.hash) && !slices.ContainsFunc(b.more, n.hasHash)
	}
	return ch
}

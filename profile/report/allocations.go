package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/numbering"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// Limits of the page's data.
const (
	// The page keeps the contexts with the most bytes, until their stacks exceed maxStackNodes.
	maxContexts   = 20_000
	maxStackNodes = 60_000
)

type heapContexts struct {
	contexts []allocContext // by bytes, the greatest first
	Totals   []heatTotal    // of each temperature that occurs
	All      heatTotal
	Left     heatTotal // of the contexts that are dropped
	Timed    bool      // lifetimes and densities are known
	Counted  bool      // the number of allocations is known
	frames   []profile.Frame
	nodes    []stackNode
	Limits   *profile.TemperatureLimits // nil if they are not known
}

// An allocContext is a call stack that allocates.
type allocContext struct {
	node  int32 // of the innermost frame; -1 if it has none
	bytes uint64
	count uint64
	// Averages over the blocks: lifetime in seconds, and accesses per byte and second
	// of lifetime. 0 without allocations.
	lifetime, density float64
	temperature       string
	order             int // in the profile
}

// A stackNode is a frame and its callers, which contexts share.
type stackNode struct {
	frame, caller int32 // caller is -1 for the outermost
}

// A heatTotal sums up the contexts of one temperature.
type heatTotal struct {
	temperatureWord
	Contexts     int
	Bytes, Count uint64
	// Share is this temperature's share of the bytes of all contexts, From the share of the
	// temperatures before it.
	Share, From float64
}

func (t *heatTotal) addContext(c *allocContext) {
	t.Contexts++
	t.Bytes = saturate.Add(t.Bytes, c.bytes)
	t.Count = saturate.Add(t.Count, c.count)
}

// A temperatureWord is what a temperature is called on the page, and its colour.
type temperatureWord struct{ temperature, Word, Color string }

// temperatures are in the order of the legend; contexts without a label come last.
var temperatures = []temperatureWord{
	{"hot", "hot", "hot"}, {"warm", "warm", "warm"}, {"notcold", "not cold", "warm"}, {"cold", "cold", "cold"}, {"", "not known", "never"},
}

// wordOf returns the word for a temperature of the profile: "not known" for an unknown temperature.
func wordOf(temperature string) temperatureWord {
	for _, t := range temperatures {
		if t.temperature == temperature {
			return t
		}
	}
	return temperatures[len(temperatures)-1]
}

// allocColumns are the indexes of a stack set's values; -1 for a missing one.
type allocColumns struct{ bytes, count, lifetime, density int }

// allocationSet finds the stack set of allocations. It is the first with a value alloc_space, in bytes.
func allocationSet(v profile.View) (set profile.StackSet, at allocColumns, ok bool) {
	for _, set := range v.Stacks() {
		at := allocColumns{-1, -1, -1, -1}
		for i, value := range set.Values {
			switch value.Name {
			case "alloc_space":
				at.bytes = i
			case "alloc_objects":
				at.count = i
			case "lifetime":
				at.lifetime = i
			case "lifetime_access_density":
				at.density = i
			}
		}
		if at.bytes >= 0 {
			return set, at, true
		}
	}
	return set, at, false
}

// newHeap collects the allocation contexts of a view; nil if it has none. In MemProf's stacks, lifetimes are in
// milliseconds and densities in hundredths, both added up over the blocks of a context.
func newHeap(v profile.View) *heapContexts {
	set, at, ok := allocationSet(v)
	if !ok {
		return nil
	}
	h := &heapContexts{Limits: set.Temperatures, Counted: at.count >= 0, Timed: at.count >= 0 && at.lifetime >= 0 && at.density >= 0}
	for s := range set.ReusedStacks {
		c := allocContext{node: -1, order: len(h.contexts), bytes: s.Values[at.bytes]}
		if h.Counted {
			c.count = s.Values[at.count]
		}
		if h.Timed && c.count > 0 {
			c.lifetime = float64(s.Values[at.lifetime]) / float64(c.count) / 1000
			c.density = float64(s.Values[at.density]) / float64(c.count) / 100
		}
		for _, l := range s.Labels {
			if l.Key == profile.LabelTemperature {
				c.temperature = l.Value
			}
		}
		h.contexts = append(h.contexts, c)
	}
	if len(h.contexts) == 0 {
		return nil
	}
	h.sumTemperatures()
	slices.SortStableFunc(h.contexts, func(a, b allocContext) int { return cmp.Compare(b.bytes, a.bytes) })
	h.addStacks(set)
	return h
}

// sumTemperatures comes before addStacks, which drops contexts.
func (h *heapContexts) sumTemperatures() {
	for _, t := range temperatures {
		total := heatTotal{temperatureWord: t}
		for i := range h.contexts {
			if c := &h.contexts[i]; wordOf(c.temperature) == t {
				total.addContext(c)
			}
		}
		if total.Contexts > 0 {
			h.Totals = append(h.Totals, total)
		}
	}
	for i := range h.contexts {
		h.All.addContext(&h.contexts[i])
	}
	from := 0.0
	for i := range h.Totals {
		if t := &h.Totals[i]; h.All.Bytes > 0 {
			t.From, t.Share = from, float64(t.Bytes)/float64(h.All.Bytes)
			from += t.Share
		}
	}
}

// addStacks reads the stacks again for the frames of the contexts that are kept. Stacks
// share nodes from the outermost frame on. Contexts that do not fit go into Left.
func (h *heapContexts) addStacks(set profile.StackSet) {
	kept := min(len(h.contexts), maxContexts)
	at := make(map[int]int, kept) // by order
	for i := range kept {
		at[h.contexts[i].order] = i
	}
	stacks := make([][]int32, kept)
	var frames numbering.Table[profile.Frame]
	order := 0
	for s := range set.ReusedStacks {
		i, ok := at[order]
		order++
		if !ok {
			continue
		}
		stacks[i] = make([]int32, len(s.Frames))
		for k, f := range s.Frames {
			stacks[i][k] = frames.Of(f)
		}
	}
	var nodes numbering.Table[stackNode]
	for i, stack := range stacks {
		if len(nodes.Keys)+len(stack) > maxStackNodes {
			kept = i
			break
		}
		node := int32(-1)
		for _, frame := range slices.Backward(stack) {
			node = nodes.Of(stackNode{frame, node})
		}
		h.contexts[i].node = node
	}
	for i := range h.contexts[kept:] {
		h.Left.addContext(&h.contexts[kept+i])
	}
	h.contexts = h.contexts[:kept]
	h.frames, h.nodes = frames.Keys, nodes.Keys
}

func (h *heapContexts) stack(c *allocContext) (frames []*profile.Frame) {
	for n := c.node; n >= 0; n = h.nodes[n].caller {
		frames = append(frames, &h.frames[h.nodes[n].frame])
	}
	return frames
}

// axes returns the axes of the scatter, lifetime in seconds and access density. They
// include the limits of cold contexts.
func (h *heapContexts) axes() (x, y axis) {
	lifetime, density := valueRange{low: math.Inf(1)}, valueRange{low: math.Inf(1)}
	for i := range h.contexts {
		lifetime.addValue(h.contexts[i].lifetime)
		density.addValue(h.contexts[i].density)
	}
	if h.Limits != nil {
		lifetime.widen(float64(h.Limits.ColdLifetime))
		density.widen(float64(h.Limits.ColdAccessDensity))
	}
	return logAxis(lifetime.low, lifetime.high, lifetime.zeros), logAxis(density.low, density.high, density.zeros)
}

// A valueRange is the range of non-negative values; it notes zeros separately.
type valueRange struct {
	low, high float64
	zeros     bool
}

// addValue adds a value; NaN counts as 0.
func (r *valueRange) addValue(v float64) {
	r.zeros = r.zeros || !(v > 0)
	r.widen(v)
}

// widen makes the range include a value, unless that is 0.
func (r *valueRange) widen(v float64) {
	if v > 0 {
		r.low, r.high = min(r.low, v), max(r.high, v)
	}
}

package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// Bounds of what the page has of a profile.
const (
	maxContexts   = 20_000
	maxStackNodes = 60_000
)

// heapContexts are the allocation contexts of a profile.
type heapContexts struct {
	contexts []allocContext // by bytes, the greatest first
	totals   []heatTotal
	all      heatTotal
	left     heatTotal // what is not in contexts
	timed    bool      // lifetimes and densities are known
	counted  bool      // the number of allocations is known
	frames   []profile.Frame
	nodes    []stackNode
	limits   *profile.TemperatureLimits // nil if they are not known
}

// An allocContext is a call stack that allocates.
type allocContext struct {
	node  int32 // of the innermost frame; -1 if it has none
	bytes uint64
	count uint64
	// Averages over the blocks: seconds of life, and accesses per byte and
	// second of it. 0 without allocations.
	lifetime, density float64
	temperature       string
	order             int // in the profile
}

// A stackNode is a frame and what called it, so that contexts share callers.
type stackNode struct {
	frame, caller int32 // caller is -1 for the outermost
}

// A heatTotal is what one temperature sums up to.
type heatTotal struct {
	temperature string
	contexts    int
	bytes       uint64
	count       uint64
}

func (t *heatTotal) add(c *allocContext) {
	t.contexts++
	t.bytes = saturate.Add(t.bytes, c.bytes)
	t.count = saturate.Add(t.count, c.count)
}

// temperatures are in the order of the legend; contexts without a label come
// last.
var temperatures = []string{"hot", "warm", "notcold", "cold", ""}

// allocColumns are where the values of a stack set are; -1 if it has none.
type allocColumns struct{ bytes, count, lifetime, density int }

// allocationSet finds the stacks that tell of allocations.
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

// newHeap collects the allocation contexts of a view; nil if it has none.
func newHeap(v profile.View) *heapContexts {
	set, at, ok := allocationSet(v)
	if !ok {
		return nil
	}
	h := &heapContexts{limits: set.Temperatures, counted: at.count >= 0, timed: at.count >= 0 && at.lifetime >= 0 && at.density >= 0}
	for s := range set.Stacks {
		c := allocContext{node: -1, order: len(h.contexts), bytes: s.Values[at.bytes]}
		if h.counted {
			c.count = s.Values[at.count]
		}
		if h.timed && c.count > 0 {
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
	h.sum()
	slices.SortStableFunc(h.contexts, func(a, b allocContext) int { return cmp.Compare(b.bytes, a.bytes) })
	h.addStacks(set)
	return h
}

func (h *heapContexts) sum() {
	h.totals = make([]heatTotal, len(temperatures))
	for i, t := range temperatures {
		h.totals[i].temperature = t
	}
	for i := range h.contexts {
		c := &h.contexts[i]
		k := slices.Index(temperatures, c.temperature)
		if k < 0 {
			k = len(temperatures) - 1
		}
		h.totals[k].add(c)
		h.all.add(c)
	}
	h.totals = slices.DeleteFunc(h.totals, func(t heatTotal) bool { return t.contexts == 0 })
}

// addStacks goes through the stacks again for the frames of the contexts that
// are kept.
func (h *heapContexts) addStacks(set profile.StackSet) {
	kept := min(len(h.contexts), maxContexts)
	at := make(map[int]int, kept) // by order
	for i := range kept {
		at[h.contexts[i].order] = i
	}
	stacks := make([][]int32, kept)
	var frames numbering[profile.Frame]
	order := 0
	for s := range set.Stacks {
		i, ok := at[order]
		order++
		if !ok {
			continue
		}
		stacks[i] = make([]int32, len(s.Frames))
		for k, f := range s.Frames {
			stacks[i][k] = frames.of(f)
		}
	}
	var nodes numbering[stackNode]
	for i, stack := range stacks {
		if len(nodes.keys)+len(stack) > maxStackNodes {
			kept = i
			break
		}
		node := int32(-1)
		for _, frame := range slices.Backward(stack) {
			node = nodes.of(stackNode{frame, node})
		}
		h.contexts[i].node = node
	}
	for i := range h.contexts[kept:] {
		h.left.add(&h.contexts[kept+i])
	}
	h.contexts = h.contexts[:kept]
	h.frames, h.nodes = frames.keys, nodes.keys
}

// stack returns the frames of a context, the innermost first.
func (h *heapContexts) stack(c *allocContext) (frames []*profile.Frame) {
	for n := c.node; n >= 0; n = h.nodes[n].caller {
		frames = append(frames, &h.frames[h.nodes[n].frame])
	}
	return frames
}

// axes are those of the scatter, seconds of life and access density. The limits
// of cold contexts are on them.
func (h *heapContexts) axes() (x, y axis) {
	lifetime, density := valueRange{low: math.Inf(1)}, valueRange{low: math.Inf(1)}
	for i := range h.contexts {
		lifetime.add(h.contexts[i].lifetime)
		density.add(h.contexts[i].density)
	}
	if h.limits != nil {
		lifetime.widen(float64(h.limits.ColdLifetime))
		density.widen(float64(h.limits.ColdAccessDensity))
	}
	return logAxis(lifetime.low, lifetime.high, lifetime.zeros), logAxis(density.low, density.high, density.zeros)
}

// A valueRange is what values that are not negative lie between, zeros apart.
type valueRange struct {
	low, high float64
	zeros     bool
}

func (r *valueRange) add(v float64) {
	r.zeros = r.zeros || !(v > 0)
	r.widen(v)
}

func (r *valueRange) widen(v float64) {
	if v > 0 {
		r.low, r.high = min(r.low, v), max(r.high, v)
	}
}

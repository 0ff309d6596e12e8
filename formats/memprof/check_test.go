package memprof

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// oneContext is a profile of one context, allocated in function 2 and inlined into function 1.
func oneContext(edit func(p *Profile, m *MIB)) *Profile {
	p := &Profile{}
	leaf := p.Stacks.addFrame(Frame{GUID: 2, Inline: true})
	caller := p.Stacks.addFrame(Frame{GUID: 1})
	root := p.Stacks.addFrame(Frame{GUID: 3})
	alloc, call := p.Stacks.addStack([]frameIndex{leaf, caller, root}), p.Stacks.addStack([]frameIndex{root})
	m := MIB{Fields: FullSchema, AllocCount: 2, TotalSize: 24, MinSize: 8, MaxSize: 16, TotalLifetime: 400_000, MinLifetime: 100_000, MaxLifetime: 300_000}
	p.MIBs = []MIB{m}
	p.Records = []Record{
		{GUID: 2, AllocSites: []AllocSite{{alloc, 0}}},
		{GUID: 1, AllocSites: []AllocSite{{alloc, 0}}},
		{GUID: 3, CallSites: []CallSite{{Stack: call}}},
	}
	if edit != nil {
		edit(p, &p.MIBs[0])
	}
	return p
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(p *Profile, m *MIB)
		want []string
	}{
		{"sound", nil, nil},
		{"sound summary", func(p *Profile, m *MIB) {
			p.summary = &Summary{NumContexts: 1, NumColdContexts: 1, MaxColdTotalSize: 24}
		}, nil},
		{
			"summary", func(p *Profile, m *MIB) {
				p.summary = &Summary{NumContexts: 2, NumColdContexts: 1, MaxColdTotalSize: 24}
			},
			[]string{"memprof: number of contexts of the summary is 2, want 1, as the records have it: corrupt profile"},
		},
		{"summary of contradicting functions", func(p *Profile, m *MIB) {
			p.summary = &Summary{NumContexts: 2}
			p.MIBs = append(p.MIBs, *m)
			p.MIBs[1].TotalLifetime++
			p.Records[1].AllocSites[0].MIB = 1
		}, nil},
		{"a stack twice in a function", func(p *Profile, m *MIB) {
			other := *m
			other.TotalLifetime++
			p.MIBs = append(p.MIBs, other)
			for i := range 2 {
				p.Records[i].AllocSites = append(p.Records[i].AllocSites, AllocSite{p.Records[i].AllocSites[0].Stack, 1})
			}
		}, nil},
		{
			"lifetimes of too few blocks", func(p *Profile, m *MIB) {
				m.Fields &^= 1<<minLifetime | 1<<maxLifetime
				m.TotalLifetime |= 1 << 40
			},
			[]string{"memprof (record 0): TotalLifetime is 1099512027776 (the first of 2), want at most 8589934590, for 2 allocations: corrupt profile"},
		},
		{
			"sizes of too few blocks", func(p *Profile, m *MIB) {
				m.Fields &^= 1<<minSize | 1<<maxSize
				m.TotalSize |= 1 << 50
			},
			[]string{"memprof (record 0): TotalSize is 1125899906842648 (the first of 2), want at most 2199023255552, for 2 allocations: corrupt profile"},
		},
		{
			"column", func(p *Profile, m *MIB) { p.Stacks.Frames[0].Column |= 1 << 20 },
			[]string{"memprof: column of a frame is 1048576, want at most 65535: corrupt profile"},
		},
		{
			"callee", func(p *Profile, m *MIB) { p.Records[2].CallSites[0].Callees = []uint64{1, 9} },
			[]string{"memprof (record 2): callee is 0x9, want a function on the stacks: corrupt profile"},
		},
		{
			"no allocations", func(p *Profile, m *MIB) { m.AllocCount = 0 },
			[]string{"memprof (record 0): AllocCount is 0 (the first of 2), want at least 1: corrupt profile"},
		},
		{
			"bounds", func(p *Profile, m *MIB) { m.MinSize = 17 },
			[]string{"memprof (record 0): MinSize is 17 (the first of 2), want at most 16, MaxSize: corrupt profile"},
		},
		{
			"total", func(p *Profile, m *MIB) { m.TotalSize = 33 },
			[]string{"memprof (record 0): TotalSize is 33 (the first of 2), want 16 to 32, for 2 allocations: corrupt profile"},
		},
		{"cut total", func(p *Profile, m *MIB) { m.TotalSize = math.MaxUint64 }, nil},
		{"unknown bounds", func(p *Profile, m *MIB) { m.TotalSize = 33; m.Fields &^= 1 << maxSize }, nil},
		{
			"another function's", func(p *Profile, m *MIB) { p.Records[1].GUID = 4 },
			[]string{"memprof (record 1): alloc site of function is 0x4 that is not among the inlined frames of the allocation, want a record of a function that allocates: corrupt profile"},
		},
		{
			"a caller's", func(p *Profile, m *MIB) { p.Records[2].AllocSites = p.Records[1].AllocSites },
			[]string{"memprof (record 2): alloc site of function is 0x3 that is not among the inlined frames of the allocation, want a record of a function that allocates: corrupt profile"},
		},
		{
			"another function's call", func(p *Profile, m *MIB) { p.Records[2].GUID = 4 },
			[]string{"memprof (record 2): call site of function is 0x4 that is not among its frames, want a call in the function: corrupt profile"},
		},
		{
			"empty record", func(p *Profile, m *MIB) { p.Records[2].CallSites = nil },
			[]string{"memprof (record 2): sites of function is 0x3 without any, want an alloc site or a call site: corrupt profile"},
		},
	} {
		var got []string
		findings, remarks := oneContext(c.edit).Check()
		for _, err := range slices.Concat(findings, remarks) {
			got = append(got, err.Error())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestContexts(t *testing.T) {
	p := oneContext(func(p *Profile, m *MIB) {
		other := *m
		other.TotalSize++
		p.MIBs = append(p.MIBs, other, *m)
		p.Records[0].AllocSites = append(p.Records[0].AllocSites, AllocSite{0, 1}, AllocSite{0, 0})
		p.Stacks.markWhole(0)
		p.Records[1].AllocSites[0].MIB = 2 // another, but equal
	})
	got := slices.Collect(p.Contexts())
	if len(got) != 2 || got[0].Functions != 2 || got[0].Differs || got[0].MIB.TotalSize != 24 ||
		got[1].Stack != 0 || got[1].Functions != 1 || !got[1].Differs || got[1].MIB.TotalSize != 25 {
		t.Errorf("contexts %+v", got)
	}
	if s := p.KnownFields(); s != FullSchema {
		t.Errorf("known fields %v", s.Fields())
	}
	p.MIBs[1].Fields = hotColdSchema
	if s := p.KnownFields(); s != hotColdSchema {
		t.Errorf("known fields %v", s.Fields())
	}
}

func TestClassify(t *testing.T) {
	hints := DefaultThresholds
	hints.UseHot = true
	for _, c := range []struct {
		m    MIB
		t    Thresholds
		want string
	}{
		{MIB{AllocCount: 1, TotalLifetime: 200_000}, DefaultThresholds, "cold"},
		{MIB{AllocCount: 1, TotalLifetime: 199_999}, DefaultThresholds, "notcold"},
		{MIB{AllocCount: 100, TotalLifetime: 20_000_000, TotalLifetimeAccessDensity: 499}, DefaultThresholds, "cold"},
		{MIB{AllocCount: 100, TotalLifetime: 20_000_000, TotalLifetimeAccessDensity: 500}, DefaultThresholds, "notcold"},
		{MIB{AllocCount: 2, TotalLifetimeAccessDensity: 200_001}, DefaultThresholds, "notcold"},
		{MIB{AllocCount: 2, TotalLifetimeAccessDensity: 200_001}, hints, "hot"},
		{MIB{AllocCount: 2, TotalLifetimeAccessDensity: 200_000}, hints, "notcold"},
		{MIB{TotalLifetime: 1 << 40}, DefaultThresholds, "notcold"},
		{MIB{TotalLifetime: 1 << 40, TotalLifetimeAccessDensity: 1}, hints, "hot"},
		{MIB{AllocCount: 1, TotalLifetime: 5}, Thresholds{ColdAccessDensity: 1}, "cold"},
	} {
		if got := c.t.Classify(&c.m); got != c.want {
			t.Errorf("%+v is %v, want %v", c.m, got, c.want)
		}
	}
}

// TestSummaryIgnoresInlining: compilers do not see marks of inlining.
func TestSummaryIgnoresInlining(t *testing.T) {
	p := oneContext(nil)
	var frames []frameIndex
	for frame := range p.Stacks.Walk(p.Records[0].AllocSites[0].Stack) {
		frame.Inline = false
		frames = append(frames, p.Stacks.addFrame(frame))
	}
	p.Records[2].AllocSites = []AllocSite{{p.Stacks.addStack(frames), 0}}
	if n := p.Summary().NumContexts; n != 1 {
		t.Errorf("%d contexts, want 1", n)
	}
	if n := p.writtenSummary().NumContexts; n != 2 {
		t.Errorf("%d contexts are written, want 2", n)
	}
}

// TestChecksAreSilentOnMerges: merging real profiles keeps them plausible.
func TestChecksAreSilentOnMerges(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var inputs []weighted
	for range 5 {
		n := rng.Uint32N(100) + 2
		inputs = append(inputs, weighted{oneContext(func(p *Profile, m *MIB) {
			m.AllocCount, m.TotalSize = n, 16+8*uint64(n-1)
			m.TotalLifetime = 300_000 + 100_000*uint64(n-1)
		}), uint64(1 + rng.IntN(4))})
	}
	if found, remarks := mergeAll(t, inputs).Check(); len(found)+len(remarks) > 0 {
		t.Errorf("findings %v", found)
	}
}

// TestCheckExceptions: what one function or context has otherwise than the others is remarked on.
func TestCheckExceptions(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(p *Profile)
		want string
	}{
		{"sound", func(*Profile) {}, ""},
		{"frame", func(p *Profile) { p.Stacks.Frames[4].GUID ^= 1 << 40 }, "function of a frame is 0x10000000004, want one with a record"},
		{"context", func(p *Profile) {
			p.MIBs = append(p.MIBs, p.MIBs[0])
			p.MIBs[1].TotalLifetime++
			p.Records[6].AllocSites[0].MIB = 1
		}, "number of contexts that functions measure differently is 1, want 0"},
		{"all contexts", func(p *Profile) {
			p.MIBs = append(p.MIBs, p.MIBs[0])
			p.MIBs[1].TotalLifetime++
			for i := 0; i < len(p.Records); i += 2 {
				p.Records[i].AllocSites[0].MIB = 1
			}
		}, ""},
	} {
		// Ten functions that allocate, each inlined into one of its own.
		p := &Profile{MIBs: oneContext(nil).MIBs}
		for i := range uint64(10) {
			inner := p.Stacks.addFrame(Frame{GUID: 2 * i, Inline: true})
			outer := p.Stacks.addFrame(Frame{GUID: 2*i + 1})
			stack := p.Stacks.addStack([]frameIndex{inner, outer})
			p.Records = append(p.Records, Record{GUID: 2 * i, AllocSites: []AllocSite{{stack, 0}}},
				Record{GUID: 2*i + 1, AllocSites: []AllocSite{{stack, 0}}})
		}
		c.edit(p)
		_, remarks := p.Check()
		got := ""
		for _, err := range remarks {
			got += err.Error()
		}
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

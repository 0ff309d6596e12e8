package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// callSite is a site of indirect calls of the given names and counts; "?" is not known.
func callSite(targets ...any) *valueSite {
	s := &valueSite{kind: profile.IndirectCall}
	for i := 0; i < len(targets); i += 2 {
		count, ok := targets[i+1].(uint64)
		if !ok {
			count = uint64(targets[i+1].(int))
		}
		t := valueTarget{symbol: int32(i), count: count}
		if targets[i] == "?" {
			t.symbol = -1
		}
		s.total += t.count
		s.targets = append(s.targets, t)
	}
	return s
}

func TestPromotion(t *testing.T) {
	p := &promotion{hot: 100}
	for _, c := range []struct {
		site *valueSite
		n    int
		fate fate
	}{
		{callSite("a", 1000), 1, isPromoted},
		{callSite("a", 99), 0, isCold},
		{callSite("a", 300, "b", 300, "c", 300, "d", 100), 3, isPromoted},
		{callSite("a", 299, "b", 251, "c", 250, "d", 200), 0, isScattered},
		{callSite("a", 900, "b", 29, "c", 28, "d", 43), 1, isPromoted}, // b has less than 5 % of all
		{callSite("?", 900, "a", 100), 0, isUnknown},
		{callSite("a", 900, "?", 100), 1, isPromoted},
		{callSite("a", 0), 0, isCold},
		{callSite("a", uint64(math.MaxInt64), "b", uint64(math.MaxInt64)), 2, isPromoted},
	} {
		p.setFate(c.site)
		if c.site.promoted != c.n || c.site.fate != c.fate {
			t.Errorf("%+v: %d promoted, %v, want %d, %v", c.site.targets, c.site.promoted, c.site.fate, c.n, c.fate)
		}
	}
	other := callSite("a", 1000)
	other.kind = profile.Receiver
	p.setFate(other)
	if other.promoted != 0 || other.fate != notPredicted {
		t.Errorf("a receiver is judged: %+v", other)
	}
}

// LLVM's own pass promotes as many targets of random sites.
func TestPromotionIsLLVMs(t *testing.T) {
	for _, version := range []int{16, 22} {
		opt := oracle.Tool(t, fmt.Sprintf("opt-%d", version))
		rnd := rand.New(rand.NewPCG(9, uint64(version)))
		const targets = 8
		var ir strings.Builder
		for k := range targets {
			fmt.Fprintf(&ir, "define void @t%d() {\n  ret void\n}\n", k)
		}
		var sites []*valueSite
		for i := range 300 {
			s := randomSite(rnd, func(k int) valueTarget {
				if k == targets {
					return valueTarget{symbol: -1}
				}
				return valueTarget{symbol: int32(k)}
			}, targets+1, 3)
			s.kind = profile.IndirectCall
			sites = append(sites, s)
			fmt.Fprintf(&ir, "define void @f%d(ptr %%p) {\n  call void %%p(), !prof !%d\n  ret void\n}\n", i, i)
		}
		for i, s := range sites {
			writeValues(&ir, i, 0, s, 3, func(v *valueTarget) uint64 {
				if v.unknown() {
					return 0
				}
				return irpgo.NameRef(fmt.Sprint("t", v.symbol))
			})
		}
		for i, body := range optimized(t, opt, "pgo-icall-prom", ir.String(), len(sites)) {
			s, want := sites[i], strings.Count(body, "call void @t")
			(&promotion{}).setFate(s)
			if s.promoted != want {
				t.Fatalf("opt-%d promotes %d of %v, not %d:\n%s", version, want, s.targets, s.promoted, body)
			}
		}
	}
}

// LLVM's own pass makes versions for as many lengths of random sites.
func TestSizeVersionsAreLLVMs(t *testing.T) {
	lengths := []uint64{0, 1, 5, 8, 9, 16, 17, 32, 64, 65, 128, 129, 256, 512, 513}
	for _, version := range []int{16, 22} {
		opt := oracle.Tool(t, fmt.Sprintf("opt-%d", version))
		rnd := rand.New(rand.NewPCG(10, uint64(version)))
		var ir strings.Builder
		ir.WriteString("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n")
		var sites []*valueSite
		for i := range 300 {
			s := randomSite(rnd, func(k int) valueTarget { return valueTarget{size: lengths[k]} }, len(lengths), 4)
			s.kind = profile.MemOpSize
			sites = append(sites, s)
			fmt.Fprintf(&ir, "define void @f%d(ptr %%d, ptr %%s, i64 %%n) {\n  call void @llvm.memcpy.p0.p0.i64(ptr %%d, ptr %%s, i64 %%n, i1 false), !prof !%d\n  ret void\n}\n", i, i)
		}
		for i, s := range sites {
			writeValues(&ir, i, 1, s, annotatedSizes, func(v *valueTarget) uint64 { return v.size })
		}
		for i, body := range optimized(t, opt, "pgo-memop-opt", ir.String(), len(sites), "-pgo-memop-scale-count=false") {
			s := sites[i]
			(&promotion{}).setFate(s)
			var want []uint64
			for _, m := range regexp.MustCompile(`(?m)^    i64 (\d+), label`).FindAllStringSubmatch(body, -1) {
				n, _ := strconv.ParseUint(m[1], 10, 64)
				want = append(want, n)
			}
			var got []uint64
			for _, target := range s.promotedTargets() {
				got = append(got, target.size)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("opt-%d makes versions for %v of %+v, not for %v:\n%s", version, want, s.targets, got, body)
			}
		}
	}
}

// randomSite has some of n targets, with counts near the thresholds.
func randomSite(rnd *rand.Rand, target func(k int) valueTarget, n, most int) *valueSite {
	s := &valueSite{}
	for _, k := range rnd.Perm(n)[:1+rnd.IntN(most+2)] {
		v := target(k)
		v.count = uint64(1 + rnd.IntN(20)*rnd.IntN(20)*(1+rnd.IntN(40)))
		s.targets = append(s.targets, v)
		s.total += v.count
	}
	s.targets = joinTargets(s.targets)
	return s
}

// writeValues writes a site's values as compilers annotate instructions with
// them: the most frequent ones, and the total of all.
func writeValues(ir *strings.Builder, id, kind int, s *valueSite, most int, value func(*valueTarget) uint64) {
	fmt.Fprintf(ir, "!%d = !{!\"VP\", i32 %d, i64 %d", id, kind, s.total)
	for k := range s.targets[:min(len(s.targets), most)] {
		fmt.Fprintf(ir, ", i64 %d, i64 %d", int64(value(&s.targets[k])), s.targets[k].count)
	}
	ir.WriteString("}\n")
}

// optimized runs a pass and returns the functions f0 to f(n-1).
func optimized(t *testing.T, opt, pass, ir string, n int, options ...string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "in.ll")
	oracle.WriteFile(t, file, []byte(ir))
	out, stderr, code := oracle.Run(t, opt, append(options, "-S", "-passes="+pass, "-o", "-", file)...)
	if code != 0 {
		t.Fatalf("%s: %s", opt, stderr)
	}
	bodies := make([]string, n)
	for _, m := range regexp.MustCompile(`(?ms)^define void @f(\d+)\(.*?^}`).FindAllStringSubmatch(out, -1) {
		i, _ := strconv.Atoi(m[1])
		bodies[i] = m[0]
	}
	if i := slices.Index(bodies, ""); i >= 0 {
		t.Fatalf("%s printed no function f%d", opt, i)
	}
	return bodies
}

func TestSizeRanges(t *testing.T) {
	before := uint64(0)
	for size := range uint64(2000) {
		low, high := sizeRangeOf(size)
		if size < low || size > high {
			t.Fatalf("%d is in %d to %d", size, low, high)
		}
		if size > 0 && low != before && low != size {
			t.Fatalf("the range of %d begins at %d", size, low)
		}
		if low == high != (singleSize(size) && size < maxRange) {
			t.Fatalf("%d is in %d to %d", size, low, high)
		}
		before = low
	}
	for size, want := range map[uint64]string{0: "0 bytes", 8: "8 bytes", 9: "9 to 15 bytes", 16: "16 bytes", 17: "17 to 31 bytes", 257: "257 to 511 bytes", 513: "513 bytes and more", 100: "100 bytes"} {
		if got := sizeText(size); got != want {
			t.Errorf("%d is %q, want %q", size, got, want)
		}
	}
}

func TestSiteTable(t *testing.T) {
	s := symbolsOf("main", "a", "b")
	unknown := profile.Symbol{}
	v := &madeView{identity: profile.Identity{Family: "IRPGO"}, features: profile.Features{Edges: true}, edges: []profile.Edge{
		{Kind: profile.IndirectCall, Caller: s[0], Site: 1, Target: s[1], Count: 10},
		{Kind: profile.IndirectCall, Caller: s[0], Site: 0, Target: unknown, Count: 20},
		{Kind: profile.IndirectCall, Caller: s[0], Site: 1, Target: s[2], Count: 70},
		{Kind: profile.IndirectCall, Caller: s[0], Site: 1, Target: s[1], Count: 20}, // adds up
		{Kind: profile.MemOpSize, Caller: s[1], Site: 1, Size: 8, Count: 1 << 63},
		{Kind: profile.MemOpSize, Caller: s[1], Site: 1, Size: 10, Count: 1 << 63},
		{Kind: profile.Receiver, Caller: s[0], Site: 1, Target: s[1], Count: 5},
	}}
	src := made(v)
	table := newSiteTable(src)
	var got []string
	for _, s := range table.sites {
		line := fmt.Sprintf("%v %s %d: %d", s.kind, src.edgeName(s.caller), s.site, s.total)
		for _, target := range s.targets {
			name := ""
			if !target.unknown() {
				name = src.edgeName(target.symbol)
			}
			line += fmt.Sprintf(" %s%d=%d", name, target.size, target.count)
		}
		got = append(got, line+" "+s.fate.String())
	}
	want := []string{
		fmt.Sprintf("memop_size a 1: %d 8=%d 10=%d promoted", uint64(math.MaxUint64), uint64(1<<63), uint64(1<<63)),
		"indirect_call main 1: 100 b0=70 a0=30 promoted",
		"indirect_call main 0: 20 0=20 target unknown",
		"receiver main 1: 5 a0=5 ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	k := table.kinds[0]
	if k.kind != profile.IndirectCall || k.sites != 2 || k.single != 0 || k.total != 120 || k.top != 90 || k.unknown != 20 || k.promoted != 1 || k.direct != 100 {
		t.Errorf("sums %+v", k)
	}
}

// What the script has are the sites of the table, with their targets.
func TestValuesData(t *testing.T) {
	src := fixture(t, "irpgo/llvm22/vtable.profdata")
	p, err := valuesPage(src)
	if err != nil {
		t.Fatal(err)
	}
	d, table := p.data.(*valuesData), newSiteTable(src)
	if len(d.Kind) != len(table.sites) || len(d.Kinds) != 3 {
		t.Fatalf("%d sites of kinds %q", len(d.Kind), d.Kinds)
	}
	for i := range table.sites {
		s := &table.sites[i]
		if src.names.Keys[d.Caller[i]] != src.edgeName(s.caller) || d.Total[i] != float64(s.total) || d.Number[i] != len(s.targets) || d.Kinds[d.Kind[i]] != kindTitles[s.kind] {
			t.Errorf("site %d is not %+v", i, s)
		}
		sum := 0.0
		for k := range s.targets {
			at := d.First[i] + k
			sum += d.Count[at]
			switch n := d.Target[at]; {
			case s.kind == profile.MemOpSize && uint64(-2-n) != s.targets[k].size,
				s.kind != profile.MemOpSize && n >= 0 && src.names.Keys[n] != src.edgeName(s.targets[k].symbol),
				s.kind != profile.MemOpSize && n == -1 && !s.targets[k].unknown():
				t.Errorf("target %d of site %d is %d, want %+v", k, i, n, s.targets[k])
			}
		}
		if sum != d.Total[i] {
			t.Errorf("targets of site %d sum up to %v of %v", i, sum, d.Total[i])
		}
	}
}

func TestValuesFixtures(t *testing.T) {
	checkPages(t, valuesPage, map[string][]string{
		"irpgo/llvm22/dispatch-indexed.profdata": {"3 places in 2 functions", "Memory operations", "none dominant", "promoted", "9–15", "unknown", "icp-max-prom", "20 calls or more"},
		"irpgo/llvm22/vtable.profdata":           {"Receivers", "Indirect calls", "feed(Sink&amp;"},
		"irpgo/text/llvm22-dispatch.proftext":    {"Indirect calls"},
		"iprof/app.iprof":                        {"bytecode", "Receivers"},
		"mip/all.mip":                            nil,
		"memprof/raw/clang22-pie.profdata":       nil,
	})
	if p, err := valuesPage(fixture(t, "iprof/app.iprof")); err != nil || strings.Contains(string(p.Body), "LLVM") {
		t.Errorf("what has LLVM to do with GraalVM? %v", err)
	}
}

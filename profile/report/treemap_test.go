package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestTreemapOfFixtures: every function of real profiles is somewhere in the
// map, with all of its counts and its heat.
func TestTreemapOfFixtures(t *testing.T) {
	eachFixture(t, func(t *testing.T, src *source) {
		p, err := treemapPage(src)
		if err != nil {
			t.Fatal(err)
		}
		functions := 0
		for range src.view.Functions() {
			functions++
		}
		if p == nil {
			if functions > 0 {
				t.Errorf("%d functions and no page", functions)
			}
			return
		}
		d := p.data.(*treemapData)
		want := make(map[string][]float64) // by value, by class
		for f := range src.view.Functions() {
			for _, m := range measures(src.features) {
				if want[m.Name] == nil {
					want[m.Name] = make([]float64, len(d.Classes))
				}
				want[m.Name][src.heat.of(f)] += float64(m.of(f))
			}
		}
		for v, value := range d.Values {
			total, _, _ := d.Tree.weights(v, len(d.Classes))
			if !near(min(total[0], math.MaxUint64), float64(d.All[v])) {
				t.Errorf("%s: all is %v, the map has %v", value.Name, d.All[v], total[0])
			}
			for c, want := range want[value.Name] {
				if got, _, _ := d.Tree.weights(v*len(d.Classes)+c, 1); !near(got[0], want) {
					t.Errorf("%s, %s: the map has %v, functions %v", value.Name, d.Classes[c], got[0], want)
				}
			}
		}
		checkLeaves(t, src, d)
		if rows := strings.Count(string(p.Body), "<tr>"); rows < 2 || rows > 1+maxStaticRows {
			t.Errorf("%d rows without scripts", rows)
		}
	})
}

// checkLeaves holds single functions against the profile.
func checkLeaves(t *testing.T, src *source, d *treemapData) {
	t.Helper()
	want := make(map[string]float64)
	for f := range src.view.Functions() {
		want[src.symbolName(&f.Symbol)]++
	}
	value := len(d.Values) - 1 // "functions"
	total, self, _ := d.Tree.weights(value, len(d.Classes))
	got := make(map[string]float64)
	for i, label := range d.Tree.Label {
		if label >= 0 && d.Labels.Full[label] >= 0 {
			got[src.names.Keys[d.Labels.Full[label]]] += total[i]
			continue
		}
		if self[i] != 0 {
			t.Errorf("node %d is no function and has something itself", i)
		}
	}
	for name, n := range want {
		if len(want) < 5000 && got[name] != n {
			t.Errorf("%s: %v functions, want %v", name, got[name], n)
		}
	}
}

// manyFunctions is a view of a large program.
func manyFunctions(n int) *madeView {
	v := &madeView{features: profile.Features{Calls: true, Sizes: true}}
	random := rand.New(rand.NewPCG(41, 43))
	for i := range n {
		calls := uint64(math.Exp(random.Float64() * 30))
		if i%3 == 0 {
			calls = 0
		}
		name := fmt.Sprintf("_ZN4ns%02d5in%03d8fn%06dEv", i%40, i%700, i)
		v.functions = append(v.functions, profile.Function{Symbol: profile.Symbol{Name: name}, Calls: calls, Covered: calls > 0, Size: uint64(random.IntN(2000))})
	}
	return v
}

// TestTreemapOfManyFunctions: 100,000 functions are pruned, and nothing is lost.
func TestTreemapOfManyFunctions(t *testing.T) {
	n := 100_000 / oracle.Step(2)
	src := newSource(0, Source{View: manyFunctions(n)}, Options{})
	p, err := treemapPage(src)
	if err != nil {
		t.Fatal(err)
	}
	d := p.data.(*treemapData)
	if boxes := d.Tree.boxes(); boxes > maxTreemapNodes || boxes < maxTreemapNodes/2 {
		t.Errorf("%d boxes", boxes)
	}
	total, _, _ := d.Tree.weights(len(d.Values)-1, len(d.Classes))
	if total[0] != float64(n) {
		t.Errorf("%v functions", total[0])
	}
	if rows := strings.Count(string(p.Body), "<tr>"); rows != 1+maxStaticRows {
		t.Errorf("%d rows without scripts", rows)
	}
}

// TestStaticTreemapShowsAllGroups: functions do not take the rows of groups, and what is in
// a group stands below it.
func TestStaticTreemapShowsAllGroups(t *testing.T) {
	v := &madeView{features: profile.Features{Calls: true}}
	for i := range 5000 {
		name := fmt.Sprintf("plain%d", i)
		if i%5 == 0 {
			name = fmt.Sprintf("_ZN4ns%02d7f%06dEv", i%30, i)
		}
		v.functions = append(v.functions, profile.Function{Symbol: profile.Symbol{Name: name}, Calls: 10, Covered: true})
	}
	p, err := treemapPage(newSource(0, Source{View: v}, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	row := func(count, share, indent, name string) string {
		return fmt.Sprintf(`<tr><td class="num">%s</td><td class="num">%s</td><td class="num">hot</td><td class="name">%s%s</td></tr>`, count, share, indent, name)
	}
	for _, want := range []string{
		row("40,000", "80.0 %", "", noFile) + "\n" + row("10", "&lt;0.1 %", "\u2003", "plain1"),
		row("1,670", "3.3 %", "", "ns00"), row("1,670", "3.3 %", "", "ns05"), row("1,660", "3.3 %", "", "ns25"),
		"… and 4,807 lighter ones.",
	} {
		if !strings.Contains(string(p.Body), want) {
			t.Errorf("%s is not shown", want)
		}
	}
	if t.Failed() {
		t.Log(string(p.Body))
	}
}

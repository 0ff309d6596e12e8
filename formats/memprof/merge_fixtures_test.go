package memprof

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

// fixtureInputs are real profiles of one program: raw ones of every compiler, LLVM's sections and YAML of these.
func fixtureInputs(t testing.TB) (names []string, inputs []weighted) {
	t.Helper()
	add := func(name string, p *Profile) {
		names = append(names, name)
		inputs = append(inputs, weighted{p, uint64(1 + len(inputs)%3)})
	}
	for _, f := range rawFixtures(t) {
		if strings.HasSuffix(f.name, "-pie") || f.is("dumps") || f.is("histogram") {
			p, _ := symbolizeRaw(t, f.read(t, RawOptions{}), openBinaries(t, f.program), SymbolizeOptions{})
			add(f.name, p)
		}
		file, err := os.ReadFile(strings.TrimSuffix(f.file, ".memprofraw") + ".profdata")
		if err != nil {
			continue // LLVM reads no raw profile of this kind
		}
		p := readSection(t, file)
		add(f.name+" indexed", p)
		doc := readYAML(t, yamlOf(t, p))
		add(f.name+" YAML", doc)
	}
	return names, inputs
}

// TestMergeFixtures merges real profiles of every form, dealt to workers at random.
func TestMergeFixtures(t *testing.T) {
	names, inputs := fixtureInputs(t)
	if len(inputs) < 20 {
		t.Fatalf("only %d inputs: %v", len(inputs), names)
	}
	rng := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{2, 2, 2, 3, 10, 10, len(inputs)} {
		var picked []weighted
		var picks []string
		sites := 0
		for _, i := range rng.Perm(len(inputs))[:n] {
			picked = append(picked, inputs[i])
			picks = append(picks, names[i])
			for _, r := range inputs[i].p.Records {
				sites += len(r.AllocSites)
			}
		}
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			root := NewMerger(MergeOptions{Warn: func(w profile.Warning) { t.Errorf("unexpected warning %v", w) }})
			forks := []*Merger{root, NewMerger(root.opt), NewMerger(root.opt)}
			for i, in := range picked {
				must(t, forks[rng.IntN(3)].AddProfile(picks[i], in.p, in.weight))
			}
			root.Merge(forks[2])
			root.Merge(forks[1])
			p := root.Profile()
			e := expect(picked)
			e.check(t, p)
			if len(e.values) >= sites && n >= 10 {
				t.Errorf("%d sites of %v have nothing in common", sites, picks)
			}
			if got := content(t, mergeAll(t, picked)); got != content(t, p) {
				t.Errorf("%v: workers change the result", picks)
			}
			for version := -1; version <= SectionVersionMax; version++ {
				s := writeSection(t, p, WriteOptions{Version: version, Schema: p.KnownFields()}, 0)
				again, err := readWhole(s)
				must(t, err)
				if found, remarks := again.Check(); len(found)+len(remarks) > 0 && !strings.Contains(strings.Join(picks, " "), "clang14") {
					t.Errorf("%v, version %d: %v", picks, version, found)
				}
			}
		})
	}
}

// TestAddRaw: raw profiles give what their symbolized profiles give; one that fails leaves no trace.
func TestAddRaw(t *testing.T) {
	foreign := rawFixtureNamed(t, "clang19-pie").read(t, RawOptions{})
	for _, compat := range []bool{false, true} {
		sum, whole := NewMerger(MergeOptions{}), NewMerger(MergeOptions{})
		add := func(name string, p *Profile, weight uint64) {
			for _, m := range []*Merger{sum, whole} {
				must(t, m.AddProfile(name, p, weight))
			}
		}
		n := 0
		opt := SymbolizeOptions{LLVMCompat: compat}
		for _, f := range rawFixtures(t) {
			if compat && (f.is("clang14") || f.is("clang16")) {
				continue // more than one segment of code
			}
			raw, b, weight := f.read(t, RawOptions{LLVMCompat: compat}), openBinaries(t, f.program), uint64(1+n%3)
			p, about := symbolizeRaw(t, raw, b, opt)
			must(t, whole.AddProfile(f.name, p, weight))
			got, err := sum.AddRaw(raw, b, opt, weight)
			if err != nil || got.Dropped != about.Dropped || got.Contexts != about.Contexts {
				t.Fatalf("%s: %v, %+v instead of %+v", f.name, err, got, about)
			}
			if n++; n == 1 {
				if _, err := sum.AddRaw(foreign, openBinaries(t, f.program), opt, 1); err == nil {
					t.Fatal("a profile of another program was added")
				}
				if content(t, sum.Profile()) != content(t, p) {
					t.Errorf("%s: a single input changed", f.name)
				}
			}
			if n%4 == 0 { // only some of the alloc sites of their stacks
				p.Records = p.Records[len(p.Records)/2:]
				add(f.name, p, 2)
			}
		}
		if n < 8 {
			t.Errorf("only %d raw profiles", n)
		}
		if content(t, sum.Profile()) != content(t, whole.Profile()) {
			t.Errorf("compat %v: the sums differ", compat)
		}
	}
}

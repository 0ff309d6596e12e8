package report

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// eachFixture calls f with every profile of the test data, and of the samples
// where there are any, that can be read by itself.
func eachFixture(t *testing.T, f func(t *testing.T, src *source)) {
	if read := eachProfile(t, filepath.Join(oracle.Root(t), "testdata"), f); read < 100 {
		t.Errorf("only %d profiles were read", read)
	}
	t.Run("samples", func(t *testing.T) {
		oracle.Slow(t)
		eachProfile(t, oracle.Samples(t), f)
	})
}

var olderLLVM = regexp.MustCompile(`^(clang|llvm)1\d$`)

// eachProfile calls f with the profiles below a folder, and counts them. Those
// that older releases of LLVM made of the same programs are slow.
func eachProfile(t *testing.T, dir string, f func(t *testing.T, src *source)) (read int) {
	suffixes := []string{".profraw", ".profdata", ".proftext", ".iprof", ".mip", ".memprofraw", ".yaml"}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains(suffixes, filepath.Ext(path)) {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		opt := formats.ViewOptions{Programs: []string{strings.TrimSuffix(path, filepath.Ext(path)) + ".debug"}}
		if !exists(opt.Programs[0]) {
			opt.Programs = nil
		}
		view, err := formats.View(path, data, opt)
		if err != nil {
			return nil
		}
		read++
		producer := filepath.Base(filepath.Dir(path))
		t.Run(producer+"/"+filepath.Base(path), func(t *testing.T) {
			if olderLLVM.MatchString(producer) {
				oracle.Slow(t)
			}
			f(t, newSource(0, Source{View: view}, Options{}))
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestFlameOfFixtures: the trees of real profiles add up to their stacks.
func TestFlameOfFixtures(t *testing.T) {
	eachFixture(t, func(t *testing.T, src *source) {
		p, err := flamePage(src)
		if err != nil {
			t.Fatal(err)
		}
		if p == nil {
			for _, set := range src.view.Stacks() {
				for s := range set.ReusedStacks {
					for v, x := range s.Values {
						if x > 0 && set.Values[v].Combine == profile.Sum {
							t.Fatalf("stacks of %s have weight, and there is no page", set.Name)
						}
					}
				}
			}
			return
		}
		data := p.data.(flameData)
		boxes := 0
		for _, set := range data.Sets {
			boxes += checkFlameSet(t, src, set)
		}
		if boxes > maxFlameNodes {
			t.Errorf("%d boxes", boxes)
		}
		if strings.Count(string(p.Body), "<tr>") < 2 {
			t.Error("nothing is shown without scripts")
		}
		if partial := data.Sets[0].Partial; strings.Contains(string(p.Body), "Stacks are partial") != partial {
			t.Errorf("partial: %v, and the page says otherwise", partial)
		}
	})
}

// checkFlameSet returns how many boxes a set makes.
func checkFlameSet(t *testing.T, src *source, set *flameSet) int {
	t.Helper()
	stacks := profile.StackSet{Values: []profile.ValueType{{Name: "calls"}}, ReusedStacks: func(yield func(*profile.Stack) bool) {
		for e := range src.view.Edges() {
			call := (e.Kind == profile.Call || e.Kind == profile.IndirectCall) && (e.Target.Name != "" || e.Target.ID != 0)
			if call && !yield(&profile.Stack{Frames: []profile.Frame{{Symbol: e.Target}, {Symbol: e.Caller}}, Values: []uint64{e.Count}}) {
				return
			}
		}
	}}
	for _, s := range src.view.Stacks() {
		if s.Name == set.Name {
			stacks = s
		}
	}
	var additive []int
	for v := range stacks.Values {
		if stacks.Values[v].Combine == profile.Sum {
			additive = append(additive, v)
		}
	}
	all := make([]float64, len(additive))
	total := make([]map[int]float64, len(additive)) // by name
	for i := range total {
		total[i] = make(map[int]float64)
	}
	n := uint64(0)
	numbers := make(map[profile.Symbol]int)
	for s := range stacks.ReusedStacks {
		n++
		names := make(map[int]bool)
		for i := range s.Frames {
			number, ok := numbers[s.Frames[i].Symbol]
			if !ok {
				number = src.names.add(src.symbolName(&s.Frames[i].Symbol))
				numbers[s.Frames[i].Symbol] = number
			}
			names[number] = true
		}
		for i, v := range additive {
			all[i] += float64(s.Values[v])
			for name := range names {
				total[i][name] += float64(s.Values[v])
			}
		}
	}
	if n != set.Stacks || len(set.Values) != len(additive) {
		t.Errorf("%s: %d stacks and %d values, want %d and %d", set.Name, set.Stacks, len(set.Values), n, len(additive))
	}
	sameName := make(map[int]int)
	for _, name := range set.Functions.Name {
		sameName[name]++
	}
	for i := range additive {
		for _, tree := range []*treeData{set.Down, set.Up} {
			sums, self, rest := tree.weights(i, len(set.Classes))
			if !near(sums[0], all[i]) {
				t.Errorf("%s, %s: the root has %v, the stacks %v", set.Name, set.Values[i].Name, sums[0], all[i])
			}
			for n, kids := range tree.children() {
				sum := self[n] + rest[n]
				for _, k := range kids {
					sum += sums[k]
				}
				if !near(sum, sums[n]) || self[n] < 0 || rest[n] < 0 {
					t.Errorf("%s: node %d has %v, its parts %v", set.Name, n, sums[n], sum)
				}
			}
		}
		for f, name := range set.Functions.Name {
			if sameName[name] > 1 || strings.HasPrefix(src.names.Keys[set.Groups.Name[set.Functions.Group[f]]], "(") {
				continue // functions of one name, labels
			}
			if got := float64(set.Functions.Total[i][f]); !near(got, total[i][name]) && !ambiguous(numbers, name) {
				t.Errorf("%s: %s has %v, its stacks %v", set.Name, src.names.Keys[name], got, total[i][name])
			}
		}
	}
	return set.Down.boxes() + set.Up.boxes()
}

// ambiguous reports whether several functions have the name.
func ambiguous(numbers map[profile.Symbol]int, name int) bool {
	n := 0
	for _, number := range numbers {
		if number == name {
			n++
		}
	}
	return n > 1
}

func near(a, b float64) bool {
	return a == b || a-b < 1e-9*b && b-a < 1e-9*b
}

// TestFlameOfManyStacks: two sets of more paths than a file may have make no
// more boxes than it may, and lose no weight.
func TestFlameOfManyStacks(t *testing.T) {
	random := rand.New(rand.NewPCG(47, 53))
	v := &madeView{}
	for range 2 {
		set := madeSet{StackSet: profile.StackSet{Name: "samples", Description: "a stack", Values: testValues[:2]}}
		for range 20_000 {
			frames := make([]profile.Frame, 1+random.IntN(12))
			for i := range frames {
				frames[i].Name = labelName(int32(random.IntN(300)))
			}
			set.stacks = append(set.stacks, profile.Stack{Frames: frames, Values: []uint64{uint64(random.IntN(1000)), 1}})
		}
		v.sets = append(v.sets, set)
	}
	p, err := flamePage(made(v))
	if err != nil {
		t.Fatal(err)
	}
	boxes := 0
	for _, set := range p.data.(flameData).Sets {
		if !set.Cut || !strings.Contains(set.About, "a stack") {
			t.Errorf("cut: %v; %s", set.Cut, set.About)
		}
		for _, tree := range []*treeData{set.Down, set.Up} {
			total, _, _ := tree.weights(1, 1)
			if total[0] != 20_000 {
				t.Errorf("%v stacks", total[0])
			}
			boxes += tree.boxes()
		}
	}
	if boxes > maxFlameNodes || boxes < maxFlameNodes*9/10 {
		t.Errorf("%d boxes, there may be %d", boxes, maxFlameNodes)
	}
}

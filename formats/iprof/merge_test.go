package iprof

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// merge adds profiles up and returns the canonical text.
func merge(t testing.TB, profiles ...*Profile) []byte {
	t.Helper()
	return encode(t, mergeProfiles(t, profiles...), WriteOptions{})
}

func mergeProfiles(t testing.TB, profiles ...*Profile) *Profile {
	t.Helper()
	m := NewMerger(MergeOptions{})
	for i, p := range profiles {
		oracle.Must(m.AddProfile(fmt.Sprint(i), p, Weights{}))(t)
	}
	return m.Profile()
}

func weighted(t testing.TB, p *Profile, w uint64) *Profile {
	t.Helper()
	m := NewMerger(MergeOptions{})
	oracle.Must(m.AddProfile("", p, Weights{Weight{w, 1}, Weight{w, 1}}))(t)
	return m.Profile()
}

// equal reports whether two profiles say the same, whatever their ids, order and version.
func equal(t testing.TB, a, b *Profile) bool {
	t.Helper()
	ra := oracle.Must(Renumber(a))(t)
	rb := oracle.Must(Renumber(b))(t)
	return sameContent(ra, rb)
}

// sameContent compares canonical profiles apart from their versions.
func sameContent(a, b *Profile) bool {
	if !slices.Equal(a.Types, b.Types) {
		return false
	}
	if !slices.EqualFunc(a.Methods, b.Methods, func(m, n Method) bool {
		return m.ID == n.ID && m.Name == n.Name && slices.Equal(m.Signature, n.Signature)
	}) {
		return false
	}
	for k := range a.Sections {
		s, t := &a.Sections[k], &b.Sections[k]
		if !slices.Equal(s.frames, t.frames) || !slices.Equal(s.records, t.records) || !slices.Equal(s.ends, t.ends) {
			return false
		}
	}
	return true
}

// checkTwin: merging p with a shuffled twin times three gives p times four.
func checkTwin(t *testing.T, name string, p *Profile) {
	t.Helper()
	twin := shuffled(rand.New(rand.NewPCG(1, 2)), p, 3)
	once := oracle.Must(Renumber(p))(t)
	if !equal(t, p, shuffled(rand.New(rand.NewPCG(3, 4)), p, 1)) {
		t.Errorf("%s: its shuffled twin is not equal", name)
	}
	if equal(t, p, twin) && p.entries() > 0 {
		t.Errorf("%s: three times the counts is equal", name)
	}
	times4 := merge(t, p, twin)
	others := map[string]func() []byte{
		"weight 4":      func() []byte { return encode(t, weighted(t, p, 4), WriteOptions{}) },
		"twin first":    func() []byte { return merge(t, twin, p) },
		"canonical":     func() []byte { return merge(t, twin, once) },
		"four times":    func() []byte { return merge(t, p, p, p, p) },
		"canonical × 4": func() []byte { return merge(t, once, once, once, once) },
	}
	if len(p.Methods) > 1000 { // enough of that
		delete(others, "twin first")
		delete(others, "canonical")
		delete(others, "canonical × 4")
	}
	for what, other := range others {
		if !bytes.Equal(times4, other()) {
			t.Errorf("%s: merging with three times its twin differs from %s", name, what)
		}
	}
	double := mergeProfiles(t, p, p)
	for k := range NumKinds {
		a, b := &once.Sections[k], &double.Sections[k]
		if a.Len() != b.Len() {
			t.Fatalf("%s: %s has %d entries, twice %d", name, k, a.Len(), b.Len())
		}
		for i := range a.Len() {
			for j := k.Arity() - 1; j < len(a.Records(i)); j += k.Arity() {
				if want, _ := saturate.AddSigned(a.Records(i)[j], a.Records(i)[j]); b.Records(i)[j] != want {
					t.Fatalf("%s: %s %d: count %d became %d", name, k, i, a.Records(i)[j], b.Records(i)[j])
				}
			}
		}
	}
}

func TestMergeTwins(t *testing.T) {
	for _, f := range []string{"fib.iprof", "even-odd.iprof", "small.iprof", "checks.iprof", "small-0.2.iprof"} {
		checkTwin(t, f, readFixture(t, f))
	}
	for seed := range uint64(20) {
		checkTwin(t, fmt.Sprint("random ", seed), randomProfile(rand.New(rand.NewPCG(seed, 1)), version110, 5+int(seed)*10))
	}
	if got, want := merge(t, readFixture(t, "small.iprof"), readFixture(t, "twin-x3.iprof")),
		encode(t, weighted(t, readFixture(t, "small.iprof"), 4), WriteOptions{}); !bytes.Equal(got, want) {
		t.Error("small.iprof and twin-x3.iprof are not four times small.iprof")
	}
}

// relatives are profiles of one program, with some common contexts, odd conditionals and counts near the limit.
func relatives(rng *rand.Rand, n int) []*Profile {
	base := randomProfile(rng, []Version{version040, version100, version110}[rng.IntN(3)], 4+rng.IntN(30))
	var out []*Profile
	for range n {
		p := base.derive()
		for k := range NumKinds {
			s := &base.Sections[k]
			for i := range s.Len() {
				if rng.IntN(3) == 0 {
					continue
				}
				records := slices.Clone(s.Records(i))
				arity := k.Arity()
				switch {
				case arity > 1 && rng.IntN(5) == 0: // fewer
					records = records[:rng.IntN(len(records)/arity+1)*arity]
				case arity > 1 && rng.IntN(5) == 0: // another order
					j := arity * rng.IntN(len(records)/arity)
					records = append(slices.Clone(records[j:]), records[:j]...)
				case arity > 1 && rng.IntN(5) == 0: // repeated
					records = append(records, records...)
				case rng.IntN(20) == 0:
					records[arity-1] = math.MaxInt64 - int64(rng.IntN(3))
				}
				must2(p.Sections[k].add(s.Context(i), records...))
				if rng.IntN(30) == 0 { // the same context twice
					must2(p.Sections[k].add(s.Context(i), records...))
				}
			}
		}
		out = append(out, shuffled(rng, p, int64(1+rng.IntN(3))))
	}
	return out
}

// TestMergeLaws: any order and any grouping of the inputs gives the same bytes.
func TestMergeLaws(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 99))
		all := relatives(rng, 2+rng.IntN(4))
		want := merge(t, all...)
		order := make([]*Profile, len(all))
		for i, j := range rng.Perm(len(all)) {
			order[i] = all[j]
		}
		if got := merge(t, order...); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: another order gives\n%s\nwant\n%s", seed, got, want)
		}
		cut := 1 + rng.IntN(len(all)-1)
		if got := merge(t, mergeProfiles(t, order[:cut]...), mergeProfiles(t, order[cut:]...)); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: another grouping gives\n%s\nwant\n%s", seed, got, want)
		}
		first := NewMerger(MergeOptions{})
		second := NewMerger(first.opt)
		for i, p := range order {
			oracle.Must([]*Merger{first, second}[i%2].AddProfile("", p, Weights{}))(t)
		}
		oracle.NoError(t, first.Merge(second))
		if got := encode(t, first.Profile(), WriteOptions{}); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: forks give\n%s\nwant\n%s", seed, got, want)
		}
		if rep := checkOf("merged", want); rep.worst() == broken {
			t.Fatalf("seed %d: %v", seed, rep.Findings)
		}
	}
}

func TestMergeConditionals(t *testing.T) {
	p := func(records ...string) (out []*Profile) {
		for _, r := range records {
			out = append(out, read(t, []byte(minimal(`,"conditionalProfiles":[{"ctx":"1:4","records":[`+r+`]}]`))))
		}
		return out
	}
	for _, tc := range []struct{ a, b, want string }{
		{"9,1,5,7,0,2", "9,1,1,7,0,1", "[9 1 6 7 0 3]"},                                     // the same: order stays
		{"9,1,5,7,0,2", "7,0,1,9,1,1", "[7 0 3 9 1 6]"},                                     // another order: sorted by index
		{"7,0,1,-5,0,0,-5,0,0", "7,0,1,-5,0,0", "[7 0 2 -5 0 0 -5 0 0]"},                    // ranks
		{"-1,0,1,-1,1,2", "-1,0,1,-1,1,2,8,2,4", "[-1 0 2 -1 1 4 8 2 4]"},                   // one more way
		{"", "8,1,4,3,0,0", "[3 0 0 8 1 4]"},                                                // nothing is another shape
		{"5,0,9223372036854775807", "5,0,9223372036854775807", "[5 0 9223372036854775807]"}, // the limit
	} {
		in := p(tc.a, tc.b)
		for range 2 {
			if got := fmt.Sprint(mergeProfiles(t, in...).Sections[Conditionals].Records(0)); got != tc.want {
				t.Errorf("%s with %s: %s, want %s", tc.a, tc.b, got, tc.want)
			}
			slices.Reverse(in)
		}
	}
	m := NewMerger(MergeOptions{})
	var warnings []string
	m.opt.Warn = func(w profile.Warning) { warnings = append(warnings, w.String()) }
	in := p("9,1,5,7,0,9223372036854775807", "7,0,1,9,1,1")
	for i, want := range []Added{{Entries: 1}, {Entries: 1, Reshaped: 1, Saturated: 1}} {
		if added, err := m.AddProfile("f", in[i], Weights{}); err != nil || added != want {
			t.Errorf("input %d: added %+v, want %+v (%v)", i, added, want, err)
		}
	}
	if len(warnings) != 2 || !strings.Contains(warnings[0], "other branches") || !strings.Contains(warnings[1], "too large") {
		t.Errorf("warnings: %q", warnings)
	}
}

func TestMergeRefuses(t *testing.T) {
	good := read(t, []byte(minimal(`,"callCountProfiles":[{"ctx":"1:0","records":[5]}]`)))
	for _, tc := range []struct {
		name, text string
		opt        MergeOptions
		want       error
		added      Added
	}{
		{"not resolved", string(fixture(t, "unresolved.iprof")), MergeOptions{DropUnresolved: true}, profile.ErrCorrupt, Added{}},
		{"unknown section dropped", minimal(`,"x":1,"callCountProfiles":[{"ctx":"1:0","records":[5]}]`), MergeOptions{DropUnknown: true}, nil, Added{Entries: 1}},
		{"nothing but an unknown section", minimal(`,"x":1`), MergeOptions{DropUnknown: true}, profile.ErrUnsupported, Added{}},
		{"nothing resolved", minimal(`,"samplingProfiles":[{"ctx":"1:0<2:4","records":[1]}],"virtualInvokeProfiles":[{"ctx":"1:0","records":[9,1]}]`), MergeOptions{DropUnresolved: true}, profile.ErrCorrupt, Added{}},
		{"nothing recorded", minimal(``), MergeOptions{DropUnresolved: true, DropUnknown: true}, nil, Added{}},
		{"unresolved dropped", minimal(`,"samplingProfiles":[{"ctx":"1:1","records":[1]},{"ctx":"1:0<2:4","records":[1]}]`), MergeOptions{DropUnresolved: true}, nil, Added{Entries: 1, Skipped: 1}},
	} {
		m := NewMerger(tc.opt)
		_, err := m.AddProfile("good", good, Weights{})
		oracle.NoError(t, err)
		before := encode(t, m.Profile(), WriteOptions{})
		added, err := m.AddProfile("f", read(t, []byte(tc.text)), Weights{})
		if !errors.Is(err, tc.want) || added != tc.added {
			t.Errorf("%s: %+v, %v", tc.name, added, err)
		}
		if after := encode(t, m.Profile(), WriteOptions{}); tc.want != nil && !bytes.Equal(before, after) {
			t.Errorf("%s left a trace", tc.name)
		}
	}
	_, err := NewMerger(MergeOptions{}).AddProfile("f", readFixture(t, "unresolved.iprof"), Weights{})
	if want := "f: recording is not resolved: instead of names there is a placeholder, so nothing says which methods its 4 entries are about, " +
		"want one whose ids were translated to names when the program ended; record again: corrupt profile"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestMergeVersions(t *testing.T) {
	small, old, four, checks := readFixture(t, "small.iprof"), readFixture(t, "small-0.2.iprof"), readFixture(t, "small-0.4.iprof"), readFixture(t, "checks.iprof")
	if p := mergeProfiles(t, old, four, small); p.Version != version100 || p.Sections[CallCounts].Total() != 3*small.Sections[CallCounts].Total() {
		t.Errorf("0.2, 0.4 and 1.0 give %s", p.Version)
	}
	p := mergeProfiles(t, old, checks)
	if p.Version != version110 || !p.has(TypeChecks) || p.Sections[TypeChecks].Total() != checks.Sections[TypeChecks].Total() {
		t.Errorf("0.2 and 1.1 give %s", p.Version)
	}
	if p := NewMerger(MergeOptions{}).Profile(); string(encode(t, p, WriteOptions{})) !=
		`{"version":"1.0.0","types":[],"methods":[],"callCountProfiles":[],"conditionalProfiles":[],"virtualInvokeProfiles":[],"monitorProfiles":[],"samplingProfiles":[]}` {
		t.Error("nothing merged is not the empty profile")
	}
}

// TestGenerator merges files of the samples' generator with their renumbered, reordered and weighted twins.
func TestGenerator(t *testing.T) {
	script := filepath.Join(oracle.Samples(t), "iprof", "generate.py")
	python := oracle.Tool(t, "python3")
	dir := t.TempDir()
	generate := func(args ...string) *Profile {
		out := filepath.Join(dir, "out.iprof")
		if _, stderr, code := oracle.Run(t, python, append([]string{script, "-o", out}, args...)...); code != 0 {
			t.Fatal(stderr)
		}
		data := oracle.ReadFile(t, out)
		return read(t, data)
	}
	for _, args := range [][]string{{"--preset", "tiny"}, {"--preset", "tiny", "--version", "1.1.0", "--instanceof-key", "instanceofProfiles", "--order", "doc"}, {"--types", "500", "--methods", "3000", "--live", "400", "--samples", "60"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			if args[0] != "--preset" {
				oracle.Slow(t)
			}
			a := generate(args...)
			b := generate(append(args, "--shuffle", "7", "--weight", "3")...)
			if !bytes.Equal(merge(t, a, b), encode(t, weighted(t, a, 4), WriteOptions{})) {
				t.Error("a file and its twin times three are not four times the file")
			}
			indented := generate(append(args, "--indent", "2")...)
			if !sameContent(a, indented) {
				t.Error("indentation changes the profile")
			}
		})
	}
}

func TestWeights(t *testing.T) {
	for _, tc := range []struct {
		weight    Weight
		count     int64
		want      int64
		saturated bool
	}{
		{Weight{}, 7, 7, false},
		{Weight{1, 1}, 7, 7, false},
		{Weight{3, 1}, 7, 21, false},
		{Weight{3, 0}, 7, 21, false},
		{Weight{5, 10}, 7, 4, false},
		{Weight{1, 2}, 5, 3, false},
		{Weight{1, 4}, 5, 1, false},
		{Weight{0, 1}, 9, 0, false},
		{Weight{1e15 + 1, 1e15}, 1 << 53, 1<<53 + 9, false},
		{Weight{2, 1}, math.MaxInt64, math.MaxInt64, true},
		{Weight{1e17 - 1, 1e17}, math.MaxInt64, math.MaxInt64 - 92, false},
		{Weight{1e18 - 1, 1}, math.MaxInt64, math.MaxInt64, true},
	} {
		if got, saturated := tc.weight.apply(tc.count); got != tc.want || saturated != tc.saturated {
			t.Errorf("%d × %v = %d, %t; want %d, %t", tc.count, tc.weight, got, saturated, tc.want, tc.saturated)
		}
	}
}

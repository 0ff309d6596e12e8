package irpgo

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// rescueBuild is a profile of n functions f0, f1, … of two counters, each 10 and 20, with a value site.
func rescueBuild(n int) *rawBuild {
	b := newRawBuild(10, 8, le, IRLevel)
	b.funcs = nil
	for i := range n {
		b.funcs = append(b.funcs, rawFunc{
			name: fmt.Sprint("f", i), hash: uint64(i + 1), counts: []uint64{10, 20}, addr: 0x401000 + uint64(16*i),
			values: valueSites{IndirectCallTarget: {{{0x401000, 3}}}},
		})
	}
	return b
}

var (
	rescueDrop  = ReaderOptions{Rescue: true}
	rescueClamp = ReaderOptions{Rescue: true, Clamp: true}
)

// readRescued reads a profile and lists its functions with their counts, and what was rescued.
func readRescued(t *testing.T, data []byte, how ReaderOptions) (functions map[string][]uint64, rescued []string, err error) {
	t.Helper()
	how.Rescued = func(r profile.Rescued) { rescued = append(rescued, describeRescued(r)) }
	p, err := Read("f", data, how)
	if err != nil {
		return nil, rescued, err
	}
	functions = make(map[string][]uint64)
	for _, f := range p.Functions {
		functions[f.Name] = f.Records[0].Counts
	}
	return functions, rescued, nil
}

func TestRescueRaw(t *testing.T) {
	const absurd = 1 << 60
	layout := newRecordLayout(10, 8, 3)
	sound := rescueBuild(3).build()
	p := oracle.Must(parseRawProfile(sound, 0, false))(t)
	record := func(i, off int) int { return int(p.records.off) + i*layout.size + off }
	counter := func(i int) int { return int(p.counters.off) + 8*i }
	tests := []struct {
		name   string
		damage func(d []byte)
		how    ReaderOptions
		want   string // of f1
		said   string
	}{
		{
			"absurd, dropped", func(d []byte) { le.PutUint64(d[counter(3):], absurd) }, rescueDrop, "[]",
			"function f1 left out: f: counters at 0x198 (record 1): counter of f1 is 1152921504606846976, want at most 2^56: corrupt profile",
		},
		{
			"absurd, clamped", func(d []byte) { le.PutUint64(d[counter(3):], absurd) }, rescueClamp, "[10 10]",
			"function f1 kept with other counters: f: counters at 0x198 (record 1): counter of f1 is 1152921504606846976, want at most 2^56: corrupt profile",
		},
		{
			"negative, clamped", func(d []byte) { le.PutUint64(d[counter(2):], 1<<64-5) }, rescueClamp, "[0 20]",
			"function f1 kept with other counters: f: counters at 0x190 (record 1): counter of f1 is 18446744073709551611, want at most 2^56: corrupt profile",
		},
		{"at the limit", func(d []byte) { le.PutUint64(d[counter(2):], 1<<56) }, rescueDrop, "[72057594037927936 20]", ""},
		{
			"no counters", func(d []byte) { d[record(1, layout.numCounters)] = 0 }, rescueClamp, "[]",
			"function f1 left out: f: data at 0x120 (record 1): number of counters is 0, want at least 1: corrupt profile",
		},
		{"counters elsewhere", func(d []byte) { d[record(1, layout.counterPtr)+6] = 1 }, rescueDrop, "[]", "function f1 left out: f: data at"},
		{"name", func(d []byte) { d[record(1, layout.nameRef)] ^= 1 }, rescueDrop, "[]", "left out: f: data at 0xf0 (record 1): name reference is"},
		{"value data", func(d []byte) { d[len(d)-28] = 9 }, rescueDrop, "[10 20]", "function f2 left out: f: value data at"},
	}
	for _, test := range tests {
		d := slices.Clone(sound)
		test.damage(d)
		got, said, err := readRescued(t, d, test.how)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if fmt.Sprint(got["f1"]) != test.want || fmt.Sprint(got["f0"]) != "[10 20]" {
			t.Errorf("%s: %v, want %s", test.name, got, test.want)
		}
		if !strings.Contains(strings.Join(said, "\n"), test.said) || (len(said) > 0) != (test.said != "") {
			t.Errorf("%s: said %q, want %q", test.name, said, test.said)
		}
	}
}

// TestRescueLimit: a profile that is damaged all over is no profile, nor is a profile without a sound function.
func TestRescueLimit(t *testing.T) {
	for _, test := range []struct{ functions, damaged, left int }{
		{3, 1, 2}, {3, 2, -1}, {40, 2, 38}, {40, 3, -1}, {1, 1, -1},
	} {
		data := rescueBuild(test.functions).build()
		p, err := parseRawProfile(data, 0, false)
		oracle.NoError(t, err)
		for i := range test.damaged {
			le.PutUint64(data[p.counters.off+int64(16*i):], 1<<63)
		}
		got, _, err := readRescued(t, data, rescueDrop)
		if test.left < 0 && err == nil || test.left >= 0 && (err != nil || len(got) != test.left) {
			t.Errorf("%d of %d damaged: %d left, %v", test.damaged, test.functions, len(got), err)
		}
		if got, _, err := readRescued(t, data, rescueClamp); err != nil || len(got) != test.functions {
			t.Errorf("%d of %d clamped: %d left, %v", test.damaged, test.functions, len(got), err)
		}
		if got, said, err := readRescued(t, data, ReaderOptions{}); err != nil || len(got) != test.functions || len(said) > 0 {
			t.Errorf("%d of %d, off: %d left, %q, %v", test.damaged, test.functions, len(got), said, err)
		}
	}
}

// TestRescueIndexed leaves a damaged function of an indexed profile out.
func TestRescueIndexed(t *testing.T) {
	data := mergeBytes(t, 13, rescueBuild(3).build())
	at := bytes.Index(data, []byte("f1"))
	data[at] = 'g' // now its hash is that of another name
	if _, _, err := readRescued(t, data, ReaderOptions{}); err == nil {
		t.Error("read without rescue")
	}
	got, said, err := readRescued(t, data, rescueDrop)
	if err != nil || len(got) != 2 || len(said) != 1 || !strings.HasPrefix(said[0], "function g1 left out: f: hash table at ") {
		t.Errorf("%v, %q, %v", got, said, err)
	}
}

// FuzzMergeDamaged merges anything between two sound profiles: what is refused
// leaves no trace, and what is rescued brings no absurd counters.
func FuzzMergeDamaged(f *testing.F) {
	for _, data := range hostileSeeds(f) {
		f.Add(data, byte(1))
		f.Add(data, byte(2))
	}
	sound := rescueBuild(4).build()
	f.Fuzz(func(t *testing.T, data []byte, how byte) {
		opt := []ReaderOptions{{}, rescueDrop, rescueClamp}[how%3]
		merge := func(files ...[]byte) (*Profile, error) {
			m := NewMerger(MergeOptions{AllowMixed: true})
			var refused error
			for _, file := range files {
				r, err := NewReader("f", file, opt)
				if err == nil {
					_, err = m.Add(r, 1)
				}
				if err != nil {
					refused = err
				}
			}
			return m.Finish().Profile(), refused
		}
		p, err := merge(sound, data, sound)
		if err != nil {
			want, _ := merge(sound, sound)
			if diff := cmp.Diff(contents(want), contents(p)); diff != "" {
				t.Fatalf("refused (%v) but merged in part:\n%s", err, diff)
			}
			return
		}
		if format, _ := Detect(data); format != FormatRaw || !opt.Rescue {
			return
		}
		for _, fn := range p.Functions {
			for _, r := range fn.Records {
				for _, c := range r.Counts {
					// A raw file may hold several profiles of one function.
					if c > largeCounter*uint64(len(data)/16+3) {
						t.Fatalf("%s has counter %d", fn.Name, c)
					}
				}
			}
		}
	})
}

// FuzzCheck: checking ends, and says where.
func FuzzCheck(f *testing.F) {
	for _, data := range hostileSeeds(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rep := Check("f", data)
		for _, err := range append(rep.Findings, rep.Remarks...) {
			var fe *profile.FormatError
			if !errors.As(err, &fe) || fe.File != "f" {
				t.Errorf("finding without a place: %v", err)
			}
		}
		if _, err := Read("f", data, ReaderOptions{}); err != nil && len(rep.Findings) == 0 {
			t.Errorf("not readable (%v), and nothing is found", err)
		}
	})
}

// describeRescued says what is wrong and what was done about it.
func describeRescued(r profile.Rescued) string {
	name := r.Function
	if name == "" {
		name = fmt.Sprintf("%#x", r.NameRef)
	}
	done := "left out"
	if r.Clamped {
		done = "kept with other counters"
	}
	return fmt.Sprintf("function %s %s: %v", name, done, r.Err)
}

// TestNothingLeft: a file without a usable function does not pass for the file of a program that ran nothing.
func TestNothingLeft(t *testing.T) {
	raw := rescueBuild(2).build()
	p := oracle.Must(parseRawProfile(raw, 0, false))(t)
	for i := range 2 {
		le.PutUint64(raw[int(p.records.off)+i*p.layout.size+p.layout.nameRef:], uint64(7+i))
	}
	empty := indexedBytes(t, &Profile{Variant: IRLevel}, IndexedOptions{Version: 12})
	lost := bytes.Clone(empty)
	const numFunctions = 9*8 + 2*8 // after the header, in the summary
	le.PutUint64(lost[numFunctions:], le.Uint64(lost[numFunctions:])+6)
	for name, c := range map[string]struct {
		data []byte
		how  ReaderOptions
		want string
	}{
		"names of no function":   {raw, ReaderOptions{}, "name reference is 0x7, which no name of the file has"},
		"LLVM":                   {raw, ReaderOptions{Lenient: true}, ""},
		"no entries":             {lost, ReaderOptions{}, "number of entries is 0, want the 6 functions of the summary"},
		"no entries, LLVM":       {lost, ReaderOptions{Lenient: true}, ""},
		"empty":                  {empty, ReaderOptions{}, ""},
		"empty raw":              {rescueBuild(0).build(), rescueDrop, ""},
		"one damaged, one sound": {oneNameless(t), rescueDrop, ""},
	} {
		_, err := Read("f", c.data, c.how)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// oneNameless returns a profile of two functions. The first function has lost its name.
func oneNameless(t *testing.T) []byte {
	raw := rescueBuild(2).build()
	p := oracle.Must(parseRawProfile(raw, 0, false))(t)
	le.PutUint64(raw[int(p.records.off)+p.layout.nameRef:], 7)
	return raw
}

package irpgo

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
)

// salvageAll reads what is whole of data.
func salvageAll(t *testing.T, data []byte, names *Siblings) (map[string]Record, *Salvaged, error) {
	t.Helper()
	r, rep, err := Salvage("f", data, names)
	if err != nil {
		return nil, nil, err
	}
	out := make(map[string]Record)
	for rec, err := range r.Records() {
		must(t, err)
		out[rec.Name] = *rec
	}
	if sum := rep.Whole + rep.CutRecords + rep.CutCounters + rep.Nameless + rep.Mismatching + rep.Damaged; sum != rep.Functions {
		t.Errorf("%d of %d functions accounted for: %+v", sum, rep.Functions, *rep)
	}
	return out, rep, nil
}

func siblingsOf(t *testing.T, data []byte) *Siblings {
	t.Helper()
	r := openReader(t, "sibling", data, ReaderOptions{})
	s := new(Siblings)
	must(t, s.Add(r))
	return s
}

// TestSalvage cuts profiles of all versions at every byte: what is salvaged is what the whole profile has, and with
// the names of a sibling no function is lost whose counters are there.
func TestSalvage(t *testing.T) {
	for _, b := range rawVersions() {
		data := b.build()
		p, err := parseRawProfile(data, 0, false)
		must(t, err)
		full, rep, err := salvageAll(t, data, nil)
		if err != nil || rep.Missing != 0 || rep.Whole != len(b.funcs) {
			t.Fatalf("%v: whole: %v, %+v", b, err, rep)
		}
		sibling := siblingsOf(t, data)
		for n, cut := range hostile.Cuts(data, 5) {
			got, rep, err := salvageAll(t, cut, nil)
			if err != nil {
				if int64(n) >= p.records.off {
					t.Fatalf("%v: cut at %d: %v", b, n, err)
				}
				continue
			}
			named, namedRep, err := salvageAll(t, cut, sibling)
			if err != nil {
				t.Fatalf("%v: cut at %d, with names: %v", b, n, err)
			}
			for _, all := range []map[string]Record{got, named} {
				for name, r := range all {
					want := full[name]
					if r.Hash != want.Hash || !reflect.DeepEqual(r.Counts, want.Counts) || string(r.Bitmap) != string(want.Bitmap) {
						t.Fatalf("%v: cut at %d: %s is %+v, want %+v", b, n, name, r, want)
					}
					for k := range r.Values {
						if len(r.Values[k]) != len(want.Values[k]) {
							t.Fatalf("%v: cut at %d: %s has %d sites of kind %d, want %d", b, n, name, len(r.Values[k]), k, len(want.Values[k]))
						}
					}
				}
			}
			if rep.Whole > namedRep.Whole || b.version > 2 && namedRep.Nameless > 0 {
				t.Errorf("%v: cut at %d: %+v without names, %+v with", b, n, *rep, *namedRep)
			}
			end := p.names.off
			if b.version <= 2 {
				end += int64(len(p.names.data))
			}
			if int64(n) >= end && namedRep.Whole != len(b.funcs) {
				t.Errorf("%v: cut at %d, after the counters: %+v", b, n, *namedRep)
			}
			if missing := MissingBytes(data[:n]); missing != rep.Missing || int64(n) < p.valueData && missing != uint64(p.valueData-int64(n)) {
				t.Errorf("%v: cut at %d: %d bytes missing, %d reported", b, n, missing, rep.Missing)
			}
		}
	}
}

// TestSalvageSiblings: names of another program are refused by its id, of
// another build by what its functions look like.
func TestSalvageSiblings(t *testing.T) {
	b := rescueBuild(3)
	b.ids = [][]byte{[]byte("program one")}
	data := b.build()
	p, _ := parseRawProfile(data, 0, false)
	cut := data[:p.names.off]

	other := rescueBuild(3)
	other.ids = [][]byte{[]byte("program two")}
	if _, _, err := Salvage("f", cut, siblingsOf(t, other.build())); profile.ClassOf(err) != profile.ErrMismatch {
		t.Errorf("of another program: %v", err)
	}
	other.ids = nil
	other.funcs[1].hash++
	other.funcs[2].counts = []uint64{1}
	got, rep, err := salvageAll(t, cut, siblingsOf(t, other.build()))
	if err != nil || len(got) != 1 || rep.Mismatching != 2 {
		t.Errorf("of another build: %v, %+v, %v", got, rep, err)
	}
	if got, rep, err = salvageAll(t, cut, nil); err != nil || len(got) != 0 || rep.Nameless != 3 {
		t.Errorf("without names: %v, %+v, %v", got, rep, err)
	}
	if got := fmt.Sprint(MissingBytes(cut)); got == "0" {
		t.Error("nothing missing")
	}
}

// TestSalvageNamesWithoutRecords: a linker that drops functions (--gc-sections)
// leaves their names. They serve the profile of a build that has the functions.
func TestSalvageNamesWithoutRecords(t *testing.T) {
	for _, version := range []uint32{3, 5, 8, 10} {
		b := newRawBuild(version, 8, le, IRLevel)
		b.funcs = rescueBuild(3).funcs
		data := b.build()
		p, err := parseRawProfile(data, 0, false)
		must(t, err)
		b.dropped = []string{b.funcs[2].name}
		b.funcs = b.funcs[:2]
		got, rep, err := salvageAll(t, data[:p.names.off], siblingsOf(t, b.build()))
		if _, ok := got["f2"]; err != nil || !ok || rep.Whole != 3 {
			t.Errorf("version %d: %v, %+v, %v", version, got, rep, err)
		}
	}
}

// TestSalvageMerged: a salvaged profile merges with a whole one of the same
// program as if the lost functions had not run.
func TestSalvageMerged(t *testing.T) {
	b := rescueBuild(4)
	data := b.build()
	p, _ := parseRawProfile(data, 0, false)
	r, rep, err := Salvage("cut", data[:p.counters.off+32], siblingsOf(t, data))
	must(t, err)
	m := NewMerger(MergeOptions{Warn: func(w profile.Warning) { t.Error(w) }})
	addTo(t, m, r, 1)
	whole := openReader(t, "whole", data, ReaderOptions{})
	addTo(t, m, whole, 1)
	if rep.Whole != 2 || rep.ValuesLost != 2 {
		t.Errorf("%+v", *rep)
	}
	for i, f := range m.Finish().Profile().Functions {
		want := "[20 40]"
		if i >= 2 {
			want = "[10 20]"
		}
		if got := fmt.Sprint(f.Records[0].Counts); got != want {
			t.Errorf("%s: %s, want %s", f.Name, got, want)
		}
	}
}

func FuzzSalvage(f *testing.F) {
	for _, data := range hostileSeeds(f) {
		if format, _ := Detect(data); format == FormatRaw {
			f.Add(data, data)
			f.Add(data[:len(data)/2], data)
		}
	}
	f.Fuzz(func(t *testing.T, data, other []byte) {
		names := new(Siblings)
		if r, err := NewReader("other", other, ReaderOptions{}); err == nil {
			_ = names.Add(r) // what was read before an error stays
		}
		whole, _, err := salvageAll(t, data, names)
		if err != nil {
			return
		}
		for name, r := range whole {
			for _, c := range r.Counts {
				if name == "" || c > largeCounter {
					t.Errorf("function %q with counter %d", name, c)
				}
			}
		}
		NameRefs("f", data, func(uint64) bool { return true })
	})
}

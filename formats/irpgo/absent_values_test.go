package irpgo

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// readAbsent reads a raw profile and returns its counters by function, its number of value sites, and the remarks.
func readAbsent(t *testing.T, data []byte) (counts map[string][]uint64, sites int, remarks []string) {
	t.Helper()
	r := openReader(t, "f", data, ReaderOptions{Warn: func(w profile.Warning) {
		if !errors.Is(w.Err, flaw.ErrRemark) {
			t.Error(w)
		}
		remarks = append(remarks, w.Err.Error())
	}})
	counts = make(map[string][]uint64)
	for rec, err := range r.Records() {
		oracle.NoError(t, err)
		key := fmt.Sprintf("%s %x", rec.Name, rec.Hash)
		counts[key] = append(counts[key], rec.Counts...)
		for _, kind := range rec.Values {
			sites += len(kind)
			for _, site := range kind {
				if len(site) > 0 {
					t.Errorf("%s has values", rec.Name)
				}
			}
		}
	}
	return counts, sites, remarks
}

// TestContinuousMode: files of continuous mode end where their value data would begin. They have the counters of
// the same program without value profiling, and check has one remark.
func TestContinuousMode(t *testing.T) {
	for _, compiler := range []string{"clang14", "clang16", "clang19", "clang22"} {
		t.Run(compiler, func(t *testing.T) {
			data := oracle.ReadFile(t, "../../testdata/irpgo/"+compiler+"/continuous-values.profraw")
			want, none, _ := readAbsent(t, oracle.ReadFile(t, "../../testdata/irpgo/"+compiler+"/continuous.profraw"))
			got, sites, remarks := readAbsent(t, data)
			if len(want) < 20 || fmt.Sprint(got) != fmt.Sprint(want) || none != 0 || sites != 6 {
				t.Errorf("%d functions, %d sites, want %d and 6", len(got), sites, len(want))
			}
			if len(remarks) != 1 || len(Check("f", data).Findings) != 0 || len(Check("f", data).Remarks) != 1 {
				t.Errorf("remarks %q, findings %v", remarks, Check("f", data).Findings)
			}
			twice, sites, remarks := readAbsent(t, slices.Concat(data, data))
			if len(twice) != len(want) || sites != 12 || len(remarks) != 3 { // one is that both have the same addresses
				t.Errorf("one after the other: %d functions, %d sites, %q", len(twice), sites, remarks)
			}
			if _, err := Read("f", data, ReaderOptions{Lenient: true}); err == nil {
				t.Error("read leniently")
			}
			// The sites are there for the values of other runs.
			m := NewMerger(MergeOptions{})
			for _, name := range []string{"continuous-values", "ir"} {
				r := openReader(t, name, oracle.ReadFile(t, "../../testdata/irpgo/"+compiler+"/"+name+".profraw"), ReaderOptions{})
				if added, err := m.Add(r, 1); err != nil || added.Skipped > 0 {
					t.Errorf("%s: %d skipped, %v", name, added.Skipped, err)
				}
			}
		})
	}
}

// TestAbsentValuesAreNoDamage: of all places where a file with value data may be cut, one leaves a profile of
// continuous mode.
func TestAbsentValuesAreNoDamage(t *testing.T) {
	data := oracle.ReadFile(t, "../../testdata/irpgo/clang22/dispatch.profraw")
	p := oracle.Must(parseRawProfile(data, 0, false))(t)
	for cut := p.valueData - 40; cut < int64(len(data)); cut++ {
		_, err := Read("f", data[:cut], ReaderOptions{})
		if (err == nil) != (cut == p.valueData) {
			t.Errorf("cut at %d, value data at %d: %v", cut, p.valueData, err)
		}
	}
	for _, more := range []string{"\x00", "\x00\x00\x00\x00\x00\x00\x00\x00", "\x10\x00\x00\x00"} {
		if _, err := Read("f", slices.Concat(data[:p.valueData], []byte(more)), ReaderOptions{}); err == nil {
			t.Errorf("%x in place of the value data: read", more)
		}
	}
}

// TestAbsentSitesAreBounded: a file without value data cannot announce more sites than it has bytes.
func TestAbsentSitesAreBounded(t *testing.T) {
	data := bytes.Clone(oracle.ReadFile(t, "../../testdata/irpgo/clang22/continuous-values.profraw"))
	p := oracle.Must(parseRawProfile(data, 0, false))(t)
	for i := range p.numRecords() {
		at := p.recordOffset(i) + int64(p.layout.valueSites)
		data[at], data[at+1] = 0xff, 0xff
	}
	if _, err := Read("f", data, ReaderOptions{}); profile.ClassOf(err) != profile.ErrCorrupt {
		t.Error(err)
	}
}

package irpgo

import (
	"bytes"
	"cmp"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// FuzzText checks that what was read from a text profile is there again after
// writing and reading it, and that what is kept is in proportion to the input.
func FuzzText(f *testing.F) {
	f.Add([]byte(smallText))
	f.Add(randomText(rand.New(rand.NewPCG(1, 2)), 5))
	for _, tt := range textAccepted {
		f.Add([]byte(tt.in))
	}
	for _, tt := range textRejected {
		f.Add([]byte(tt.in))
	}
	files, err := filepath.Glob(filepath.Join(oracle.Root(f), "testdata", "irpgo", "text", "*.proftext"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data := oracle.ReadFile(f, file)
		if len(data) < 1<<12 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if detectLeniently(data) != FormatText {
			return
		}
		recs, _, err := readRecords(data)
		if format, _ := Detect(data); err == nil && format != FormatText {
			t.Fatal("LLVM reads this, and it is not detected")
		}
		size := 0
		for _, rec := range recs {
			size += len(rec.Name) + len(rec.Counts) + len(rec.Bitmap)
			for _, sites := range rec.Values {
				for _, site := range sites {
					size += 1 + len(site)
				}
			}
		}
		if size > len(data) {
			t.Fatalf("%d bytes hold %d names, counters, bytes, sites and values", len(data), size)
		}
		if fe := hostile.Check(t, textFile, data, err); fe != nil {
			if fe.Line == 0 {
				t.Fatalf("no line: %v", err)
			}
			return
		}
		roundTripText(t, collect(t, data))
	})
}

// roundTripText writes p, which comes from a text profile, and reads it back.
func roundTripText(t *testing.T, p *Profile) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, p, TextOptions{}); err != nil {
		// Sorting may have put a name first that must not be, and a line may have ended in more than one \r.
		unwritable := strings.HasPrefix(p.Functions[0].Name, ":") ||
			slices.ContainsFunc(p.Functions, func(f Function) bool { return strings.HasSuffix(f.Name, "\r") })
		if !errors.Is(err, profile.ErrUnsupported) || !unwritable {
			t.Fatal(err)
		}
		return
	}
	q := collect(t, b.Bytes())
	if want := p.Variant &^ FrontEnd; q.Variant != want {
		t.Errorf("variant %v is %v in\n%s", want, q.Variant, b.Bytes())
	}
	for _, f := range p.Functions {
		slices.SortStableFunc(f.Records, func(a, b *Record) int { return cmp.Compare(a.Hash, b.Hash) })
	}
	if !slices.EqualFunc(flatten(p), flatten(q), equalRecords) {
		t.Errorf("records %v are %v in\n%s", flatten(p), flatten(q), b.Bytes())
	}
	if p.Variant.Has(HasTemporal) {
		// An item of blanks is the empty name, which cannot be written.
		for i := range p.Traces {
			refs := &p.Traces[i].NameRefs
			*refs = slices.DeleteFunc(*refs, func(ref uint64) bool { return ref == NameRef("") })
		}
		same := slices.EqualFunc(p.Traces, q.Traces, func(a, b Trace) bool {
			return a.Weight == b.Weight && slices.Equal(a.NameRefs, b.NameRefs)
		})
		if !same || p.TraceStreamSize != q.TraceStreamSize {
			t.Errorf("traces %v of %d are %v of %d in\n%s", p.Traces, p.TraceStreamSize, q.Traces, q.TraceStreamSize, b.Bytes())
		}
	}
}

package irpgo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/llvm/summary"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// The summary that show prints is the one we compute, also where the total does not fit into 64 bits.
func TestSummaryAgainstLLVM(t *testing.T) {
	llvm := oracle.LLVM(t, 22)
	for _, tt := range []struct {
		name    string
		data    []byte
		cutoffs []uint64
	}{
		{"default cutoffs", randomText(rand.New(rand.NewPCG(5, 1)), 30), profile.DefaultCutoffs()},
		{"total wraps", randomText(rand.New(rand.NewPCG(5, 2)), 3000), profile.DefaultCutoffs()},
		{"other cutoffs", randomText(rand.New(rand.NewPCG(5, 3)), 300), []uint64{1, 123_456, 500_000, 999_999}},
		{"total wraps to little", []byte(":ir\nfoo\n1\n3\n9223372036854775808\n9223372036854775808\n7\n"), profile.DefaultCutoffs()},
		{"pseudo counts", []byte(":ir\nbar\n1\n2\n18446744073709551615\n9\nfoo\n1\n2\n3\n4\n"), profile.DefaultCutoffs()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := filepath.Join(t.TempDir(), textFile)
			oracle.WriteFile(t, in, tt.data)
			cutoffs := strings.Trim(strings.ReplaceAll(fmt.Sprint(tt.cutoffs), " ", ","), "[]")
			stdout, stderr, _ := oracle.Run(t, llvm, "show", "--detailed-summary", "--detailed-summary-cutoffs="+cutoffs, in)
			_, want, ok := strings.Cut(stdout, "\nTotal functions:")
			if !ok || stderr != "" {
				t.Fatalf("llvm-profdata says %s\n%s", stdout, stderr)
			}
			var b summary.Builder
			for _, rec := range flatten(collect(t, tt.data)) {
				b.Add(rec.Counts)
			}
			s := Summary(b.Summary(tt.cutoffs))
			if got := dumpSummary(&s); got != "Total functions:"+want {
				t.Errorf("got\n%s\nwant\nTotal functions:%s", got, want)
			}
		})
	}
}

// dumpSummary prints what llvm-profdata show prints.
func dumpSummary(s *Summary) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Total functions: %d\nMaximum function count: %d\nMaximum internal block count: %d\n",
		s.NumFunctions, s.MaxFunctionCount, s.MaxInternalCount)
	fmt.Fprintf(&b, "Total number of blocks: %d\nTotal count: %d\nDetailed summary:\n", s.NumCounts, s.TotalCount)
	for _, e := range s.Cutoffs {
		fmt.Fprintf(&b, "%d blocks (%.2f%%) with count >= %d account for %.6g%% of the total counts.\n",
			e.Values, 100*float64(e.Values)/float64(s.NumCounts), e.Min, float64(e.Share)/1e4)
	}
	return b.String()
}

// A summary in an indexed profile is the one that LLVM writes.
func TestAppendSummaryAgainstLLVM(t *testing.T) {
	llvm := oracle.LLVM(t, 22)
	data := randomText(rand.New(rand.NewPCG(6, 1)), 500)
	dir := t.TempDir()
	in, out := filepath.Join(dir, textFile), filepath.Join(dir, "out.profdata")
	oracle.WriteFile(t, in, data)
	if _, stderr, code := oracle.Run(t, llvm, "merge", "-o", out, in); code != 0 {
		t.Fatal(stderr)
	}
	indexed := oracle.ReadFile(t, out)
	var b summary.Builder
	for _, rec := range flatten(collect(t, data)) {
		b.Add(rec.Counts)
	}
	const headerSize = 72 // of indexed version 13
	want := Summary(b.Summary(profile.DefaultCutoffs()))
	got, err := readSummary(cursor.New("summary", headerSize, indexed[headerSize:], binary.LittleEndian))
	if err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("read  %+v, error %v\nwant %+v", got, err, want)
	}
	enc := appendSummary(nil, &want)
	if len(enc) != summarySize(len(profile.DefaultCutoffs())) || string(enc) != string(indexed[headerSize:headerSize+len(enc)]) {
		t.Errorf("summary is encoded as\n% x\nwant\n% x", enc, indexed[headerSize:headerSize+len(enc)])
	}
}

func TestReadSummary(t *testing.T) {
	words := func(v ...uint64) []byte {
		var b []byte
		for _, w := range v {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		return b
	}
	for _, tt := range []struct {
		name string
		in   []byte
		want *Summary // nil if it must be refused
		left int
	}{
		{"no fields", words(0, 0, 77), &Summary{Cutoffs: profile.Cutoffs{}}, 8},
		{"fewer fields", words(2, 1, 3, 4, 5, 6, 7), &Summary{NumFunctions: 3, NumCounts: 4, Cutoffs: profile.Cutoffs{{Share: 5, Min: 6, Values: 7}}}, 0},
		{"more fields", words(7, 0, 1, 2, 3, 4, 5, 6, 99, 88), &Summary{
			NumFunctions: 1, NumCounts: 2, MaxFunctionCount: 3, MaxCount: 4, MaxInternalCount: 5, TotalCount: 6, Cutoffs: profile.Cutoffs{},
		}, 8},
		{"too many fields", words(4, 0, 1, 2, 3), nil, 0},
		{"too many cutoffs", words(0, 2, 1, 2, 3, 4, 5), nil, 0},
		{"2^64-1 fields", words(1<<64-1, 0, 1), nil, 0},
		{"2^64-1 cutoffs", words(0, 1<<64-1, 1, 2, 3), nil, 0},
		{"2^61 cutoffs", words(0, 1<<61, 1, 2, 3), nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := cursor.New("summary", 72, tt.in, binary.LittleEndian)
			got, err := readSummary(c)
			if tt.want == nil {
				if !errors.Is(err, profile.ErrTruncated) {
					t.Errorf("got %+v, error %v; want a truncated profile", got, err)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, tt.want) || c.Len() != tt.left {
				t.Errorf("got %+v, error %v, %d bytes left; want %+v, %d left", got, err, c.Len(), tt.want, tt.left)
			}
		})
	}
}

func TestReadSummaryCut(t *testing.T) {
	var b summary.Builder
	for _, rec := range flatten(collect(t, randomText(rand.New(rand.NewPCG(7, 1)), 100))) {
		b.Add(rec.Counts)
	}
	want := Summary(b.Summary(profile.DefaultCutoffs()))
	enc := appendSummary(nil, &want)
	for n := range enc {
		if _, err := readSummary(cursor.New("summary", 0, enc[:n], binary.LittleEndian)); !errors.Is(err, profile.ErrTruncated) {
			t.Errorf("cut at %d: got %v, want a truncated profile", n, err)
		}
	}
	got, err := readSummary(cursor.New("summary", 0, enc, binary.LittleEndian))
	if err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("got %+v, error %v; want %+v", got, err, want)
	}
}

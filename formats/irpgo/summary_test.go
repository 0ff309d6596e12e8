package irpgo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// plainSummary is [SummaryBuilder] without care for speed.
func plainSummary(records [][]uint64, cutoffs []uint64) Summary {
	s := Summary{Cutoffs: profile.Cutoffs{}}
	freq := make(map[uint64]uint64)
	for _, counts := range records {
		if len(counts) == 0 || counts[0] >= PseudoWarm {
			continue
		}
		s.NumFunctions++
		s.NumCounts += uint64(len(counts))
		s.MaxFunctionCount = max(s.MaxFunctionCount, counts[0])
		for i, c := range counts {
			freq[c]++
			s.TotalCount += c
			s.MaxCount = max(s.MaxCount, c)
			if i > 0 {
				s.MaxInternalCount = max(s.MaxInternalCount, c)
			}
		}
	}
	cutoffs = slices.Sorted(slices.Values(cutoffs))
	counts := slices.Sorted(maps.Keys(freq))
	slices.Reverse(counts)
	var sum, seen, last uint64
	for _, cutoff := range cutoffs {
		want := new(big.Int).SetUint64(s.TotalCount)
		want.Mul(want, new(big.Int).SetUint64(cutoff))
		want.Div(want, big.NewInt(1_000_000))
		for len(counts) > 0 && new(big.Int).SetUint64(sum).Cmp(want) < 0 {
			last, counts = counts[0], counts[1:]
			sum += last * freq[last]
			seen += freq[last]
		}
		s.Cutoffs = append(s.Cutoffs, profile.Cutoff{Share: cutoff, Min: last, Values: seen})
	}
	return s
}

// randomCounts draws the counters of n records: zeros, numbers of all sizes, repeated ones, and pseudo counts.
func randomCounts(rng *rand.Rand, n int) [][]uint64 {
	records := make([][]uint64, n)
	for i := range records {
		counts := make([]uint64, 1+rng.IntN(40))
		scale := 4 + rng.IntN(61)
		for j := range counts {
			switch rng.IntN(4) {
			case 0:
			case 1:
				counts[j] = rng.Uint64N(5000)
			default:
				counts[j] = rng.Uint64() >> scale
			}
		}
		if rng.IntN(50) == 0 {
			counts[0] = PseudoWarm + rng.Uint64N(2)
		}
		records[i] = counts
	}
	return records
}

func TestSummary(t *testing.T) {
	cutoffs := append(profile.DefaultCutoffs(), 500_000, 0, 1, 1_000_000)
	slices.Reverse(cutoffs) // any order will do
	for _, tt := range []struct {
		name    string
		records [][]uint64
	}{
		{"nothing", nil},
		{"no counters", [][]uint64{{}}},
		{"one zero", [][]uint64{{0}}},
		{"pseudo counts alone", [][]uint64{{PseudoHot}, {PseudoWarm, 7}}},
		{"pseudo counts as others", [][]uint64{{1, PseudoHot}, {2, PseudoWarm}}},
		{"entry is the greatest", [][]uint64{{9, 1, 2}, {3}}},
		{"inner is the greatest", [][]uint64{{1, 9}, {3, 4, 5}}},
		{"around the table of small counts", [][]uint64{{2047, 2048, 2049}, {2048, 2047}}},
		{"total wraps", [][]uint64{{1<<64 - 3, 1<<64 - 3, 5}}},
		{"total wraps to little", [][]uint64{{1 << 63, 1 << 63, 7}}},
		{"total wraps to zero", [][]uint64{{1 << 63}, {1 << 63}}},
		{"100 records", randomCounts(rand.New(rand.NewPCG(1, 1)), 100)},
		{"20,000 records", randomCounts(rand.New(rand.NewPCG(1, 2)), 20_000)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := plainSummary(tt.records, cutoffs)
			var one SummaryBuilder
			parts := make([]SummaryBuilder, 3)
			for i, counts := range tt.records {
				one.Add(counts)
				parts[i%len(parts)].Add(counts)
			}
			if got := one.Summary(cutoffs); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			var merged SummaryBuilder
			for i := range parts {
				merged.Merge(&parts[i])
			}
			if got := merged.Summary(cutoffs); !reflect.DeepEqual(got, want) {
				t.Errorf("merged: got  %+v\nwant %+v", got, want)
			}
			if got := one.Summary(cutoffs); !reflect.DeepEqual(got, want) {
				t.Errorf("a second time: got  %+v\nwant %+v", got, want)
			}
		})
	}
}

// A builder may go on after a summary and after a merge out of it.
func TestSummaryBuilderGoesOn(t *testing.T) {
	records := randomCounts(rand.New(rand.NewPCG(2, 1)), 300)
	var a, b SummaryBuilder
	for i, counts := range records {
		switch i {
		case 100:
			a.Summary(profile.DefaultCutoffs())
		case 200:
			b.Merge(&a)
		}
		a.Add(counts)
	}
	if got, want := a.Summary(profile.DefaultCutoffs()), plainSummary(records, profile.DefaultCutoffs()); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got, want := b.Summary(profile.DefaultCutoffs()), plainSummary(records[:200], profile.DefaultCutoffs()); !reflect.DeepEqual(got, want) {
		t.Errorf("copy: got  %+v\nwant %+v", got, want)
	}
}

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
			if err := os.WriteFile(in, tt.data, 0o666); err != nil {
				t.Fatal(err)
			}
			cutoffs := strings.Trim(strings.ReplaceAll(fmt.Sprint(tt.cutoffs), " ", ","), "[]")
			stdout, stderr, _ := oracle.Run(t, llvm, "show", "--detailed-summary", "--detailed-summary-cutoffs="+cutoffs, in)
			_, want, ok := strings.Cut(stdout, "\nTotal functions:")
			if !ok || stderr != "" {
				t.Fatalf("llvm-profdata says %s\n%s", stdout, stderr)
			}
			var b SummaryBuilder
			for _, rec := range flatten(collect(t, tt.data)) {
				b.Add(rec.Counts)
			}
			s := b.Summary(tt.cutoffs)
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
	if err := os.WriteFile(in, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := oracle.Run(t, llvm, "merge", "-o", out, in); code != 0 {
		t.Fatal(stderr)
	}
	indexed := oracle.ReadFile(t, out)
	var b SummaryBuilder
	for _, rec := range flatten(collect(t, data)) {
		b.Add(rec.Counts)
	}
	const headerSize = 72 // of indexed version 13
	want := b.Summary(profile.DefaultCutoffs())
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
	want := plainSummary(randomCounts(rand.New(rand.NewPCG(7, 1)), 100), profile.DefaultCutoffs())
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

func BenchmarkSummaryBuilder(b *testing.B) {
	for _, bm := range []struct {
		name string
		draw func(*rand.Rand) uint64
	}{
		{"typical", func(r *rand.Rand) uint64 { return r.Uint64N(2) * uint64(math.Exp(3*r.NormFloat64()+5)) }},
		{"small", func(r *rand.Rand) uint64 { return r.Uint64N(100) }},
		{"distinct", func(r *rand.Rand) uint64 { return r.Uint64() >> 1 }},
	} {
		b.Run(bm.name, func(b *testing.B) {
			const counters = 1_000_000
			rng := rand.New(rand.NewPCG(1, 2))
			all := make([]uint64, counters)
			for i := range all {
				all[i] = bm.draw(rng)
			}
			b.SetBytes(8 * counters)
			b.ReportAllocs()
			for b.Loop() {
				var s SummaryBuilder
				for counts := range slices.Chunk(all, 20) {
					s.Add(counts)
				}
				s.Summary(profile.DefaultCutoffs())
			}
		})
	}
}

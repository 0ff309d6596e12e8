package summary

import (
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

// plainSummary is [Builder] without care for speed.
func plainSummary(records [][]uint64, cutoffs []uint64) Summary {
	s := Summary{Cutoffs: profile.Cutoffs{}}
	freq := make(map[uint64]uint64)
	for _, counts := range records {
		if len(counts) == 0 || counts[0] >= pseudoCounts {
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
			counts[0] = pseudoCounts + rng.Uint64N(2)
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
		{"pseudo counts alone", [][]uint64{{pseudoCounts + 1}, {pseudoCounts, 7}}},
		{"pseudo counts as others", [][]uint64{{1, pseudoCounts + 1}, {2, pseudoCounts}}},
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
			var one Builder
			parts := make([]Builder, 3)
			for i, counts := range tt.records {
				one.Add(counts)
				parts[i%len(parts)].Add(counts)
			}
			if got := one.Summary(cutoffs); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			var merged Builder
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
func TestBuilderGoesOn(t *testing.T) {
	records := randomCounts(rand.New(rand.NewPCG(2, 1)), 300)
	var a, b Builder
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

func BenchmarkBuilder(b *testing.B) {
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
				var s Builder
				for counts := range slices.Chunk(all, 20) {
					s.Add(counts)
				}
				s.Summary(profile.DefaultCutoffs())
			}
		})
	}
}

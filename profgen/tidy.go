package profgen

import (
	"cmp"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats/sampleprof"
)

// ambiguous are the beginnings of the names of functions that many files of a program have: initializers of C++.
var ambiguous = []string{"__cxx_global_var_init", "__tls_init"}

func isAmbiguous(f *sampleprof.Function) bool {
	return slices.ContainsFunc(ambiguous, func(prefix string) bool { return strings.HasPrefix(f.Name.Text, prefix) })
}

// Tidy does what llvm-profgen does with each profile it has made, and [Program.Lines] does it, too: it drops functions
// whose names do not identify them and, with trimCold, functions without hot code.
func Tidy(p *sampleprof.Profile, trimCold bool) {
	if trimCold {
		if cold, ok := p.Summarize().Cutoffs.Cold(); ok {
			p.Functions = slices.DeleteFunc(p.Functions, func(f *sampleprof.Function) bool { return f.Total < cold })
		}
	}
	p.Functions = slices.DeleteFunc(p.Functions, isAmbiguous)
	for _, f := range p.Functions {
		dropAmbiguous(f)
	}
}

func dropAmbiguous(f *sampleprof.Function) {
	f.Callsites = slices.DeleteFunc(f.Callsites, func(c sampleprof.Callsite) bool { return isAmbiguous(c.Callee) })
	for i := range f.Callsites {
		dropAmbiguous(f.Callsites[i].Callee)
	}
}

// HotShare is the share of the counts, in millionths, that Density looks at in llvm-profgen's default.
const HotShare = 990_000

// Density returns how many samples the places of hot code have on average: the functions with the densest counts are
// hot, as many as it takes to make up a share of all counts, in millionths. The density is the last one's. Profiles
// below about 50 gain from more samples. 0: there are no samples.
func Density(p *sampleprof.Profile, share int) float64 {
	type density struct {
		value float64
		sum   uint64
	}
	var list []density
	total := uint64(0)
	for _, f := range p.Functions {
		if sum, places := bodies(f); places > 0 {
			total += sum
			list = append(list, density{float64(sum) / float64(places), sum})
		}
	}
	slices.SortStableFunc(list, func(a, b density) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.sum, b.sum))
	})
	// LLVM computes the limit in single precision.
	limit := float32(float32(total)*float32(share)) / 1_000_000
	last, sum := 0.0, uint64(0)
	for _, d := range list {
		if float32(sum) >= limit {
			break
		}
		sum += d.sum
		last = d.value
	}
	return last
}

// bodies returns the sum of the counts of a function and of everything inlined into it, and the number of counts.
func bodies(f *sampleprof.Function) (sum, places uint64) {
	for i := range f.Body {
		sum += f.Body[i].Count
	}
	places = uint64(len(f.Body))
	for i := range f.Callsites {
		n, k := bodies(f.Callsites[i].Callee)
		sum += n
		places += k
	}
	return sum, places
}

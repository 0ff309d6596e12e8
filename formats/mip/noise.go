package mip

import (
	"math"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// A noise says how coverage was made private before it was collected: each byte of function
// coverage was flipped, independently of all others, with a probability f below one half
// (randomized response). So a raw profile says little about any one function, with ε =
// ln((1−f)/f) in the sense of differential privacy, and about n functions together up to
// n·ε. Sums of many profiles are still accurate, see [Profile.Estimate].
//
// The header holds flip in the field Reserved and, in a .mip, files in RawSectionOffset.
// Both fields are 0 for exact coverage.
type noise struct {
	flip  uint32 // f in units of 2^-32; 0 for exact profiles
	files uint64 // raw profiles in the sum
}

// flipOne is the value of flip for a probability of 1.
const flipOne = 1 << 32

func (p *Profile) noise() noise { return noise{uint32(p.Flip * flipOne), p.Files} }

func (n noise) probability() float64 { return float64(n.flip) / flipOne }

// estimate returns in how many profiles a function ran, if merges profiles say that it ran, and the
// standard error of this number. If the function ran in x of N profiles, x(1−f) + (N−x)f profiles say so
// on average. Solving for x gives the estimate, (merges − N·f) / (1 − 2f), whose mean is x. The answer of
// each profile has variance f(1−f), so the standard error is √(N·f(1−f)) / (1 − 2f) for every x.
func (n noise) estimate(merges uint32) (files, standardError float64) {
	f, all := n.probability(), float64(n.files)
	return (float64(merges) - all*f) / (1 - 2*f), math.Sqrt(all*f*(1-f)) / (1 - 2*f)
}

// significant is how many standard errors an estimate must be above 0 for the function to
// count as one that ran. 2.3 % of the functions that never ran are above it.
const significant = 2

// Estimate evaluates private coverage, without bias. files is, for each function, the estimated number of
// profiles in which it ran; standardError is the standard error of each number. estimated is p with these
// numbers, rounded and at most Files, as counts, and with 0 for functions whose estimate is at most two
// standard errors. For exact coverage Estimate returns p, nil and 0.
func (p *Profile) Estimate() (estimated *Profile, files []float64, standardError float64) {
	if p.Flip == 0 {
		return p, nil, 0
	}
	estimated = p.clone()
	estimated.Flip, estimated.Files = 0, 0
	for i := range estimated.Functions {
		f := &estimated.Functions[i]
		var x float64
		x, standardError = p.noise().estimate(f.MergeCount)
		files = append(files, x)
		f.MergeCount, f.CallCount = 0, 0
		if x > significant*standardError {
			f.MergeCount = uint32(min(math.Round(max(x, 1)), float64(p.Files), math.MaxUint32))
			f.CallCount = 1
		}
	}
	return estimated, files, standardError
}

// Randomize flips the bytes of a raw profile of function coverage, in place, with the probability
// 1/(1+e^epsilon), rounded up to a multiple of 2^-32, so that it has epsilon-differential privacy for
// each function. random returns 32 random bits. See [Profile.Estimate].
func Randomize(name string, raw []byte, epsilon float64, random func() uint32) error {
	h, err := parseHeader(raw)
	switch {
	case err != nil:
		return flaw.InFile(err, name)
	case h.fileType != FormatRaw || h.typ != FunctionCoverage || h.generation != generationB:
		return flaw.InFile(flaw.In("header").Field("FileType and ProfileType").Gotf("%v of %v", h.fileType, h.typ).
			Want("a raw profile of function coverage alone").Unsupported(), name)
	case h.noise.flip != 0:
		return flaw.InFile(flaw.In("header").Field("Reserved").Gotf("%#x", h.noise.flip).
			Want("0: it has been randomized").Mismatch(), name)
	}
	flip := math.Ceil(flipOne / (1 + math.Exp(epsilon)))
	if !(epsilon > 0 && flip < flipOne/2) {
		return flaw.Field("epsilon").Got(epsilon).Want("above 0").Unsupported()
	}
	le.PutUint32(raw[reservedAt:], uint32(flip))
	records := raw[h.size():]
	for i, b := range records {
		ran := b == 0
		if uint64(random()) < uint64(flip) {
			ran = !ran
		}
		if records[i] = 0xff; ran {
			records[i] = 0
		}
	}
	return nil
}

package profdata

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats/sampleprof"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/tally"
)

// roundedShare is the largest difference that counts as a rounding error of a sum of shares.
const roundedShare = 0.000005

// A sampleSide is one of two sample profiles that are compared. LLVM keeps the numbers of both in a SampleOverlapAggregator.
type sampleSide struct {
	file      string
	functions []*sampleprof.Function // in the order in which LLVM sums up
	counts    []sampleCounts         // of functions
	total     sampleCounts           // the number of hot functions, not locations
	threshold uint64                 // least hot count
	unique    uint64                 // functions that the other profile does not have
	only      uint64                 // samples at locations that the other profile does not have
}

// sampleCounts (FuncSampleStats) sum up the counts of a function and its inlined callees.
type sampleCounts struct {
	sum  uint64 // modulo 2^64, as LLVM's
	most uint64
	hot  uint64 // locations with a hot count
}

// newSampleSide sums up a profile. The summary must have a cutoff for hot counts.
func newSampleSide(file string, p *sampleprof.Profile) (*sampleSide, error) {
	s := &sampleSide{file: file, functions: p.InMapOrder()}
	ok := false
	if s.threshold, ok = summaryOf(p).Cutoffs.Hot(); !ok {
		return nil, errNoCutoff
	}
	s.counts = make([]sampleCounts, len(s.functions))
	for i, f := range s.functions {
		s.addCounts(&s.counts[i], f)
		s.total.sum += s.counts[i].sum
		s.total.hot += s.isHot(s.counts[i].most)
	}
	return s, nil
}

// addCounts adds the samples of a function and its inlined callees to to.
func (s *sampleSide) addCounts(to *sampleCounts, f *sampleprof.Function) {
	for i := range f.Body {
		n := f.Body[i].Count
		to.sum += n
		to.most = max(to.most, n)
		to.hot += s.isHot(n)
	}
	for i := range f.Callsites {
		s.addCounts(to, f.Callsites[i].Callee)
	}
}

func (s *sampleSide) isHot(n uint64) uint64 { return uint64(bit(n >= s.threshold)) }

// share returns n as a share of the profile's samples.
func (s *sampleSide) share(n uint64) float64 { return float64(n) / float64(s.total.sum) }

// A sampleOverlap (SampleOverlapAggregator) says how alike two sample profiles are, from 0 to 1.
type sampleOverlap struct {
	base, test *sampleSide
	similarity float64

	functions    uint64 // that both have
	hotFunctions uint64 // that are hot in both
	overlap      uint64 // samples that both have at the same locations
	union        uint64 // samples that one of them has
	hot          hotLocations
}

// hotLocations count locations that are hot.
type hotLocations struct{ base, test, both, any uint64 }

// A functionOverlap says how alike a function is in two profiles.
type functionOverlap struct {
	name                 string
	similarity           float64
	overlap, union       uint64 // as in sampleOverlap
	baseSum, testSum     uint64
	baseOnly, testOnly   uint64
	baseShare, testShare float64 // of the samples of the profile
}

func (t *tool) overlapSamples(out io.Writer) error {
	files := [2]string{t.opt.overlapBase, t.opt.overlapTest}
	var sides [2]*sampleSide
	profiles, err := t.readSamplePair(files)
	if err != nil {
		return err
	}
	switch base, test := profiles[0].Kind, profiles[1].Kind; {
	case base.ProbeBased != test.ProbeBased:
		return kindFailure("compare", llvmerr.SampleProbes)
	case base.ContextSensitive != test.ContextSensitive:
		return kindFailure("compare", llvmerr.SampleContexts)
	}
	for i, file := range files {
		if sides[i], err = newSampleSide(file, profiles[i]); err != nil {
			return err
		}
	}
	// If both profiles are empty, there is a line for each.
	empty := false
	for _, side := range sides {
		if side.total.sum == 0 {
			fmt.Fprintf(out, "Sum of sample counts for profile %s is 0.\n", side.file)
			empty = true
		}
	}
	if empty {
		return nil
	}
	o := &sampleOverlap{base: sides[0], test: sides[1]}
	lists := o.compare(t.listsFunction)
	printOverlapHead(out, o.base.file, o.test.file)
	o.print(out)
	printFunctionOverlaps(out, lists)
	return nil
}

// listsFunction reports whether options ask for details of a function. most is its greatest
// count in the test profile; both says that both profiles have the function.
func (t *tool) listsFunction(f *functionOverlap, most uint64, both bool) bool {
	o := &t.opt
	return most >= o.overlapCutoff ||
		both && f.similarity < float64(o.sample.similarityCutoff)/1_000_000 ||
		both && o.function != "" && strings.Contains(f.name, o.function)
}

// A sampleKey tells functions apart: by name or GUID, and by context.
type sampleKey struct {
	id      uint64
	named   bool
	context string // the bytes of the frames; "" without a context
}

func keyOf(f *sampleprof.Function) sampleKey {
	key := sampleKey{id: f.Name.ID, named: f.Name.Text != ""}
	if f.Context == nil {
		return key
	}
	var context []byte
	for _, frame := range f.Context {
		context = append(context, byte(bit(frame.Name.Text != "")))
		context = binary.LittleEndian.AppendUint64(context, frame.Name.ID)
		context = binary.LittleEndian.AppendUint32(context, frame.Line)
		context = binary.LittleEndian.AppendUint32(context, frame.Discriminator)
	}
	key.context = string(context)
	return key
}

// compare compares the functions of both profiles. It returns the functions of the test profile
// that lists chooses, by descending share of the base profile.
func (o *sampleOverlap) compare(lists func(f *functionOverlap, most uint64, both bool) bool) (listed []functionOverlap) {
	base, test := o.base, o.test
	baseIndex := make(map[sampleKey]int, len(base.functions))
	for i, f := range base.functions {
		baseIndex[keyOf(f)] = i
	}
	for i, f := range test.functions {
		counts := test.counts[i]
		one := functionOverlap{name: f.Label(), testSum: counts.sum}
		key := keyOf(f)
		index, both := baseIndex[key]
		if both {
			delete(baseIndex, key)
			own := base.counts[index]
			one.baseSum = own.sum
			o.functions++
			o.hotFunctions += base.isHot(own.most) * test.isHot(counts.most)
			one.similarity = o.weigh(o.compareFunctions(base.functions[index], f, &one), one.baseSum, one.testSum)
			// The conversion rounds the product as LLVM does: it keeps Go from fusing the multiplication and the addition.
			o.similarity += float64(one.similarity * (base.share(one.baseSum)/2 + test.share(one.testSum)/2))
			o.overlap += one.overlap
			o.union += one.union
			base.only += one.baseOnly
		} else {
			one.testOnly = counts.sum
			test.unique++
			o.union += counts.sum
			o.hot.addLocations(o, 0, counts.sum, counts.hot)
		}
		test.only += one.testOnly
		if lists(&one, counts.most, both) {
			one.baseShare, one.testShare = base.share(one.baseSum), test.share(one.testSum)
			listed = append(listed, one)
		}
	}
	for _, i := range baseIndex { // functions of the base profile only; sums of integers need no order
		counts := base.counts[i]
		base.unique++
		base.only += counts.sum
		o.union += counts.sum
		o.hot.addLocations(o, counts.sum, 0, counts.hot)
	}
	if math.Abs(o.similarity-1) < roundedShare {
		o.similarity = 1
	}
	slices.SortStableFunc(listed, func(a, b functionOverlap) int { return cmp.Compare(b.baseShare, a.baseShare) })
	return listed
}

// weigh (weightForFuncSimilarity) reduces the similarity of the bodies of a function by the
// difference of the function's shares of the two profiles.
func (o *sampleOverlap) weigh(inside float64, baseSum, testSum uint64) float64 {
	if math.Abs(inside) < roundedShare {
		inside = 0
	}
	return inside * (1 - math.Abs(o.base.share(baseSum)-o.test.share(testSum)))
}

// compareFunctions (computeSampleFunctionInternalOverlap) returns the similarity of the bodies of two functions,
// and adds their samples to to, the overlap of the function itself or of the function into which both are inlined.
func (o *sampleOverlap) compareFunctions(base, test *sampleprof.Function, to *functionOverlap) float64 {
	difference := 0.0
	// differ adds the difference between the counts of a location; nil if a side has none.
	differ := func(base, test *sampleCounts) {
		b, t, hot := uint64(0), uint64(0), uint64(1)
		switch {
		case test == nil:
			b, hot = base.sum, base.hot
			to.baseOnly += b
		case base == nil:
			t, hot = test.sum, test.hot
			to.testOnly += t
		default:
			b, t = base.sum, test.sum
		}
		to.union += max(b, t)
		to.overlap += min(b, t)
		// LLVM computes it so, and in floating point 1-(1-x) is not always x.
		difference += 1 - (1 - math.Abs(tally.Share(b, to.baseSum)-tally.Share(t, to.testSum)))
		o.hot.addLocations(o, b, t, hot)
	}
	joinSorted(base.Body, test.Body, func(a, b *sampleprof.Sample) int { return compareLocations(a.Location, b.Location) }, func(a, b *sampleprof.Sample) {
		var own, other *sampleCounts
		if a != nil {
			own = &sampleCounts{sum: a.Count, hot: 1}
		}
		if b != nil {
			other = &sampleCounts{sum: b.Count, hot: 1}
		}
		differ(own, other)
	})
	joinSorted(base.Callsites, test.Callsites, compareCallsites, func(a, b *sampleprof.Callsite) {
		switch {
		case b == nil:
			var counts sampleCounts
			o.base.addCounts(&counts, a.Callee)
			differ(&counts, nil)
		case a == nil:
			var counts sampleCounts
			o.test.addCounts(&counts, b.Callee)
			differ(nil, &counts)
		default:
			// Turn the similarity of the callee back into a difference.
			difference += 2 - 2*o.compareFunctions(a.Callee, b.Callee, to)
		}
	})
	return (2 - difference) / 2
}

// compareCallsites orders callsites by location and then by callee.
func compareCallsites(a, b *sampleprof.Callsite) int {
	x, y := a.Callee.Name, b.Callee.Name
	return cmp.Or(compareLocations(a.Location, b.Location), cmp.Compare(x.Text, y.Text), cmp.Compare(x.ID, y.ID))
}

func compareLocations(a, b sampleprof.Location) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Discriminator, b.Discriminator))
}

// addLocations adds a number of locations with the given counts in the base and test profiles.
func (h *hotLocations) addLocations(o *sampleOverlap, base, test, locations uint64) {
	inBase, inTest := o.base.isHot(base), o.test.isHot(test)
	h.base += inBase * locations
	h.test += inTest * locations
	h.both += inBase * inTest * locations
	h.any += (inBase | inTest) * locations
}

// joinSorted (MatchStep) passes the elements of two sorted lists to use: equal elements together, others with nil.
func joinSorted[T any](a, b []T, compare func(a, b *T) int, use func(a, b *T)) {
	for len(a) > 0 || len(b) > 0 {
		order := 0
		switch {
		case len(b) == 0:
			order = -1
		case len(a) == 0:
			order = 1
		default:
			order = compare(&a[0], &b[0])
		}
		var first, second *T
		if order <= 0 {
			first, a = &a[0], a[1:]
		}
		if order >= 0 {
			second, b = &b[0], b[1:]
		}
		use(first, second)
	}
}

// print (dumpProgramSummary) prints the numbers of the whole profiles. LLVM calls locations blocks.
func (o *sampleOverlap) print(w io.Writer) {
	base, test := o.base, o.test
	fmt.Fprintf(w, "  Whole program profile similarity: %s\n", percentText(o.similarity, 3))
	fmt.Fprintf(w, "  Whole program sample overlap: %s\n", ratioText(o.overlap, o.union))
	fmt.Fprintf(w, "    percentage of samples unique in base profile: %s\n", ratioText(base.only, base.total.sum))
	fmt.Fprintf(w, "    percentage of samples unique in test profile: %s\n", ratioText(test.only, test.total.sum))
	fmt.Fprintf(w, "    total samples in base profile: %d\n", base.total.sum)
	fmt.Fprintf(w, "    total samples in test profile: %d\n", test.total.sum)
	parts := func(title, unit string, both, any, inBase, inTest uint64) {
		fmt.Fprintf(w, "  %s overlap: %s\n", title, ratioText(both, any))
		fmt.Fprintf(w, "    overlap %s: %d\n", unit, both)
		fmt.Fprintf(w, "    %s unique in base profile: %d\n", unit, inBase)
		fmt.Fprintf(w, "    %s unique in test profile: %d\n", unit, inTest)
	}
	parts("Function", "functions", o.functions, o.functions+base.unique+test.unique, base.unique, test.unique)
	hot := o.hotFunctions
	parts("Hot-function", "hot functions", hot, base.total.hot+test.total.hot-hot, base.total.hot-hot, test.total.hot-hot)
	parts("Hot-block", "hot blocks", o.hot.both, o.hot.any, o.hot.base-o.hot.both, o.hot.test-o.hot.both)
}

// printFunctionOverlaps (dumpFuncSimilarity) prints the table of functions, if there are any.
func printFunctionOverlaps(w io.Writer, functions []functionOverlap) {
	if len(functions) == 0 {
		return
	}
	columns := []int{-1, 15, 30, 43, 53, 67, 81, 96, 111}
	fmt.Fprintln(w, "Function-level details:")
	printColumns(w, columns, "Base weight", "Test weight", "Similarity", "Overlap", "Base unique", "Test unique",
		"Base samples", "Test samples", "Function name")
	for i := range functions {
		f := &functions[i]
		var texts []string
		for _, share := range []float64{
			f.baseShare, f.testShare, f.similarity,
			tally.Share(f.overlap, f.union), tally.Share(f.baseOnly, f.baseSum), tally.Share(f.testOnly, f.testSum),
		} {
			texts = append(texts, percentText(share, 2))
		}
		printColumns(w, columns, append(texts, fmt.Sprint(f.baseSum), fmt.Sprint(f.testSum), f.name)...)
	}
}

// ratioText returns a share in percent. C prints "-nan" for zero divided by zero.
func ratioText(part, whole uint64) string { return percentText(float64(part)/float64(whole), 3) }

// percentText returns a share in percent as C prints it.
func percentText(share float64, decimals int) string {
	switch {
	case math.IsNaN(share):
		return "-nan%"
	case math.IsInf(share, 1):
		return "inf%"
	}
	return fmt.Sprintf("%.*f%%", decimals, share*100)
}

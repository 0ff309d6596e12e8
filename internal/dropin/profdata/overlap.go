package profdata

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/inputs"
)

func (t *tool) overlap() error {
	return t.writeOutput(t.overlapTo, t.opt.overlapBase, t.opt.overlapTest)
}

// overlapTo (overlapInstrProfile) compares two instrumentation profiles. The base is merged like
// the only input of merge; the test profile is read record by record (overlapInput). If either
// profile is empty, overlapTo prints one line and returns no error.
func (t *tool) overlapTo(out *output) error {
	o := &t.opt
	if o.kind == sampleKind {
		return t.overlapSamples(out)
	}
	files := [2]string{o.overlapBase, o.overlapTest}
	var sums [2]countSums
	for i, file := range files {
		var err error
		if sums[i], err = t.sumCounts(file); err != nil {
			return err
		}
	}
	for i, file := range files {
		if sums[i].Counts < 1 {
			// LLVM exits before it flushes this line, unless the output is a terminal.
			text := fmt.Sprintf("Sum of edge counts for profile %s is 0.", file)
			if out.tty {
				fmt.Fprintln(out, text)
			} else {
				t.msg.warn("", text)
			}
			return nil
		}
	}
	context := t.newContext(nil)
	context.warn = t.printProblem
	var memory inputs.Reader
	defer memory.Close()
	context.load(&memory, weightedFile{name: o.overlapBase, weight: 1})
	overlap := &overlap{overlapStats{Base: sums[0], Test: sums[1]}, context.merger.Finish().Profile()}

	err := t.readProfile(o.overlapTest, func(r *irpgo.Reader) error {
		for rec, err := range r.ReusedRecords() {
			if err != nil {
				break // LLVM compares what it could read
			}
			// Without a name to search for, the hottest counter decides.
			most := slices.Max(append([]uint64{0}, rec.Counts...))
			chosen := most >= o.overlapCutoff || o.function != "" && strings.Contains(rec.Name, o.function)
			if f := overlap.addRecord(rec, chosen); f != nil {
				fmt.Fprintf(out, "Function level:\n  Function: %s (Hash=%d)\n", rec.Name, rec.Hash)
				printOverlap(out, "edge counters", f)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	printOverlapHead(out, o.overlapBase, o.overlapTest)
	printOverlap(out, "functions", &overlap.overlapStats)
	return nil
}

func printOverlapHead(w io.Writer, base, test string) {
	fmt.Fprintf(w, "Profile overlap information for base_profile: %s and test_profile: %s\nProgram level:\n", base, test)
}

// sumCounts reads a profile and returns its sums. Errors of the contents have LLVM's words for this step.
func (t *tool) sumCounts(file string) (sums countSums, err error) {
	err = t.readProfile(file, func(r *irpgo.Reader) error {
		sums = sumCounts(r, t.opt.overlapCS)
		return nil
	})
	if f := (*failure)(nil); errors.As(err, &f) {
		err = &failure{whence: "error in getting profile count sums", message: f.message, hint: f.hint}
	}
	return sums, err
}

// overlapKinds are this command's names of value kinds.
var overlapKinds = [irpgo.NumValueKinds]string{"IndirectCall", "MemOP", "VTable"}

// printOverlap (OverlapStats::dump) prints the results for the program, whose entries are
// functions, or for a function, whose entries are edge counters. It omits lines about
// mismatches, unique entries and kinds of values that do not occur.
func printOverlap(w io.Writer, entries string, s *overlapStats) {
	printf := func(format string, args ...any) { fmt.Fprintf(w, "  "+format+"\n", args...) }
	printf("# of %s overlap: %d", entries, s.Overlap.Entries)
	if s.Mismatch.Entries > 0 {
		printf("# of %s mismatch: %d", entries, s.Mismatch.Entries)
	}
	if s.Unique.Entries > 0 {
		printf("# of %s only in test_profile: %d", entries, s.Unique.Entries)
	}
	shares := func(lead, kind string, overlap, mismatch, unique, base, test float64) {
		printf("%s profile overlap: %.3f%%", lead, overlap*100)
		if s.Mismatch.Entries > 0 {
			printf("Mismatched count percentage (%s): %.3f%%", kind, mismatch*100)
		}
		if s.Unique.Entries > 0 {
			printf("Percentage of %s profile only in test_profile: %.3f%%", kind, unique*100)
		}
		printf("%s profile base count sum: %.0f", lead, base)
		printf("%s profile test count sum: %.0f", lead, test)
	}
	shares("Edge", "Edge", s.Overlap.Counts, s.Mismatch.Counts, s.Unique.Counts, s.Base.Counts, s.Test.Counts)
	for k, kind := range overlapKinds {
		if s.Base.Values[k] >= 1 || s.Test.Values[k] >= 1 {
			shares(kind, kind, s.Overlap.Values[k], s.Mismatch.Values[k], s.Unique.Values[k], s.Base.Values[k], s.Test.Values[k])
		}
	}
}

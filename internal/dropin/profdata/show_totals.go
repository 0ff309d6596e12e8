package profdata

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/profile"
)

// totals prints the text that follows the functions, in LLVM's order, whatever the order of the options.
func (s *shower) totals() error {
	o := s.opt
	sum := s.summary.Summary(s.cutoffs())
	s.printLevel()
	if o.allFunctions || o.function != "" {
		s.printf("Functions shown: %d\n", s.shown)
	}
	s.printf("Total functions: %d\n", sum.NumFunctions)
	s.printf("Maximum function count: %d\n", sum.MaxFunctionCount)
	s.printf("Maximum internal block count: %d\n", sum.MaxInternalCount)
	s.printf("Total number of blocks: %d\n", sum.NumCounts)
	s.printf("Total count: %d\n", sum.TotalCount)
	if o.valueCutoff > 0 {
		s.printf("Number of functions with maximum count (< %d): %d\n", o.valueCutoff, s.below)
		s.printf("Number of functions with maximum count (>= %d): %d\n", o.valueCutoff, sum.NumFunctions-s.below)
	}
	// Functions with equal counters keep their order in the file.
	slices.SortStableFunc(s.ranked, func(a, b rankedFunction) int { return cmp.Compare(b.max, a.max) })
	if o.topN > 0 {
		s.printf("Top %d functions with the largest internal block counts: \n", o.topN)
		for _, f := range s.ranked[:min(len(s.ranked), int(o.topN))] {
			s.printf("  %s, max count = %d\n", f.name, f.max)
		}
	}
	if o.hotFuncList {
		if err := s.printHot(sum.Cutoffs); err != nil {
			return err
		}
	}
	if s.shown > 0 {
		for _, k := range s.valueKinds() {
			s.siteTotals(k.profile, k.kind)
		}
	}
	if o.detailedSummary {
		printDetailed(s.w, sum.Cutoffs, sum.NumCounts)
	}
	if o.binaryIDs {
		s.printBinaryIDs()
	}
	if o.profileVersion {
		s.printf("Profile version: %d\n", s.version())
	}
	if o.traces {
		s.printTraces()
	}
	return nil
}

func (s *shower) printLevel() {
	v := s.variant()
	if !v.Has(irpgo.IRLevel) {
		s.printf("Instrumentation level: Front-end\n")
		return
	}
	s.printf("Instrumentation level: IR  entry_first = %d  instrument_loop_entries = %d\n",
		bit(v.Has(irpgo.EntryFirst)), bit(v.Has(irpgo.LoopEntries)))
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// cutoffs returns the cutoffs of the summary in millionths of the total, nil if no option needs any.
func (s *shower) cutoffs() []uint64 {
	if len(s.opt.cutoffs) == 0 {
		if s.opt.detailedSummary || s.opt.hotFuncList {
			return profile.DefaultCutoffs()
		}
		return nil
	}
	out := make([]uint64, len(s.opt.cutoffs))
	for i, c := range s.opt.cutoffs {
		out[i] = uint64(c)
	}
	return out
}

// printHot lists the functions that reach the hot threshold, hottest first. s.ranked is sorted.
func (s *shower) printHot(cutoffs profile.Cutoffs) error {
	threshold, ok := cutoffs.Hot()
	if !ok {
		return errNoCutoff
	}
	s.printf("# Hot count threshold: %d\n", threshold)
	for _, f := range s.ranked {
		if f.max < threshold {
			break
		}
		s.printf("%s\n", f.name)
	}
	return nil
}

// printDetailed prints for each cutoff how many blocks make up that share of the total, and the least count of these blocks.
func printDetailed(w io.Writer, cutoffs []profile.Cutoff, counts uint64) {
	fmt.Fprintln(w, "Detailed summary:")
	for _, e := range cutoffs {
		share := 0.0
		if counts > 0 {
			share = float64(e.Values) * 100 / float64(counts)
		}
		// LLVM computes in single precision, which shows in the last digits.
		percent := float32(e.Share) / 1_000_000 * 100
		fmt.Fprintf(w, "%d blocks (%.2f%%) with count >= %d account for %s%% of the total counts.\n",
			e.Values, share, e.Min, fmt.Sprintf("%.6g", float64(percent)))
	}
}

// printBinaryIDs prints the binary ids. Without ids it prints the title only for indexed profiles.
func (s *shower) printBinaryIDs() {
	info := s.r.Info
	if len(info.BinaryIDs) == 0 && info.Format != irpgo.FormatIndexed {
		return
	}
	s.printf("Binary IDs: \n")
	for _, id := range info.BinaryIDs {
		s.printf("%x\n", id)
	}
}

// version returns the version as LLVM's readers do: the number for an indexed
// profile, the whole word including flags for a raw one, 0 for text.
func (s *shower) version() uint64 {
	info := s.r.Info
	if info.Format == irpgo.FormatRaw {
		return info.LastWord
	}
	return uint64(info.Version)
}

// printTraces prints the temporal traces with the names of functions, in the order of their first calls.
func (s *shower) printTraces() {
	traces, stream := s.r.Traces()
	s.printf("Temporal Profile Traces (samples=%d seen=%d):\n", len(traces), stream)
	for i, t := range traces {
		s.printf("  Temporal Profile Trace %d (weight=%d count=%d):\n", i, t.Weight, len(t.NameRefs))
		for _, ref := range t.NameRefs {
			s.printf("    %s\n", s.r.Symbols().Name(ref))
		}
	}
}

package profdata

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/llvm/summary"
)

// show runs the show command. The output is opened before the profile is read.
func (t *tool) show() error {
	o := &t.opt
	if o.profileFile == "" && o.debugInfo == "" {
		return &failure{message: "the positional argument '<profdata-file>' is required unless '--debug-info' is provided"}
	}
	if o.profileFile == o.output {
		t.msg.plain("%s show: Input file name cannot be the same as the output file name!", t.Name())
		return errSilent
	}
	if o.json {
		o.showFormat = showJSON
	}
	return t.writeOutput(func(out *output) error {
		if o.allFunctions && o.function != "" {
			t.msg.warn("", "-function argument ignored: showing all functions")
		}
		return t.showTo(out)
	}, o.profileFile)
}

// showTo shows a profile of the kind that options choose, or with --debug-info a program. The
// order of the cases decides which option wins.
func (t *tool) showTo(out io.Writer) error {
	o := &t.opt
	switch {
	case o.debugInfo != "":
		return t.showCorrelation(out)
	case o.kind == sampleKind:
		return t.showSample(out)
	case o.kind == memoryKind:
		return t.showHeap(out)
	case o.showFormat == showJSON:
		return &failure{message: "JSON output is not supported for instr profiles"}
	case o.showFormat == showYAML:
		return &failure{message: "YAML output is not supported for instr profiles"}
	}
	return t.readProfile(o.profileFile, func(r *irpgo.Reader) error {
		s := &shower{opt: o, w: out, r: r}
		return s.run()
	})
}

// A shower (showInstrProfile) shows one profile.
type shower struct {
	opt *options
	w   io.Writer
	r   *irpgo.Reader

	shown   uint64 // functions
	below   uint64 // functions under --value-cutoff
	summary summary.Builder
	sites   [irpgo.NumValueKinds]siteStats
	ranked  []rankedFunction // for --topn and --hot-func-list
	buf     []byte
}

// A rankedFunction is a function with its greatest counter.
type rankedFunction struct {
	name string
	max  uint64
}

// printf prints to the output, which keeps the first error.
func (s *shower) printf(format string, args ...any) { fmt.Fprintf(s.w, format, args...) }

// run shows the records in the order of the file, then the totals. A record that cannot be read
// ends the run after the records before it have been printed.
func (s *shower) run() error {
	ir := s.r.Info.Variant.Has(irpgo.IRLevel)
	if s.opt.text {
		if ir {
			s.printf(":ir\n")
		}
	} else if s.opt.onlyBelow {
		s.printf("The list of functions with the maximum counter less than %d:\n", s.opt.valueCutoff)
	}
	for rec, err := range s.r.ReusedRecords() {
		if err != nil {
			return inFile(err, s.opt.profileFile)
		}
		s.record(rec, ir)
	}
	if !s.opt.text && !s.opt.covered {
		return s.totals()
	}
	return nil
}

func (s *shower) record(rec *irpgo.Record, ir bool) {
	o := s.opt
	if s.variant().Has(irpgo.IRLevel) && rec.IsCS() != o.cs {
		return
	}
	show := o.allFunctions || o.function != "" && strings.Contains(rec.Name, o.function)
	if show && o.text {
		s.buf = irpgo.AppendTextRecord(s.buf[:0], rec, s.r.Symbols())
		s.w.Write(s.buf)
		return
	}
	// The totals include records that are not shown.
	s.summary.Add(rec.Counts)
	if o.covered {
		if slices.ContainsFunc(rec.Counts, func(c uint64) bool { return c != 0 }) {
			s.printf("%s\n", rec.Name)
		}
		return
	}
	// A supplemented profile has a mark in place of the counts.
	if pseudo := rec.Pseudo(); pseudo != 0 {
		if show {
			s.head(rec)
			s.printf("    <Pseudo%s>\n", map[bool]string{true: "Warm", false: "Hot"}[pseudo == irpgo.PseudoWarm])
		}
		return
	}
	var most, sum uint64
	for _, c := range rec.Counts {
		most = max(most, c)
		sum += c
	}
	if most < uint64(o.valueCutoff) {
		s.below++
		if o.onlyBelow {
			s.printf("  %s: (Max = %d Sum = %d)\n", rec.Name, most, sum)
		}
		return
	}
	if o.onlyBelow {
		return
	}
	if o.topN > 0 || o.hotFuncList {
		s.ranked = append(s.ranked, rankedFunction{rec.Name, most})
	}
	if show {
		s.head(rec)
		s.printf("\n")
		s.body(rec, ir)
	}
}

// variant returns the variant of the current profile: a raw file may hold
// several profiles, and the text after all of them describes the last.
func (s *shower) variant() irpgo.Variant {
	info := s.r.Info
	if info.Format == irpgo.FormatRaw {
		return irpgo.Variant(info.LastWord)
	}
	return info.Variant
}

// head prints the first lines of a shown function, without the end of the last.
func (s *shower) head(rec *irpgo.Record) {
	if s.shown == 0 {
		s.printf("Counters:\n")
	}
	s.shown++
	s.printf("  %s:\n    Hash: 0x%016x\n    Counters: %d", rec.Name, rec.Hash, len(rec.Counts))
}

// body prints the numbers of a function below its head. Front-end instrumentation counts the calls in the first
// counter, which is printed separately. In IR profiles any counter may count the calls, so all are block counts.
func (s *shower) body(rec *irpgo.Record, ir bool) {
	o := s.opt
	blocks := rec.Counts
	if !ir && len(blocks) > 0 {
		s.printf("    Function count: %d\n", blocks[0])
		blocks = blocks[1:]
	}
	kinds := slices.DeleteFunc(s.valueKinds(), func(k valueKind) bool {
		return k.kind == irpgo.MemOPSize && len(rec.Values[k.kind]) == 0
	})
	for _, k := range kinds {
		s.printf("    %s: %d\n", k.number, len(rec.Values[k.kind]))
	}
	if o.counts {
		s.printf("    Block counts: [")
		for i, c := range blocks {
			if i > 0 {
				s.printf(", ")
			}
			s.printf("%d", c)
		}
		s.printf("]\n")
	}
	for _, k := range kinds {
		s.printf("    %s Results:\n", k.results)
		s.values(&rec.Values, k.kind)
	}
}

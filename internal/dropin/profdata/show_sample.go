package profdata

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats/sampleprof"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
)

// showSample (showSampleProfile) runs the show command for a sample profile. --function shows one function, without
// samples if the profile lacks it. The whole profile is in memory only if options need it.
func (t *tool) showSample(out io.Writer) error {
	o := &t.opt
	if o.showFormat == showYAML {
		return &failure{message: "YAML output is not supported for sample profiles"}
	}
	if o.sample.sectionsOnly {
		return t.showSections(out)
	}
	hot := o.hotFuncList || o.topN > 0
	one := !o.allFunctions && o.function != ""
	p, functions, err := t.readToShow(one || hot || o.detailedSummary)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	defer w.Flush()
	asJSON := o.showFormat == showJSON
	switch {
	case one && asJSON:
		return &failure{message: "the JSON format is supported only when all functions are to be printed"}
	case one:
		name := sampleprof.NameOf(o.function)
		// LLVM shows a function that it does not find as one without name and samples.
		f := &sampleprof.Function{Name: sampleprof.NameOf("")}
		if i := slices.IndexFunc(p.Functions, func(f *sampleprof.Function) bool { return f.Context == nil && f.Name.ID == name.ID }); i >= 0 {
			f = p.Functions[i]
		}
		dumpSamples(w, slices.Values([]*sampleprof.Function{f}))
	case asJSON:
		dumpJSON(w, functions)
	default:
		dumpSamples(w, functions)
	}
	if o.symbolList {
		fmt.Fprintln(w, "======== Dump profile symbol list ========")
		for _, name := range p.Symbols {
			fmt.Fprintln(w, name)
		}
	}
	if !hot && !o.detailedSummary {
		return nil
	}
	summary := summaryOf(p)
	if o.detailedSummary {
		fmt.Fprintf(w, "Total functions: %d\nMaximum function count: %d\nMaximum internal block count: 0\nTotal number of blocks: %d\nTotal count: %d\n",
			summary.NumFunctions, summary.MaxHead, summary.NumCounts, summary.Total)
		printDetailed(w, summary.Cutoffs, summary.NumCounts)
	}
	if hot {
		t.showHotSamples(w, p, summary)
	}
	return nil
}

// readToShow reads the whole profile if whole is set; otherwise functions reads it while it is
// iterated over, which is possible once.
func (t *tool) readToShow(whole bool) (p *sampleprof.Profile, functions iter.Seq[*sampleprof.Function], err error) {
	name := t.opt.profileFile
	if whole {
		if p, err = t.readSample(name); err != nil {
			return nil, nil, err
		}
		return p, slices.Values(p.Functions), nil
	}
	err = t.useSample(name, nil, func(data []byte, opt sampleprof.ReaderOptions) (err error) {
		p, functions, err = sampleprof.ReadSorted(name, data, opt)
		return err
	})
	return p, functions, err
}

// summaryOf returns the summary of the file or, if it has none, a summary of its samples.
func summaryOf(p *sampleprof.Profile) *sampleprof.Summary {
	if p.Summary != nil {
		return p.Summary
	}
	return p.Summarize()
}

// showSections (showSectionInfo) prints the section table of an extensible binary file. It warns
// about sample profiles of other formats.
func (t *tool) showSections(out io.Writer) error {
	var sections []sampleprof.Section
	name := t.opt.profileFile
	var format sampleprof.Format
	err := t.read(name, func(data []byte) (err error) {
		format, _ = sampleprof.Detect(data)
		sections, err = sampleprof.Sections(name, data)
		return err
	})
	if f := (*failure)(nil); errors.As(err, &f) {
		return err
	}
	if err != nil || format == "" {
		why := llvmerr.SampleFormat
		if err != nil {
			why = llvmerr.SampleFailure(err)
		}
		return &failure{whence: name, message: why.Text}
	}
	if format != sampleprof.FormatExtended {
		t.msg.warn("", "-show-sec-info-only is only supported for sample profile in extbinary format and is ignored for other formats.")
		return nil
	}
	total, end := uint64(0), uint64(0)
	for _, s := range sections {
		fmt.Fprintf(out, "%s - Offset: %d, Size: %d, Flags: {%s}\n", s.Name, s.Offset, s.Size, strings.Join(s.Flags, ","))
		total += s.Size
		end = max(end, s.Offset+s.Size)
	}
	// The first section begins where the header ends.
	if len(sections) > 0 {
		fmt.Fprintf(out, "Header Size: %d\nTotal Sections Size: %d\nFile Size: %d\n", sections[0].Offset, total, end)
	}
	return nil
}

// showHotSamples (showHotFunctionList) lists the functions with a hot count, by descending total.
// --topn limits the list, not the numbers above it.
func (t *tool) showHotSamples(w *bufio.Writer, p *sampleprof.Profile, summary *sampleprof.Summary) {
	// Without a cutoff for hot counts the threshold is 0 and every function with samples is hot.
	threshold, _ := summary.Cutoffs.Hot()
	type hotFunction struct {
		*sampleprof.Function
		most uint64
	}
	var hot []hotFunction
	var total, hotTotal uint64
	// Functions with equal totals keep the order of LLVM's map.
	functions := p.InMapOrder()
	for _, f := range functions {
		total += f.Total
		most, any := mostSamples(f)
		if any && most >= threshold {
			hot = append(hot, hotFunction{f, most})
			hotTotal += f.Total
		}
	}
	slices.SortStableFunc(hot, func(a, b hotFunction) int { return cmp.Compare(b.Total, a.Total) })
	percent := func(n, of uint64) float64 {
		if of == 0 {
			return 0
		}
		return float64(n) * 100 / float64(of)
	}
	fmt.Fprintf(w, "%d out of %d functions with profile (%.2f%%) are considered hot functions (max sample >= %d).\n",
		len(hot), len(functions), percent(uint64(len(hot)), uint64(len(functions))), threshold)
	fmt.Fprintf(w, "%d out of %d profile counts (%.2f%%) are from hot functions.\n", hotTotal, total, percent(hotTotal, total))
	printColumns(w, []int{0, 24, 42, 58}, "Total sample (%)", "Max sample", "Entry sample", "Function name")
	for i, f := range hot {
		if t.opt.topN > 0 && i == int(t.opt.topN) {
			break
		}
		printColumns(w, []int{0, 24, 42, 58}, fmt.Sprintf("%d (%.2f%%)", f.Total, percent(f.Total, total)),
			fmt.Sprint(f.most), fmt.Sprint(f.EntryCount()), f.Label())
	}
}

// mostSamples returns the greatest count of a function and its inlined callees; any is false if there is none.
func mostSamples(f *sampleprof.Function) (most uint64, any bool) {
	for i := range f.Body {
		most, any = max(most, f.Body[i].Count), true
	}
	for i := range f.Callsites {
		n, inlined := mostSamples(f.Callsites[i].Callee)
		most, any = max(most, n), any || inlined
	}
	return most, any
}

// printColumns (formatted_raw_ostream::PadToColumn) prints a line with each text at its column,
// after at least one space. A text at column -1 follows without a space.
func printColumns(w io.Writer, columns []int, texts ...string) {
	var line []byte
	for i, text := range texts {
		if columns[i] >= 0 {
			line = append(line, strings.Repeat(" ", max(columns[i]-len(line), 1))...)
		}
		line = append(line, text...)
	}
	w.Write(append(line, '\n'))
}

package profdata

import (
	"fmt"
	"io"
	"strings"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/llvm/partition"
)

// order runs the order command. A file is refused as its own output.
func (t *tool) order() error {
	o := &t.opt
	if o.profileFile == o.output && o.output != "-" {
		return &failure{whence: o.output, message: "the output is the input"}
	}
	return t.writeOutput(func(out *output) error {
		return t.readProfile(o.profileFile, func(r *irpgo.Reader) error { return t.orderTo(out, r) })
	}, o.profileFile)
}

// orderTo writes an order for linkers: names, and in comments the files of local functions. The
// last --num-test-traces traces are not used to make the order but to measure it. Package partition
// implements LLVM's BalancedPartitioning.
func (t *tool) orderTo(w io.Writer, r *irpgo.Reader) error {
	// Traces and names are known after all records have been read. LLVM ignores errors of the records.
	for range r.ReusedRecords() {
	}
	traces, _ := r.Traces()
	refs := make([][]uint64, len(traces))
	for i := range traces {
		refs[i] = traces[i].NameRefs
	}
	held := int(t.opt.numTestTraces)
	if held > 0 && held >= len(refs) {
		return &failure{message: fmt.Sprintf("--num-test-traces must be smaller than the total number of traces: expected: < %d, actual: %d",
			len(refs), held)}
	}
	training, test := refs[:len(refs)-held], refs[len(refs)-held:]
	order := partition.Order(training)
	fmt.Fprintf(w, "# Ordered %d functions\n", len(order))
	if held > 0 {
		fmt.Fprintf(w, "# Total area under the page fault curve: %e\n", float32(pageFaultArea(order, test)))
	}
	fmt.Fprintf(w, "# Warning: Mach-O may prefix symbols with \"_\" depending on the linkage and this output does not take that into account."+
		" Some post-processing may be required before passing to the linker via -order_file.\n")
	for _, ref := range order {
		// irpgo.SplitName would not do: this command keeps the colon of older names.
		name := r.Symbols().Name(ref)
		if file, symbol, ok := strings.Cut(name, ";"); ok && symbol != "" {
			name = symbol
			if file != "" {
				fmt.Fprintf(w, "# %s\n", file)
			}
		}
		fmt.Fprintf(w, "%s\n", name)
	}
	return nil
}

// pageFaultArea returns the area under the curves of pages touched by functions called, one
// curve per trace, modulo 2^32 as in LLVM. It assumes 32 functions per page.
func pageFaultArea(order []uint64, traces [][]uint64) (area uint32) {
	const functionsPerPage = 32
	page := make(map[uint64]int, len(order))
	for i, ref := range order {
		page[ref] = i / functionsPerPage
	}
	for _, trace := range traces {
		touched := make(map[int]struct{})
		for _, ref := range trace {
			if p, ok := page[ref]; ok {
				touched[p] = struct{}{}
				area += uint32(len(touched))
			}
		}
	}
	return area
}

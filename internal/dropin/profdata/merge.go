package profdata

import (
	"slices"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/memlimit"
)

// LLVM 22 and 23 write their own indexed version by default, and previousVersion with --write-prev-version.
const (
	llvmRelease     = 22 // whose order of records both have
	indexedVersion  = 13
	indexed23       = 14
	previousVersion = 11
)

// merge runs the merge command. It checks options that exclude each other in LLVM's order, before it reads an input.
func (t *tool) merge() error {
	list, err := t.collect()
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return &failure{message: "no input files specified. See " + t.Name() + " merge -help"}
	}
	if t.opt.dumpInputs {
		list.dump(t.Stdout)
		return nil
	}
	if t.rename, err = t.remapping(); err != nil {
		return err
	}
	switch {
	case t.opt.supplement.file != "":
		return t.supplement(list)
	case t.opt.kind == sampleKind:
		return t.mergeSamples(list)
	case t.opt.format == gccFormat:
		return &failure{message: "unknown format is specified"}
	}
	memlimit.CollectLate(48 << 20)
	if t.correlate, err = t.correlator(); err != nil {
		return err
	}
	m, err := t.mergeAll(list)
	if err != nil {
		return err
	}
	err = filterFunctions(t, func() *[]irpgo.Function { return &m.Profile().Functions }, func(f irpgo.Function) string { return f.Name })
	if err != nil {
		return err
	}
	return t.writeMerged(m)
}

func (t *tool) writeMerged(m *irpgo.Merged) error {
	t.randomHotness(m.Head.MemProf)
	return t.writeOutput(func(out *output) error { return t.write(out, m) })
}

// write (writeInstrProfile) writes the result in the format that options choose. Only text may go to a terminal.
func (t *tool) write(out *output, m *irpgo.Merged) (err error) {
	switch {
	case t.opt.format == textFormat:
		p := m.Profile()
		t.dropUnnamed(p)
		t.textLosesHeap(p)
		err = irpgo.WriteText(out, p, irpgo.TextOptions{Sparse: t.opt.sparse, LLVMCompat: true})
	case out.tty:
		err = &failure{message: "cannot write a non-text format profile to the terminal"}
	default:
		version := uint32(indexedVersion)
		switch {
		case t.opt.writePrevVersion:
			version = previousVersion
		case t.IsRelease(23):
			version = indexed23
		}
		err = m.WriteIndexed(out, irpgo.IndexedOptions{
			Version: version, Sparse: t.opt.sparse, LLVMRelease: llvmRelease,
			MemProf: t.opt.heapOptions(), Warn: t.sectionLoses,
		})
	}
	if err == nil && m.MayRepeat && hasDoubleSize(m.Profile(), t.opt.sparse) {
		t.msg.warn("", words(&llvmerr.Error{Code: llvmerr.InvalidProf}))
	}
	return err
}

// dropUnnamed removes the records without a name, which a damaged raw profile can contain and the text format
// cannot hold. It prints LLVM's message for them; LLVM omits all other records as well.
func (t *tool) dropUnnamed(p *irpgo.Profile) {
	if len(p.Functions) > 0 && p.Functions[0].Name == "" { // they are sorted
		p.Functions = p.Functions[1:]
		t.msg.warn("", words(&llvmerr.Error{Code: llvmerr.Malformed, Detail: "symbol name is empty"}))
	}
}

// hasDoubleSize reports whether a site of a written function lists the same size of a memory
// operation twice, which LLVM reports as an internal error.
func hasDoubleSize(p *irpgo.Profile, sparse bool) bool {
	for _, f := range p.Functions {
		if sparse && !ran(f) {
			continue
		}
		for _, r := range f.Records {
			if slices.ContainsFunc(r.Values[irpgo.MemOPSize], repeats) {
				return true
			}
		}
	}
	return false
}

// repeats reports whether a site lists a value twice. A site has at most 255 values.
func repeats(site []irpgo.ValueData) bool {
	for i, d := range site {
		for _, e := range site[:i] {
			if d.Value == e.Value {
				return true
			}
		}
	}
	return false
}

// ran reports whether any record of a function has a counter or a byte of its
// bitmap that is not zero. A sparse profile omits the other functions.
func ran(f irpgo.Function) bool {
	return slices.ContainsFunc(f.Records, func(r *irpgo.Record) bool {
		return slices.ContainsFunc(r.Counts, func(c uint64) bool { return c != 0 }) ||
			slices.ContainsFunc(r.Bitmap, func(b byte) bool { return b != 0 })
	})
}

package instrument

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// FunctionReport says what [Rewrite] did with one function.
type FunctionReport struct {
	// Name is the linkage name as in the symbol table.
	Name string
	// Skipped is why the function has no probe at all; "" if it has one.
	Skipped asm.Reason
	// BlocksSkipped is why a function with an entry probe has no block probes under
	// block coverage; "" if it has them.
	BlocksSkipped asm.Reason
	// Instructions is the number of instructions before instrumentation.
	Instructions int
	// Blocks is the number of basic blocks, the entry included; 0 unless block coverage was asked for.
	Blocks int
	// Probes is the number of probes inserted, the entry's included.
	Probes int
	// Assumed is the number of calls in the function that were assumed to return.
	Assumed int
}

// Rewrite appends to dst the assembly text src with probes and records, and returns it with a report on
// every function, in the order of the text. It does not change src.
//
// The result is src with lines added. Text without functions to instrument does not change. On error
// Rewrite returns dst as it was. The errors are [ErrOptions] and the errors of package asm. All mean that
// the file should be assembled as it is or built with other flags.
func Rewrite(dst, src []byte, opt Options) ([]byte, []FunctionReport, error) {
	e, err := parse(src, &opt)
	if err != nil {
		return dst, nil, err
	}
	e.emit()
	return e.apply(dst), report(e.File), nil
}

// Headers returns an assembly file for ELF with the headers that [Rewrite] puts into every file, for a
// link in which not the first object that is read comes first in the program.
func Headers(opt Options) []byte {
	e := &emitter{File: &asm.File{Target: opt.Target}, opt: &opt}
	w := elfWriter{e}
	w.header(rawSection)
	if e.hits() {
		w.header(hitSection)
	}
	w.header(mapSection)
	if opt.blocks() {
		w.header(blocksSection)
	}
	e.text.Line("\t.section\t.note.GNU-stack,\"\",", w.kind(mapSection))
	return e.text
}

// parse reads the text, chooses the functions to instrument and recovers the
// entry points and blocks that their probes need.
func parse(src []byte, opt *Options) (*emitter, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	f, err := asm.Read(src, opt.Target)
	if err != nil {
		return nil, err
	}
	e := &emitter{File: f, opt: opt, prober: proberFor(f.Target.Arch), farCompares: make(map[int][]int32)}
	preV7 := f.Target.Arch == asm.ARM && preV7(f)
	for i := range f.Functions {
		fn := &f.Functions[i]
		fn.Skip = skipReason(fn, opt)
		if fn.Skip == "" && preV7 {
			fn.Skip = asm.SkipInstructionSet
		}
		if fn.Skip != "" {
			continue
		}
		f.FindEntry(int32(i))
		if opt.blocks() && !opt.EntriesOnly {
			f.BuildBlocks(int32(i), opt.CallsReturn && !opt.AllBlockProbes)
			fn.BlocksSkip = e.checkBlocks(i)
		}
	}
	f.ResolveCalls()
	for i := range f.Functions {
		if fn := &f.Functions[i]; fn.Skip == "" && fn.BlocksSkip == "" && !opt.AllBlockProbes {
			fn.Infer()
		}
	}
	return e, nil
}

// checkBlocks returns why the blocks of a function cannot have probes, "" if they can.
func (e *emitter) checkBlocks(id int) (reason asm.Reason) {
	f, fn := e.File, &e.Functions[id]
	switch {
	case fn.HasMacro:
		return asm.SkipMacro
	case f.Target.Arch == asm.AArch64:
		return checkBlockRanges(f, int32(id))
	case f.Target.Arch == asm.ARM:
		e.farCompares[id], reason = checkARMBlocks(f, int32(id))
		return reason
	case fn.TableWidth > 0: // compilers for x86_64 print no narrow tables
		return asm.SkipJumpTable
	}
	return ""
}

// skipReason returns why the function is not to be instrumented, "" if it is.
func skipReason(fn *asm.Function, opt *Options) asm.Reason {
	switch {
	case fn.Skip != "":
		return fn.Skip
	// A cold part has a record of its own only under function and block coverage;
	// otherwise the entry probe of its function covers it.
	case fn.Fragment && (!opt.blocks() || opt.counts()):
		return asm.SkipFragment
	case opt.Skip != nil && opt.Skip(fn.Name):
		return asm.SkipListed
	case fn.Instructions < opt.MinInstructions:
		return asm.SkipMinInstructions
	case opt.GroupCount > 1 && guid.Of(fn.Name)%uint64(opt.GroupCount) != uint64(opt.SelectedGroup):
		return asm.SkipGroup
	}
	return ""
}

func report(f *asm.File) []FunctionReport {
	r := make([]FunctionReport, len(f.Functions))
	for i := range f.Functions {
		fn := &f.Functions[i]
		r[i] = FunctionReport{
			Name: fn.Name, Skipped: fn.Skip, BlocksSkipped: fn.BlocksSkip,
			Instructions: fn.Instructions, Blocks: len(fn.Blocks), Probes: fn.Probes(), Assumed: fn.Assumed,
		}
		if fn.Skip != "" || len(fn.Blocks) == 0 {
			r[i].BlocksSkipped = ""
		}
	}
	return r
}

func (e *emitter) emit() {
	// The assembler skips alignments. The end of what it skips precedes everything
	// else inserted at its place, the beginning follows it.
	skipped := e.skippedAlignments()
	e.printAround(skipped, 1, "\t.endif")
	e.probes()
	e.printAround(skipped, 0, "\t.if\t0")
	e.records()
}

type insertion struct {
	pos    int
	lo, hi int // in emitter.text
}

type emitter struct {
	*asm.File
	opt        *Options
	prober     prober
	text       asm.Text
	insertions []insertion
	from       int      // start of the insertion being printed
	sets       int      // number of .set symbols
	leaders    []string // per section, see groupName
	// farCompares lists, by function, the cbz and cbnz of ARM code whose targets
	// block probes push out of reach.
	farCompares map[int][]int32
}

// insertText makes the text printed since the last call an insertion at pos.
func (e *emitter) insertText(pos int) {
	e.insertions = append(e.insertions, insertion{pos, e.from, len(e.text)})
	e.from = len(e.text)
}

// beforeStmt returns the position for text that precedes a statement.
func (e *emitter) beforeStmt(i int32) int {
	if int(i) >= len(e.Stmts) {
		return e.Tail
	}
	return int(e.Stmts[i].Pos)
}

// apply appends the file with the insertions, each on lines of its own.
func (e *emitter) apply(dst []byte) []byte {
	slices.SortStableFunc(e.insertions, func(a, b insertion) int { return cmp.Compare(a.pos, b.pos) })
	dst = slices.Grow(dst, len(e.Src)+len(e.text)+len(e.insertions))
	done := 0
	for _, ins := range e.insertions {
		at := ins.pos
		for at > done && (e.Src[at-1] == ' ' || e.Src[at-1] == '\t') {
			at--
		}
		dst = append(dst, e.Src[done:at]...)
		done = at
		if at > 0 && e.Src[at-1] != '\n' && dst[len(dst)-1] != '\n' {
			dst = append(dst, '\n')
		}
		dst = append(dst, e.text[ins.lo:ins.hi]...)
	}
	return append(dst, e.Src[done:]...)
}

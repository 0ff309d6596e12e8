package instrument

import (
	"slices"
	"strconv"

	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// localPrefix returns the prefix of the added labels, which no symbol table shows.
func localPrefix(t asm.Target) string {
	if t.Format == asm.MachO {
		return asm.LocalStem
	}
	return "." + asm.LocalStem
}

// label returns a label local to the file; kind says what part of function id it names.
func (e *emitter) label(kind byte, id int) string {
	return localPrefix(e.Target) + string(kind) + strconv.Itoa(id)
}

// Kinds of labels.
const (
	labelStart  = 'f' // start of the function
	labelEnd    = 'e'
	labelBlock  = 'b' // of block N, with _N
	labelRecord = 'r' // raw record
	labelHits   = 'w' // words that the probes write to
	labelMap    = 'm' // map record
	labelInfer  = 'i' // record of inference
	labelGo     = 'g' // inside a probe
	labelOver   = 'o' // behind the jump of a rewritten cbz or cbnz, with _N
)

// recordSymbol returns the symbol at which the raw record of a function begins,
// the words that precede the record included.
func (e *emitter) recordSymbol(id int) string {
	if e.Target.Format == asm.MachO {
		// Dead stripping needs a symbol that the linker sees.
		return "l_mip_r" + strconv.Itoa(id)
	}
	return e.label(labelRecord, id)
}

// sampleWords is the size in bytes of the two words before a record with samples: the offset of the next
// called function's record, and the number of the next call to sample.
const sampleWords = 8

// record returns an expression for the raw record of a function.
func (e *emitter) record(id int) string {
	if e.opt.samples() {
		return e.recordSymbol(id) + "+" + strconv.Itoa(sampleWords)
	}
	return e.recordSymbol(id)
}

// symbol returns the function's own symbol with a suffix, quoted where the assembler requires it.
func (e *emitter) symbol(id int, suffix string) string {
	return asm.QuoteLike(nil, e.Functions[id].Name+suffix)
}

// probes prints the probes of all functions and the labels that the records refer to.
func (e *emitter) probes() {
	for id := range e.Functions {
		fn := &e.Functions[id]
		if fn.Skip != "" {
			continue
		}
		e.text.Line(e.label(labelStart, id), ":")
		e.insertText(e.beforeStmt(fn.Label + 1))
		p := &probe{
			target: e.Target, record: e.record(id), width: 1, label: e.label(labelGo, id),
			counts: e.opt.counts(), samples: e.opt.samples(), atomic: e.opt.Atomic,
			threads: e.opt.Threads, syntax: e.syntaxAt(fn.Entry.Stmt), thumb: e.Stmts[fn.Label].Thumb,
		}
		if e.hits() {
			p.hits, p.record, p.width = true, e.label(labelHits, id), e.opt.hitWidth()
		}
		e.prober.entryProbe(&e.text, p)
		e.insertText(e.beforeStmt(fn.Entry.Stmt))
		if fn.BlocksSkip == "" {
			e.blockProbes(id, fn, p)
		}
		e.text.Line(e.label(labelEnd, id), ":")
		e.insertText(fn.End)
	}
}

// syntaxAt returns the x86 syntax in effect at statement i.
func (e *emitter) syntaxAt(i int32) asm.X86Syntax {
	if int(i) >= len(e.Stmts) {
		return asm.AttPrefix
	}
	return e.Stmts[i].Syntax
}

// blockProbes prints a label before every block, since the records hold the
// offsets of all blocks, and a probe before each block that has one.
func (e *emitter) blockProbes(id int, fn *asm.Function, p *probe) {
	offset := e.opt.blocksAt()
	var scratch [][]string
	switch e.Target.Arch {
	case asm.AArch64:
		scratch = scratchRegisters(e.File, int32(id))
	case asm.ARM:
		scratch = armScratch(e.File, int32(id))
	}
	for b := 1; b < len(fn.Blocks); b++ {
		blk := &fn.Blocks[b]
		e.text.Line(e.label(labelBlock, id), "_", strconv.Itoa(b), ":")
		p.syntax = e.syntaxAt(blk.Stmt)
		if scratch != nil {
			p.scratch = scratch[b]
		}
		// Other functions jump into the middle of a cold part.
		if fn.Fragment && blk.External {
			e.prober.blockProbe(&e.text, p, 0)
		}
		if fn.Probed(b) {
			e.prober.blockProbe(&e.text, p, offset)
			offset++
		}
		at := blk.Stmt
		for at > 0 && int(at) <= len(e.Stmts) && isPCAnchor(e.File, at-1) {
			at--
		}
		e.insertText(e.beforeStmt(at))
	}
	e.rewriteCompares(id)
}

// blocksAt returns the offset of the blocks' bytes in a raw record.
func (o *Options) blocksAt() int {
	if o.counts() {
		return 8
	}
	return 1
}

func (e *emitter) records() {
	w := e.objectWriter()
	printed := false
	section := func(s recordSection, has func(*asm.Function) bool, record func(id int, fn *asm.Function)) {
		header := false
		for id := range e.Functions {
			fn := &e.Functions[id]
			if !has(fn) {
				continue
			}
			if !header {
				w.header(s)
				header, printed = true, true
			}
			w.section(s, id)
			record(id, fn)
		}
	}
	probed := func(fn *asm.Function) bool { return fn.Skip == "" }
	section(rawSection, probed, e.rawRecord)
	if e.hits() {
		section(hitSection, probed, e.hitRecord)
	}
	section(mapSection, probed, e.mapRecord)
	section(blocksSection, infers, e.inferenceRecord)
	if printed {
		w.finish()
		e.insertText(e.Tail)
	}
}

// infers reports whether any block of the function has no probe.
func infers(fn *asm.Function) bool {
	return fn.Skip == "" && slices.ContainsFunc(fn.Formula, func(sources []int32) bool { return sources != nil })
}

// rawRecord prints the raw record of a function as it is before the program runs: coverage bytes 0xff;
// counter and timestamp 0xffffffff, with samples after the words next and due.
func (e *emitter) rawRecord(id int, fn *asm.Function) {
	if e.opt.counts() {
		e.text.Line("\t.p2align\t2")
	}
	e.text.Line(e.recordSymbol(id), ":")
	if e.hits() {
		e.text.Line("\t.skip\t", strconv.Itoa(1+fn.ProbedBlocks()))
		return
	}
	if e.opt.samples() {
		e.text.Line("\t.long\t0, 1")
	}
	if e.opt.counts() {
		e.text.Line("\t.long\t0xffffffff, 0xffffffff")
	} else {
		e.text.Line("\t.byte\t0xff")
	}
	if n := fn.ProbedBlocks(); n > 0 {
		e.text.Line("\t.fill\t", strconv.Itoa(n), ", 1, 0xff")
	}
}

// hits reports whether probes write to words in [asm.HitSection].
func (e *emitter) hits() bool {
	return e.Target == asm.Target{Arch: asm.X86_64, Format: asm.ELF} && !e.opt.counts()
}

// hitRecord prints the words of a function, one for each byte of its raw record. The words are zero
// before the program runs. Records must follow each other without padding, because the runtime
// computes the number of words from the size of the section.
func (e *emitter) hitRecord(id int, fn *asm.Function) {
	e.text.Line(e.label(labelHits, id), ":")
	e.text.Line("\t.skip\t", strconv.Itoa(e.opt.hitWidth()*(1+fn.ProbedBlocks())))
}

// mapRecord prints a map record; package mip documents its layout.
func (e *emitter) mapRecord(id int, fn *asm.Function) {
	here := e.beginRecord(labelMap, id)
	start := e.label(labelStart, id)
	e.address(e.record(id), here)
	e.address(e.functionAddress(id), here)
	e.difference(e.label(labelEnd, id), start)
	e.word(uint64(fn.Signature()))
	e.word(uint64(fn.ProbedBlocks()))
	for b := 1; b < len(fn.Blocks); b++ {
		if fn.Probed(b) {
			e.difference(e.label(labelBlock, id)+"_"+strconv.Itoa(b), start)
		}
	}
	e.word(uint64(stringLength(fn.Name)))
	e.text.Line("\t.ascii\t\"", fn.Name, "\"")
}

// inferenceRecord prints a record of section __profuse_blocks; package blocks documents its layout.
func (e *emitter) inferenceRecord(id int, fn *asm.Function) {
	here := e.beginRecord(labelInfer, id)
	words := 0
	for _, sources := range fn.Formula {
		words += 2 + len(sources)
	}
	e.address(e.record(id), here)
	e.word(uint64(len(fn.Blocks)))
	e.word(uint64(words))
	for b, sources := range fn.Formula {
		if b == 0 {
			e.word(0)
		} else {
			e.difference(e.label(labelBlock, id)+"_"+strconv.Itoa(b), e.label(labelStart, id))
		}
		e.word(uint64(len(sources)))
		for _, s := range sources {
			e.word(uint64(s))
		}
	}
}

// beginRecord aligns a record and returns a label for its first field.
func (e *emitter) beginRecord(kind byte, id int) string {
	e.text.Line("\t.p2align\t", e.pointerAlignment())
	if e.Target.Format == asm.MachO {
		// Dead stripping works on atoms: each record needs a label to be one.
		e.text.Line("l_mip_", string(kind), strconv.Itoa(id), ":")
	}
	label := e.label(kind, id)
	e.text.Line(label, ":")
	return label
}

// pointerAlignment returns the alignment of an address, as a power of two.
func (e *emitter) pointerAlignment() string {
	if e.Target.PointerSize() == 4 {
		return "2"
	}
	return "3"
}

// functionAddress returns a symbol at the start of the function. ELF linkers refuse the distance to a
// symbol that another image may preempt, so those get a local label.
func (e *emitter) functionAddress(id int) string {
	if e.Target.Format == asm.MachO {
		return e.symbol(id, "")
	}
	return e.label(labelStart, id)
}

// address prints the distance of symbol from label from, as wide as an address.
func (e *emitter) address(symbol, from string) {
	directive := "\t.quad\t"
	if e.Target.PointerSize() == 4 {
		directive = "\t.long\t"
	}
	e.text.Line(directive, symbol, "-", from)
}

// difference prints the distance of two labels in one section, 32 bits wide.
func (e *emitter) difference(a, b string) {
	if e.Target.Format == asm.MachO {
		// An assembler may emit a relocation for a difference in an expression,
		// but not for a symbol that .set has defined.
		e.sets++
		set := localPrefix(e.Target) + "s" + strconv.Itoa(e.sets)
		e.text.Line("\t.set\t", set, ", ", a, "-", b)
		e.text.Line("\t.long\t", set)
		return
	}
	e.text.Line("\t.long\t", a, "-", b)
}

func (e *emitter) word(v uint64) { e.text.Line("\t.long\t", strconv.FormatUint(v, 10)) }

func (o *Options) moduleHash() uint32 {
	if o.LinkUnit == "" {
		return guid.LinkUnit("a.out")
	}
	return guid.LinkUnit(o.LinkUnit)
}

// stringLength returns the length in bytes of a string as the assembler writes it: an escape is one byte.
func stringLength(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			for octal := 0; octal < 2 && s[i] >= '0' && s[i] <= '7' && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '7'; octal++ {
				i++
			}
		}
		n++
	}
	return n
}

// groupName returns the signature of the group that ties the records of the
// functions in one section together: the group of that section if it has one,
// else the name of the first function in the section that has records.
func (e *emitter) groupName(id int) (name string, comdat bool) {
	sec := e.Functions[id].Section
	if s := &e.Sections[sec]; s.Group != "" {
		return s.Group, s.Comdat
	}
	if e.leaders == nil {
		e.leaders = make([]string, len(e.Sections))
	}
	if e.leaders[sec] == "" {
		e.leaders[sec] = e.symbol(id, "")
	}
	return e.leaders[sec], false
}

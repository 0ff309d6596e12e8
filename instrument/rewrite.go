package instrument

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/mip"
)

// Rewrite appends to dst the assembly text src with probes and records and
// returns it with a report on every function. src is left alone.
//
// The result is src with lines added; text without functions to instrument is
// returned unchanged. On error dst is returned as it was. The errors are
// [ErrInstrumented], [ErrNoMachineCode], [ErrCodeModel], [ErrUnsupportedTarget],
// [ErrOptions] and [ErrTooLarge], all of which mean that the file should be
// assembled as it is or built with other flags.
func Rewrite(dst, src []byte, opt Options) ([]byte, Report, error) {
	f, err := parse(src, &opt)
	if err != nil {
		return dst, Report{}, err
	}
	if f.target.Arch == X86_64 && f.farData() {
		return dst, Report{}, ErrCodeModel
	}
	e := newEmitter(f, &opt)
	e.emit()
	return e.apply(dst), f.report(), nil
}

// parse takes the text apart, chooses the functions to instrument and recovers
// what their probes need.
func parse(src []byte, opt *Options) (*file, error) {
	if err := checkText(src); err != nil {
		return nil, err
	}
	target := opt.Target
	if target == (Target{}) {
		var err error
		if target, err = DetectTarget(src); err != nil {
			return nil, err
		}
	}
	if err := target.check(); err != nil {
		return nil, err
	}
	if err := opt.check(); err != nil {
		return nil, err
	}
	f := &file{src: src, target: target}
	if err := f.lex(); err != nil {
		return nil, err
	}
	if err := f.trackSections(); err != nil {
		return nil, err
	}
	f.recover()
	preV7 := target.Arch == ARM && f.preV7()
	set := target.isa()
	f.findReferences(set)
	for i := range f.functions {
		fn := &f.functions[i]
		fn.skip = f.choose(fn, opt)
		if fn.skip == 0 && preV7 {
			fn.skip = SkipInstructionSet
		}
		if fn.skip != 0 {
			continue
		}
		id := int32(i)
		f.findEntry(id, set)
		if !opt.blocks() {
			continue
		}
		f.buildBlocks(id, set)
		switch {
		case fn.hasMacro:
			fn.blocksSkip = SkipMacro
		case target.Arch == AArch64:
			fn.blocksSkip = f.checkBlockRanges(id)
		case target.Arch == ARM:
			fn.blocksSkip = f.checkARMBlocks(id)
		case fn.tableWidth > 0: // compilers for x86_64 print none
			fn.blocksSkip = SkipJumpTable
		}
	}
	f.resolveCalls()
	for i := range f.functions {
		if fn := &f.functions[i]; fn.skip == 0 && fn.blocksSkip == 0 && !opt.AllBlockProbes {
			fn.formula = infer(fn.blocks, fn.fragment)
		}
	}
	return f, nil
}

// choose returns why the function is not to be instrumented, 0 if it is.
func (f *file) choose(fn *function, opt *Options) SkipReason {
	switch {
	case fn.skip != 0:
		return fn.skip
	// The entry probe of the function covers its cold part, too, which is
	// entered in the middle.
	case fn.fragment && (!opt.blocks() || opt.counts()):
		return SkipFragment
	case opt.Skip != nil && opt.Skip(fn.name):
		return SkipListed
	case fn.instructions < opt.MinInstructions:
		return SkipMinInstructions
	case opt.GroupCount > 1 && mip.Signature(fn.name)%uint64(opt.GroupCount) != uint64(opt.SelectedGroup):
		return SkipGroup
	}
	return 0
}

// checkText refuses text that cannot or must not be instrumented.
func checkText(src []byte) error {
	switch {
	case bytes.HasPrefix(src, []byte("; ModuleID")), bytes.HasPrefix(src, []byte("BC\xc0\xde")),
		bytes.Contains(src, []byte(".gnu.lto_")):
		return ErrNoMachineCode
	case bytes.Contains(src, []byte(localStem)):
		return ErrInstrumented
	}
	return nil
}

func (f *file) report() Report {
	r := Report{Target: f.target, Functions: make([]FunctionReport, len(f.functions))}
	for i := range f.functions {
		fn := &f.functions[i]
		r.Functions[i] = FunctionReport{
			Name: fn.name, Skipped: fn.skip, BlocksSkipped: fn.blocksSkip,
			Instructions: fn.instructions, Blocks: len(fn.blocks), Probes: fn.probes(),
		}
		if fn.skip != 0 || len(fn.blocks) == 0 {
			r.Functions[i].BlocksSkipped = 0
		}
	}
	return r
}

// probes returns the number of probes of the function.
func (fn *function) probes() int {
	if fn.skip != 0 {
		return 0
	}
	n := 1
	for b := range fn.blocks {
		if b > 0 && fn.probed(b) {
			n++
		}
	}
	return n
}

// probed reports whether block b has a probe.
func (fn *function) probed(b int) bool {
	return b == 0 || fn.blocksSkip == 0 && (fn.formula == nil || fn.formula[b] == nil)
}

// emit prints all that is added.
func (e *emitter) emit() {
	loose := e.looseStatements()
	e.endPassed(loose)
	e.probes()
	e.beginPassed(loose)
	e.records()
}

// insertion is text that goes before the byte at pos.
type insertion struct {
	pos    int
	lo, hi int // in emitter.text
}

// emitter collects what is added to a file.
type emitter struct {
	*file
	opt        *Options
	isa        isa
	text       []byte
	insertions []insertion
	from       int      // start of the insertion being printed
	sets       int      // number of .set symbols
	leaders    []string // per section, see groupName
}

func newEmitter(f *file, opt *Options) *emitter {
	return &emitter{file: f, opt: opt, isa: f.target.isa()}
}

// insert makes what was printed since the last call an insertion at pos.
func (e *emitter) insert(pos int) {
	e.insertions = append(e.insertions, insertion{pos, e.from, len(e.text)})
	e.from = len(e.text)
}

// beforeStmt is where text goes that precedes a statement.
func (e *emitter) beforeStmt(i int32) int {
	if int(i) >= len(e.stmts) {
		return e.tail
	}
	return int(e.stmts[i].pos)
}

// apply appends the file with the insertions, each on lines of its own.
func (e *emitter) apply(dst []byte) []byte {
	slices.SortStableFunc(e.insertions, func(a, b insertion) int { return cmp.Compare(a.pos, b.pos) })
	dst = slices.Grow(dst, len(e.src)+len(e.text)+len(e.insertions))
	done := 0
	for _, ins := range e.insertions {
		at := ins.pos
		for at > done && (e.src[at-1] == ' ' || e.src[at-1] == '\t') {
			at--
		}
		dst = append(dst, e.src[done:at]...)
		done = at
		if at > 0 && e.src[at-1] != '\n' && dst[len(dst)-1] != '\n' {
			dst = append(dst, '\n')
		}
		dst = append(dst, e.text[ins.lo:ins.hi]...)
	}
	return append(dst, e.src[done:]...)
}

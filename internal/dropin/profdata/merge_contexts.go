package profdata

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/memlimit"
	"github.com/profuse-pgo/profuse/profile"
)

// A mergeContext (WriterContext) holds the sum of one thread of llvm-profdata. The result
// depends on which inputs share a context: values that are new to a context are not weighted,
// the order of inputs breaks ties, and every context samples its own traces.
type mergeContext struct {
	t      *tool
	merger *irpgo.Merger
	kind   irpgo.Variant // of the profiles merged so far, all together
	warn   func(profile.Warning)
	errors []*failure
	fatal  error // ends the run whatever the failure mode
	levels levels
}

// levels are the first merged inputs of front-end and of IR instrumentation, nil if there was none.
type levels struct{ frontEnd, ir *weightedFile }

// addInput adds an input with at least one merged record.
func (l *levels) addInput(in *weightedFile, v irpgo.Variant) {
	if v.Has(irpgo.IRLevel) {
		l.addLevels(levels{ir: in})
	} else {
		l.addLevels(levels{frontEnd: in})
	}
}

// addLevels adds the inputs of o. Of two inputs the first in the worklist stays.
func (l *levels) addLevels(o levels) {
	first := func(a, b *weightedFile) *weightedFile {
		if a == nil || b != nil && b.index < a.index {
			return b
		}
		return a
	}
	l.frontEnd, l.ir = first(l.frontEnd, o.frontEnd), first(l.ir, o.ir)
}

// mergeAll merges the inputs in as many contexts as llvm-profdata has threads: --num-threads, or half the number of
// inputs, but no more than processors. With one context, problems are printed as they come, otherwise in the order
// of the inputs. Once all inputs are read, failed ones end the run according to --failure-mode.
func (t *tool) mergeAll(list worklist) (*irpgo.Merged, error) {
	n := clampInt(uint64(t.opt.numThreads))
	if n == 0 {
		n = min(runtime.NumCPU(), (len(list)+1)/2)
	}
	// Contexts without inputs are not made: joining them changes nothing.
	contexts := make([]*mergeContext, min(n, len(list)))
	for i := range contexts {
		contexts[i] = t.newContext(contexts[0])
	}
	t.chooseSeed(n)
	if n == 1 {
		contexts[0].warn = t.printProblem
		var memory inputs.Reader
		defer memory.Close()
		for _, in := range list {
			if contexts[0].load(&memory, in); contexts[0].fatal != nil {
				return nil, contexts[0].fatal
			}
		}
	} else {
		if err := t.loadAll(contexts, list); err != nil {
			return nil, err
		}
		if err := t.join(contexts, n); err != nil {
			return nil, err
		}
	}
	bad := contexts[0].errors
	for _, e := range bad {
		t.msg.warn(e.whence, e.message)
	}
	if len(bad) > 0 && t.opt.failureMode == failAny || len(bad) == len(list) && t.opt.failureMode == failAll {
		return nil, &failure{message: "no profile can be merged"}
	}
	m := contexts[0].merger.Finish()
	t.warnUnusable(m, contexts[0].levels)
	return m, nil
}

// newContext returns a context. It shares the catalog of functions with like unless like is nil.
func (t *tool) newContext(like *mergeContext) *mergeContext {
	// To a Merger, 0 means the default and a negative number means none.
	orNone := func(n uint64) int {
		if n == 0 {
			return -1
		}
		return clampInt(n)
	}
	c := &mergeContext{t: t}
	opt := irpgo.MergeOptions{
		LLVMCompat:      true,
		KeepVTableNames: t.opt.keepVTables,
		Rename:          t.rename,
		TraceReservoir:  orNone(t.opt.traceReservoir),
		MaxTraceLength:  orNone(t.opt.maxTraceLength),
		Warn:            func(w profile.Warning) { c.warn(w) },
	}
	if like != nil {
		opt.Like = like.merger
	}
	c.merger = irpgo.NewMerger(opt)
	return c
}

// clampInt converts an option's value to an int, limited to its range.
func clampInt(n uint64) int { return int(min(n, 1<<31-1)) }

// loadAll reads the inputs in parallel, input i into context i modulo the number of contexts. It
// prints problems in the order of the inputs and returns the first error that ends the run. At
// most as many contexts as processors are read at the same time.
func (t *tool) loadAll(contexts []*mergeContext, list worklist) error {
	problems := make([][]profile.Warning, len(list))
	fatal := make([]error, len(list))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for n, c := range contexts {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			var memory inputs.Reader
			defer memory.Close()
			for i := n; i < len(list); i += len(contexts) {
				c.warn = func(w profile.Warning) { problems[i] = append(problems[i], w) }
				if c.load(&memory, list[i]); c.fatal != nil {
					fatal[i] = c.fatal
					return
				}
			}
		})
	}
	wg.Wait()
	for i, ws := range problems {
		for _, w := range ws {
			t.printProblem(w)
		}
		if fatal[i] != nil {
			return fatal[i]
		}
	}
	return nil
}

// load merges one input into the context. An archive counts as one profile for each member, all with the archive's name.
func (c *mergeContext) load(memory *inputs.Reader, in weightedFile) {
	source, err := c.t.input(in.name)
	if err == nil {
		err = source.Each(memory, func(d *inputs.Data) error {
			c.addProfile(in, d.Bytes())
			return nil
		})
	}
	if err != nil {
		c.complain(in.name, readingWords(err))
	}
}

func (c *mergeContext) complain(file, message string) {
	c.errors = append(c.errors, &failure{whence: file, message: message})
}

// addProfile merges one profile. A profile whose kind clashes with the kinds before is bad and does not
// change the kind of the context. An empty raw profile is no error.
func (c *mergeContext) addProfile(in weightedFile, data []byte) {
	if kind := heapKindOf(data); kind != 0 {
		c.addHeap(in, data, kind)
		return
	}
	var suspect error // first counter that cannot be true
	warn := once(c.warn)
	opt := irpgo.ReaderOptions{Lenient: true, Warn: func(w profile.Warning) {
		switch {
		case code(w.Err) != llvmerr.CounterValueTooLarge:
			warn(w)
		case suspect == nil:
			suspect = w.Err
		}
	}}
	if c.t.correlate != nil {
		opt.Correlate = c.t.correlate.forProfile
	}
	memlimit.Profile(len(data))
	r, err := irpgo.NewReader(in.name, data, opt)
	if err == nil && clash(c.kind, r.Info.Variant) {
		err = errClash
	}
	if err == nil {
		var added irpgo.Added
		added, err = c.merger.Add(r, in.weight)
		if code(err) != llvmerr.MixedKinds {
			c.kind |= r.Info.Variant
		}
		if added.Records > 0 {
			c.levels.addInput(&in, r.Info.Variant)
		}
	}
	switch {
	case code(err) == llvmerr.EmptyRawProfile:
		// The process was killed before it wrote its profile. LLVM does not report that either.
	case err != nil:
		c.errors = append(c.errors, inFile(err, in.name))
	case suspect != nil:
		c.complain(in.name, words(suspect))
	}
}

// once passes on the first warning about each field of a file: a damaged file can cause the same warning many times.
func once(warn func(profile.Warning)) func(profile.Warning) {
	told := make(map[string]bool)
	return func(w profile.Warning) {
		field := ""
		if e := (*profile.FormatError)(nil); errors.As(w.Err, &e) {
			field = e.Field
		}
		if !told[field] {
			told[field] = true
			warn(w)
		}
	}
}

// printProblem prints that a function was not merged completely, with a hint for the first
// problem of each kind. LLVM ignores problems of whole files; profuse warns about them.
func (t *tool) printProblem(w profile.Warning) {
	if w.Function == "" {
		t.msg.warn(w.File, details(w.Err))
		return
	}
	t.msg.plain("%s: %s: %s", w.File, w.Function, words(w.Err))
	kind := code(w.Err)
	if !t.explained[kind] && (kind == llvmerr.CountMismatch || kind == llvmerr.ValueSiteCountMismatch) {
		t.msg.plain("Make sure that all profile data to be merged is generated from the same binary.")
	}
	t.explained[kind] = true
}

// warnUnusable warns about profiles that LLVM merges silently but that no compiler can use.
func (t *tool) warnUnusable(m *irpgo.Merged, l levels) {
	if functions, _, _ := m.Contents(); functions == 0 && m.Head.MemProf.Empty() {
		t.msg.warn("", "no input has any function: the profile is empty")
	}
	if l.frontEnd != nil && l.ir != nil {
		t.msg.warn("", fmt.Sprintf("counts of different instrumentation are mixed: %s is of the front end, %s of the IR", l.frontEnd.name, l.ir.name))
	}
}

// join merges n contexts into the first: it merges the upper half into the lower half, and an odd one into the
// first, until one is left. contexts may be shorter than n: the missing ones had no inputs.
func (t *tool) join(contexts []*mergeContext, n int) error {
	for end := n; end > 1; end /= 2 {
		half := end / 2
		results := make([]joinResult, max(0, min(end, len(contexts))-half))
		pairs := min(half, len(results)) // the rest, if any, is the one left over
		var wg sync.WaitGroup
		for i := range pairs {
			wg.Go(func() { results[i] = contexts[i].mergeFrom(contexts[half+i]) })
		}
		wg.Wait()
		if len(results) > pairs {
			results[pairs] = contexts[0].mergeFrom(contexts[end-1])
		}
		for _, r := range results {
			if r.err != nil {
				return &failure{message: r.err.Error()}
			}
			for _, w := range r.problems {
				if kind := code(w.Err); !t.explained[kind] {
					t.explained[kind] = true
					t.msg.warn("", words(w.Err))
				}
			}
		}
	}
	return nil
}

// A joinResult holds the problems of merging one context into another, the first of each kind.
type joinResult struct {
	problems []profile.Warning
	err      error
}

// mergeFrom (mergeWriterContexts) merges another context into this one.
func (c *mergeContext) mergeFrom(from *mergeContext) (r joinResult) {
	c.errors = append(c.errors, from.errors...)
	seen := make(map[llvmerr.Code]bool)
	c.warn = func(w profile.Warning) {
		if kind := code(w.Err); !seen[kind] {
			seen[kind] = true
			r.problems = append(r.problems, w)
		}
	}
	if clash(c.kind, from.kind) || c.merger.Merge(from.merger) != nil {
		// LLVM words a conflict of two kinds of profile differently here than for a single input.
		text := "unsupported instrumentation profile format version"
		if (c.kind^from.kind)&irpgo.FrontEnd == 0 {
			text += ": cannot merge FunctionEntryOnly profiles and BB profiles together"
		}
		r.err = errors.New(text)
	}
	from.merger = nil
	c.kind |= from.kind
	c.levels.addLevels(from.levels)
	return r
}

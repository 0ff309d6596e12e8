package profgen

import (
	"slices"

	"github.com/profuse-pgo/profuse/formats/sampleprof"
	"github.com/profuse-pgo/profuse/internal/llvm/discriminator"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/symbolize"
)

// LineOptions adjust [Program.Lines]. The zero value makes llvm-profgen's default.
type LineOptions struct {
	// AllFunctions gives all functions of the program places with count 0, not only the functions that ran.
	AllFunctions bool
	// TrimCold drops functions whose total is below the counts that make up 99.9999 % of all.
	TrimCold bool
	// LLVMCompat looks for functions also at the address External, as LLVM does: code that the linker has dropped may be
	// there, and becomes the caller of what is called from outside.
	LLVMCompat bool
	// SumTotals makes the total of a function the sum of its counts. By default it is the sum over its
	// instructions of count and size in bytes.
	SumTotals bool
}

// Lines makes a profile by source lines (AutoFDO). It returns a profile together with an error if it could read only
// a part of the debug information.
func (p *Program) Lines(c *Counts, opt LineOptions) (*sampleprof.Profile, error) {
	g := &lineMaker{program: p, names: make(map[string]*lines)}
	err := g.add(p.pieces(c, opt.AllFunctions), sorted(c.Branches), opt.LLVMCompat)
	return g.finish(opt), err
}

// pieces divides the ranges into pieces. Functions that ran are covered whole, with count 0 where they did not run.
func (p *Program) pieces(c *Counts, all bool) []piece {
	ranges := sorted(c.Ranges)
	fs := &p.functions
	zero := make([]bool, len(fs.list))
	for _, r := range ranges {
		if of := fs.find(r.From); of != nil {
			zero[of.function] = true
		}
	}
	covered := make(map[Span]bool)
	for i := range fs.list {
		for _, r := range fs.list[i].ranges {
			s := Span{r[0], r[1] - 1}
			if _, ran := c.Ranges[s]; (all || zero[i]) && !ran && !covered[s] {
				covered[s] = true
				ranges = append(ranges, piece{Span: s})
			}
		}
	}
	return disjoint(ranges)
}

// lines are the samples of a function, or of one inlined copy of a function, while the profile is made.
type lines struct {
	name        string
	total, head uint64
	body        map[sampleprof.Location]*place
	calls       map[call]*lines
}

type place struct {
	count   uint64
	targets map[string]uint64
}

// A call is a place and the function that is inlined there.
type call struct {
	sampleprof.Location
	callee string
}

type lineMaker struct {
	program *Program
	names   map[string]*lines // of functions that are not inlined
	// path are the copies of functions that the last address was in, outermost first, each with the place of the call
	// in it. Most addresses share it with the address before.
	path []step
}

type step struct {
	in *lines
	at sampleprof.Location
	of symbolize.Frame // without a file
}

// atATime bounds the addresses looked up in one batch, and so the memory.
const atATime = 1 << 20

// add adds the counts of the instructions in pieces, and of branches in the order of their addresses; with external
// also where branches from outside come from.
func (g *lineMaker) add(pieces, branches []piece, external bool) error {
	p := g.program
	calls := branches[:0:0]
	for _, b := range branches {
		name := p.functions.called(b.To)
		if name == "" {
			continue
		}
		f := g.function(name)
		f.head = saturate.Add(f.head, b.count)
		if b.From != External || external {
			calls = append(calls, b)
		}
	}
	var first error
	var ran []ranInstruction
	var addrs []uint64
	flush := func(calls []piece) {
		addrs = addrs[:0]
		for i := range ran {
			addrs = append(addrs, ran[i].addr)
		}
		for i := range calls {
			addrs = append(addrs, calls[i].From)
		}
		err := p.debug.Batch(addrs, func(i int, frames []symbolize.Frame) {
			if i < len(ran) {
				g.addInstruction(&ran[i], frames)
			} else {
				c := &calls[i-len(ran)]
				g.addTarget(frames, p.functions.called(c.To), c.count)
			}
		})
		if first == nil {
			first = err
		}
		ran = ran[:0]
	}
	// Branches are looked up together with the instructions around them, so that each unit is read once.
	upTo := func(addr uint64) []piece {
		n, _ := slices.BinarySearchFunc(calls, Span{addr, 0}, func(a piece, s Span) int { return a.compare(s) })
		some := calls[:n]
		calls = calls[n:]
		return some
	}
	for _, x := range pieces {
		for at := x.From; at <= x.To; {
			in, ok := p.code.next(at, x.To)
			if !ok {
				break
			}
			if len(ran) == atATime {
				flush(upTo(in.addr))
			}
			ran = append(ran, ranInstruction{in.addr, x.count, uint8(in.size)})
			at = in.addr + 1
		}
	}
	flush(calls)
	return first
}

type ranInstruction struct {
	addr, count uint64
	size        uint8
}

func (g *lineMaker) function(name string) *lines {
	f := g.names[name]
	if f == nil {
		f = &lines{name: name}
		g.names[name] = f
	}
	return f
}

// follow sets path to the functions at an address and reports whether there is one. frames are innermost first.
func (g *lineMaker) follow(frames []symbolize.Frame) bool {
	for n := range frames {
		if frames[len(frames)-1-n].Function == "" {
			frames = frames[len(frames)-n:]
			break
		}
	}
	same := true
	for n := range frames {
		f := &frames[len(frames)-1-n]
		if same && n < len(g.path) {
			s := &g.path[n]
			if s.of.Function == f.Function && s.of.Line == f.Line && s.of.StartLine == f.StartLine && s.of.Discriminator == f.Discriminator {
				continue
			}
			// The function is the same, but the place in it is another.
			same = false
			if s.of.Function == f.Function {
				*s = step{s.in, g.placeOf(f), *f}
				g.path = g.path[:n+1]
				continue
			}
		}
		same = false
		g.path = g.path[:min(n, len(g.path))]
		s := step{at: g.placeOf(f), of: *f}
		if n == 0 {
			s.in = g.function(f.Function)
		} else {
			s.in = g.path[n-1].in.inlined(call{g.path[n-1].at, f.Function})
		}
		g.path = append(g.path, s)
	}
	g.path = g.path[:len(frames)]
	return len(frames) > 0
}

func (g *lineMaker) placeOf(f *symbolize.Frame) sampleprof.Location {
	d := f.Discriminator
	if !g.program.flow {
		d = discriminator.Base(d)
	}
	return sampleprof.Location{Line: (f.Line - f.StartLine) & 0xffff, Discriminator: d}
}

func (f *lines) inlined(at call) *lines {
	in := f.calls[at]
	if in == nil {
		if f.calls == nil {
			f.calls = make(map[call]*lines)
		}
		in = &lines{name: at.callee}
		f.calls[at] = in
	}
	return in
}

func (f *lines) place(at sampleprof.Location) *place {
	p := f.body[at]
	if p == nil {
		if f.body == nil {
			f.body = make(map[sampleprof.Location]*place)
		}
		p = new(place)
		f.body[at] = p
	}
	return p
}

func (g *lineMaker) addInstruction(in *ranInstruction, frames []symbolize.Frame) {
	if !g.follow(frames) {
		return
	}
	for i := range g.path {
		f := g.path[i].in
		f.total, _ = saturate.AddScaled(f.total, in.count, uint64(in.size))
	}
	leaf := &g.path[len(g.path)-1]
	count := in.count
	if !g.program.flow {
		count, _ = saturate.Mul(count, uint64(discriminator.Duplication(leaf.of.Discriminator)))
	}
	at := leaf.in.place(leaf.at)
	at.count = max(at.count, count)
}

func (g *lineMaker) addTarget(frames []symbolize.Frame, callee string, count uint64) {
	if !g.follow(frames) {
		return
	}
	leaf := &g.path[len(g.path)-1]
	at := leaf.in.place(leaf.at)
	if at.targets == nil {
		at.targets = make(map[string]uint64)
	}
	at.targets[callee] = saturate.Add(at.targets[callee], count)
}

func (g *lineMaker) finish(opt LineOptions) *sampleprof.Profile {
	var functions []*sampleprof.Function
	c := converter{sums: opt.SumTotals, names: make(map[string]sampleprof.Name)}
	for _, f := range g.names {
		// Calls run at least as often as what they call. LLVM looks only at functions that are not inlined.
		for _, at := range f.body {
			sum := uint64(0)
			for _, n := range at.targets {
				sum = saturate.Add(sum, n)
			}
			at.count = max(at.count, sum)
		}
		functions = append(functions, c.function(f))
	}
	p := sampleprof.New(sampleprof.Kind{FlowDiscriminators: g.program.flow}, functions)
	Tidy(p, opt.TrimCold)
	return p
}

// A converter makes functions of lines.
type converter struct {
	sums  bool
	names map[string]sampleprof.Name
}

func (c *converter) name(text string) sampleprof.Name {
	n, ok := c.names[text]
	if !ok {
		n = sampleprof.NameOf(text)
		c.names[text] = n
	}
	return n
}

func (c *converter) function(f *lines) *sampleprof.Function {
	out := &sampleprof.Function{Name: c.name(f.name), Total: f.total, Head: f.head}
	out.Body = make([]sampleprof.Sample, 0, len(f.body))
	sum := uint64(0)
	for at, place := range f.body {
		s := sampleprof.Sample{Location: at, Count: place.count}
		for callee, n := range place.targets {
			s.Targets = append(s.Targets, sampleprof.Target{Name: c.name(callee), Count: n})
		}
		sum = saturate.Add(sum, s.Count)
		out.Body = append(out.Body, s)
	}
	for at, in := range f.calls {
		callee := c.function(in)
		sum = saturate.Add(sum, callee.Total)
		out.Callsites = append(out.Callsites, sampleprof.Callsite{Location: at.Location, Callee: callee})
	}
	if c.sums {
		out.Total = sum
	}
	return out
}

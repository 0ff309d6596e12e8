package gcov

import (
	"iter"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

const familyName = "gcov"

// View returns the format-neutral view of a program, with its coverage. name is the file's; "" for none.
func (p *Program) View(name string) profile.View { return &programView{program: p, name: name} }

type programView struct {
	countsOnly
	program *Program
	name    string
	covered *coverage.Coverage
}

// Coverage returns the coverage for [coverage.Collect].
func (v *programView) Coverage() *coverage.Coverage {
	if v.covered == nil {
		v.covered = v.program.Coverage()
	}
	return v.covered
}

func (v *programView) Identity() profile.Identity {
	id := profile.Identity{File: v.name, Family: familyName}
	if of := v.program.versions; len(of) == 1 {
		id.Version, id.Producer = of[0].String(), of[0].Release()
	}
	return id
}

func (*programView) Features() profile.Features {
	return profile.Features{Calls: true, Blocks: true, Hashes: true}
}

func (v *programView) Functions() iter.Seq[*profile.Function] {
	return func(yield func(*profile.Function) bool) {
		for _, f := range v.program.functions {
			fn := &profile.Function{Symbol: f.symbol, Hash: uint64(f.flow), Calls: counted(f.calls), Covered: f.calls > 0}
			for _, n := range f.inner() {
				fn.Blocks = append(fn.Blocks, profile.Block{Count: counted(n)})
			}
			if !yield(fn) {
				return
			}
		}
	}
}

// Lines yields the lines of all sources, for [profile.LineView]; they are sums of all functions, so none has a function.
func (v *programView) Lines() iter.Seq[profile.Line] {
	return func(yield func(profile.Line) bool) {
		for _, f := range v.Coverage().Files {
			for _, l := range f.Lines {
				if !yield(profile.Line{Function: profile.Symbol{File: f.Path}, File: f.Path, Number: l.Number, Count: l.Count}) {
					return
				}
			}
		}
	}
}

// countsOnly is the part of a view that only has functions.
type countsOnly struct{}

func (countsOnly) Stacks() []profile.StackSet { return nil }

func (countsOnly) Edges() iter.Seq[*profile.Edge] { return func(func(*profile.Edge) bool) {} }

func (countsOnly) Traces() iter.Seq[*profile.Trace] { return func(func(*profile.Trace) bool) {} }

// View returns the view of counts without their notes: functions are known by ident only, and their blocks are the
// counted arcs.
func (c *Counts) View(name string) profile.View { return &countsView{counts: c, name: name} }

type countsView struct {
	countsOnly
	counts *Counts
	name   string
}

func (v *countsView) Identity() profile.Identity {
	return profile.Identity{
		File: v.name, Family: familyName, Format: "gcda", Version: v.counts.Version.String(), Producer: v.counts.Version.Release(),
		Omits: []string{"names and lines of functions, which are in the notes (.gcno)"},
	}
}

func (*countsView) Features() profile.Features { return profile.Features{Blocks: true, Hashes: true} }

func (v *countsView) Functions() iter.Seq[*profile.Function] {
	return func(yield func(*profile.Function) bool) {
		for i := range v.counts.Functions {
			f := &v.counts.Functions[i]
			if f.Placeholder {
				continue
			}
			fn := &profile.Function{Symbol: profile.Symbol{ID: uint64(f.Ident)}, Hash: uint64(f.FlowChecksum)}
			for _, n := range f.Arcs() {
				fn.Covered = fn.Covered || n > 0
				fn.Blocks = append(fn.Blocks, profile.Block{Count: counted(n)})
			}
			if !yield(fn) {
				return
			}
		}
	}
}

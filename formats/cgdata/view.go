package cgdata

import (
	"fmt"
	"iter"

	"github.com/profuse-pgo/profuse/profile"
)

// The stack set of a view.
const (
	sequenceSet        = "sequences"
	sequenceSetMeaning = "a sequence of instructions that was outlined, by their hashes, and how often"
)

// View returns the format-neutral view of the data. name is the file's; "" for none.
//
// Functions are the functions that may be merged, with their common hash and the module as the file. Stacks are outlined sequences: the
// outermost frame is the first instruction, and IDs are stable hashes. Data without a tree has no stacks.
func (d *Data) View(name string) profile.View { return &view{d, name} }

type view struct {
	d    *Data
	name string
}

func (v *view) Identity() profile.Identity {
	id := profile.Identity{File: v.name, Family: "cgdata", Format: v.d.form}
	if v.d.Version > 0 {
		id.Version, id.ReadableBy = fmt.Sprint(v.d.Version), "LLVM 20 to 22"
	}
	for i := range v.d.Functions {
		if len(v.d.Functions[i].Operands) > 0 {
			id.Omits = append(id.Omits, "the operands in which functions differ")
			break
		}
	}
	return id
}

func (v *view) Features() profile.Features { return profile.Features{Hashes: true} }

func (v *view) Functions() iter.Seq[*profile.Function] {
	return func(yield func(*profile.Function) bool) {
		for i := range v.d.Functions {
			f := &v.d.Functions[i]
			if !yield(&profile.Function{Symbol: profile.Symbol{Name: f.Name, File: f.Module}, Hash: f.Hash, Covered: true}) {
				return
			}
		}
	}
}

func (v *view) Stacks() []profile.StackSet {
	if len(v.d.Tree) == 0 {
		return nil
	}
	return []profile.StackSet{{
		Name: sequenceSet, Description: sequenceSetMeaning,
		Values:       []profile.ValueType{{Name: "outlined", Unit: profile.Count}},
		ReusedStacks: v.sequences,
	}}
}

// sequences yields the outlined sequences. Nodes come before their successors, so that the way to a node is known; frames
// grow from the end of a buffer.
func (v *view) sequences(yield func(*profile.Stack) bool) {
	s := &profile.Stack{Values: make([]uint64, 1)}
	frames := make([]profile.Frame, 64)
	for hashes, n := range v.d.Sequences() {
		depth := len(hashes)
		if depth > len(frames) {
			frames = make([]profile.Frame, 2*depth)
		}
		s.Frames = frames[:depth]
		for i, hash := range hashes {
			s.Frames[depth-1-i] = profile.Frame{Symbol: profile.Symbol{ID: hash}}
		}
		s.Values[0], s.Labels = uint64(n), nil
		if !yield(s) {
			return
		}
	}
}

// Sequences yields the outlined sequences, as the hashes of their instructions, and how often each was outlined. The next step
// overwrites the hashes.
func (d *Data) Sequences() iter.Seq2[[]uint64, uint32] {
	return func(yield func([]uint64, uint32) bool) {
		if len(d.Tree) == 0 {
			return
		}
		type step struct{ node, depth int }
		var path []uint64
		for todo := []step{{0, 0}}; len(todo) > 0; {
			s := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			n := &d.Tree[s.node]
			if s.depth > 0 {
				path = append(path[:s.depth-1], n.Hash)
			}
			if n.Terminals > 0 && !yield(path[:s.depth], n.Terminals) {
				return
			}
			for i := len(n.Successors) - 1; i >= 0; i-- {
				todo = append(todo, step{n.Successors[i], s.depth + 1})
			}
		}
	}
}

func (v *view) Edges() iter.Seq[*profile.Edge] { return func(func(*profile.Edge) bool) {} }

func (v *view) Traces() iter.Seq[*profile.Trace] { return func(func(*profile.Trace) bool) {} }

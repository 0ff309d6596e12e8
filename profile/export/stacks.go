package export

import (
	"fmt"
	"slices"

	"github.com/profuse-pgo/profuse/profile"
)

// set returns the stack set to write for formats that have one kind of stacks, and the
// indexes of its additive values, at least one.
func (e *exporter) set() (set profile.StackSet, values []int, err error) {
	name := e.opt.Table
	if sets := e.v.Stacks(); name == "" && len(sets) > 0 {
		name = sets[0].Name
	}
	if set, err = e.setNamed(name); err != nil {
		return set, nil, err
	}
	e.loseTables(set.Name)
	if err := e.checkValue(set); err != nil {
		return set, nil, err
	}
	values = e.additive(set)
	if len(values) == 0 {
		return set, nil, errNoValue(set)
	}
	return set, values, nil
}

// errNoValue returns the error for a stack set without an additive value, which viewers cannot show.
func errNoValue(set profile.StackSet) error {
	return fmt.Errorf("table %q has no value that adds up over stacks", set.Name)
}

func (e *exporter) sets() ([]profile.StackSet, error) {
	if all := e.v.Stacks(); e.opt.Table == "" && len(all) > 0 {
		names := make([]string, len(all))
		for i := range all {
			names[i] = all[i].Name
		}
		e.loseTables(names...)
		return all, e.checkValue(all...)
	}
	set, _, err := e.set()
	return []profile.StackSet{set}, err
}

// setNamed returns a table as stacks: functions become stacks of one frame, edges stacks of two.
func (e *exporter) setNamed(name string) (profile.StackSet, error) {
	switch name {
	case "", profile.FunctionSet:
		return functionStacks(e.v), nil
	case edgeSet:
		return edgeStacks(e.v), nil
	}
	for _, set := range e.v.Stacks() {
		if set.Name == name {
			return set, nil
		}
	}
	return profile.StackSet{}, fmt.Errorf("table %q has no stacks, which %s is made of", name, e.format)
}

func (e *exporter) checkValue(sets ...profile.StackSet) error {
	if e.opt.Value == "" {
		return nil
	}
	var names []string
	for _, set := range sets {
		for _, v := range set.Values {
			if v.Combine != profile.Sum {
				continue
			}
			if v.Name == e.opt.Value {
				return nil
			}
			names = append(names, v.Name)
		}
	}
	return fmt.Errorf("no value %q that adds up over stacks: want one of %s", e.opt.Value, join(names))
}

func (e *exporter) additive(set profile.StackSet) []int {
	var out []int
	for i, v := range set.Values {
		if v.Combine == profile.Sum {
			out = append(out, i)
		} else {
			which := "least"
			if v.Combine == profile.Max {
				which = "greatest"
			}
			e.lose(0, "values "+v.Name, "viewers add up, but of these only the "+which+" counts")
		}
	}
	return out
}

// loseTables records the tables that are not in the written ones as losses.
func (e *exporter) loseTables(written ...string) {
	e.loseOmitted()
	for _, set := range e.v.Stacks() {
		if !slices.Contains(written, set.Name) {
			e.lose(0, "stacks: "+set.Name, "another table is written")
		}
	}
	f := e.features
	if slices.Contains(written, profile.FunctionSet) {
		if len(e.v.Stacks()) == 0 {
			e.lose(0, "callers", "the profile has counters, which know no stacks: every function stands by itself")
		}
		e.loseDetails("a function is a stack with a value for all of it")
		e.loseNeverRun()
	} else if f.Calls || f.Blocks {
		e.lose(0, "functions with their counts", "another table is written")
	}
	// Callgrind files of functions have the edges as calls.
	withEdges := slices.Contains(written, edgeSet) || e.format == "callgrind" && slices.Contains(written, profile.FunctionSet)
	if f.Edges && !withEdges {
		e.lose(0, "edges", "another table is written")
	}
	if f.Traces {
		e.lose(0, "traces", "orders of calls are no stacks")
	}
}

func (e *exporter) loseDetails(why string) {
	for _, d := range []struct {
		has  bool
		what string
	}{
		{e.features.Blocks, "counts of single blocks"},
		{e.features.Hashes, "hashes"},
		{e.features.Sizes, "addresses and sizes"},
		{e.features.FirstCalls, "first calls"},
		{e.features.Runs, "numbers of runs"},
	} {
		if d.has {
			e.lose(0, d.what, why)
		}
	}
}

func (e *exporter) loseNeverRun() {
	var never uint64
	for f := range profile.ReusedFunctions(e.v) {
		if !f.Covered {
			never++
		}
	}
	e.loseCounted(never, "functions that never ran", "they are in no stack")
}

func (e *exporter) loseFrames(labels uint64) {
	e.loseSignatures()
	if e.opt.Lines {
		e.loseLines()
	} else if e.features.Lines || e.features.LineOffsets || e.features.Bytecodes {
		e.lose(0, "lines", "frames are told apart by function: ask for lines")
	}
	e.loseCounted(labels, "stacks with labels", "the format has none")
}

package export

import (
	"cmp"

	"github.com/profuse-pgo/profuse/internal/numbering"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// speedscope writes the file format of speedscope.app: a sampled profile per value, in
// which each stack is a sample with the value as its weight. Instead of holding the stacks
// in memory it iterates twice per value: for the samples and for the weights.
func (e *exporter) speedscope() error {
	sets, err := e.sets()
	if err != nil {
		return err
	}
	s := speedscopeWriter{e: e}
	s.j.w = e
	j := &s.j
	j.open('{')
	j.key("$schema").string("https://www.speedscope.app/file-format-schema.json")
	j.key("exporter").string("profuse")
	id := e.v.Identity()
	j.key("name").string(cmp.Or(id.File, id.String()))
	j.key("profiles").open('[')
	// active is the first profile of the value that options name.
	profiles, active := 0, 0
	for _, set := range sets {
		for _, at := range e.additive(set) {
			if e.opt.Value != "" && set.Values[at].Name == e.opt.Value && active == 0 {
				active = profiles
			}
			s.profile(set, at, len(sets) > 1)
			profiles++
		}
	}
	// The values of all sets are least or greatest ones.
	if profiles == 0 {
		return errNoValue(sets[0])
	}
	j.close(']')
	j.line()
	j.key("activeProfileIndex").int(int64(active))
	s.frames()
	j.close('}')
	j.end()
	e.loseFrames(s.labels)
	e.loseCounted(s.inexact, "values above 2^53", "speedscope reads them as floating point, not exactly")
	e.loseCounted(j.bad, "names that are not UTF-8", "JSON is: replaced by U+FFFD")
	j.flush()
	return nil
}

// A speedscopeWriter writes the profiles of a file, which share one table of frames.
type speedscopeWriter struct {
	e     *exporter
	j     jsonWriter
	table numbering.Table[speedscopeFrame]

	labels, inexact uint64
}

type speedscopeFrame struct {
	symbol       int
	line, column int32
}

// units are speedscope's units; other units are "none".
var units = map[profile.Unit]string{
	profile.Bytes: "bytes", profile.Milliseconds: "milliseconds",
	"nanoseconds": "nanoseconds", "microseconds": "microseconds", "seconds": "seconds",
}

// profile writes one value of a stack set as a profile: its name, unit, samples and
// weights. With several sets the name includes the name of the set.
func (s *speedscopeWriter) profile(set profile.StackSet, at int, several bool) {
	j := &s.j
	j.line()
	j.open('{')
	j.key("type").string("sampled")
	name := set.Values[at].Name
	if several && set.Name != name {
		name = set.Name + ": " + name
	}
	j.key("name").string(name)
	j.key("unit").string(cmp.Or(units[set.Values[at].Unit], "none"))
	j.key("samples").open('[')
	for st := range set.ReusedStacks {
		if st.Values[at] == 0 {
			continue
		}
		if len(st.Labels) > 0 {
			s.labels++
		}
		j.open('[')
		for i := len(st.Frames) - 1; i >= 0; i-- {
			j.int(int64(s.frame(&st.Frames[i])))
		}
		j.close(']')
	}
	j.close(']')

	j.key("weights").open('[')
	var total uint64
	for st := range set.ReusedStacks {
		if v := st.Values[at]; v != 0 {
			j.uint(v)
			total = saturate.Add(total, v)
			// JavaScript's numbers are floating point of 53 bits.
			if v > 1<<53 {
				s.inexact++
			}
		}
	}
	j.close(']')
	// Samples have no times: the axis is the sum of the weights.
	j.key("startValue").int(0)
	j.key("endValue").uint(total)
	j.close('}')
}

// frame returns the number of a frame in the shared table. Without Options.Lines all frames of a function are one.
func (s *speedscopeWriter) frame(f *profile.Frame) int {
	key := speedscopeFrame{line: f.StartLine}
	key.symbol, _ = s.e.symbols.number(&f.Symbol)
	if s.e.opt.Lines {
		key.line, key.column = s.e.line(f), f.Column
	}
	return int(s.table.Of(key))
}

// frames writes the table of frames. It is last, when all frames have numbers.
func (s *speedscopeWriter) frames() {
	j := &s.j
	j.line()
	j.key("shared").open('{')
	j.key("frames").open('[')
	for _, f := range s.table.Keys {
		symbol := s.e.symbols.table.Keys[f.symbol]
		j.line()
		j.open('{')
		j.key("name").string(s.e.symbols.name(&symbol))
		if symbol.File != "" {
			j.key("file").string(symbol.File)
		}
		if f.line != 0 {
			j.key("line").int(int64(f.line))
		}
		if f.column != 0 {
			j.key("col").int(int64(f.column))
		}
		j.close('}')
	}
	j.close(']')
	j.close('}')
}

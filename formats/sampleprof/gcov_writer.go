package sampleprof

import (
	"bufio"
	"io"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/tally"
)

// workingSets is the number of entries of the working set, which AutoFDO's own tools want in a file and
// compilers ignore. Entry i is about the counts that make up (i+1)/129 of all samples.
const workingSets = 128

// writeGCov writes the profile as create_gcov of AutoFDO 0.19 does, or for GCC 12 to 15 with strings of
// exact length. The totals of the functions are lost, because the format has none.
func (p *Profile) writeGCov(out io.Writer, version uint32) error {
	if p.Kind.ContextSensitive || p.Kind.ProbeBased || p.Kind.FlowDiscriminators {
		return flaw.Field("format").Got("a " + p.Kind.String() + " profile").Want("a line-based one in the gcov format").Unsupported()
	}
	w := gcovWriter{Writer: bufio.NewWriter(out), exact: version != gcovLLVM && version >= gcovGCC12}
	functions := slices.Clone(p.Functions)
	slices.SortFunc(functions, func(a, b *Function) int { return a.Name.compare(b.Name) })
	if err := w.setNames(functions); err != nil {
		return err
	}
	w.WriteString(magicGCov)
	w.words(version, 0)
	w.writeNames()
	size := uint64(1)
	for _, f := range functions {
		size += 2 + f.gcovWords()
	}
	w.words(tagFunctions, uint32(size), uint32(len(functions)))
	for _, f := range functions {
		w.long(f.Head)
		w.function(f)
	}
	w.words(tagModules, 0, 0)
	w.workingSet(functions)
	return w.Flush()
}

type gcovWriter struct {
	*bufio.Writer // which keeps the first error
	exact         bool
	names         []string
	index         map[string]uint32
	number        [8]byte
}

func (w *gcovWriter) words(values ...uint32) {
	for _, v := range values {
		le.PutUint32(w.number[:], v)
		w.Write(w.number[:4])
	}
}

func (w *gcovWriter) long(v uint64) {
	le.PutUint64(w.number[:], v)
	w.Write(w.number[:])
}

// setNames collects the names, the empty one first, and checks that the format can hold the functions.
func (w *gcovWriter) setNames(functions []*Function) (err error) {
	w.index = map[string]uint32{"": 0}
	add := func(n Name) {
		if n.isID() && err == nil {
			err = flaw.Field("format").Got("a profile with GUIDs instead of names").Want("one with names in the gcov format").Unsupported()
		}
		w.index[n.Text] = 0
	}
	check := func(at Location) {
		if at.Discriminator > math.MaxUint16 && err == nil {
			err = flaw.Field("discriminator").Got(at.Discriminator).Wantf("at most %d in the gcov format", math.MaxUint16).Unsupported()
		}
	}
	for _, f := range functions {
		f.walk(func(g *Function) bool {
			add(g.Name)
			for _, s := range g.Body {
				for _, t := range s.Targets {
					add(t.Name)
				}
				check(s.Location)
			}
			for _, c := range g.Callsites {
				check(c.Location)
			}
			return true
		})
	}
	for name := range w.index {
		w.names = append(w.names, name)
	}
	slices.Sort(w.names)
	for i, name := range w.names {
		w.index[name] = uint32(i)
	}
	return err
}

func (w *gcovWriter) writeNames() {
	size := 1
	for _, name := range w.names {
		size += 1 + len(name)/4 + 1
	}
	w.words(tagNames, uint32(size), uint32(len(w.names)))
	for _, name := range w.names {
		zeros := 4 - len(name)%4
		if w.exact {
			zeros = 1
			w.words(uint32(len(name) + zeros))
		} else {
			w.words(uint32((len(name) + zeros) / 4))
		}
		w.WriteString(name)
		w.WriteString("\x00\x00\x00\x00"[:zeros])
	}
}

// gcovWords is the number of words that AutoFDO counts for a function.
func (f *Function) gcovWords() (n uint64) {
	n = 3 + 4*uint64(len(f.Body)) + uint64(len(f.Callsites))
	for _, s := range f.Body {
		n += 5 * uint64(len(s.Targets))
	}
	for _, c := range f.Callsites {
		n += c.Callee.gcovWords()
	}
	return n
}

func (w *gcovWriter) function(f *Function) {
	// Compilers compute offsets modulo 2^32, so lines above 65,535 share the offsets of others.
	if slices.ContainsFunc(f.Body, func(s Sample) bool { return s.Line > math.MaxUint16 }) ||
		slices.ContainsFunc(f.Callsites, func(c Callsite) bool { return c.Line > math.MaxUint16 }) {
		f = f.shortLines()
	}
	w.words(w.index[f.Name.Text], uint32(len(f.Body)), uint32(len(f.Callsites)))
	for _, s := range f.Body {
		w.words(s.Line<<16|s.Discriminator, uint32(len(s.Targets)))
		w.long(s.Count)
		targets := slices.Clone(s.Targets)
		slices.SortFunc(targets, func(a, b Target) int { return a.Name.compare(b.Name) })
		for _, t := range targets {
			w.words(targetKind)
			w.long(uint64(w.index[t.Name.Text]))
			w.long(t.Count)
		}
	}
	for _, c := range f.Callsites {
		w.words(c.Line<<16 | c.Discriminator)
		w.function(c.Callee)
	}
}

// shortLines returns the function with lines modulo 2^16.
func (f *Function) shortLines() *Function {
	g := &Function{Name: f.Name, Total: f.Total, Head: f.Head, Body: slices.Clone(f.Body)}
	for i := range g.Body {
		g.Body[i].Line &= math.MaxUint16
		g.Body[i].Targets = slices.Clone(g.Body[i].Targets)
	}
	for _, c := range f.Callsites {
		c.Line &= math.MaxUint16
		c.Callee = c.Callee.shortLines()
		g.Callsites = append(g.Callsites, c)
	}
	g.tidy()
	return g
}

// workingSet writes how many of the greatest counts make up each share of the samples, and the least of these.
func (w *gcovWriter) workingSet(functions []*Function) {
	var counts tally.Tally
	for _, f := range functions {
		f.walk(func(g *Function) bool {
			for _, s := range g.Body {
				counts.Add(s.Count)
			}
			return true
		})
	}
	shares := make([]uint64, workingSets)
	for i := range shares {
		shares[i] = uint64(i+1) * 1_000_000 / (workingSets + 1)
	}
	w.words(tagWorkingSet, 3*workingSets)
	for _, c := range counts.Distribution(shares, true).Cutoffs {
		w.words(uint32(c.Values))
		w.long(c.Min)
	}
}

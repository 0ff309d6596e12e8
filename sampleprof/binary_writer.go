package sampleprof

import (
	"io"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
)

// binaryWriter writes functions with indexes for names and contexts.
type binaryWriter struct {
	names    []Name // in their order
	index    nameIndex
	contexts map[*Function]uint64 // index of each function's context; nil without contexts
	vtables  bool
}

func newBinaryWriter(functions []*Function, vtables bool) *binaryWriter {
	w := &binaryWriter{vtables: vtables}
	for _, f := range functions {
		for _, frame := range f.Context {
			w.use(frame.Name)
		}
		f.walk(func(g *Function) bool {
			w.use(g.Name)
			for i := range g.Body {
				for j := range g.Body[i].Targets {
					w.use(g.Body[i].Targets[j].Name)
				}
			}
			for i := range g.VTables {
				for j := range g.VTables[i].VTables {
					if vtables {
						w.use(g.VTables[i].VTables[j].Name)
					}
				}
			}
			return true
		})
	}
	slices.SortFunc(w.names, Name.Compare)
	for i, n := range w.names {
		w.index.set(n, uint64(i))
	}
	return w
}

// A nameIndex is a map by name: names are told apart by their GUIDs, which are hashed in less time
// than texts, and those that are GUIDs alone are others than texts.
type nameIndex [2]map[uint64]uint64

func (x *nameIndex) of(n Name) *map[uint64]uint64 {
	if n.text == "" && n.id != emptyID {
		return &x[1]
	}
	return &x[0]
}

func (x *nameIndex) get(n Name) (i uint64, ok bool) {
	i, ok = (*x.of(n))[n.id]
	return i, ok
}

func (x *nameIndex) set(n Name, i uint64) {
	m := x.of(n)
	if *m == nil {
		*m = make(map[uint64]uint64)
	}
	(*m)[n.id] = i
}

// use notes that the table must have a name.
func (w *binaryWriter) use(n Name) {
	if _, ok := w.index.get(n); !ok {
		w.index.set(n, 0)
		w.names = append(w.names, n)
	}
}

func appendMagic(dst []byte, magic uint64) []byte {
	return cursor.AppendULEB(cursor.AppendULEB(dst, magic), version)
}

func appendSummary(dst []byte, s *Summary) []byte {
	for _, n := range []uint64{s.Total, s.MaxCount, s.MaxHead, s.NumCounts, s.NumFunctions, uint64(len(s.Cutoffs))} {
		dst = cursor.AppendULEB(dst, n)
	}
	for _, c := range s.Cutoffs {
		dst = cursor.AppendULEB(cursor.AppendULEB(cursor.AppendULEB(dst, c.Share), c.Min), c.Values)
	}
	return dst
}

// appendNames appends the name table; GUIDs as u64.
func (w *binaryWriter) appendNames(dst []byte, ids bool) []byte {
	dst = cursor.AppendULEB(dst, uint64(len(w.names)))
	for _, n := range w.names {
		if ids {
			dst = le.AppendUint64(dst, n.id)
		} else {
			dst = append(append(dst, n.String()...), 0)
		}
	}
	return dst
}

// hasUniqueSuffix reports whether a name is that of an internal function made unique.
func (w *binaryWriter) hasUniqueSuffix() bool {
	return slices.ContainsFunc(w.names, func(n Name) bool { return strings.Contains(n.text, uniqueSuffix) })
}

// appendSubject appends the index of a function's context, or else of its name.
func (w *binaryWriter) appendSubject(dst []byte, f *Function) []byte {
	if f.Context != nil {
		return cursor.AppendULEB(dst, w.contexts[f])
	}
	return w.appendName(dst, f.Name)
}

func (w *binaryWriter) appendName(dst []byte, n Name) []byte {
	i, _ := w.index.get(n)
	return cursor.AppendULEB(dst, i)
}

func appendPlace(dst []byte, at Location) []byte {
	return cursor.AppendULEB(cursor.AppendULEB(dst, uint64(at.Line)), uint64(at.Discriminator))
}

// appendFunction appends a function of the profile.
func (w *binaryWriter) appendFunction(dst []byte, f *Function) []byte {
	return w.appendBody(cursor.AppendULEB(dst, f.Head), f)
}

func (w *binaryWriter) appendBody(dst []byte, f *Function) []byte {
	dst = cursor.AppendULEB(w.appendSubject(dst, f), f.Total)
	dst = cursor.AppendULEB(dst, uint64(len(f.Body)))
	for i := range f.Body {
		s := &f.Body[i]
		dst = cursor.AppendULEB(appendPlace(dst, s.Location), s.Count)
		dst = w.appendTargets(dst, ByCount(s.Targets))
	}
	dst = cursor.AppendULEB(dst, uint64(len(f.Callsites)))
	for i := range f.Callsites {
		dst = w.appendBody(appendPlace(dst, f.Callsites[i].Location), f.Callsites[i].Callee)
	}
	if !w.vtables {
		return dst
	}
	dst = cursor.AppendULEB(dst, uint64(len(f.VTables)))
	for i := range f.VTables {
		dst = w.appendTargets(appendPlace(dst, f.VTables[i].Location), ByName(f.VTables[i].VTables))
	}
	return dst
}

func (w *binaryWriter) appendTargets(dst []byte, targets []Target) []byte {
	dst = cursor.AppendULEB(dst, uint64(len(targets)))
	for _, t := range targets {
		dst = cursor.AppendULEB(w.appendName(dst, t.Name), t.Count)
	}
	return dst
}

func (p *Profile) writeBinary(out io.Writer) error {
	w := newBinaryWriter(p.Functions, false)
	dst := appendSummary(appendMagic(nil, magicBinary), p.Summarize())
	dst = w.appendNames(dst, false)
	for _, f := range p.Sorted() {
		dst = w.appendFunction(dst, f)
	}
	_, err := out.Write(dst)
	return err
}

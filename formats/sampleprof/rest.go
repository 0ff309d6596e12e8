package sampleprof

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
)

// A rest is what a file has of a sum beside a profile that compilers read, so that sums of such sums
// are those of all inputs.
type rest struct {
	names  []string
	builds []*Profile // functions of other builds, which have other checksums
}

// addTo adds the rest of a profile that was added.
func (r *rest) addTo(m *Merger, added *Added, name string, weight uint64) {
	for _, text := range r.names {
		m.sums.number(NameOf(text))
	}
	for _, p := range r.builds {
		a, _ := m.addModel(name, p, weight) // of the same kind
		add(&added.Count, a.Count, 1)
	}
}

// readRest reads a restSection.
func (r *binaryReader) readRest(c *cursor.Cursor) {
	if r.opt.Lenient { // LLVM skips it
		c.Skip(uint64(c.Len()), "section")
		return
	}
	// One level is all that profuse writes; more would be a way to make a reader recurse.
	if r.isRest {
		c.Fail(c.At(c.Offset()).Field("section").Got("a rest of a rest").Want("a profile").Corrupt())
	}
	for n := c.Count(c.ULEB("number of names"), 1, "number of names"); n > 0 && c.Err() == nil; n-- {
		name, _, ended := bytes.Cut(c.Rest(), []byte{0})
		if !ended {
			c.Fail(c.At(c.Offset()).Field("name").Got("no zero byte").Want("one after the name").Truncated())
		}
		r.p.rest.names = append(r.p.rest.names, string(name))
		c.Skip(uint64(len(name)+1), "name")
	}
	for c.Err() == nil && c.Len() > 0 {
		at := c.Offset()
		data := c.Bytes(c.ULEB("size of a profile"), "profile")
		if format, _ := Detect(data); c.Err() == nil && format != FormatExtended {
			c.Fail(c.At(at).Field("profile").Got(format).Want(string(FormatExtended)).Corrupt())
		}
		if c.Err() != nil {
			return
		}
		of := newBinaryReader(data, FormatExtended, r.opt)
		// It may not be compressed: the limit counts as used up.
		of.isRest, of.inflated = true, maxInflated(len(data))
		p, err := of.read(FormatExtended)
		if err == nil && (p.Kind^r.p.Kind)&(ContextSensitive|ProbeBased) != 0 {
			err = c.At(at).Field("kind").Got(p.Kind.String()).Want(r.p.Kind.String()).Corrupt()
		}
		c.Fail(err)
		r.p.rest.builds = append(r.p.rest.builds, p)
		r.doubts.list = append(r.doubts.list, of.doubts.list...)
	}
}

// Exceeds reports whether the sum has what [Merged.Write] leaves out, so that sums of sums that were
// written so would differ from those of all inputs: functions of other builds, and names of which the
// file has the GUIDs alone, or nothing, and attributes that compilers do not ask for.
func (r *Merged) Exceeds() bool {
	return len(r.left) > 0 || len(r.restNames()) > 0 || r.Kind&withAttributes == 0 && r.packed.survey().attributes
}

// WritePartial writes an extensible binary file that loses nothing: the sum of partials is the sum of
// all their inputs, however these are grouped. Other readers take it for the profile that
// [Merged.Write] writes. Only exact merging has partials.
func (r *Merged) WritePartial(w io.Writer, opt WriteOptions) error {
	if !r.sums.joins {
		return errors.ErrUnsupported
	}
	opt.Format, opt.Lossless, opt.SizeLimit, opt.partial = FormatExtended, true, 0, true
	names := r.restNames()
	if len(names) > 0 || len(r.left) > 0 {
		opt.rest = cursor.AppendULEB(nil, uint64(len(names)))
		for _, name := range names {
			opt.rest = append(append(opt.rest, name...), 0)
		}
	}
	for left := slices.Clone(r.left); len(left) > 0; {
		p := &packedProfile{kind: r.Kind, names: r.sums.nameTable}
		p.functions, left, _ = r.sums.settle(left, r.Kind)
		var b bytes.Buffer
		if err := p.write(&b, &WriteOptions{Lossless: true, partial: true}); err != nil {
			return err
		}
		opt.rest = append(cursor.AppendULEB(opt.rest, uint64(b.Len())), b.Bytes()...)
	}
	return r.Write(w, opt)
}

// restNames returns the names that the file written for a sum does not have.
func (r *Merged) restNames() (names []string) {
	p := r.writable()
	opt := WriteOptions{Lossless: true}
	opt.complete(p)
	used := p.survey().used
	for i, n := range p.names.names {
		if n.text != "" && (opt.MD5 || used[i] == 0) {
			names = append(names, n.text)
		}
	}
	slices.Sort(names)
	return names
}

// nameContexts gives the frames of contexts the names that became known later.
func (s *packedSums) nameContexts() {
	if !s.joined {
		return
	}
	for i := range s.functions {
		f := &s.functions[i]
		f.context = slices.Clone(f.context)
		for j := range f.context {
			f.context[j].Name = s.names[s.nameTable.get(f.context[j].Name)]
		}
	}
}

// settle keeps of each function the build with the most samples, and returns those of others. n is how
// many these are, inlined ones included.
func (s *packedSums) settle(functions []packedFunction, kind Kind) (kept, left []packedFunction, n int) {
	slices.SortFunc(functions, func(a, b packedFunction) int {
		if c := s.compareSubjects(&a, &b); c != 0 { // as mostly
			return c
		}
		return cmp.Or(cmp.Compare(b.total(), a.total()), cmp.Compare(a.checksum(), b.checksum()))
	})
	e := expander{names: s.names}
	kept = functions[:0]
	for _, f := range functions {
		if last := len(kept) - 1; last >= 0 && s.compareSubjects(&kept[last], &f) == 0 {
			left = append(left, f)
			n++
			continue
		}
		if kind.Has(ProbeBased) && f.inlines() {
			model := e.function(&f)
			if rest, inlined := model.settle(); rest != nil {
				f.body = s.pack(nil, model)
				left = append(left, packedFunction{name: f.name, context: f.context, body: s.pack(nil, rest)})
				n += inlined
			}
			e.reset()
		}
		kept = append(kept, f)
	}
	return kept, left, n
}

// compareSubjects orders functions as files do.
func (s *packedSums) compareSubjects(a, b *packedFunction) int {
	if a.context == nil && b.context == nil {
		return s.nameTable.compare(a.name, b.name)
	}
	return compareSubjects(s.names[a.name], a.context, s.names[b.name], b.context)
}

// settle keeps of each inlined function the build with the most samples. It returns a function with
// those of the others at their places and no samples of its own, nil without any.
func (f *Function) settle() (left *Function, n int) {
	// Callsites of one place and name stand together, one for each build.
	sites := f.Callsites
	var rest []Callsite
	f.Callsites = sites[:0:0]
	for len(sites) > 0 {
		same := 1
		for same < len(sites) && sites[same].compare(&sites[0]) == 0 {
			same++
		}
		best := slices.MinFunc(sites[:same], func(a, b Callsite) int {
			return cmp.Or(cmp.Compare(b.Callee.Total, a.Callee.Total), cmp.Compare(a.Callee.Checksum, b.Callee.Checksum))
		})
		for _, c := range sites[:same] {
			if c.Callee != best.Callee {
				rest = append(rest, c)
				n++
			}
		}
		if inner, inlined := best.Callee.settle(); inner != nil {
			rest = append(rest, Callsite{best.Location, inner})
			n += inlined
		}
		f.Callsites, sites = append(f.Callsites, best), sites[same:]
	}
	if rest == nil {
		return nil, 0
	}
	return &Function{Name: f.Name, Context: f.Context, Checksum: f.Checksum, Attributes: f.Attributes, Callsites: rest}, n
}

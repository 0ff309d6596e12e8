package sampleprof

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
)

// A rest is the content of a restSection: the part of a partial sum that compilers ignore but later
// merges need.
type rest struct {
	names  []string
	builds []*Profile // functions with other checksums than in the profile
}

// addTo adds the rest to m, after the profile itself.
func (r *rest) addTo(m *Merger, added *Added, name string, weight uint64) {
	for _, text := range r.names {
		m.sums.number(NameOf(text))
	}
	for _, p := range r.builds {
		a, _ := m.addModel(name, p, weight) // no error: the kind is that of the profile
		add(&added.Count, a.Count, 1)
	}
}

// readRest reads a restSection.
func (r *binaryReader) readRest(c *cursor.Cursor) {
	if r.opt.Lenient { // LLVM skips it
		c.Skip(uint64(c.Len()), "section")
		return
	}
	// Profuse writes one level. More would let a file make the reader recurse.
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
		// Builds are not compressed: count the limit as used up.
		of.isRest, of.inflated = true, maxInflated(len(data))
		p, err := of.read(FormatExtended)
		if err == nil && !p.Kind.mixes(r.p.Kind) {
			err = c.At(at).Field("kind").Got(p.Kind.String()).Want(r.p.Kind.String()).Corrupt()
		}
		c.Fail(err)
		r.p.rest.builds = append(r.p.rest.builds, p)
		r.doubts.list = append(r.doubts.list, of.doubts.list...)
	}
}

// Exceeds reports whether [Merged.Write] loses data that a later merge needs, unless
// [WriteOptions.Partial] is set: functions of other builds, texts of names, and attributes that
// compilers ignore.
func (r *Merged) Exceeds() bool {
	return len(r.left) > 0 || len(r.restNames()) > 0 || !r.Kind.hasAttributes() && r.packed.survey().attributes
}

// completePartial sets the options that Partial implies, and the contents of the restSection.
func (r *Merged) completePartial(opt *WriteOptions) error {
	if !r.sums.joins {
		return errors.ErrUnsupported
	}
	opt.Format, opt.Lossless, opt.SizeLimit = FormatExtended, true, 0
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
		if err := p.write(&b, &WriteOptions{Lossless: true, Partial: true}); err != nil {
			return err
		}
		opt.rest = append(cursor.AppendULEB(opt.rest, uint64(b.Len())), b.Bytes()...)
	}
	return nil
}

// restNames returns the texts of names that Write would lose.
func (r *Merged) restNames() (names []string) {
	p := r.writable()
	opt := WriteOptions{Lossless: true}
	opt.complete(p)
	used := p.survey().used
	for i, n := range p.names.names {
		if n.Text != "" && (opt.MD5 || used[i] == 0) {
			names = append(names, n.Text)
		}
	}
	slices.Sort(names)
	return names
}

// nameContexts gives the frames of contexts the texts of names that became known later.
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

// settle sorts functions and keeps the build of each function with the most samples. left are the other
// builds; n is the number of functions in left, inlined functions included.
func (s *packedSums) settle(functions []packedFunction, kind Kind) (kept, left []packedFunction, n int) {
	slices.SortFunc(functions, func(a, b packedFunction) int {
		if c := s.compareSubjects(&a, &b); c != 0 {
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
		if kind.ProbeBased && f.inlines() {
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

// compareSubjects orders functions by name or context.
func (s *packedSums) compareSubjects(a, b *packedFunction) int {
	if a.context == nil && b.context == nil {
		return s.nameTable.compare(a.name, b.name)
	}
	return compareSubjects(s.names[a.name], a.context, s.names[b.name], b.context)
}

// settle keeps the build of each inlined function with the most samples. left is a copy of f without
// samples, into which the n other builds are inlined; nil if there are none.
func (f *Function) settle() (left *Function, n int) {
	// Callsites with one location and name are adjacent, one for each build.
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

package sampleprof

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
)

// A partialExtra is the content of a partialSection, which later merges need and compilers ignore.
type partialExtra struct {
	names  []string
	builds []*Profile // functions with other checksums than in the profile
}

// addTo adds the names and builds to m, after the profile itself.
func (e *partialExtra) addTo(m *Merger, added *Added, name string, weight uint64) {
	for _, text := range e.names {
		m.sums.number(NameOf(text))
	}
	for _, p := range e.builds {
		_, _ = m.addModel(name, p, weight) // no error: the kinds are the same
		added.Count += p.totals().samples
	}
}

func (r *binaryReader) readPartial(c *cursor.Cursor) {
	if r.opt.Lenient { // LLVM skips it
		c.Skip(uint64(c.Len()), "section")
		return
	}
	// Profuse writes one level. More would let a file make the reader recurse.
	if r.inPartial {
		c.Fail(c.At(c.Offset()).Field("section").Got("a partial sum within a partial sum").Want("a profile").Corrupt())
	}
	for n := c.Count(c.ULEB("number of names"), 1, "number of names"); n > 0 && c.Err() == nil; n-- {
		name, _, ended := bytes.Cut(c.Rest(), []byte{0})
		if !ended {
			c.Fail(c.At(c.Offset()).Field("name").Got("no zero byte").Want("one after the name").Truncated())
		}
		r.p.extra.names = append(r.p.extra.names, string(name))
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
		of.inPartial, of.inflated = true, maxInflated(len(data))
		p, err := of.read(FormatExtended)
		if err == nil && !p.Kind.mixes(r.p.Kind) {
			err = c.At(at).Field("kind").Got(p.Kind.String()).Want(r.p.Kind.String()).Corrupt()
		}
		c.Fail(err)
		r.p.extra.builds = append(r.p.extra.builds, p)
		r.doubts.list = append(r.doubts.list, of.doubts.list...)
	}
}

// Exceeds reports whether [Merged.Write] loses data that a later merge needs, unless
// [WriteOptions.Partial] is set: functions of other builds, texts of names, and attributes that
// compilers ignore.
func (r *Merged) Exceeds() bool {
	return len(r.left) > 0 || len(r.lostNames()) > 0 || !r.Kind.hasAttributes() && r.packed.survey().attributes
}

// completePartial sets the options that Partial implies, and the contents of the partialSection.
func (r *Merged) completePartial(opt *WriteOptions) error {
	if !r.sums.joins {
		return errors.ErrUnsupported
	}
	opt.Format, opt.Lossless, opt.SizeLimit = FormatExtended, true, 0
	names := r.lostNames()
	if len(names) > 0 || len(r.left) > 0 {
		opt.partialData = cursor.AppendULEB(nil, uint64(len(names)))
		for _, name := range names {
			opt.partialData = append(append(opt.partialData, name...), 0)
		}
	}
	for left := slices.Clone(r.left); len(left) > 0; {
		p := &packedProfile{kind: r.Kind, names: r.sums.nameTable}
		p.functions, left, _ = r.sums.splitBuilds(left, r.Kind)
		var b bytes.Buffer
		if err := p.write(&b, &WriteOptions{Lossless: true, Partial: true}); err != nil {
			return err
		}
		opt.partialData = append(cursor.AppendULEB(opt.partialData, uint64(b.Len())), b.Bytes()...)
	}
	return nil
}

func (r *Merged) lostNames() (names []string) {
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
			f.context[j].Name = s.names[s.nameTable.numberOf(f.context[j].Name)]
		}
	}
}

// splitBuilds sorts functions and keeps the build of each function with the most samples. left are the
// other builds; n is the number of functions in left, inlined functions included.
func (s *packedSums) splitBuilds(functions []packedFunction, kind Kind) (kept, left []packedFunction, n int) {
	slices.SortFunc(functions, func(a, b packedFunction) int {
		if c := s.compareFunctions(&a, &b); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(b.total(), a.total()), cmp.Compare(a.checksum(), b.checksum()))
	})
	e := expander{names: s.names}
	kept = functions[:0]
	for _, f := range functions {
		if last := len(kept) - 1; last >= 0 && s.compareFunctions(&kept[last], &f) == 0 {
			left = append(left, f)
			n++
			continue
		}
		if kind.ProbeBased && f.inlines() {
			model := e.function(&f)
			if others, inlined := model.splitBuilds(); others != nil {
				f.body = s.pack(nil, model)
				left = append(left, packedFunction{name: f.name, context: f.context, body: s.pack(nil, others)})
				n += inlined
			}
			e.reset()
		}
		kept = append(kept, f)
	}
	return kept, left, n
}

// splitBuilds keeps the build of each inlined function with the most samples. left is a copy of f
// without samples, into which the n other builds are inlined; nil if there are none.
func (f *Function) splitBuilds() (left *Function, n int) {
	// Callsites with one location and name are adjacent, one for each build.
	sites := f.Callsites
	var others []Callsite
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
				others = append(others, c)
				n++
			}
		}
		if inner, inlined := best.Callee.splitBuilds(); inner != nil {
			others = append(others, Callsite{best.Location, inner})
			n += inlined
		}
		f.Callsites, sites = append(f.Callsites, best), sites[same:]
	}
	if others == nil {
		return nil, 0
	}
	return &Function{Name: f.Name, Context: f.Context, Checksum: f.Checksum, Attributes: f.Attributes, Callsites: others}, n
}

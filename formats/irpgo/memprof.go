package irpgo

import (
	"cmp"
	"iter"
	"slices"

	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
)

// An indexed profile may carry a heap profile, its memprof section, which is
// read, merged and written by package memprof.

// openMemProf finds the memprof section, which ends where the binary ids begin.
func (r *indexedReader) openMemProf() error {
	if !r.about.Variant.Has(HasMemProf) {
		return nil
	}
	if _, err := r.section("memprof section", r.header.memProf); err != nil {
		return err
	}
	end := uint64(len(r.data))
	if r.about.Version >= 9 {
		end = r.header.binaryIDs
	}
	if end < r.header.memProf || end > uint64(len(r.data)) {
		return flaw.In("header").Field("offset of the memprof section").Gotf("%#x", r.header.memProf).
			Wantf("at most %#x, where the binary ids begin", end).Because(&llvmerr.Error{Code: llvmerr.BadHeader})
	}
	var err error
	r.memprof, err = memprof.NewIndexedReader(r.data, int64(r.header.memProf), int64(end), r.opt.Lenient)
	return err
}

// MemProf returns a reader of the profile's memprof section, nil if it has
// none. Only indexed profiles and partials have one.
func (r *Reader) MemProf() *memprof.IndexedReader {
	switch dec := r.dec.(type) {
	case *indexedReader:
		return dec.memprof
	case *partialReader:
		if dec.heap != nil {
			return dec.heap.MemProf()
		}
	}
	return nil
}

// memProf reads the memprof section, nil if there is none.
func (r *Reader) memProf() (*memprof.Profile, error) {
	m := r.MemProf()
	if m == nil {
		return nil, nil
	}
	p, err := m.Profile()
	if part, ok := r.dec.(*partialReader); ok && err == nil {
		err = setSiteFields(p, part.fields)
	}
	return p, flaw.InFile(err, r.Name)
}

// heapSites yields the allocation sites of a heap profile in the order of their functions' GUIDs, which files keep.
func heapSites(p *memprof.Profile) iter.Seq[*memprof.AllocSite] {
	records := slices.Clone(p.Records)
	slices.SortFunc(records, func(a, b memprof.Record) int { return cmp.Compare(a.GUID, b.GUID) })
	return func(yield func(*memprof.AllocSite) bool) {
		for i := range records {
			for j := range records[i].AllocSites {
				if !yield(&records[i].AllocSites[j]) {
					return
				}
			}
		}
	}
}

// siteFields returns the fields that any context knows, and for each site the fields of its context; nil
// if all are the same. A section has one schema: a field that a context does not know is 0 in the
// section, and no longer 0 once other contexts are added.
func siteFields(p *memprof.Profile) (all memprof.Schema, fields []uint64) {
	common := memprof.FullSchema
	for site := range heapSites(p) {
		f := p.MIBs[site.MIB].Fields
		all, common, fields = all|f, common&f, append(fields, uint64(f))
	}
	if all == common || len(fields) == 0 {
		return all, nil
	}
	return all, fields
}

// setSiteFields marks the fields as unknown that siteFields does not list.
func setSiteFields(p *memprof.Profile, fields []uint64) error {
	if len(fields) == 0 {
		return nil
	}
	type known struct {
		mib    uint32
		fields memprof.Schema
	}
	set := make(map[known]uint32)
	n := 0
	for site := range heapSites(p) {
		if n++; n > len(fields) {
			break
		}
		k := known{site.MIB, p.MIBs[site.MIB].Fields & memprof.Schema(fields[n-1])}
		at, ok := set[k]
		if !ok {
			at = uint32(len(p.MIBs))
			p.MIBs = append(p.MIBs, p.MIBs[site.MIB])
			p.MIBs[at].Fields = k.fields
			set[k] = at
		}
		site.MIB = at
	}
	if n != len(fields) {
		return flaw.In(partialSection).Field("number of sites").Got(len(fields)).Wantf("%d, as the heap profile has", n).Corrupt()
	}
	return nil
}

// onlyMemProf reports whether the profile holds nothing but a memprof section.
// Its variant then says nothing about records.
func (r *Reader) onlyMemProf() bool {
	switch dec := r.dec.(type) {
	case *indexedReader:
		return dec.memprof != nil && dec.table.Len() == 0
	case *partialReader:
		return dec.heap != nil && dec.n == 0
	}
	return false
}

// AddMemProf merges a heap profile that is not part of an indexed one, with the given weight, at least 1. The
// Merger may keep p: it must not be changed afterwards. It is not one of the inputs that [Merger.AddAt] counts.
// name is used in errors and warnings.
func (m *Merger) AddMemProf(name string, p *memprof.Profile, weight uint64) error {
	return m.heaps().AddProfile(name, p, weight)
}

// AddRawMemProf is AddMemProf for a raw profile, see [memprof.Merger.AddRaw].
func (m *Merger) AddRawMemProf(p *memprof.RawProfile, b *memprof.Binaries, opt memprof.SymbolizeOptions, weight uint64) (*memprof.Coverage, error) {
	before := m.memprof
	about, err := m.heaps().AddRaw(p, b, opt, weight)
	if err != nil {
		m.memprof = before
	}
	return about, err
}

// heaps returns the Merger of the heap profiles.
func (m *Merger) heaps() *memprof.Merger {
	if m.memprof == nil {
		m.memprof = memprof.NewMerger(memprof.MergeOptions{Warn: m.warnMemProf})
	}
	return m.memprof
}

func (m *Merger) warnMemProf(w profile.Warning) {
	if m.opt.Warn != nil {
		m.opt.Warn(profile.Warning{File: w.File, Err: w.Err})
	}
}

// mergeMemProf folds the heap profile of another Merger in.
func (m *Merger) mergeMemProf(o *Merger) error {
	if o.memprof == nil {
		return nil
	}
	return m.heaps().Merge(o.memprof)
}

// arrangeMemProf prepares the section and warns of what it cannot hold.
func (x *indexedWriter) arrangeMemProf() error {
	p := x.p.MemProf
	if p == nil {
		return nil
	}
	if !x.variant.Has(HasMemProf) {
		x.warnLost("memprof section")
		return nil
	}
	opt := x.opt.MemProf
	if opt.LLVMRelease == 0 && !x.native {
		opt.LLVMRelease = x.opt.LLVMRelease
	}
	opt.IndexedVersion = x.opt.Version
	var err error
	if x.memprof, err = memprof.NewSection(p, opt); err != nil {
		return err
	}
	if x.opt.Warn != nil {
		for _, what := range x.memprof.Lost {
			x.opt.Warn(profile.Warning{Err: flaw.In("memprof").Field(what).Got("left out").
				Want("a format that can hold it").Unsupported()})
		}
	}
	return nil
}

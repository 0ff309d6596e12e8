package iprof

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// PruneOptions select what [Prune] drops. The zero value drops unused types and methods, which loses no
// counts and makes recordings of short runs half to three quarters smaller.
type PruneOptions struct {
	// KeepContext, if not nil, selects the contexts of the entries to keep, and KeepLock the types of
	// Monitors, which has no contexts. Neither selects types in the records of other sections.
	KeepContext func([]Frame) bool
	KeepLock    func(TypeID) bool
	// KeepUnused keeps unused types and methods.
	KeepUnused bool
	// MinCount is the least sum of counts of an entry to keep.
	MinCount int64
	// Top is how many entries with the largest counts to keep in each section; 0 keeps all.
	Top int
	// MaxFrames truncates contexts to their first frames and merges entries that
	// become equal; 0 keeps contexts whole. Truncated samples are no longer whole
	// stacks, and compilers look up whole contexts first.
	MaxFrames int
	// Drop lists sections to empty.
	Drop []Kind
	// DropUnknown drops sections and members of no known version. Without it, a profile with any is
	// refused unless KeepUnused is set, because they may refer to types and methods that seem unused.
	DropUnknown bool
}

// Prune returns p without some of its contents, with its ids and in its order. For a
// compiler, code without counts did not run, so only unused table entries can be dropped
// without loss. MinCount, Top and MaxFrames do not apply to the one entry of Monitors.
func Prune(p *Profile, opt PruneOptions) (*Profile, error) {
	p = selectEntries(p, opt)
	if err := unknownRefused(p); err != nil && !opt.KeepUnused && !opt.DropUnknown {
		return nil, err
	}
	q := p.derive()
	if opt.DropUnknown {
		q.Unknown, q.Extra = nil, nil
	}
	for k := range p.Sections {
		if slices.Contains(opt.Drop, Kind(k)) {
			q.selectExtra(Kind(k), nil)
		} else if err := q.pruneSection(&p.Sections[k], opt); err != nil {
			return nil, err
		}
	}
	if !opt.KeepUnused {
		q.dropUnused()
	}
	q.reindex()
	return q, nil
}

// selectEntries returns p with the entries that KeepContext and KeepLock accept.
func selectEntries(p *Profile, opt PruneOptions) *Profile {
	q := p.derive()
	for k := range p.Sections {
		from := &p.Sections[k]
		q.Sections[k] = *from
		switch {
		case Kind(k) == Monitors && opt.KeepLock != nil:
			q.Sections[k] = selectLocks(from, opt.KeepLock)
		case Kind(k) != Monitors && opt.KeepContext != nil:
			keep := make([]bool, from.Len())
			for i := range keep {
				keep[i] = opt.KeepContext(from.Context(i))
			}
			q.keepEntries(from, keep)
		}
	}
	return q
}

// selectLocks returns Monitors with the types that keep accepts.
func selectLocks(s *Section, keep func(TypeID) bool) Section {
	out := Section{kind: Monitors}
	for ctx, records := range s.All() {
		var kept []int64
		for t := range typeCountsIn(records) {
			if keep(t.Type) {
				kept = append(kept, int64(t.Type), t.Count)
			}
		}
		out.append(ctx, kept)
	}
	return out
}

// unknownRefused returns the error for a profile with unknown members.
func unknownRefused(p *Profile) error {
	unknown := slices.Concat(p.Unknown, p.Extra)
	if len(unknown) == 0 {
		return nil
	}
	return flaw.In(unknown[0].Key).Field("section or member").Got("unknown").
		Want("a known one, because what it refers to cannot be told").Unsupported()
}

// pruneSection fills p's section with the entries of s that the options keep.
func (p *Profile) pruneSection(s *Section, opt PruneOptions) error {
	if s.kind == Monitors {
		p.Sections[Monitors] = *s
		return nil
	}
	if opt.MaxFrames > 0 {
		cut, err := cutContexts(s, opt.MaxFrames)
		if err != nil {
			return err
		}
		if cut.Len() < s.Len() {
			p.selectExtra(s.kind, nil) // their entries are gone
		}
		s = cut
	}
	keep := make([]bool, s.Len())
	for i := range keep {
		keep[i] = s.Count(i) >= opt.MinCount
	}
	if opt.Top > 0 {
		for _, i := range s.Largest(s.Len())[min(opt.Top, s.Len()):] {
			keep[i] = false
		}
	}
	p.keepEntries(s, keep)
	return nil
}

// keepEntries fills a section with the entries for which keep is true.
func (p *Profile) keepEntries(s *Section, keep []bool) {
	to := &p.Sections[s.kind]
	*to = Section{kind: s.kind}
	for i := range keep {
		if keep[i] {
			to.append(s.Context(i), s.Records(i))
		}
	}
	p.selectExtra(s.kind, keep)
}

// cutContexts returns the section with contexts of at most n frames.
func cutContexts(s *Section, n int) (*Section, error) {
	var sum sums
	var added Added
	sum.init(s.kind)
	var records []int64
	for ctx, r := range s.All() {
		records = append(records[:0], r...)
		if err := sum.addEntry(ctx[:min(n, len(ctx))], records, &added); err != nil {
			return nil, err
		}
	}
	out := &Section{kind: s.kind}
	for i := range sum.entries {
		out.append(sum.context(uint32(i)), sum.recordsOf(&sum.entries[i]))
	}
	return out, nil
}

// Largest returns the n entries with the largest counts in descending order; ties keep
// the order of the section.
func (s *Section) Largest(n int) []int {
	counts := make([]int64, s.Len())
	order := make([]int, s.Len())
	for i := range order {
		counts[i], order[i] = s.Count(i), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
	return order[:max(0, min(n, len(order)))]
}

// dropUnused drops methods that occur in no context, and types that occur in no record or signature.
func (p *Profile) dropUnused() {
	methods := make([]bool, len(p.Methods))
	types := make([]bool, len(p.Types))
	for k := range p.Sections {
		s := &p.Sections[k]
		if s.kind != Monitors {
			for _, f := range s.frames {
				if i := p.methIndex.find(int32(f.Method)); i >= 0 {
					methods[i] = true
				}
			}
		}
		if s.kind.hasTypes() {
			for i := 0; i < len(s.records); i += 2 {
				if t := p.typeIndex.find(int32(s.records[i])); t >= 0 {
					types[t] = true
				}
			}
		}
	}
	for i, used := range methods {
		if !used {
			continue
		}
		for _, id := range p.Methods[i].Signature {
			if t := p.typeIndex.find(int32(id)); t >= 0 {
				types[t] = true
			}
		}
	}
	p.Methods = selected(p.Methods, methods)
	p.Types = selected(p.Types, types)
	p.remapExtra(keyMethods, methods)
	p.remapExtra(keyTypes, types)
}

// selected returns a copy of the elements for which keep is true.
func selected[T any](all []T, keep []bool) []T {
	out := make([]T, 0, len(all))
	for i := range all {
		if keep[i] {
			out = append(out, all[i])
		}
	}
	return out
}

// selectExtra keeps the extra members of the entries for which keep is true; nil keeps none.
func (p *Profile) selectExtra(k Kind, keep []bool) {
	p.remapExtra(k.Key(), keep)
	if k == TypeChecks {
		p.remapExtra(schemaTypeChecks, keep)
	}
}

// remapExtra is selectExtra by the key of a section or table.
func (p *Profile) remapExtra(section string, keep []bool) {
	if len(p.Extra) == 0 {
		return
	}
	index := make([]int, len(keep)) // among those kept
	n := 0
	for i := range keep {
		index[i] = n
		if keep[i] {
			n++
		}
	}
	var out []Member
	for _, x := range p.Extra {
		if x.Section == section {
			if x.Entry >= len(keep) || !keep[x.Entry] {
				continue
			}
			x.Entry = index[x.Entry]
		}
		out = append(out, x)
	}
	p.Extra = out
}

package iprof

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// PruneOptions select what [Prune] drops. The zero value drops unused types and methods,
// which loses no counts and makes recordings of short runs half to three quarters
// smaller.
type PruneOptions struct {
	// KeepContext, if not nil, selects the contexts of the entries to keep, and
	// KeepLock the types of Monitors, which has no contexts. Neither selects types
	// in the records of other sections.
	KeepContext func(Context) bool
	KeepLock    func(TypeID) bool
	// KeepUnused keeps unused types and methods.
	KeepUnused bool
	// MinCount is the least sum of counts of an entry to keep.
	MinCount int64
	// Top is the number of entries to keep in each section, those with the largest
	// counts; 0 keeps all.
	Top int
	// MaxFrames truncates contexts to their first frames and merges entries that
	// become equal; 0 keeps contexts whole. Truncated samples are no longer whole
	// stacks, and compilers look up whole contexts first.
	MaxFrames int
	// Drop lists sections to empty.
	Drop []Kind
	// DropUnknown drops sections and members of no known version. Without it, a
	// profile with any is refused unless KeepUnused is set, because they may refer
	// to types and methods that seem unused.
	DropUnknown bool
}

// Pruned counts what [Prune] dropped.
type Pruned struct {
	Types, Methods int
	Entries        [NumKinds]int // dropped, or merged with others
	Saturated      int           // counts that saturated in merges of entries
}

// Prune returns p without some of its contents, with its ids and in its order. For a
// compiler, code without counts did not run, so only unused table entries can be dropped
// without loss. MinCount, Top and MaxFrames do not apply to the one entry of Monitors.
func Prune(p *Profile, opt PruneOptions) (*Profile, Pruned, error) {
	var pruned Pruned
	all := p
	p = selectEntries(p, opt)
	if err := unknownRefused(p, !opt.KeepUnused && !opt.DropUnknown); err != nil {
		return nil, pruned, err
	}
	q := p.derive()
	if opt.DropUnknown {
		q.Unknown, q.Extra = nil, nil
	}
	for k := range p.sections {
		from, to := &p.sections[k], &q.sections[k]
		if slices.Contains(opt.Drop, Kind(k)) {
			q.selectExtra(Kind(k), nil)
		} else if err := pruneSection(q, from, to, opt, &pruned); err != nil {
			return nil, pruned, err
		}
		pruned.Entries[k] = all.sections[k].Len() - to.Len()
	}
	if !opt.KeepUnused {
		q.dropUnused()
	}
	q.reindex()
	pruned.Types = len(p.Types) - len(q.Types)
	pruned.Methods = len(p.Methods) - len(q.Methods)
	return q, pruned, nil
}

// selectEntries returns p with the entries that KeepContext and KeepLock accept.
func selectEntries(p *Profile, opt PruneOptions) *Profile {
	q := p.derive()
	for k := range p.sections {
		from := &p.sections[k]
		q.sections[k] = *from
		switch {
		case Kind(k) == Monitors && opt.KeepLock != nil:
			q.sections[k] = selectLocks(from, opt.KeepLock)
		case Kind(k) != Monitors && opt.KeepContext != nil:
			keep := make([]bool, from.Len())
			for i := range keep {
				keep[i] = opt.KeepContext(from.Context(i))
			}
			q.sections[k] = copySection(from, func(i int) bool { return keep[i] })
			q.selectExtra(Kind(k), keep)
		}
	}
	return q
}

// selectLocks returns Monitors with the types that keep accepts.
func selectLocks(s *Section, keep func(TypeID) bool) Section {
	out := Section{kind: Monitors}
	for ctx, records := range s.All() {
		out.frames = append(out.frames, ctx...)
		for t := range typeCountsIn(records) {
			if keep(t.Type) {
				out.records = append(out.records, int64(t.Type), t.Count)
			}
		}
		out.ends = append(out.ends, entryEnd{uint32(len(out.frames)), uint32(len(out.records))})
	}
	return out
}

// unknownRefused returns the error for a profile with unknown members, if they matter.
func unknownRefused(p *Profile, matters bool) error {
	key := ""
	switch {
	case !matters:
		return nil
	case len(p.Unknown) > 0:
		key = p.Unknown[0].Key
	case len(p.Extra) > 0:
		key = p.Extra[0].Key
	default:
		return nil
	}
	return flaw.In(key).Field("section or member").Got("unknown").
		Want("a known one, because what it refers to cannot be told").Unsupported()
}

func pruneSection(q *Profile, from, to *Section, opt PruneOptions, pruned *Pruned) error {
	cut := from
	if opt.MaxFrames > 0 && from.kind != Monitors {
		var err error
		if cut, err = cutContexts(from, opt.MaxFrames, pruned); err != nil {
			return err
		}
		if cut.Len() < from.Len() {
			q.selectExtra(from.kind, nil) // their entries are gone
		}
	}
	keep := make([]bool, cut.Len())
	for i := range keep {
		keep[i] = from.kind == Monitors || cut.Count(i) >= opt.MinCount
	}
	if opt.Top > 0 && from.kind != Monitors {
		for _, i := range cut.Largest(cut.Len())[min(opt.Top, cut.Len()):] {
			keep[i] = false
		}
	}
	*to = copySection(cut, func(i int) bool { return keep[i] })
	q.selectExtra(from.kind, keep)
	return nil
}

// cutContexts returns the section with contexts of at most n frames.
func cutContexts(s *Section, n int, pruned *Pruned) (*Section, error) {
	var sum sums
	var added Added
	sum.init(s.kind)
	var records []int64
	for ctx, r := range s.All() {
		records = append(records[:0], r...)
		if err := sum.add(ctx[:min(n, len(ctx))], records, &added); err != nil {
			return nil, err
		}
	}
	pruned.Saturated += added.Saturated
	out := &Section{kind: s.kind}
	for i := range sum.entries {
		if err := out.add(sum.context(uint32(i)), sum.recordsOf(&sum.entries[i])...); err != nil {
			return nil, err
		}
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

// dropUnused drops methods that occur in no context, and types that occur in no record
// or signature.
func (p *Profile) dropUnused() {
	methods := make([]bool, len(p.Methods))
	types := make([]bool, len(p.Types))
	for k := range p.sections {
		s := &p.sections[k]
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

// selectExtra keeps the extra members of the entries for which keep is true; nil keeps
// none.
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
	var out []ExtraMember
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

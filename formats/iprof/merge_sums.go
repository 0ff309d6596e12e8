package iprof

import (
	"cmp"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// sums are the merged entries of one kind. Methods and types are indexes into the Merger's tables.
type sums struct {
	kind    Kind
	entries []sumEntry
	frames  []Frame
	records []int64 // if the records of an entry grow, the old ones remain unused
	index   contextIndex
	next    int
	union   []int64 // scratch
}

func (s *sums) init(k Kind) {
	s.kind = k
	s.index = newContextIndex(s.context)
}

// A sumEntry locates the frames and records of an entry.
type sumEntry struct {
	frames, frameCount   uint32
	records, recordCount uint32
}

func (s *sums) context(i uint32) []Frame {
	e := &s.entries[i]
	return s.frames[e.frames : e.frames+e.frameCount]
}

func (s *sums) recordsOf(e *sumEntry) []int64 {
	return s.records[e.records : e.records+e.recordCount]
}

// findOrAdd returns the entry with the context, and adds one without records if there is none.
func (s *sums) findOrAdd(c []Frame) (e *sumEntry, isNew bool, err error) {
	if s.next < len(s.entries) && slices.Equal(s.context(uint32(s.next)), c) {
		s.next++
		return &s.entries[s.next-1], false, nil
	}
	i, slot, ok := s.index.find(c)
	if !ok {
		if uint64(len(s.frames)+len(c)) > math.MaxUint32 {
			return nil, false, tooMuch(s.kind)
		}
		i = uint32(len(s.entries))
		s.entries = append(s.entries, sumEntry{frames: uint32(len(s.frames)), frameCount: uint32(len(c))})
		s.frames = append(s.frames, c...)
		s.index.add(i, slot)
	}
	s.next = int(i) + 1
	return &s.entries[i], !ok, nil
}

func (s *sums) replace(e *sumEntry, records []int64) error {
	if len(records) <= int(e.recordCount) {
		copy(s.recordsOf(e), records)
		e.recordCount = uint32(len(records))
		return nil
	}
	if uint64(len(s.records)+len(records)) > math.MaxUint32 {
		return tooMuch(s.kind)
	}
	e.records, e.recordCount = uint32(len(s.records)), uint32(len(records))
	s.records = append(s.records, records...)
	return nil
}

func tooMuch(k Kind) error {
	return flaw.In(k.Key()).Field("merged section").Got("too large").Want("less than 2^32 frames and numbers").Unsupported()
}

func (m *Merger) addSection(in *input, k Kind, w Weight, added *Added) error {
	from, to := &in.p.Sections[k], &m.sections[k]
	for i := range from.ends {
		ctx, ok := m.translateContext(in, k, from.Context(i))
		if !ok {
			added.Skipped++
			continue
		}
		records, ok := m.translateRecords(in, k, from.Records(i), w, added)
		if !ok {
			added.Skipped++
			continue
		}
		if err := to.addEntry(ctx, records, added); err != nil {
			return err
		}
		added.Entries++
	}
	return nil
}

// addEntry adds an entry. It may sort records.
func (s *sums) addEntry(ctx []Frame, records []int64, added *Added) error {
	e, isNew, err := s.findOrAdd(ctx)
	if err != nil {
		return err
	}
	if isNew {
		return s.replace(e, records)
	}
	old, n := s.recordsOf(e), s.kind.Arity()
	if sameShape(old, records, n) {
		for j := n - 1; j < len(old); j += n {
			old[j] = added.sum(old[j], records[j])
		}
		return nil
	}
	if s.kind == Conditionals {
		added.Reshaped++
	}
	s.union = unite(s.union[:0], old, records, s.kind, added)
	return s.replace(e, s.union)
}

// sum returns x+y and counts it if it saturates.
func (a *Added) sum(x, y int64) int64 {
	sum, saturated := saturate.AddSigned(x, y)
	if saturated {
		a.Saturated++
	}
	return sum
}

// translateContext returns the context in the Merger's numbers; the result is reused.
func (m *Merger) translateContext(in *input, k Kind, c []Frame) ([]Frame, bool) {
	if k == Monitors {
		return append(m.scratch.frames[:0], Frame{}), true
	}
	out := m.scratch.frames[:0]
	for _, f := range c {
		method := in.method(f.Method)
		if method == none {
			return nil, false
		}
		out = append(out, Frame{MethodID(method), f.BCI})
	}
	m.scratch.frames = out
	return out, true
}

// translateRecords returns the weighted records in the Merger's numbers; the result is reused.
func (m *Merger) translateRecords(in *input, k Kind, records []int64, w Weight, added *Added) ([]int64, bool) {
	out := append(m.scratch.records[:0], records...)
	m.scratch.records = out
	if k.hasTypes() {
		for i := 0; i < len(out); i += 2 {
			t := in.typ(TypeID(out[i]))
			if t == none {
				return nil, false
			}
			out[i] = int64(t)
		}
	}
	if w.Num != w.Den {
		for i := k.Arity() - 1; i < len(out); i += k.Arity() {
			var saturated bool
			if out[i], saturated = w.apply(out[i]); saturated {
				added.Saturated++
			}
		}
	}
	return out, true
}

// sameShape reports whether two lists of records are equal apart from their counts.
func sameShape(a, b []int64, arity int) bool {
	if len(a) != len(b) {
		return false
	}
	switch arity {
	case 2:
		for i := 0; i < len(a); i += 2 {
			if a[i] != b[i] {
				return false
			}
		}
	case 3:
		for i := 0; i < len(a); i += 3 {
			if a[i] != b[i] || a[i+1] != b[i+1] {
				return false
			}
		}
	}
	return true
}

// unite appends to dst the sorted union of two lists of records of different shape, which it sorts.
func unite(dst, a, b []int64, k Kind, added *Added) []int64 {
	n := k.Arity()
	a, b = sortRecords(a, k, added), sortRecords(b, k, added)
	for len(a) > 0 && len(b) > 0 {
		switch order := compareRecords(a, b, k); {
		case order < 0:
			dst, a = append(dst, a[:n]...), a[n:]
		case order > 0:
			dst, b = append(dst, b[:n]...), b[n:]
		default:
			dst = append(append(dst, a[:n-1]...), added.sum(a[n-1], b[n-1]))
			a, b = a[n:], b[n:]
		}
	}
	return append(append(dst, a...), b...)
}

// compareRecords compares records without counts. Of records with one index, those without target come last.
func compareRecords(a, b []int64, k Kind) int {
	if k.hasTypes() {
		return cmp.Compare(a[0], b[0])
	}
	last := func(r []int64) int {
		if r[0] == int64(unknownBCI) {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a[1], b[1]), cmp.Compare(last(a), last(b)), cmp.Compare(a[0], b[0]))
}

// sortRecords sorts records stably and adds the counts of types that occur several times.
func sortRecords(records []int64, k Kind, added *Added) []int64 {
	n := k.Arity()
	if n == 1 {
		return records
	}
	sorted := true
	for i := n; i < len(records) && sorted; i += n {
		c := compareRecords(records[i-n:], records[i:], k)
		sorted = c < 0 || c == 0 && !k.hasTypes()
	}
	if sorted {
		return records
	}
	order := make([][]int64, 0, len(records)/n)
	for r := slices.Clone(records); len(r) > 0; r = r[n:] {
		order = append(order, r[:n])
	}
	slices.SortStableFunc(order, func(a, b []int64) int { return compareRecords(a, b, k) })
	out := records[:0]
	for _, r := range order {
		if k.hasTypes() && len(out) > 0 && out[len(out)-n] == r[0] {
			out[len(out)-1] = added.sum(out[len(out)-1], r[1])
			continue
		}
		out = append(out, r...)
	}
	return out
}

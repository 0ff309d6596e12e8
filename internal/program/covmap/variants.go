package covmap

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// A functionID identifies a function of one control flow, as profiles do.
type functionID struct {
	name string
	hash uint64
}

// A variant is a function of one name, hash and code, in the objects that have it. The
// sum of profiles has one record for all variants of a name and hash.
type variant struct {
	id      functionID
	f       *Function
	record  objectRecord
	objects []*Mapping
}

// A variantSet holds the variants of every name with several records.
type variantSet map[string]*variant // by outcome.key

// add records that an object has a function, and reports whether it is the first object to have it.
func (s variantSet) add(d *outcome) (first bool) {
	v, ok := s[d.key]
	if !ok {
		v = &variant{id: functionID{d.from.Name, d.from.Hash}, f: d.function, record: d.from}
		s[d.key] = v
	}
	v.objects = append(v.objects, d.from.m)
	return !ok
}

// several returns the variants of each name and hash with more than one variant, in the order of the functions.
func (s variantSet) several(functions []*Function) map[functionID][]*variant {
	all := make(map[functionID][]*variant)
	for _, v := range s {
		if !v.f.absent {
			all[v.id] = append(all[v.id], v)
		}
	}
	order := make(map[*Function]int)
	for id, of := range all {
		if len(of) < 2 {
			delete(all, id)
			continue
		}
		for _, v := range of {
			order[v.f] = 0
		}
	}
	for i, f := range functions {
		if _, ok := order[f]; ok {
			order[f] = i
		}
	}
	for _, of := range all {
		slices.SortFunc(of, func(a, b *variant) int { return cmp.Compare(order[a.f], order[b.f]) })
	}
	return all
}

// tellApart gives each variant the counts of the programs that contain it. If the programs are not
// known, every variant gets the sum, and all variants but the first are marked as shared.
func (t *task) tellApart(c *Coverage, set variantSet) error {
	several := set.several(c.Functions)
	for _, of := range several {
		for _, v := range of[1:] {
			v.f.shared = true
		}
	}
	if len(several) == 0 || t.opt.Counted == nil {
		return nil
	}
	names := make(map[string]bool)
	for id := range several {
		names[id.name] = true
	}
	counted := make(map[functionID]map[string]*irpgo.Record) // by build id
	err := t.opt.Counted(func(name string) bool { return names[name] }, func(buildID string, r *irpgo.Record) {
		id := functionID{r.Name, r.Hash}
		if counted[id] == nil {
			counted[id] = make(map[string]*irpgo.Record)
		}
		sum := counted[id][buildID]
		if sum == nil {
			sum = &irpgo.Record{Name: r.Name, Hash: r.Hash}
			counted[id][buildID] = sum
		}
		addCounts(sum, r)
	})
	if err != nil {
		return err
	}
	for id, of := range several {
		if err := t.recount(of, counted[id]); err != nil {
			return err
		}
	}
	return nil
}

// recount evaluates the variants of a function again. A program without counts of its own gets the
// counts of the programs that are not given.
func (t *task) recount(variants []*variant, counted map[string]*irpgo.Record) error {
	given := make(map[string]bool)
	for _, v := range variants {
		for _, m := range v.objects {
			given[string(m.BuildID)] = len(m.BuildID) > 0
		}
	}
	rest := &irpgo.Record{}
	for id, r := range counted {
		if !given[id] {
			addCounts(rest, r)
		}
	}
	restUsed := false
	for _, v := range variants {
		sum := &irpgo.Record{Name: v.record.Name, Hash: v.record.Hash}
		added, unknown := make(map[string]bool), false
		for _, m := range v.objects {
			id := string(m.BuildID)
			switch r := counted[id]; {
			case r == nil || !given[id]:
				unknown = true
			case !added[id]:
				added[id] = true
				addCounts(sum, r)
			}
		}
		shared := false
		if unknown && len(rest.Counts) > 0 {
			addCounts(sum, rest)
			shared, restUsed = restUsed, true
		}
		own := &task{opt: t.opt, functions: make(map[uint64]*irpgo.Function)}
		if len(sum.Counts) > 0 {
			own.functions[v.record.Ref] = &irpgo.Function{Name: sum.Name, Records: []*irpgo.Record{sum}}
		}
		done := (&evaluator{task: own}).add(v.record)
		if done.err != nil {
			return done.err
		}
		if done.function != nil {
			code := v.f.code
			*v.f = *done.function
			v.f.code = code
			if v.f.kept != nil {
				v.f.kept.fn = v.f
			}
		}
		v.f.shared = shared
	}
	return nil
}

func addCounts(sum, r *irpgo.Record) {
	sum.Counts = slices.Grow(sum.Counts, len(r.Counts))
	for i, n := range r.Counts {
		if i == len(sum.Counts) {
			sum.Counts = append(sum.Counts, 0)
		}
		sum.Counts[i] = saturate.Add(sum.Counts[i], n)
	}
	for i, b := range r.Bitmap {
		if i == len(sum.Bitmap) {
			sum.Bitmap = append(sum.Bitmap, 0)
		}
		sum.Bitmap[i] |= b
	}
}

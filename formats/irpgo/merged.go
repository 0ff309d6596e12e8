package irpgo

import (
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// Merged is what a [Merger] has added up. It can be written, counted and viewed without being built as a [Profile]
// first, which would take more time and memory.
type Merged struct {
	sums  *accumulator
	cache *catalogCache
	warn  warner
	// Head is the merged profile, perhaps without its functions. Do not change it.
	Head *Profile
	// MayRepeat says that a value site of the profile may list a value twice, as some of the inputs did.
	MayRepeat bool
	// Catalogs has a line for each profile layout that the Merger kept for later inputs, with the number of inputs that
	// had the layout. It helps to find out why a merge is slow.
	Catalogs []string

	built bool     // the profile has its functions
	keys  *sumKeys // in the order of names; nil until they are needed
}

// Finish ends the merging: nothing may be added afterwards.
func (m *Merger) Finish() *Merged {
	r := &Merged{
		sums:      &m.sums,
		cache:     m.catalogs,
		warn:      m.warner(""),
		Head:      &Profile{Variant: m.variant},
		MayRepeat: m.sums.repeats,
		Catalogs:  m.catalogs.catalogLines(),
	}
	p := r.Head
	p.Traces, p.TraceStreamSize = m.sampler.sample()
	for id := range m.binaryIDs {
		p.BinaryIDs = append(p.BinaryIDs, []byte(id))
	}
	slices.SortFunc(p.BinaryIDs, slices.Compare)
	p.VTableNames = slices.Sorted(maps.Keys(m.vtables))
	if m.opt.KeepSymbols {
		p.Symbols = &m.symbols
	}
	if m.memprof != nil {
		p.MemProf = m.memprof.Profile()
		p.Variant |= HasMemProf
	}
	if r.sums.arranged() == nil {
		r.byName()
	}
	return r
}

// byName returns the keys in the order of names.
func (r *Merged) byName() *sumKeys {
	if r.keys == nil {
		r.keys = r.sums.finish(r.warn)
	}
	return r.keys
}

// Profile returns the merged profile, always the same. What is changed in it is written.
func (r *Merged) Profile() *Profile {
	if !r.built {
		r.Head.Functions, r.built = r.byName().functions(), true
	}
	return r.Head
}

// View is [Profile.View] of the merged profile. r must not be used afterwards.
func (r *Merged) View(name string, info *Info) profile.View {
	if r.built {
		return r.Head.View(name, info)
	}
	// The keys may take the memory of a catalog that no fork can use again.
	if c := r.sums.arranged(); c != nil && !r.cache.shared.Load() {
		c.kept = false
	}
	keys, head := r.byName(), *r.Head // a copy, so that the sums can go
	keys.gather()
	return newView(&head, keys.reusedFunctions, name, info)
}

// ReusedFunctions yields the functions by name, each in the memory of the one before.
func (r *Merged) ReusedFunctions() iter.Seq[*Function] { return r.byName().reusedFunctions }

// WriteIndexed writes the bytes that [WriteIndexed] writes of the profile.
func (r *Merged) WriteIndexed(w io.Writer, opt IndexedOptions) error {
	x, err := newIndexedWriter(r.Head, opt)
	if err != nil {
		return err
	}
	if r.built {
		return x.writeTo(w)
	}
	if r.keys == nil {
		x.table = x.arrangedTable(r.sums)
	}
	if x.table == nil {
		x.keys = r.byName()
	}
	return x.writeTo(w)
}

// ChooseVersion returns the indexed version to write the profile in, the merge of the inputs: the newest one that
// every LLVM release able to have written the inputs can read, since the compiler that made a raw profile is the
// one that will read the result. It is raised where the profile's variant needs a newer version. The reason is a
// phrase that completes "indexed version N, …".
//
// For front-end profiles the version also selects the function hash that clang
// computes when it looks functions up.
func (r *Merged) ChooseVersion(inputs []*Info) (version uint32, reason string) {
	hashes := iter.Seq[uint64](r.Head.hashes)
	if !r.built {
		hashes = func(yield func(hash uint64) bool) {
			_, entries := r.entries()
			for i := range entries {
				if !yield(entries[i].hash) {
					return
				}
			}
		}
	}
	c := chooseVersion(r.Head, hashes, inputs)
	return c.version, c.reason
}

// entries returns all entries and their sums.
func (r *Merged) entries() (*sums, []entry) {
	if c := r.sums.arranged(); c != nil && r.keys == nil {
		return &r.sums.sums, c.entries
	}
	return r.byName().sums, r.byName().entries
}

// catalogLines returns the lines of [Merged].Catalogs.
func (c *catalogCache) catalogLines() (lines []string) {
	if c == nil {
		return nil
	}
	for _, k := range c.kept {
		lines = append(lines, fmt.Sprintf("catalog: %s, %d records, %d counters, %d value sites: %d profiles\n",
			k.key.format, len(k.entries), k.counters, k.sites, k.uses.Load()))
	}
	slices.Sort(lines) // workers keep them in any order
	return lines
}

// Contents counts the functions (names) and the counters of all records. total is the sum of the counters but for
// pseudo counts, saturating.
func (r *Merged) Contents() (functions, counters int, total uint64) {
	s, entries := r.entries()
	for i := range entries {
		if i == 0 || entries[i].name != entries[i-1].name {
			functions++
		}
		counts := s.countsOf(&entries[i])
		if counters += len(counts); pseudoKind(counts) == 0 {
			for _, n := range counts {
				total = saturate.Add(total, n)
			}
		}
	}
	return functions, counters, total
}

package irpgocmd

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
)

const (
	// sketchSize is the number of functions in a sketch of a program: the smallest name references, which are hashes (a
	// bottom-k sketch). Two sketches give the share of common functions within 3 percentage points.
	sketchSize = 1024
	// maxPrograms limits the programs of a merge that are known.
	maxPrograms = 256
	// related is the least share of the smaller program's functions that two versions of a program have in common.
	related = 0.1
	// maxSketchedText is the size in bytes of the largest text profile that is read again for a sketch.
	maxSketchedText = 1 << 20
)

// A program is the origin of profiles: a binary or, for profiles without a binary id, a list of functions.
type program struct {
	first     int      // index of its first profile
	file      string   // name of its first profile
	profiles  int      // its profiles in the sum
	functions int      // distinct names in one of its profiles
	sketch    []uint64 // ascending
}

// knownPrograms holds the programs of a merge, in bounded memory. The result does not depend on the number of workers.
type knownPrograms struct {
	mu      sync.Mutex
	all     map[string]*program
	more    bool           // there were more than maxPrograms
	layouts map[int]string // keys of profiles without binary ids by [irpgo.Added.Layout]
	memory  sync.Pool      // of sketch: *[]uint64
}

// programKey identifies the program of a profile: by its binary ids or, without ids, by a hash of
// all name references in the order of the profile. It is "" without ids and references.
func programKey(ids [][]byte, refs iter.Seq[uint64]) string {
	if len(ids) > 0 {
		return joinIDs(ids)
	}
	h := fnv.New64a()
	var word [8]byte
	any := false
	for ref := range refs {
		any = true
		for i := range word {
			word[i] = byte(ref >> (8 * i))
		}
		h.Write(word[:])
	}
	if !any {
		return ""
	}
	return fmt.Sprintf("functions-%016x", h.Sum64())
}

// nameRefs yields the name references of a profile, unless it is a text profile larger than
// maxSketchedText: text must be parsed again for them.
func nameRefs(file string, data []byte) iter.Seq[uint64] {
	return func(yield func(ref uint64) bool) {
		if f, _ := irpgo.Detect(data); f != irpgo.FormatText || len(data) <= maxSketchedText {
			irpgo.NameRefs(file, data, yield)
		}
	}
}

// key is programKey, with a cache by layout: hashing all references takes long.
func (p *knownPrograms) key(ids [][]byte, layout int, refs iter.Seq[uint64]) string {
	if len(ids) > 0 || layout == 0 {
		return programKey(ids, refs)
	}
	p.mu.Lock()
	key, ok := p.layouts[layout]
	p.mu.Unlock()
	if !ok {
		key = programKey(ids, refs)
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.layouts == nil {
			p.layouts = make(map[int]string)
		}
		p.layouts[layout] = key
	}
	return key
}

// addToKnown counts a profile if its program is known.
func (p *knownPrograms) addToKnown(key string, index int, file string) (known bool) {
	have := p.all[key]
	if have == nil {
		return false
	}
	have.profiles++
	if index < have.first {
		have.first, have.file = index, file
	}
	return true
}

// A mergedProfile describes a profile in the sum.
type mergedProfile struct {
	index  int // in the order of the inputs
	file   string
	ids    [][]byte
	layout int // see [irpgo.Added]
	refs   iter.Seq[uint64]
}

// addProfile records the program of a profile in the sum.
func (p *knownPrograms) addProfile(m mergedProfile) {
	key := p.key(m.ids, m.layout, m.refs)
	if key == "" {
		return
	}
	p.mu.Lock()
	known := p.addToKnown(key, m.index, m.file)
	p.mu.Unlock()
	if known {
		return
	}
	n := &program{first: m.index, file: m.file, profiles: 1}
	n.functions, n.sketch = p.sketch(m.refs) // takes long, so without the lock
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.addToKnown(key, m.index, m.file) { // another worker was faster
		return
	}
	if p.all == nil {
		p.all = make(map[string]*program)
	}
	p.all[key] = n
	if len(p.all) > maxPrograms {
		p.more = true
		// Dropping the program that comes last in the order of the inputs keeps the same programs
		// for any number of workers.
		last := key
		for k, q := range p.all {
			if q.first > p.all[last].first {
				last = k
			}
		}
		delete(p.all, last)
	}
}

// sketch returns the number of functions of a profile and the smallest name references. References
// are hashes, so they are evenly distributed, and a limit chosen in advance leaves few to sort.
func (p *knownPrograms) sketch(each iter.Seq[uint64]) (functions int, refs []uint64) {
	mainRef := irpgo.NameRef("main") // all programs have it
	memory, _ := p.memory.Get().(*[]uint64)
	if memory == nil {
		memory = new([]uint64)
	}
	defer p.memory.Put(memory)
	all := (*memory)[:0]
	for ref := range each {
		if functions++; ref != mainRef {
			all = append(all, ref)
		}
	}
	*memory = all
	limit := ^uint64(0)
	if enough := sketchSize + sketchSize/8; len(all) > enough {
		limit = limit / uint64(len(all)) * uint64(enough)
	}
	for _, ref := range all {
		if ref <= limit {
			refs = append(refs, ref)
		}
	}
	if refs = smallest(refs); len(refs) < sketchSize {
		refs = smallest(all)
	}
	return functions, refs
}

// smallest returns the sketchSize smallest distinct references, ascending. It reorders refs.
func smallest(refs []uint64) []uint64 {
	slices.Sort(refs)
	refs = slices.Compact(refs)
	return slices.Clone(refs[:min(len(refs), sketchSize)]) // a clone, to free the rest
}

// inCommon estimates how many functions two programs of a and b functions have in common. The share of common
// references in the sketch of the union estimates the Jaccard index J, and the number c follows from J = c/(a+b-c).
func (p *program) inCommon(q *program) float64 {
	a, b := p.sketch, q.sketch
	union, both := 0, 0
	for ; union < sketchSize && len(a)+len(b) > 0; union++ {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			a = a[1:]
		case len(a) == 0 || b[0] < a[0]:
			b = b[1:]
		default:
			a, b = a[1:], b[1:]
			both++
		}
	}
	if union == 0 {
		return 0
	}
	share := float64(both) / float64(union)
	return share * float64(p.functions+q.functions) / (1 + share)
}

// families groups related programs, by first appearance. A program that is related to several
// groups joins them into one.
func (p *knownPrograms) families() [][]*program {
	list := slices.SortedFunc(maps.Values(p.all), func(a, b *program) int { return cmp.Compare(a.first, b.first) })
	var families [][]*program
	for _, q := range list {
		to := -1
		for i := 0; i < len(families); i++ {
			f := families[i]
			if !slices.ContainsFunc(f, func(o *program) bool {
				return q.inCommon(o) >= related*float64(min(q.functions, o.functions))
			}) {
				continue
			}
			if to < 0 {
				to = i
				families[i] = append(f, q)
				continue
			}
			families[to] = append(families[to], f...)
			families = slices.Delete(families, i, i+1)
			i--
		}
		if to < 0 {
			families = append(families, []*program{q})
		}
	}
	return families
}

// maxFamiliesListed limits the lines about unrelated programs.
const maxFamiliesListed = 5

// printPrograms prints a note if the merged profiles come from unrelated programs, with the functions that these share.
func (j *job) printPrograms(w io.Writer, result iter.Seq[*irpgo.Function]) {
	families := j.programs.families()
	if len(families) > 1 {
		count := cli.Count(len(families))
		if j.programs.more {
			count = "more than " + count
		}
		fmt.Fprintf(w, "note: the inputs come from %s programs with few functions in common (--per-binary separates binaries):\n", count)
		for _, f := range families[:min(len(families), maxFamiliesListed)] {
			profiles, functions := 0, 0
			for _, p := range f {
				profiles += p.profiles
				functions = max(functions, p.functions)
			}
			fmt.Fprintf(w, "      %s, such as %s, of %s\n", cli.Quantity(profiles, "profile", "profiles"), console.Printable(f[0].file),
				cli.Quantity(functions, "function", "functions"))
		}
		if more := len(families) - maxFamiliesListed; more > 0 {
			fmt.Fprintf(w, "      and %s more\n", cli.Count(more))
		}
		printShared(w, families, result)
	}
	if len(j.programs.all) > 1 {
		printSeveralFlows(w, result)
	}
}

// maxNamesListed limits the names of functions in a note.
const maxNamesListed = 3

// printShared names functions of programs of different families. It knows only the functions in
// sketches, a sample for large programs.
func printShared(w io.Writer, families [][]*program, result iter.Seq[*irpgo.Function]) {
	seen := make(map[uint64]int) // by reference: index of the family; -1 for several families
	for i, f := range families {
		for _, p := range f {
			for _, ref := range p.sketch {
				if first, ok := seen[ref]; ok && first != i {
					seen[ref] = -1
				} else if !ok {
					seen[ref] = i
				}
			}
		}
	}
	printFunctions(w, "      %s of the same name in several of them, counted as one: %s\n", result, func(f *irpgo.Function) bool {
		return seen[irpgo.NameRef(f.Name)] == -1
	})
}

// printSeveralFlows names functions with several records without context. Such records have
// different CFG hashes; a compiler uses the record with the hash that it computes.
func printSeveralFlows(w io.Writer, result iter.Seq[*irpgo.Function]) {
	const note = "note: %s of the same name with different control flow in different binaries, all kept: %s\n"
	printFunctions(w, note, result, func(f *irpgo.Function) bool {
		plain := 0
		for _, r := range f.Records {
			if !r.IsCS() {
				plain++
			}
		}
		return plain > 1
	})
}

// printFunctions prints how many functions match and the names of the first; nothing if none matches.
func printFunctions(w io.Writer, format string, functions iter.Seq[*irpgo.Function], match func(*irpgo.Function) bool) {
	var names []string
	n := uint64(0)
	for f := range functions {
		if match(f) {
			if n++; n <= maxNamesListed {
				names = append(names, console.Printable(f.Name))
			}
		}
	}
	if n > maxNamesListed {
		names = append(names, "…")
	}
	if n > 0 {
		fmt.Fprintf(w, format, cli.Quantity(n, "function", "functions"), strings.Join(names, ", "))
	}
}

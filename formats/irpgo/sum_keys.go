package irpgo

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
)

// keySource provides the names of a profile and their records to the writer of
// an indexed file's hash table. It is safe for concurrent use.
type keySource interface {
	len() int
	name(i int) string
	ref(i int) uint64 // NameRef(name(i))
	seq(i int) uint64 // first appearance
	// records returns the records of a name in order of appearance. It may use
	// memory, so a further call with the same memory invalidates them.
	records(i int, memory *keyRecords) []*Record
	// summarize adds the counters of a name's records, those of
	// context-sensitive ones to cs.
	summarize(i int, sum, cs *SummaryBuilder)
}

// keyRecords is memory for the records of a name.
type keyRecords struct {
	records  []Record
	pointers []*Record
}

// sumKeys are the keys of finished sums.
type sumKeys struct {
	sums    *sums
	entries []entry     // grouped by key
	ends    []int32     // end of each key's entries
	seqs    []uint64    // first appearance of each key; nil in the order of a catalog
	sites   []ValueSite // of all entries of sums
}

// finish returns the keys in the order of their names. It moves all sums to the table,
// unless one block has them, and merges those of one name and hash into the first that
// appeared. It tells warn what could not be merged whole.
func (a *accumulator) finish(warn warner) *sumKeys {
	if b := a.single(); b != nil {
		return b.byName()
	}
	a.foldBlocks(warn)
	k := &sumKeys{sums: &a.sums, entries: make([]entry, 0, a.entries.len), ends: make([]int32, 0, a.entries.len)}
	order := a.byName()
	for len(order) > 0 {
		first := a.entries.at(int(order[0].index))
		n, seq := 1, first.seq
		for ; n < len(order); n++ {
			e := a.entries.at(int(order[n].index))
			if e.name != first.name {
				break
			}
			seq = min(seq, e.seq)
		}
		for _, x := range a.joinForms(order[:n], warn) {
			k.entries = append(k.entries, a.entries.at(int(x.index)).entry)
		}
		k.ends = append(k.ends, int32(len(k.entries)))
		k.seqs = append(k.seqs, seq)
		order = order[n:]
	}
	k.finishSites()
	return k
}

// byName returns the entries of the table by name, those of one name by first appearance.
func (a *accumulator) byName() []nameKey {
	return sortedByName(a.entries.len, func(i int32) string { return a.entries.at(int(i)).name }, a.compareEntries)
}

// sortedByName returns the numbers up to n in the order of their names, and those of one
// name in that of compare.
func sortedByName(n int, name func(i int32) string, compare func(x, y nameKey) int) []nameKey {
	order := make([]nameKey, n)
	for i := range order {
		order[i].index = int32(i)
	}
	sortByName(order, 0, name, compare)
	return order
}

// sortByName sorts what has depth bytes of its names in common. It compares eight bytes of
// all names before it reads on: names of one program have long common beginnings.
func sortByName(order []nameKey, depth int, name func(i int32) string, compare func(x, y nameKey) int) {
	const maxDepth = 256 // bounds the recursion
	for i := range order {
		own := name(order[i].index)
		order[i].bytes = bytesOf(own[min(depth, len(own)):])
	}
	slices.SortFunc(order, func(x, y nameKey) int { return cmp.Compare(x.bytes, y.bytes) })
	for len(order) > 0 {
		n := 1
		for n < len(order) && order[n].bytes == order[0].bytes {
			n++
		}
		if run := order[:n]; n > 1 && order[0].bytes&0xff != 0 && depth < maxDepth {
			sortByName(run, depth+8, name, compare)
		} else if n > 1 {
			slices.SortFunc(run, compare)
		}
		order = order[n:]
	}
}

// compareEntries compares two entries by name and by first appearance.
func (a *accumulator) compareEntries(x, y nameKey) int {
	p, q := a.entries.at(int(x.index)), a.entries.at(int(y.index))
	if c := strings.Compare(p.name, q.name); c != 0 {
		return c
	}
	if !a.policy.llvm && p.seq != q.seq { // as LLVM: in order of addition
		return cmp.Compare(p.seq, q.seq)
	}
	return cmp.Compare(x.index, y.index)
}

// joinForms takes the entries of one name. It merges those of one hash, which
// differ in form, into the first of them as far as LLVM's rules allow, and
// returns the remaining entries, one of each hash.
func (a *accumulator) joinForms(entries []nameKey, warn warner) []nameKey {
	if len(entries) == 1 {
		return entries
	}
	first := make(map[uint64]*entry, len(entries))
	stand := entries[:0]
	for _, x := range entries {
		e := &a.entries.at(int(x.index)).entry
		if first[e.hash] == nil {
			first[e.hash] = e
			stand = append(stand, x)
			continue
		}
		var r Record
		a.take(&r, &a.sums, e)
		a.mergeRecord(&a.sums, first[e.hash], &r, 1, false, false, func(code llvmerr.Code) { warn(e.name, code) })
	}
	return stand
}

// finish returns the keys in the order of the catalog.
func (b *block) finish() *sumKeys {
	b.settle()
	k := &sumKeys{sums: &b.sums, entries: b.catalog.entries, ends: b.catalog.keys()}
	k.finishSites()
	return k
}

// byName returns the keys in the order of their names. All entries differ in name or hash.
// The keys take over the entries of a catalog that no later profile can use.
func (b *block) byName() *sumKeys {
	b.settle()
	entries := b.catalog.entries
	if b.catalog.kept {
		entries = slices.Clone(entries)
	}
	k := &sumKeys{
		sums: &b.sums, entries: entries,
		ends: make([]int32, 0, len(entries)), seqs: make([]uint64, 0, len(entries)),
	}
	name := func(i int32) string { return entries[i].name }
	order := sortedByName(len(entries), name, func(x, y nameKey) int {
		return cmp.Or(strings.Compare(name(x.index), name(y.index)), cmp.Compare(x.index, y.index))
	})
	for i, x := range order {
		if i == 0 || name(x.index) != name(order[i-1].index) {
			k.ends, k.seqs = append(k.ends, 0), append(k.seqs, uint64(b.first)<<32+uint64(x.index))
		}
		k.ends[len(k.ends)-1] = int32(i + 1)
	}
	arrange(entries, order)
	k.finishSites()
	return k
}

// arrange brings entries into an order, which it uses up. It follows the cycles of the
// permutation, so that no entry is in memory twice.
func arrange(entries []entry, order []nameKey) {
	const done = -1
	for start := range order {
		if order[start].index == done {
			continue
		}
		first, to := entries[start], start
		for from := int(order[to].index); from != start; from = int(order[to].index) {
			entries[to], order[to].index = entries[from], done
			to = from
		}
		entries[to], order[to].index = first, done
	}
}

// finishSites makes the sites of all entries ready to be written.
func (k *sumKeys) finishSites() {
	k.sites = make([]ValueSite, len(k.sums.sites))
	for i := range k.sites {
		k.sites[i] = k.sums.sites[i].finished()
	}
}

func (k *sumKeys) len() int { return len(k.ends) }

// of returns the entries of a key.
func (k *sumKeys) of(i int) []entry {
	if i == 0 {
		return k.entries[:k.ends[0]]
	}
	return k.entries[k.ends[i-1]:k.ends[i]]
}

func (k *sumKeys) name(i int) string { return k.of(i)[0].name }
func (k *sumKeys) ref(i int) uint64  { return k.of(i)[0].ref }

func (k *sumKeys) seq(i int) uint64 { return k.seqs[i] }

func (k *sumKeys) records(i int, memory *keyRecords) []*Record {
	own := k.of(i)
	if len(own) > len(memory.records) {
		memory.records, memory.pointers = make([]Record, len(own)), make([]*Record, len(own))
		for j := range memory.records {
			memory.pointers[j] = &memory.records[j]
		}
	}
	for j := range own {
		k.sums.record(&memory.records[j], &own[j], k.sites[own[j].site:])
	}
	return memory.pointers[:len(own)]
}

func (k *sumKeys) summarize(i int, sum, cs *SummaryBuilder) {
	own := k.of(i)
	for j := range own {
		to := sum
		if own[j].hash&csHashBit != 0 {
			to = cs
		}
		to.Add(k.sums.countsOf(&own[j]))
	}
}

// function returns a key as a function with the given records.
func (k *sumKeys) function(i int, records []*Record) Function {
	name := k.name(i)
	return Function{Name: name, Records: records, seq: k.seq(i), refOf: name, ref: k.ref(i)}
}

// reusedFunctions yields the keys as functions, each in the memory of the one before.
func (k *sumKeys) reusedFunctions(yield func(*Function) bool) {
	var f Function
	var memory keyRecords
	for i := range k.len() {
		if f = k.function(i, k.records(i, &memory)); !yield(&f) {
			return
		}
	}
}

// gather copies names and counters into the order of the keys, so that walks read memory
// from front to back, and drops what is not needed any more.
func (k *sumKeys) gather() {
	counters, size := 0, 0
	for i := range k.entries {
		counters += int(k.entries[i].counters)
		size += len(k.entries[i].name)
	}
	counts, names := make([]uint64, 0, counters), strings.Builder{}
	names.Grow(size)
	for i := range k.entries {
		e := &k.entries[i]
		at := len(counts)
		counts = append(counts, k.sums.countsOf(e)...)
		e.counts = spot{0, int32(at)}
		at = names.Len()
		names.WriteString(e.name)
		e.name = names.String()[at:]
	}
	k.sums = &sums{counts: [][]uint64{counts}, bitmap: k.sums.bitmap}
}

// functions returns the keys as functions; their records use the accumulator's
// memory.
func (k *sumKeys) functions() []Function {
	out := make([]Function, k.len())
	records := make([]Record, len(k.entries))
	pointers := make([]*Record, len(k.entries))
	for i := range records {
		k.sums.record(&records[i], &k.entries[i], k.sites[k.entries[i].site:])
		pointers[i] = &records[i]
	}
	for i := range out {
		n := len(k.of(i))
		out[i] = k.function(i, pointers[:n:n])
		pointers = pointers[n:]
	}
	return out
}

// nameKey stands for the name of an entry or a key: eight bytes of it, the first one
// highest, zeros after its end.
type nameKey struct {
	bytes uint64
	index int32
}

func bytesOf(name string) uint64 {
	var b [8]byte
	copy(b[:], name)
	return binary.BigEndian.Uint64(b[:])
}

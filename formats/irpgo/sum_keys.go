package irpgo

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
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
}

// keyRecords is memory for the records of a name.
type keyRecords struct {
	records  []Record
	pointers []*Record
}

// sumKeys are the keys of finished sums.
type sumKeys struct {
	sums    *sums
	entries []entry       // grouped by key
	ends    []int32       // end of each key's entries
	seqs    []uint64      // first appearance of each key; nil if the table is written as it is
	sites   [][]ValueData // of all entries of sums
}

// arranged returns the catalog of all profiles if an indexed file has its entries in their order, or nil.
func (a *accumulator) arranged() *catalog {
	if a.only != nil && a.only.arranged {
		return a.only
	}
	return nil
}

// finish returns the keys in the order of their names. It merges the entries of one name and
// hash into the first that appeared, and warns of what could not be merged whole.
func (a *accumulator) finish(warn warner) *sumKeys {
	n := a.entries.len
	k := &sumKeys{sums: &a.sums, ends: make([]int32, 0, n), seqs: make([]uint64, 0, n)}
	order := a.byName()
	stand := order[:0]
	for len(order) > 0 {
		name, seq := a.entries.at(int(order[0].index)).name, a.seqs[order[0].index]
		n := 1
		for ; n < len(order) && a.entries.at(int(order[n].index)).name == name; n++ {
			seq = min(seq, a.seqs[order[n].index])
		}
		stand = append(stand, a.joinForms(order[:n], warn)...)
		k.ends, k.seqs = append(k.ends, int32(len(stand))), append(k.seqs, seq)
		order = order[n:]
	}
	k.entries = a.inOrder(stand)
	k.finishSites()
	return k
}

// inOrder returns entries in an order. If no later profile can use the only catalog, they take its memory.
func (a *accumulator) inOrder(order []nameKey) []entry {
	if a.only != nil && !a.only.kept {
		arrange(a.only.entries, order)
		return a.only.entries
	}
	entries := make([]entry, len(order))
	for i, x := range order {
		entries[i] = *a.entries.at(int(x.index))
	}
	return entries
}

// byName returns the entries of the table in the order of their names, the entries of one name by first appearance.
func (a *accumulator) byName() []nameKey {
	order := make([]nameKey, a.entries.len)
	for i := range order {
		order[i].index = int32(i)
	}
	a.sortByName(order, 0)
	return order
}

// sortByName sorts entries whose names have their first depth bytes in common. It compares eight bytes of
// all names before it reads on: names of one program have long common beginnings.
func (a *accumulator) sortByName(order []nameKey, depth int) {
	const maxDepth = 256 // bounds the recursion
	for i := range order {
		own := a.entries.at(int(order[i].index)).name
		order[i].bytes = bytesOf(own[min(depth, len(own)):])
	}
	slices.SortFunc(order, func(x, y nameKey) int { return cmp.Compare(x.bytes, y.bytes) })
	for len(order) > 0 {
		n := 1
		for n < len(order) && order[n].bytes == order[0].bytes {
			n++
		}
		if run := order[:n]; n > 1 && order[0].bytes&0xff != 0 && depth < maxDepth {
			a.sortByName(run, depth+8)
		} else if n > 1 {
			slices.SortFunc(run, a.compareEntries)
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
	if !a.policy.llvm { // as LLVM: in order of addition
		return cmp.Or(cmp.Compare(a.seqs[x.index], a.seqs[y.index]), cmp.Compare(x.index, y.index))
	}
	return cmp.Compare(x.index, y.index)
}

// joinForms takes the entries of one name. Entries of one hash differ in form; joinForms merges them into the first
// one as far as LLVM's rules allow. It returns the first entry of each hash.
func (a *accumulator) joinForms(entries []nameKey, warn warner) []nameKey {
	if len(entries) == 1 {
		return entries
	}
	first := make(map[uint64]*entry, len(entries))
	stand := entries[:0]
	for _, x := range entries {
		e := a.entries.at(int(x.index))
		if first[e.hash] == nil {
			first[e.hash] = e
			stand = append(stand, x)
			continue
		}
		add := addition{Record: new(Record), weight: 1, warn: warn, tellAll: true}
		a.take(add.Record, &a.sums, e)
		add.device = a.deviceOf(e)
		a.mergeRecord(&add, first[e.hash], false)
	}
	return stand
}

// arrange brings entries into an order and overwrites the order. It follows the cycles of
// the permutation, so that no entry is in memory twice.
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
	k.sites = make([][]ValueData, len(k.sums.sites))
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
// from front to back, and drops the table.
func (k *sumKeys) gather() {
	counters, size := 0, 0
	for i := range k.entries {
		counters += int(k.entries[i].counters)
		size += len(k.entries[i].name)
	}
	counts, names := make([]uint64, 0, counters), strings.Builder{}
	names.Grow(size)
	devices := make(map[position]*deviceSum, len(k.sums.devices))
	for i := range k.entries {
		e := &k.entries[i]
		at := len(counts)
		counts = append(counts, k.sums.countsOf(e)...)
		to := position{0, int32(at)}
		if d := k.sums.deviceOf(e); d != nil {
			devices[to] = d
		}
		e.counts = to
		at = names.Len()
		names.WriteString(e.name)
		e.name = names.String()[at:]
	}
	k.sums = &sums{counts: [][]uint64{counts}, bitmap: k.sums.bitmap, devices: devices}
}

// functions returns the keys as functions; their records use the accumulator's memory.
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

// A nameKey has eight bytes of an entry's name, the first byte highest, and zeros after the end of the name.
type nameKey struct {
	bytes uint64
	index int32
}

func bytesOf(name string) uint64 {
	var b [8]byte
	copy(b[:], name)
	return binary.BigEndian.Uint64(b[:])
}

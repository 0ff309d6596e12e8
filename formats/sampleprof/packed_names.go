package sampleprof

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"strings"
)

type nameTable struct {
	names []Name
	// inOrder is the length of the longest known beginning of names that is sorted by [Name.compare].
	inOrder int
	// slots is a hash table by GUID with open addressing, made when first needed. A slot has the
	// number of a name plus 1 in the low half and bits of the hash in the high half; 0 is empty.
	slots []uint64
	seed  uint64 // random, so that no file can force collisions
	// A name and its bare GUID are twins. If joins is set, they are one name, with its text as soon
	// as that is known. Otherwise they are two names; twins maps the later number to the earlier.
	twins  map[uint32]uint32
	joins  bool
	joined bool            // some twins were joined
	named  []uint32        // numbers of bare GUIDs that got their texts later
	texts  strings.Builder // memory of texts
}

// number returns the number of a name. It adds a new name with a copy of its text.
func (t *nameTable) number(n Name) uint32 {
	if 2*len(t.names) >= len(t.slots) {
		t.rehash()
	}
	hash := t.hash(n.ID)
	slot, known, twin := t.findName(hash, n)
	if known >= 0 {
		if at := &t.names[known]; at.isID() != n.isID() {
			t.joined = true
			if at.isID() {
				at.Text = t.copyText(n.Text)
				t.named = append(t.named, uint32(known))
			}
		}
		return uint32(known)
	}
	i := uint32(len(t.names))
	t.slots[slot] = hash&tagMask | uint64(i+1)
	if twin >= 0 {
		if t.twins == nil {
			t.twins = make(map[uint32]uint32)
		}
		t.twins[i] = uint32(twin)
	}
	n.Text = t.copyText(n.Text)
	t.names = append(t.names, n)
	return i
}

// numbersOf returns the numbers of names, which it may retain; inOrder says that they are sorted, each once.
func (t *nameTable) numbersOf(names []Name, inOrder bool) []uint32 {
	numbers := make([]uint32, len(names))
	if len(t.names) == 0 && inOrder {
		t.names, t.inOrder = names, len(names)
		for i := range numbers {
			numbers[i] = uint32(i)
		}
		return numbers
	}
	for i, n := range names {
		numbers[i] = t.number(n)
	}
	return numbers
}

// numberOf returns the number of a name that is in the table.
func (t *nameTable) numberOf(n Name) uint32 {
	if t.slots == nil {
		t.rehash()
	}
	_, known, _ := t.findName(t.hash(n.ID), n)
	return uint32(known)
}

// compare compares the names with numbers a and b by [Name.compare].
func (t *nameTable) compare(a, b uint32) int {
	if max(int(a), int(b)) < t.inOrder {
		return cmp.Compare(a, b)
	}
	return t.names[a].compare(t.names[b])
}

// compareFunctions orders functions by name or context.
func (t *nameTable) compareFunctions(a, b *packedFunction) int {
	if a.context == nil && b.context == nil {
		return t.compare(a.name, b.name)
	}
	return compareSubjects(t.names[a.name], a.context, t.names[b.name], b.context)
}

// firstTwin returns the number of the first name with the same GUID.
func (t *nameTable) firstTwin(number uint32) uint32 {
	if first, ok := t.twins[number]; ok {
		return first
	}
	return number
}

// tagMask selects the bits of the hash in a slot.
const tagMask = 1<<64 - 1<<32

func (t *nameTable) hash(id uint64) uint64 {
	high, low := bits.Mul64(id^t.seed, 0x9e3779b97f4a7c15)
	return high ^ low
}

// findName returns the number of a name, or -1 and the free slot for it; and the number of its twin, or -1.
func (t *nameTable) findName(hash uint64, n Name) (slot int, known, twin int64) {
	mask := len(t.slots) - 1
	twin = -1
	for slot = int(hash) & mask; t.slots[slot] != 0; slot = (slot + 1) & mask {
		if (t.slots[slot]^hash)&tagMask != 0 {
			continue
		}
		i := int64(uint32(t.slots[slot]) - 1)
		switch at := &t.names[i]; {
		case at.ID != n.ID:
		case t.joins || at.isID() == n.isID():
			return slot, i, twin
		default:
			twin = i
		}
	}
	return slot, -1, twin
}

// rehash makes new slots, at least twice as many as names.
func (t *nameTable) rehash() {
	const least = 1 << 10
	t.seed = rand.Uint64()
	t.slots = make([]uint64, max(least, 4<<bits.Len(uint(len(t.names)))))
	for i := range t.names {
		hash := t.hash(t.names[i].ID)
		slot := int(hash) & (len(t.slots) - 1)
		for t.slots[slot] != 0 {
			slot = (slot + 1) & (len(t.slots) - 1)
		}
		t.slots[slot] = hash&tagMask | uint64(i+1)
	}
}

// copyText returns a copy of a text, in memory that texts share.
func (t *nameTable) copyText(text string) string {
	const chunk = 64 << 10
	if t.texts.Cap()-t.texts.Len() < len(text) {
		t.texts = strings.Builder{}
		t.texts.Grow(max(len(text), chunk))
	}
	begin := t.texts.Len()
	t.texts.WriteString(text)
	return t.texts.String()[begin:]
}

// truncate undoes additions: it keeps the first n names, and the first named texts of bare GUIDs.
func (t *nameTable) truncate(n, named int) {
	for _, i := range t.named[named:] {
		t.names[i].Text = ""
	}
	t.named = t.named[:named]
	if n == len(t.names) {
		return
	}
	for i := range t.names[n:] {
		delete(t.twins, uint32(n+i))
	}
	t.names, t.slots, t.inOrder = t.names[:n], nil, min(t.inOrder, n)
}

func (t *nameTable) label(f *packedFunction) string {
	return (&Function{Name: t.names[f.name], Context: f.context}).Label()
}

func (t *nameTable) key(f *packedFunction) uint64 { return keyOf(t.names[f.name], f.context) }

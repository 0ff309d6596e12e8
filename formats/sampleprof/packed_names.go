package sampleprof

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"strings"
)

// A nameTable gives names their numbers.
type nameTable struct {
	names []Name
	// inOrder is how many of the names, from the first on, are in the order of [Name.Compare].
	inOrder int
	// slots is a hash table by GUID, with open addressing: the number of a name plus 1 in the low
	// half, bits of the hash in the high half; 0 if empty. It is made when it is first needed.
	slots []uint64
	seed  uint64 // files cannot know which GUIDs collide
	// twins are the numbers of names that have the GUID of an earlier one, which is that of a
	// name without its text, or the other way round. There are none if joins is set: then these
	// are one name, whose text is known from then on.
	twins  map[uint32]uint32
	joins  bool
	joined bool            // there were such names
	named  []uint32        // numbers of GUIDs that have got their texts
	texts  strings.Builder // copies of names
}

// isID reports whether only the GUID of the name is known.
func (n *Name) isID() bool { return n.text == "" && n.id != emptyID }

// number returns the number of a name, which it adds if it is new.
func (t *nameTable) number(n Name) uint32 {
	if 2*len(t.names) >= len(t.slots) {
		t.rehash()
	}
	hash := t.hash(n.id)
	slot, known, twin := t.find(hash, n)
	if known >= 0 {
		if at := &t.names[known]; at.isID() != n.isID() {
			t.joined = true
			if at.isID() {
				at.text = t.keep(n.text)
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
	n.text = t.keep(n.text)
	t.names = append(t.names, n)
	return i
}

// numbersOf returns the numbers of the names of a file, which it adds and may keep. inOrder says
// that they are in their order, each once.
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

// get returns the number of a name that the table has.
func (t *nameTable) get(n Name) uint32 {
	if t.slots == nil {
		t.rehash()
	}
	_, known, _ := t.find(t.hash(n.id), n)
	return uint32(known)
}

// compare is [Name.Compare] of the names of numbers.
func (t *nameTable) compare(a, b uint32) int {
	if max(int(a), int(b)) < t.inOrder {
		return cmp.Compare(a, b)
	}
	return t.names[a].Compare(t.names[b])
}

// first returns the number of the first name with the GUID of another.
func (t *nameTable) first(number uint32) uint32 {
	if first, ok := t.twins[number]; ok {
		return first
	}
	return number
}

// tagMask is the part of a slot with bits of the hash.
const tagMask = 1<<64 - 1<<32

func (t *nameTable) hash(id uint64) uint64 {
	high, low := bits.Mul64(id^t.seed, 0x9e3779b97f4a7c15)
	return high ^ low
}

// find returns the number of a name, or -1 and the slot for it, and the number of a name that has
// the same GUID, or -1.
func (t *nameTable) find(hash uint64, n Name) (slot int, known, twin int64) {
	mask := len(t.slots) - 1
	twin = -1
	for slot = int(hash) & mask; t.slots[slot] != 0; slot = (slot + 1) & mask {
		if (t.slots[slot]^hash)&tagMask != 0 {
			continue
		}
		i := int64(uint32(t.slots[slot]) - 1)
		switch at := &t.names[i]; {
		case at.id != n.id:
		case t.joins || at.isID() == n.isID():
			return slot, i, twin
		default:
			twin = i
		}
	}
	return slot, -1, twin
}

// rehash makes the slots anew, for twice the names at least.
func (t *nameTable) rehash() {
	const least = 1 << 10
	t.seed = rand.Uint64()
	t.slots = make([]uint64, max(least, 4<<bits.Len(uint(len(t.names)))))
	for i := range t.names {
		hash := t.hash(t.names[i].id)
		slot := int(hash) & (len(t.slots) - 1)
		for t.slots[slot] != 0 {
			slot = (slot + 1) & (len(t.slots) - 1)
		}
		t.slots[slot] = hash&tagMask | uint64(i+1)
	}
}

// keep returns a copy of a text, in the memory of others.
func (t *nameTable) keep(text string) string {
	const chunk = 64 << 10
	if t.texts.Cap()-t.texts.Len() < len(text) {
		t.texts = strings.Builder{}
		t.texts.Grow(max(len(text), chunk))
	}
	begin := t.texts.Len()
	t.texts.WriteString(text)
	return t.texts.String()[begin:]
}

// truncate removes all names but the first n, and the texts of GUIDs but of the first named ones.
func (t *nameTable) truncate(n, named int) {
	for _, i := range t.named[named:] {
		t.names[i].text = ""
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

// label is [Function.Label].
func (t *nameTable) label(f *packedFunction) string {
	return (&Function{Name: t.names[f.name], Context: f.context}).Label()
}

// key is the number by which LLVM knows a function.
func (t *nameTable) key(f *packedFunction) uint64 { return keyOf(t.names[f.name], f.context) }

package iprof

// A Type is one entry of the table of types. Its name identifies it.
type Type struct {
	ID   TypeID
	Name string // as Class.getName returns it: int, a.B$C, [I, [La.B;
}

// A Method is one entry of the table of methods.
type Method struct {
	ID   MethodID
	Name string // simple name: get, <init>, lambda$main$0
	// Signature holds the declaring type, the return type and the types of the
	// parameters, without the receiver. It may be shorter in broken recordings.
	Signature []TypeID
}

// A Member is a key with a value that this package does not interpret: a member of an entry, or of
// the top-level object.
type Member struct {
	Section string // top-level key of the entry; "" for a top-level member
	Entry   int    // index of the entry in its table or section
	Key     string
	Raw     []byte // JSON text of the value, as in the file
}

// A Profile is an iprof file in memory, with the ids of the file. It is safe for
// concurrent use while it is not changed.
type Profile struct {
	Version Version
	Types   []Type   // in the order of the file
	Methods []Method // in the order of the file
	// Order holds the top-level keys, in their spelling since 0.4.0; nil for the usual order. [Write]
	// writes them in this order, and other members that are not empty at their usual place.
	Order []string
	// Unknown are the top-level members of no known version.
	Unknown []Member
	// Extra are the unknown members of entries.
	Extra []Member

	// Sections are the entries of each kind; a missing section is empty.
	Sections [NumKinds]Section

	checksKey string // the spelling of TypeChecks' key with the entries
	typeIndex idIndex
	methIndex idIndex
}

func newProfile(v Version) *Profile {
	p := &Profile{Version: v}
	p.init()
	return p
}

func (p *Profile) init() {
	for k := range p.Sections {
		p.Sections[k].kind = Kind(k)
	}
}

// has reports whether the file has the section, empty or not.
func (p *Profile) has(k Kind) bool {
	for _, key := range p.order() {
		if of, ok := kindOfKey(key); ok && of == k {
			return true
		}
	}
	return p.Sections[k].Len() > 0
}

// order returns the keys to write.
func (p *Profile) order() []string {
	if p.Order != nil {
		return p.Order
	}
	return usualOrder(p.Version)
}

// usualOrder returns the order in which the tool of a version writes its keys.
func usualOrder(v Version) []string {
	keys := []string{keyVersion, keyTypes, keyMethods}
	for k := range NumKinds {
		if k != TypeChecks || v.compare(version110) >= 0 {
			keys = append(keys, k.Key())
		}
	}
	return keys
}

// sectionKey returns the key of a section, as the file spells it.
func (p *Profile) sectionKey(k Kind) string {
	if k == TypeChecks && p.checksKey != "" {
		return p.checksKey
	}
	return k.Key()
}

func (p *Profile) entries() int {
	n := 0
	for k := range p.Sections {
		n += p.Sections[k].Len()
	}
	return n
}

// typeOf returns the first type with the given id, nil if the table has none.
func (p *Profile) typeOf(id TypeID) *Type {
	if i := p.typeIndex.find(int32(id)); i >= 0 && i < len(p.Types) {
		return &p.Types[i]
	}
	return nil
}

// methodOf returns the method with the given id, nil if the table has none.
func (p *Profile) methodOf(id MethodID) *Method {
	if i := p.methIndex.find(int32(id)); i >= 0 && i < len(p.Methods) {
		return &p.Methods[i]
	}
	return nil
}

// reindex indexes Types and Methods by id, after they were changed.
func (p *Profile) reindex() {
	p.typeIndex = newIDIndex(len(p.Types), func(i int) int32 { return int32(p.Types[i].ID) })
	p.methIndex = newIDIndex(len(p.Methods), func(i int) int32 { return int32(p.Methods[i].ID) })
}

// Placeholder reports whether the recording was never resolved: instead of its types or methods the
// file has one entry without a name, with id -1, so its contexts cannot be attributed.
func (p *Profile) Placeholder() bool {
	return len(p.Types) == 1 && p.Types[0].ID == -1 && p.Types[0].Name == "" ||
		len(p.Methods) == 1 && p.Methods[0].ID == -1 && p.Methods[0].Name == ""
}

// derive returns a profile with the tables and properties of p and empty sections.
func (p *Profile) derive() *Profile {
	q := *p
	q.Sections = [NumKinds]Section{}
	q.init()
	return &q
}

// idIndex finds the entry of a table by its id.
type idIndex struct {
	dense  []uint32 // index + 1 by id - low
	low    int32
	sparse map[int32]uint32 // index, where ids lie too far apart
}

// newIDIndex indexes n entries. If several entries have one id, the first counts.
func newIDIndex(n int, id func(i int) int32) idIndex {
	var x idIndex
	if n == 0 {
		return x
	}
	low, high := id(0), id(0)
	for i := 1; i < n; i++ {
		low, high = min(low, id(i)), max(high, id(i))
	}
	if span := int64(high) - int64(low); span < 8*int64(n)+1024 {
		x.low, x.dense = low, make([]uint32, span+1)
		for i := n - 1; i >= 0; i-- {
			x.dense[id(i)-low] = uint32(i) + 1
		}
		return x
	}
	x.sparse = make(map[int32]uint32, n)
	for i := n - 1; i >= 0; i-- {
		x.sparse[id(i)] = uint32(i)
	}
	return x
}

func (x *idIndex) find(id int32) int {
	if at := int64(id) - int64(x.low); at >= 0 && at < int64(len(x.dense)) {
		return int(x.dense[at]) - 1
	}
	if i, ok := x.sparse[id]; ok {
		return int(i)
	}
	return -1
}

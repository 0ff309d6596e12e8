package iprof

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// MergeOptions adjust a [Merger]. The zero value is right for most uses.
type MergeOptions struct {
	// DropUnresolved skips entries with a method or type that is not in the tables
	// of their file; otherwise such a file is refused.
	DropUnresolved bool
	// DropUnknown drops sections and members of no known version; otherwise a file
	// with any is refused, because ids in them cannot be translated.
	DropUnknown bool
	// Warn, if not nil, is called for data that could not be merged unchanged,
	// from the goroutine that calls Add or AddProfile.
	Warn func(profile.Warning)
}

// Added says what one input contributed.
type Added struct {
	Entries   int // merged
	Skipped   int // entries skipped because of ids that are not in the tables
	Reshaped  int // conditionals with other branches than in previous inputs
	Saturated int // counts that saturated
}

// A Merger merges profiles. It does no I/O and holds one accumulator, however many inputs there are.
//
// Types are identified by name, methods by name and the names of all types in their signature, entries
// by kind and context; ids are translated. The counts of equal entries are added, per type where they
// have types. Conditionals with the same targets and indexes in the same order are added record by
// record. For other conditionals, the result has the union of the records, sorted by index; records
// with equal target and index are added in their order.
//
// The result has the canonical form of [Merger.Profile] and is equal for any order and grouping of the inputs.
//
// Mergers are not safe for concurrent use. For parallel merging give each
// worker a Merger with the same options, and [Merger.Merge] them into the first.
type Merger struct {
	// Added sums up the results of AddProfile. It includes the reshaped conditionals and saturated
	// counts of Mergers that were merged into this one. How many these are depends on which Merger
	// got which input; whether there are any does not.
	Added Added

	opt      MergeOptions
	checks   bool // the result has the section TypeChecks
	types    typeTable
	methods  methodTable
	sections [NumKinds]sums
	scratch  struct {
		frames  []Frame
		records []int64
	}
}

// NewMerger returns an empty Merger.
func NewMerger(opt MergeOptions) *Merger {
	m := &Merger{opt: opt}
	m.types.index = make(map[string]uint32)
	m.methods.index = make(map[string]uint32)
	for k := range m.sections {
		m.sections[k].init(Kind(k))
	}
	return m
}

// Merge adds the inputs of another Merger to m and leaves the other unusable.
func (m *Merger) Merge(o *Merger) error {
	if _, err := m.AddProfile("", o.Profile(), Weights{}); err != nil {
		return err
	}
	m.Added.Reshaped += o.Added.Reshaped
	m.Added.Saturated += o.Added.Saturated
	return nil
}

// AddProfile adds p, multiplied by the weights; the zero value adds p once. name is used in errors and
// warnings. A profile that is refused leaves no trace: one that is of another major version
// (unsupported), whose recording was not resolved (corrupt), with negative counts (corrupt), or with
// what [MergeOptions] could drop (unresolved: corrupt, unknown: unsupported).
func (m *Merger) AddProfile(name string, p *Profile, w Weights) (Added, error) {
	if err := m.Accepts(name, p); err != nil {
		return Added{}, err
	}
	in := m.translate(p)
	var added Added
	for k := range p.Sections {
		if err := m.addSection(&in, Kind(k), w.of(Kind(k)), &added); err != nil {
			return added, flaw.InFile(err, name)
		}
	}
	m.checks = m.checks || p.has(TypeChecks) || p.Version.compare(version110) >= 0
	m.Added.Entries += added.Entries
	m.Added.Skipped += added.Skipped
	m.Added.Reshaped += added.Reshaped
	m.Added.Saturated += added.Saturated
	m.report(name, p, added)
	return added, nil
}

// Accepts returns the error that AddProfile would refuse p with; nil if it would not.
func (m *Merger) Accepts(name string, p *Profile) error { return flaw.InFile(m.acceptable(p), name) }

func (m *Merger) report(name string, p *Profile, added Added) {
	if m.opt.Warn == nil {
		return
	}
	warn := func(section, field, found, want string) {
		m.opt.Warn(profile.Warning{File: name, Err: flaw.In(section).Field(field).Got(found).Want(want).Mismatch()})
	}
	if added.Skipped > 0 {
		warn("", "entries", fmt.Sprintf("left out, %d of them", added.Skipped), "only ids that the tables have")
	}
	if added.Reshaped > 0 {
		warn(Conditionals.Key(), "entries", fmt.Sprintf("%d with other branches than the same ones in earlier inputs", added.Reshaped),
			"profiles of one build")
	}
	if added.Saturated > 0 {
		warn("", "counts", fmt.Sprintf("too large, %d of them", added.Saturated), fmt.Sprintf("at most %d, which they became", int64(math.MaxInt64)))
	}
	if n := len(p.Unknown) + len(p.Extra); n > 0 {
		warn("", "unknown sections and members", fmt.Sprintf("left out, %d of them", n), "what versions up to 1.1.0 have")
	}
}

func (m *Merger) acceptable(p *Profile) error {
	if !p.Version.supported() {
		return flaw.Field(keyVersion).Got(p.Version.String()).Want("a major version of 0 or 1").Unsupported()
	}
	if p.Placeholder() {
		return flaw.Field("recording").Got(notResolved(p)).Want(recordAgain).Corrupt()
	}
	if !m.opt.DropUnknown {
		const want = "a known one, because ids inside could not be translated"
		for _, u := range p.Unknown {
			return flaw.In(u.Key).Field("section").Got("unknown").Want(want).Unsupported()
		}
		for _, x := range p.Extra {
			return flaw.In(x.Section).InRecord(x.Entry).Field("member").Got(flaw.Quote(x.Key)).Want(want).Unsupported()
		}
	}
	if !m.opt.DropUnresolved {
		for i := range p.Methods {
			if _, ok := p.resolved(&p.Methods[i]); !ok {
				return flaw.In(keyMethods).InRecord(i).Field("signature").Got(p.Methods[i].Signature).
					Want("declaring type and return type at least, all of the table types").Corrupt()
			}
		}
	}
	for k := range p.Sections {
		s := &p.Sections[k]
		arity := s.kind.Arity()
		for i := arity - 1; i < len(s.records); i += arity {
			if s.records[i] < 0 {
				return flaw.In(s.kind.Key()).InRecord(s.entryOfRecord(i)).Field("count").Got(s.records[i]).
					Want("0 or more").Corrupt()
			}
		}
		if m.opt.DropUnresolved {
			continue
		}
		if e, what := p.firstUnresolved(s); e >= 0 {
			return flaw.In(s.kind.Key()).InRecord(e).Field(what).Got("not in the table").Want("an id that is").Corrupt()
		}
	}
	// What is dropped must leave something: otherwise a lost profile would pass for an added one.
	switch n := p.entries(); {
	case n == 0 && len(p.Unknown) > 0:
		return flaw.In(p.Unknown[0].Key).Field("section").Got("unknown, as all sections with entries").Want("a known one").Unsupported()
	case n > 0 && m.opt.DropUnresolved && !p.anyResolved():
		return flaw.Field("entries").Gotf("%d, none of them with methods and types of the tables", n).Want("some that can be resolved").Corrupt()
	}
	return nil
}

// known reports whether the tables have a method and all types of its signature.
func (p *Profile) known(id MethodID) bool {
	i := p.methIndex.find(int32(id))
	if i < 0 {
		return false
	}
	_, ok := p.resolved(&p.Methods[i])
	return ok
}

// anyResolved reports whether the tables have all methods and types of some entry.
func (p *Profile) anyResolved() bool {
	for k := range p.Sections {
		s := &p.Sections[k]
		for e := range s.Len() {
			missing := s.kind != Monitors && slices.ContainsFunc(s.Context(e), func(f Frame) bool { return !p.known(f.Method) })
			records := s.Records(e)
			for i := 0; s.kind.hasTypes() && i < len(records); i += 2 {
				missing = missing || p.typeIndex.find(int32(records[i])) < 0
			}
			if !missing {
				return true
			}
		}
	}
	return false
}

const recordAgain = "one whose ids were translated to names when the program ended; record again"

func notResolved(p *Profile) string {
	return fmt.Sprintf("not resolved: instead of names there is a placeholder, so nothing says which methods its %d entries are about", p.entries())
}

// resolved reports whether the signature has enough types, all in the table; else it returns the first missing.
func (p *Profile) resolved(m *Method) (missing TypeID, ok bool) {
	for _, t := range m.Signature {
		if p.typeIndex.find(int32(t)) < 0 {
			return t, false
		}
	}
	return 0, len(m.Signature) >= 2
}

// firstUnresolved returns the first entry with an id that is not in the tables, and the id; -1 if there is none.
func (p *Profile) firstUnresolved(s *Section) (entry int, what string) {
	if s.kind != Monitors {
		for i, f := range s.frames {
			if p.methIndex.find(int32(f.Method)) < 0 {
				entry := sort.Search(len(s.ends), func(e int) bool { return int(s.ends[e].frames) > i })
				return entry, fmt.Sprintf("method %d", f.Method)
			}
		}
	}
	if s.kind.hasTypes() {
		for i := 0; i < len(s.records); i += 2 {
			if p.typeIndex.find(int32(s.records[i])) < 0 {
				return s.entryOfRecord(i), fmt.Sprintf("type %d", s.records[i])
			}
		}
	}
	return -1, ""
}

// entryOfRecord returns the entry that number i of the records belongs to.
func (s *Section) entryOfRecord(i int) int {
	return sort.Search(len(s.ends), func(e int) bool { return int(s.ends[e].records) > i })
}

// none is the index of a type or method that an input refers to and lacks.
const none = math.MaxUint32

// An input translates the ids of a profile to indexes in the Merger.
type input struct {
	p       *Profile
	types   []uint32 // by index in the profile's table
	methods []uint32
}

func (m *Merger) translate(p *Profile) input {
	in := input{p: p, types: make([]uint32, len(p.Types)), methods: make([]uint32, len(p.Methods))}
	for i := range p.Types {
		in.types[i] = m.types.add(p.Types[i].Name)
	}
	for i := range p.Methods {
		in.methods[i] = m.addMethod(&in, &p.Methods[i])
	}
	return in
}

func (in *input) typ(id TypeID) uint32 {
	if i := in.p.typeIndex.find(int32(id)); i >= 0 {
		return in.types[i]
	}
	return none
}

func (in *input) method(id MethodID) uint32 {
	if i := in.p.methIndex.find(int32(id)); i >= 0 {
		return in.methods[i]
	}
	return none
}

// A typeTable numbers types by name. Tables have one order, so a lookup first tries the type after the last.
type typeTable struct {
	names []string
	index map[string]uint32
	next  int
}

func (t *typeTable) add(name string) uint32 {
	if t.next < len(t.names) && t.names[t.next] == name {
		t.next++
		return uint32(t.next - 1)
	}
	i, ok := t.index[name]
	if !ok {
		i = uint32(len(t.names))
		t.names = append(t.names, name)
		t.index[name] = i
	}
	t.next = int(i) + 1
	return i
}

// A methodTable is a typeTable for methods.
type methodTable struct {
	methods []mergedMethod
	index   map[string]uint32 // by key
	key     []byte
	next    int
	sigs    []uint32 // of the method looked for; then a slab
}

type mergedMethod struct {
	name      string
	signature []uint32 // indexes of types
}

// addMethod returns the index of a method of the input, none if its signature cannot be resolved.
func (m *Merger) addMethod(in *input, method *Method) uint32 {
	if len(method.Signature) < 2 {
		return none
	}
	sig := m.methods.sigs[:0]
	for _, id := range method.Signature {
		t := in.typ(id)
		if t == none {
			return none
		}
		sig = append(sig, t)
	}
	m.methods.sigs = sig
	return m.methods.add(method.Name, sig)
}

func (t *methodTable) add(name string, sig []uint32) uint32 {
	if t.next < len(t.methods) {
		if c := &t.methods[t.next]; c.name == name && slices.Equal(c.signature, sig) {
			t.next++
			return uint32(t.next - 1)
		}
	}
	t.key = appendMethodKey(t.key[:0], name, sig)
	i, ok := t.index[string(t.key)]
	if !ok {
		i = uint32(len(t.methods))
		t.methods = append(t.methods, mergedMethod{name, slices.Clone(sig)})
		t.index[string(t.key)] = i
	}
	t.next = int(i) + 1
	return i
}

// appendMethodKey appends a key that identifies a method by name and signature.
func appendMethodKey[T ~int32 | ~uint32](key []byte, name string, sig []T) []byte {
	for _, t := range sig {
		key = binary.NativeEndian.AppendUint32(key, uint32(t))
	}
	key = append(key, name...)
	return binary.NativeEndian.AppendUint32(key, uint32(len(sig))) // makes the key unambiguous
}

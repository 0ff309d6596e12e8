package iprof

import (
	"fmt"
	"math"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// The values of [Finding.Severity].
const (
	info    = "info"
	suspect = "warning"
	broken  = "error"
)

// The values of [Finding.Rule].
const (
	ruleSyntax      = "syntax"       // not JSON, cut short, or not of a readable version
	ruleSchema      = "schema"       // JSON that violates the schema
	ruleUnresolved  = "unresolved"   // a recording with ids that never got names
	ruleDuplicateID = "duplicate-id" // two types or methods with one id
	ruleDuplicate   = "duplicate"    // two equal types or methods, or two entries with one context
	ruleSignature   = "signature"    // a signature that is too short or has unknown types
	ruleEmptyName   = "empty-name"   // a type or method without a name
	ruleName        = "name"         // a name that no type or method of a JVM can have
	ruleDangling    = "dangling-id"  // a method or type that is not in the tables
	ruleNegative    = "negative"     // a negative count
	ruleLarge       = "large"        // an implausible count, or a total beyond 64 bits
	ruleZero        = "zero"         // an entry without counts
	ruleBranch      = "branch"       // a branch without a target, with a count or without a partner
	ruleBytecode    = "bytecode"     // an index that no method can have
	ruleVersion     = "version"      // an unknown version
	ruleUnknownKey  = "unknown-key"  // an unknown section or member
	ruleNoData      = "no-data"      // no entry in any section
)

// A Finding is what [Check] found by one rule in one section.
type Finding struct {
	// Severity is "info" for what is unusual and harmless, "warning" for what is readable but
	// probably not intended, "error" if a reader or compiler may refuse or misinterpret the file.
	Severity string
	Rule     string        // what the finding is about, in a word: "syntax", "dangling-id"
	Place    profile.Place // the first place
	Message  string        // a sentence without its full stop
	Count    int           // number of places
	Of       int           // number of places checked; 0 if that means nothing
	// Err is set if readers also refuse the file for this finding.
	Err *profile.FormatError
}

// String prints the finding as "SECTION line L, column C (record N): error: MESSAGE (COUNT of OF, P%)".
func (f Finding) String() string {
	s := f.Place.Where()
	if s != "" {
		s += ": "
	}
	s += f.Severity + ": " + f.Message
	switch {
	case f.Of > 0:
		s += fmt.Sprintf(" (%d of %d, %.1f%%)", f.Count, f.Of, 100*float64(f.Count)/float64(f.Of))
	case f.Count > 1:
		s += fmt.Sprintf(" (%d times)", f.Count)
	}
	return s
}

// maxViolations bounds how many violations of the schema get a finding of their own.
const maxViolations = 100

// Check reads a file from end to end and reports errors in its syntax, violations of the
// JSON schema, and violations of rules that the schema cannot express. It continues
// after a violation of the schema, without the entry that violates it.
//
// It returns the readable part of the file, nil if there is none, and the findings: errors in the text
// first, then errors in the contents, both in the order of the file as far as they have a place in it.
//
// Check does not interpret the schema: that would need the whole file as a tree, many times its size,
// and provides no lines and columns. Tests compare its verdicts with a validator's.
func Check(name string, data []byte) (*Profile, []Finding) {
	c := checker{name: name, index: make(map[findingKey]int)}
	d := newDecoder(name, data, ReaderOptions{})
	d.opt.Warn = func(w profile.Warning) {
		e := w.Err.(*profile.FormatError)
		c.add(Finding{Severity: suspect, Rule: ruleVersion, Place: e.Place, Message: e.What()})
	}
	d.keepPositions = true
	d.tolerate = func(err error) {
		e := flaw.InFile(err, name).(*profile.FormatError)
		c.add(Finding{Severity: broken, Rule: ruleSchema, Place: e.Place, Message: e.What(), Err: e})
	}
	err := d.read()
	if err != nil {
		e := flaw.InFile(err, name).(*profile.FormatError)
		c.add(Finding{Severity: broken, Rule: ruleSyntax, Place: e.Place, Message: e.What(), Err: e})
		if len(d.p.Order) == 0 {
			return nil, c.findings
		}
		d.salvage()
	}
	if more := d.violations - maxViolations; more > 0 {
		c.add(Finding{Severity: broken, Rule: ruleSchema, Place: flaw.File(name).Place, Message: "more of the same kind", Count: more})
	}
	c.p, c.text, c.positions = d.p, data, &d.positions
	c.partial = d.tables != [2]bool{true, true}
	c.tables()
	for k := range NumKinds {
		c.section(&c.p.Sections[k])
	}
	c.unknown()
	if err == nil && c.p.entries() == 0 {
		c.add(Finding{Severity: suspect, Rule: ruleNoData, Place: flaw.File(name).Place, Message: "the file has no profile data: all sections are empty or absent"})
	}
	return d.p, c.findings
}

// A checker collects findings.
type checker struct {
	name      string
	p         *Profile
	text      []byte
	positions *positions
	findings  []Finding
	index     map[findingKey]int
	partial   bool // tables are missing or truncated, so missing ids are no finding
	lines     lineCounter
}

// A findingKey identifies a finding.
type findingKey struct {
	rule    string
	section string
	what    string
}

// add records a finding with one occurrence.
func (c *checker) add(f Finding) {
	f.Count = max(f.Count, 1)
	c.findings = append(c.findings, f)
}

// An occurrence is one occurrence of a finding.
type occurrence struct {
	severity, rule, section string
	what                    string // distinguishes findings of one rule in one section
	at                      position
	of                      int // number of places checked; 0 if that means nothing
}

// count records an occurrence. It calls message for the first one of a finding only.
func (c *checker) count(o occurrence, message func() string) {
	key := findingKey{o.rule, o.section, o.what}
	i, ok := c.index[key]
	if !ok {
		i = len(c.findings)
		c.index[key] = i
		where := flaw.At(o.section, int64(o.at.offset)).InFile(c.name).InRecord(int(o.at.record))
		where.Line, where.Column = c.lines.find(c.text, int(o.at.offset))
		c.findings = append(c.findings, Finding{Severity: o.severity, Rule: o.rule, Place: where.Place, Message: message(), Of: o.of})
	}
	c.findings[i].Count++
}

func positionAt(positions []position, i int) position {
	if i < len(positions) {
		return positions[i]
	}
	return position{}
}

// tables checks types and methods.
func (c *checker) tables() {
	p := c.p
	if p.Placeholder() {
		c.partial = true
		c.add(Finding{
			Severity: broken, Rule: ruleUnresolved, Place: flaw.File(c.name).Place,
			Message: "the recording was " + notResolved(p) + "; it cannot be used, and has to be recorded again",
		})
		return
	}
	ids, names := make(map[TypeID]struct{}, len(p.Types)), make(map[string]struct{}, len(p.Types))
	for i := range p.Types {
		t, at := &p.Types[i], positionAt(c.positions.types, i)
		if _, twice := ids[t.ID]; twice {
			c.count(occurrence{severity: broken, rule: ruleDuplicateID, section: keyTypes, at: at}, func() string { return fmt.Sprintf("type id %d is not the only one", t.ID) })
		}
		ids[t.ID] = struct{}{}
		if _, twice := names[t.Name]; twice {
			c.count(occurrence{severity: suspect, rule: ruleDuplicate, section: keyTypes, at: at}, func() string { return fmt.Sprintf("type %q is there twice", t.Name) })
		}
		names[t.Name] = struct{}{}
		if t.Name == "" {
			c.count(occurrence{severity: suspect, rule: ruleEmptyName, section: keyTypes, at: at}, func() string { return fmt.Sprintf("type %d has an empty name", t.ID) })
		} else if !possibleType(t.Name) {
			c.count(occurrence{severity: suspect, rule: ruleName, section: keyTypes, at: at}, func() string { return fmt.Sprintf("no type of a JVM has the name %q", t.Name) })
		}
	}
	c.methods()
}

func (c *checker) methods() {
	p := c.p
	ids, known := make(map[MethodID]struct{}, len(p.Methods)), make(map[string]struct{}, len(p.Methods))
	var key []byte
	for i := range p.Methods {
		m, at := &p.Methods[i], positionAt(c.positions.methods, i)
		if _, twice := ids[m.ID]; twice {
			c.count(occurrence{severity: broken, rule: ruleDuplicateID, section: keyMethods, at: at}, func() string { return fmt.Sprintf("method id %d is not the only one", m.ID) })
		}
		ids[m.ID] = struct{}{}
		if m.Name == "" {
			c.count(occurrence{severity: suspect, rule: ruleEmptyName, section: keyMethods, at: at}, func() string { return fmt.Sprintf("method %d has an empty name", m.ID) })
		} else if !possibleMethod(m.Name) {
			c.count(occurrence{severity: suspect, rule: ruleName, section: keyMethods, at: at}, func() string { return fmt.Sprintf("no method of a JVM has the name %q", m.Name) })
		}
		if missing, ok := p.resolved(m); !ok {
			c.count(occurrence{severity: broken, rule: ruleSignature, section: keyMethods, at: at, of: len(p.Methods)}, func() string {
				if len(m.Signature) < 2 {
					return fmt.Sprintf("the signature of method %d has %d types, fewer than declaring and return type", m.ID, len(m.Signature))
				}
				return fmt.Sprintf("the signature of method %d has type %d, which is not in the table", m.ID, missing)
			})
			continue
		}
		key = appendMethodKey(key[:0], m.Name, m.Signature)
		if _, twice := known[string(key)]; twice {
			c.count(occurrence{severity: suspect, rule: ruleDuplicate, section: keyMethods, at: at}, func() string { return fmt.Sprintf("method %s is there twice", p.MethodName(m.ID)) })
		}
		known[string(key)] = struct{}{}
	}
}

// largeReceivers is the largest plausible count of a type at one bytecode. In recordings
// of real programs, larger counts were garbage.
const largeReceivers = 1 << 40

func (c *checker) section(s *Section) {
	section := s.kind.Key()
	if s.kind == TypeChecks && c.p.checksKey != "" {
		section = c.p.checksKey
	}
	index := newContextIndex(func(e uint32) []Frame { return s.Context(int(e)) })
	for i := range s.ends {
		ctx, records, at := s.Context(i), s.Records(i), positionAt(c.positions.entries[s.kind], i)
		find := func(sev, rule, what string, of int, message func() string) {
			c.count(occurrence{sev, rule, section, what, at, of}, message)
		}
		if first, slot, twice := index.find(ctx); twice {
			find(suspect, ruleDuplicate, "", 0, func() string {
				return fmt.Sprintf("context %s is there twice, first in entry %d", shortContext(ctx), first)
			})
		} else {
			index.add(uint32(i), slot)
		}
		c.context(s, ctx, find)
		c.records(s, records, find)
	}
	c.total(s, section)
}

// A finder is [checker.count] for a fixed section and place.
type finder func(sev, rule, what string, of int, message func() string)

func (c *checker) context(s *Section, ctx []Frame, find finder) {
	if s.kind == Monitors {
		return
	}
	dangling := false
	for _, f := range ctx {
		if !dangling && !c.partial && c.p.methIndex.find(int32(f.Method)) < 0 {
			dangling = true
			find(broken, ruleDangling, "method", s.Len(), func() string {
				return fmt.Sprintf("context %s has method %d, which is not in the table", shortContext(ctx), f.Method)
			})
		}
		if !validBCI(f.BCI) {
			find(suspect, ruleBytecode, "", 0, func() string {
				return fmt.Sprintf("bytecode index %d is not from %d to %d", f.BCI, invalidFrameStateBCI, maxBCI)
			})
		}
	}
}

func (c *checker) records(s *Section, records []int64, find finder) {
	arity := s.kind.Arity()
	sum, negative := int64(0), false
	for i := arity - 1; i < len(records); i += arity {
		n := records[i]
		sum, _ = saturate.AddSigned(sum, n)
		if n < 0 && !negative {
			negative = true
			find(broken, ruleNegative, "", s.Len(), func() string { return fmt.Sprintf("count %d is negative", n) })
		}
		if n > largeReceivers && s.kind.hasTypes() {
			find(suspect, ruleLarge, "", s.Len(), func() string {
				return fmt.Sprintf("count %d of a type is above 2^40, as in recordings that hold garbage", n)
			})
		}
	}
	if sum == 0 && len(records) > 0 && !s.kind.hasTypes() {
		find(info, ruleZero, "", s.Len(), func() string { return "all counts of the entry are 0" })
	}
	if s.kind.hasTypes() && !c.partial {
		for t := range typeCountsIn(records) {
			if c.p.typeIndex.find(int32(t.Type)) < 0 {
				find(broken, ruleDangling, "type", s.Len(), func() string {
					return fmt.Sprintf("type %d is not in the table", t.Type)
				})
				break
			}
		}
	}
	if s.kind == Conditionals {
		branches(records, find)
	}
}

func branches(records []int64, find finder) {
	for b := range branchesIn(records) {
		if !validBCI(b.Target) {
			find(suspect, ruleBytecode, "", 0, func() string {
				return fmt.Sprintf("branch target %d is not from %d to %d", b.Target, invalidFrameStateBCI, maxBCI)
			})
		}
		if b.Target != unknownBCI {
			continue
		}
		if b.Count != 0 {
			find(suspect, ruleBranch, "count", 0, func() string {
				return fmt.Sprintf("branch %d has no target of its own and the count %d, want 0", b.Index, b.Count)
			})
		}
		partner := false
		for o := range branchesIn(records) {
			partner = partner || o.Index == b.Index && o.Target != unknownBCI
		}
		if !partner {
			find(suspect, ruleBranch, "partner", 0, func() string {
				return fmt.Sprintf("branch %d has no target, and no other of its index has one", b.Index)
			})
		}
	}
}

// total reports a section whose total exceeds 64 bits.
func (c *checker) total(s *Section, section string) {
	sum, overflow, arity := int64(0), false, s.kind.Arity()
	for i := arity - 1; i < len(s.records); i += arity {
		if n := s.records[i]; n > 0 {
			var o bool
			sum, o = saturate.AddSigned(sum, n)
			overflow = overflow || o
		}
	}
	if overflow {
		c.add(Finding{
			Severity: suspect, Rule: ruleLarge, Place: flaw.In(section).InFile(c.name).Place,
			Message: fmt.Sprintf("the counts add up to more than %d", int64(math.MaxInt64)),
		})
	}
}

// unknown reports keys of no known version.
func (c *checker) unknown() {
	for _, u := range c.p.Unknown {
		c.add(Finding{
			Severity: info, Rule: ruleUnknownKey, Place: flaw.In(u.Key).InFile(c.name).Place,
			Message: fmt.Sprintf("section %s is unknown; it is kept when the file is rewritten, and cannot be merged", flaw.Quote(u.Key)),
		})
	}
	seen := make(map[findingKey]int)
	for _, x := range c.p.Extra {
		key := findingKey{ruleUnknownKey, x.Section, x.Key}
		if i, ok := seen[key]; ok {
			c.findings[i].Count++
			continue
		}
		seen[key] = len(c.findings)
		c.add(Finding{
			Severity: info, Rule: ruleUnknownKey, Place: flaw.In(x.Section).InFile(c.name).InRecord(x.Entry).Place,
			Message: fmt.Sprintf("entries have the unknown key %s; it is kept when the file is rewritten, and cannot be merged", flaw.Quote(x.Key)),
		})
	}
}

// shortContext formats a context for a message.
func shortContext(c []Frame) string {
	const limit = 5
	if len(c) <= limit {
		return string(appendContext(nil, c))
	}
	return fmt.Sprintf("%s<… (%d frames)", appendContext(nil, c[:limit]), len(c))
}

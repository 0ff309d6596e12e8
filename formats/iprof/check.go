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
	Rule     string           // what the finding is about, in a word: "syntax", "dangling-id"
	Position profile.Position // the first place
	Message  string           // a sentence without its full stop
	Count    int              // number of places
	Of       int              // number of places checked; 0 if that means nothing
	// Err is set if readers also refuse the file for this finding.
	Err *profile.FormatError
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
		c.add(Finding{Severity: suspect, Rule: ruleVersion, Position: e.Position, Message: e.What()})
	}
	d.keepPositions = true
	addError := func(rule string, err error) {
		e := flaw.InFile(err, name).(*profile.FormatError)
		c.add(Finding{Severity: broken, Rule: rule, Position: e.Position, Message: e.What(), Err: e})
	}
	d.tolerate = func(err error) { addError(ruleSchema, err) }
	err := d.read()
	if err != nil {
		addError(ruleSyntax, err)
		if len(d.p.Order) == 0 {
			return nil, c.findings
		}
		for k := range d.p.Sections { // drop incomplete entries
			s := &d.p.Sections[k]
			s.truncate(len(s.ends))
		}
	}
	if more := d.violations - maxViolations; more > 0 {
		c.add(Finding{Severity: broken, Rule: ruleSchema, Position: flaw.File(name).Position, Message: "more of the same kind", Count: more})
	}
	c.p, c.text, c.positions = d.p, data, &d.positions
	c.partial = d.tables != [2]bool{true, true}
	c.tables()
	for k := range NumKinds {
		c.section(&c.p.Sections[k])
	}
	c.unknown()
	if err == nil && c.p.entries() == 0 {
		c.add(Finding{Severity: suspect, Rule: ruleNoData, Position: flaw.File(name).Position, Message: "the file has no profile data: all sections are empty or absent"})
	}
	return d.p, c.findings
}

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

// A findingKey identifies a finding: all with one rule, section and format of the message are one.
type findingKey struct{ rule, section, format string }

func (c *checker) add(f Finding) {
	f.Count = max(f.Count, 1)
	c.findings = append(c.findings, f)
}

// An entry is an entry of a section or table that is being checked.
type entry struct {
	*checker
	section string
	at      position
	all     int // number of entries
}

// find records an occurrence of a finding. It formats the message of the first one only.
func (e *entry) find(severity, rule, format string, args ...any) {
	e.count(0, severity, rule, format, args)
}

// findShare is find for a finding that says how many of all entries have it.
func (e *entry) findShare(severity, rule, format string, args ...any) {
	e.count(e.all, severity, rule, format, args)
}

func (e *entry) count(of int, severity, rule, format string, args []any) {
	key := findingKey{rule, e.section, format}
	i, ok := e.index[key]
	if !ok {
		i = len(e.findings)
		e.index[key] = i
		where := flaw.At(e.section, int64(e.at.offset)).InFile(e.name).InRecord(int(e.at.record))
		where.Line, where.Column = e.lines.find(e.text, int(e.at.offset))
		e.findings = append(e.findings, Finding{Severity: severity, Rule: rule, Position: where.Position, Message: fmt.Sprintf(format, args...), Of: of})
	}
	e.findings[i].Count++
}

func positionAt(positions []position, i int) position {
	if i < len(positions) {
		return positions[i]
	}
	return position{}
}

func (c *checker) tables() {
	p := c.p
	if p.Placeholder() {
		c.partial = true
		c.add(Finding{
			Severity: broken, Rule: ruleUnresolved, Position: flaw.File(c.name).Position,
			Message: "the recording was " + notResolved(p) + "; it cannot be used, and has to be recorded again",
		})
		return
	}
	ids, names := make(map[TypeID]struct{}, len(p.Types)), make(map[string]struct{}, len(p.Types))
	for i := range p.Types {
		t := &p.Types[i]
		e := entry{c, keyTypes, positionAt(c.positions.types, i), len(p.Types)}
		if _, twice := ids[t.ID]; twice {
			e.find(broken, ruleDuplicateID, "type id %d is not the only one", t.ID)
		}
		ids[t.ID] = struct{}{}
		if _, twice := names[t.Name]; twice {
			e.find(suspect, ruleDuplicate, "type %q is there twice", t.Name)
		}
		names[t.Name] = struct{}{}
		if t.Name == "" {
			e.find(suspect, ruleEmptyName, "type %d has an empty name", t.ID)
		} else if !possibleType(t.Name) {
			e.find(suspect, ruleName, "no type of a JVM has the name %q", t.Name)
		}
	}
	c.methods()
}

func (c *checker) methods() {
	p := c.p
	ids, known := make(map[MethodID]struct{}, len(p.Methods)), make(map[string]struct{}, len(p.Methods))
	var key []byte
	for i := range p.Methods {
		m := &p.Methods[i]
		e := entry{c, keyMethods, positionAt(c.positions.methods, i), len(p.Methods)}
		if _, twice := ids[m.ID]; twice {
			e.find(broken, ruleDuplicateID, "method id %d is not the only one", m.ID)
		}
		ids[m.ID] = struct{}{}
		if m.Name == "" {
			e.find(suspect, ruleEmptyName, "method %d has an empty name", m.ID)
		} else if !possibleMethod(m.Name) {
			e.find(suspect, ruleName, "no method of a JVM has the name %q", m.Name)
		}
		if missing, ok := p.resolved(m); !ok {
			why := fmt.Sprintf("type %d, which is not in the table", missing)
			if n := len(m.Signature); n < 2 {
				why = fmt.Sprintf("%d types, fewer than declaring and return type", n)
			}
			e.findShare(broken, ruleSignature, "the signature of method %d has %s", m.ID, why)
			continue
		}
		key = appendMethodKey(key[:0], m.Name, m.Signature)
		if _, twice := known[string(key)]; twice {
			e.find(suspect, ruleDuplicate, "method %s is there twice", p.MethodName(m.ID))
		}
		known[string(key)] = struct{}{}
	}
}

// largeReceivers is the largest plausible count of a type at one bytecode; in recordings, more was garbage.
const largeReceivers = 1 << 40

func (c *checker) section(s *Section) {
	section := c.p.sectionKey(s.kind)
	index := newContextIndex(func(e uint32) []Frame { return s.Context(int(e)) })
	for i := range s.ends {
		ctx := s.Context(i)
		e := entry{c, section, positionAt(c.positions.entries[s.kind], i), s.Len()}
		if first, slot, twice := index.find(ctx); twice {
			e.find(suspect, ruleDuplicate, "context %s is there twice, first in entry %d", shortContext(ctx), first)
		} else {
			index.add(uint32(i), slot)
		}
		if s.kind != Monitors {
			e.checkContext(ctx)
		}
		e.checkRecords(s.kind, s.Records(i))
	}
	c.total(s, section)
}

// badBytecode is the format of a finding about a bytecode index or a branch target.
var badBytecode = fmt.Sprintf("%%s %%d is not from %d to %d", invalidFrameStateBCI, maxBCI)

func (e *entry) checkContext(ctx []Frame) {
	dangling := e.partial
	for _, f := range ctx {
		if !dangling && e.p.methIndex.find(int32(f.Method)) < 0 {
			dangling = true
			e.findShare(broken, ruleDangling, "context %s has method %d, which is not in the table", shortContext(ctx), f.Method)
		}
		if !validBCI(f.BCI) {
			e.find(suspect, ruleBytecode, badBytecode, "bytecode index", f.BCI)
		}
	}
}

func (e *entry) checkRecords(kind Kind, records []int64) {
	arity := kind.Arity()
	sum, negative := int64(0), false
	for i := arity - 1; i < len(records); i += arity {
		n := records[i]
		sum, _ = saturate.AddSigned(sum, n)
		if n < 0 && !negative {
			negative = true
			e.findShare(broken, ruleNegative, "count %d is negative", n)
		}
		if n > largeReceivers && kind.hasTypes() {
			e.findShare(suspect, ruleLarge, "count %d of a type is above 2^40, as in recordings that hold garbage", n)
		}
	}
	if sum == 0 && len(records) > 0 && !kind.hasTypes() {
		e.findShare(info, ruleZero, "all counts of the entry are 0")
	}
	if kind.hasTypes() && !e.partial {
		for t := range typeCountsIn(records) {
			if e.p.typeIndex.find(int32(t.Type)) < 0 {
				e.findShare(broken, ruleDangling, "type %d is not in the table", t.Type)
				break
			}
		}
	}
	if kind == Conditionals {
		e.checkBranches(records)
	}
}

func (e *entry) checkBranches(records []int64) {
	for b := range branchesIn(records) {
		if !validBCI(b.Target) {
			e.find(suspect, ruleBytecode, badBytecode, "branch target", b.Target)
		}
		if b.Target != unknownBCI {
			continue
		}
		if b.Count != 0 {
			e.find(suspect, ruleBranch, "branch %d has no target of its own and the count %d, want 0", b.Index, b.Count)
		}
		partner := false
		for o := range branchesIn(records) {
			partner = partner || o.Index == b.Index && o.Target != unknownBCI
		}
		if !partner {
			e.find(suspect, ruleBranch, "branch %d has no target, and no other of its index has one", b.Index)
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
			Severity: suspect, Rule: ruleLarge, Position: flaw.In(section).InFile(c.name).Position,
			Message: fmt.Sprintf("the counts add up to more than %d", int64(math.MaxInt64)),
		})
	}
}

// unknown reports keys of no known version.
func (c *checker) unknown() {
	for _, u := range c.p.Unknown {
		c.add(Finding{
			Severity: info, Rule: ruleUnknownKey, Position: flaw.In(u.Key).InFile(c.name).Position,
			Message: fmt.Sprintf("section %s is unknown; it is kept when the file is rewritten, and cannot be merged", flaw.Quote(u.Key)),
		})
	}
	seen := make(map[[2]string]int)
	for _, x := range c.p.Extra {
		key := [2]string{x.Section, x.Key}
		if i, ok := seen[key]; ok {
			c.findings[i].Count++
			continue
		}
		seen[key] = len(c.findings)
		c.add(Finding{
			Severity: info, Rule: ruleUnknownKey, Position: flaw.In(x.Section).InFile(c.name).InRecord(x.Entry).Position,
			Message: fmt.Sprintf("entries have the unknown key %s; it is kept when the file is rewritten, and cannot be merged", flaw.Quote(x.Key)),
		})
	}
}

// A shortContext is a context that is printed in short.
type shortContext []Frame

func (c shortContext) String() string {
	const limit = 5
	if len(c) <= limit {
		return string(appendContext(nil, c))
	}
	return fmt.Sprintf("%s<… (%d frames)", appendContext(nil, c[:limit]), len(c))
}

package iprof

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// WriteOptions adjust [Write]. The zero value writes what the tools write.
type WriteOptions struct {
	// Version is the version to write. The zero value means the version of the
	// profile or, if that cannot be written, the lowest from 1.0.0 on that can hold it.
	Version Version
	// Lines writes one line per entry, for version control.
	Lines bool
	// Indent, if not empty, is one level of indentation. The result is like json.Indent, whatever Lines is.
	Indent string
	// Warn, if not nil, is called for data that the version cannot hold and that is dropped.
	Warn func(profile.Warning)
}

// Write writes p. It reproduces a file that a tool wrote, version 0.4.0 or later, byte for byte: with
// the order and spelling of its keys, its empty sections and unknown members.
//
// A version that cannot be written is an error of class ErrUnsupported, a name that is
// not UTF-8 one of class ErrCorrupt.
func Write(w io.Writer, p *Profile, opt WriteOptions) error {
	v, err := writeVersion(p, opt.Version)
	if err != nil {
		return err
	}
	if err := checkNames(p); err != nil {
		return err
	}
	pr := printer{w: w, lines: opt.Lines || opt.Indent != "", indent: opt.Indent, buf: make([]byte, 0, printerBuffer)}
	pr.document(p, v, opt.Warn)
	return pr.flush()
}

// writeVersion returns the version to write for the option want.
func writeVersion(p *Profile, want Version) (Version, error) {
	switch {
	case want == Version{} && (p.Version.Writable() || p.Version.compare(version040) > 0):
		return p.Version, nil // a later minor version: the profile has kept everything
	case want == Version{} && p.has(TypeChecks):
		return version110, nil
	case want == Version{}:
		return version100, nil
	case !want.Writable():
		return want, flaw.In(keyVersion).Field("version to write").Got(want.String()).
			Want("0.4.0, 1.0.0 or 1.1.0").Unsupported()
	}
	return want, nil
}

// printerBuffer is the number of bytes written at a time, at least.
const printerBuffer = 64 << 10

// A printer writes JSON. It keeps the first failure.
type printer struct {
	w       io.Writer
	lines   bool // the file has several
	indent  string
	buf     []byte
	scratch []byte // an entry, before it is indented
	err     error

	extra []Member // of the entries still to come
}

func (pr *printer) flush() error {
	if pr.err == nil && len(pr.buf) > 0 {
		_, pr.err = pr.w.Write(pr.buf)
	}
	pr.buf = pr.buf[:0]
	return pr.err
}

func (pr *printer) text(s string) { pr.buf = append(pr.buf, s...) }

// line begins a new line in files of several lines.
func (pr *printer) line(depth int) {
	if !pr.lines {
		return
	}
	pr.text("\n" + strings.Repeat(pr.indent, depth))
}

func (pr *printer) document(p *Profile, v Version, warn func(profile.Warning)) {
	extras := make(map[string][]Member)
	for _, x := range p.Extra {
		extras[x.Section] = append(extras[x.Section], x)
	}
	pr.text("{")
	for i, m := range members(p, v, warn) {
		if i > 0 {
			pr.text(",")
		}
		pr.line(1)
		pr.buf = appendString(pr.buf, m.key)
		pr.text(":")
		if pr.indent != "" {
			pr.text(" ")
		}
		pr.extra = extras[m.key]
		switch {
		case m.key == keyVersion:
			pr.buf = appendString(pr.buf, v.String())
		case m.key == keyTypes:
			pr.array(len(p.Types), p.appendType)
		case m.key == keyMethods:
			pr.array(len(p.Methods), p.appendMethod)
		case m.section != nil:
			pr.array(m.section.Len(), m.section.appendEntry)
		default:
			pr.json(m.raw, 1)
		}
	}
	pr.line(0)
	pr.text("}")
	if pr.lines {
		pr.text("\n")
	}
}

type topMember struct {
	key     string
	section *Section
	raw     []byte
}

// members returns the top-level members to write, in order.
func members(p *Profile, v Version, warn func(profile.Warning)) (out []topMember) {
	written := make(map[string]bool)
	add := func(m topMember) {
		if !written[m.key] {
			written[m.key] = true
			out = append(out, m)
		}
	}
	var done [NumKinds]bool
	addSection := func(k Kind, key string) {
		section := &p.Sections[k]
		if k == TypeChecks && p.checksKey != "" && key != p.checksKey {
			section = &Section{} // the entries go under the other spelling
		}
		n, lost := section.Len(), !v.holds(k) && v != p.Version
		done[k] = done[k] || lost || section == &p.Sections[k]
		if !lost {
			add(topMember{key: key, section: section})
		} else if warn != nil && n > 0 {
			warn(profile.Warning{Err: flaw.In(key).Field("section").Gotf("left out with %d entries", n).
				Wantf("version 1.1.0 to hold it, not %s", v).Unsupported()})
		}
	}
	tables := []string{keyVersion, keyTypes, keyMethods}
	addKey := func(key string) {
		if k, ok := kindOfKey(key); ok {
			addSection(k, key)
		} else if slices.Contains(tables, key) {
			add(topMember{key: key})
		} else if i := slices.IndexFunc(p.Unknown, func(m Member) bool { return m.Key == key }); i >= 0 {
			add(topMember{key: key, raw: p.Unknown[i].Raw})
		}
	}
	for _, key := range slices.Concat(p.order(), tables) {
		addKey(key)
	}
	for k := range NumKinds {
		if !done[k] && p.Sections[k].Len() > 0 {
			addSection(k, p.sectionKey(k))
		}
	}
	for _, m := range p.Unknown {
		addKey(m.Key)
	}
	return out
}

// array writes n entries. The extra members of the section follow the known ones of their entry.
func (pr *printer) array(n int, entry func(b []byte, i int) []byte) {
	pr.text("[")
	for i := range n {
		if i > 0 {
			pr.text(",")
		}
		pr.line(2)
		b := entry(pr.scratch[:0], i)
		for len(pr.extra) > 0 && pr.extra[0].Entry <= i {
			if x := pr.extra[0]; x.Entry == i {
				b = append(b[:len(b)-1], ',')
				b = appendString(b, x.Key)
				b = append(append(append(b, ':'), x.Raw...), '}')
			}
			pr.extra = pr.extra[1:]
		}
		pr.scratch = b
		pr.json(b, 2)
		if len(pr.buf) >= printerBuffer && pr.flush() != nil {
			return
		}
	}
	if n > 0 {
		pr.line(1)
	}
	pr.text("]")
}

// json writes a JSON value, indented for the given depth.
func (pr *printer) json(value []byte, depth int) {
	if pr.indent == "" {
		pr.buf = append(pr.buf, value...)
		return
	}
	b := bytes.NewBuffer(pr.buf)
	if err := json.Indent(b, value, strings.Repeat(pr.indent, depth), pr.indent); err != nil && pr.err == nil {
		pr.err = err
	}
	pr.buf = b.Bytes()
}

func (p *Profile) appendType(b []byte, i int) []byte {
	t := &p.Types[i]
	return append(appendNamed(b, int32(t.ID), t.Name), '}')
}

func (p *Profile) appendMethod(b []byte, i int) []byte {
	m := &p.Methods[i]
	b = appendNamed(b, int32(m.ID), m.Name)
	b = append(b, `,"signature":[`...)
	b = appendInts(b, m.Signature)
	return append(b, `]}`...)
}

func (s *Section) appendEntry(b []byte, i int) []byte {
	b = append(b, `{"ctx":"`...)
	b = appendContext(b, s.Context(i))
	b = append(b, `","records":[`...)
	b = appendInts(b, s.Records(i))
	return append(b, `]}`...)
}

// appendNamed appends the members that types and methods share.
func appendNamed(b []byte, id int32, name string) []byte {
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, int64(id), 10)
	b = append(b, `,"name":`...)
	return appendString(b, name)
}

func appendInts[T ~int32 | int64](b []byte, list []T) []byte {
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(v), 10)
	}
	return b
}

// appendString appends s in quotes, with as few escapes as JSON allows.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= ' ':
			b = append(b, c)
		default:
			if i := strings.IndexByte(escapedBytes, c); i >= 0 {
				b = append(b, '\\', escapeLetters[i])
			} else {
				b = fmt.Appendf(b, `\u%04x`, c)
			}
		}
	}
	return append(b, '"')
}

// checkNames refuses names that JSON cannot hold. Profiles from Read have none.
func checkNames(p *Profile) error {
	refuse := func(section string, i int, name string) error {
		return flaw.In(section).InRecord(i).Field("name").Got(strconv.QuoteToASCII(name)).Want("UTF-8").Corrupt()
	}
	for i := range p.Types {
		if !utf8.ValidString(p.Types[i].Name) {
			return refuse(keyTypes, i, p.Types[i].Name)
		}
	}
	for i := range p.Methods {
		if !utf8.ValidString(p.Methods[i].Name) {
			return refuse(keyMethods, i, p.Methods[i].Name)
		}
	}
	return nil
}

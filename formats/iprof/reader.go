package iprof

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// ReaderOptions adjust reading. The zero value is right for most uses.
type ReaderOptions struct {
	// Warn receives what is suspicious but readable; nil drops it.
	Warn func(profile.Warning)
}

// maxSize bounds the input in bytes, so that offsets and numbers of entries fit 32 bits.
const maxSize = math.MaxUint32

// Detect reports whether data, the contents of a file or the beginning of one, looks like an iprof
// file: a JSON object whose first key is one of iprof files. Data may end within the first members.
func Detect(data []byte) bool {
	s := newScanner(data)
	if !s.consume('{') { // most files are of other formats
		return false
	}
	key, ok := detectKey(&s, data, 2) // one letter at least
	if key != keyVersion || s.isCut() {
		return ok
	}
	// Other JSON files also begin with a version.
	if s.peek() != '"' {
		return s.pos == len(s.data)
	}
	if _, err := parseVersion(string(s.str(keyVersion))); err != nil || !s.need(',', "file") {
		return s.isCut()
	}
	_, ok = detectKey(&s, data, 0)
	return ok
}

// detectKey reads a key. It reports whether iprof files have it, or begin so with at least least bytes at the end.
func detectKey(s *scanner, data []byte, least int) (key string, ok bool) {
	s.peek()
	start := s.pos
	key = string(s.key())
	if s.err != nil && !s.isCut() {
		return key, false
	}
	known := []string{keyVersion, keyTypes, keyMethods, schemaTypeChecks}
	for _, k := range kinds {
		known = append(known, k.key, k.old)
	}
	for _, k := range known {
		if rest := data[start:]; key == k && k != "" || s.isCut() && len(rest) >= least && strings.HasPrefix(`"`+k+`"`, string(bytes.TrimSpace(rest))) {
			return key, true
		}
	}
	return key, false
}

func (s *scanner) isCut() bool { return s.err != nil && profile.ClassOf(s.err) == profile.ErrTruncated }

// Read reads a whole file into memory. name is for errors and warnings. Read does not retain data.
//
// Errors are *[profile.FormatError] with line, column and offset. Read checks the syntax
// and the JSON schema; [Check] also checks ids and counts.
func Read(name string, data []byte, opt ReaderOptions) (*Profile, error) {
	d := newDecoder(name, data, opt)
	if err := d.read(); err != nil {
		return nil, flaw.InFile(err, name)
	}
	return d.p, nil
}

type decoder struct {
	scanner
	name string
	opt  ReaderOptions
	p    *Profile
	*dialect

	// tolerate is called with up to maxViolations violations of the schema; if it is nil, a violation is a failure.
	tolerate      func(error)
	violations    int
	keepPositions bool
	positions     positions // of the entries, if keepPositions

	keys        map[string]bool // top-level keys so far
	tables      [2]bool         // types, methods: complete
	names       stringArena
	signatures  []TypeID
	generalOnly bool // skip the fast path, for tests
}

// positions are where entries begin in the text.
type positions struct {
	types, methods []position
	entries        [NumKinds][]position
}

type position struct {
	offset uint32
	record uint32 // index in the file, where entries may have been left out
}

func newDecoder(name string, data []byte, opt ReaderOptions) *decoder {
	return &decoder{
		scanner: newScanner(data), name: name, opt: opt, p: &Profile{},
		dialect: &dialectSince04, keys: make(map[string]bool),
	}
}

// read reads the file. After an error the profile holds what precedes it.
func (d *decoder) read() error {
	defer d.p.reindex()
	d.p.init()
	switch {
	case len(d.data) == 0:
		return d.at(0).Field("size").Got("0 bytes").Want("a JSON object").Empty()
	case uint64(len(d.data)) > maxSize:
		return d.at(0).Field("size").Gotf("%d bytes", len(d.data)).Wantf("at most %d", int64(maxSize)).Unsupported()
	}
	if c := d.peek(); c != '{' && d.pos < len(d.data) {
		return d.at(d.pos).Field("file").Got(flaw.Quote(d.data[d.pos:])).Want("a JSON object").Unrecognized()
	}
	d.findVersion()
	d.document()
	return d.err
}

func (d *decoder) warn(err error) {
	if d.opt.Warn != nil {
		d.opt.Warn(profile.Warning{File: d.name, Err: err})
	}
}

// violation records that the JSON at an offset violates the schema.
func (d *decoder) violation(at int, field, found, want string) {
	switch {
	case d.err != nil:
		return
	case d.tolerate == nil:
		d.fail(d.at(at).Field(field).Got(found).Want(want).Corrupt())
	case d.violations < maxViolations:
		d.tolerate(d.at(at).Field(field).Got(found).Want(want).Corrupt())
	}
	d.violations++
}

// findVersion determines the dialect of the file. The version is nearly always the first key.
func (d *decoder) findVersion() {
	s := d.scanner
	if !s.need('{', "file") {
		return // document returns the error
	}
	for first := true; s.more(first, '}', "file"); first = false {
		if string(s.key()) != keyVersion {
			s.skip("file")
			continue
		}
		if s.peek() == '"' {
			if v, err := parseVersion(string(s.str(keyVersion))); err == nil && s.err == nil {
				d.p.Version = v
				d.dialect = v.dialect()
			}
		}
		return
	}
}

func (d *decoder) document() {
	if !d.need('{', "file") {
		return
	}
	for first := true; d.more(first, '}', "file"); first = false {
		at := d.pos
		d.member(string(d.key()), at)
		d.section, d.record = "", -1
	}
	if d.err != nil {
		return
	}
	if d.peek() != 0 || d.pos < len(d.data) {
		d.syntax("file", "nothing after the object")
		return
	}
	for _, key := range []string{keyVersion, keyTypes, keyMethods} {
		if !d.keys[key] {
			d.violation(d.pos, "key "+key, "missing", "it in every file")
		}
	}
}

func (d *decoder) member(key string, at int) {
	if d.err != nil {
		return
	}
	kind, isSection := d.kind(key)
	id := key
	if isSection && kind != TypeChecks { // its two spellings may both occur
		id = kind.Key()
	}
	if d.keys[id] {
		d.violation(at, "key", flaw.Quote(key), "each key once")
		d.skip(key)
		return
	}
	d.keys[id] = true
	d.p.Order = append(d.p.Order, id)
	d.section, d.lastStart, d.lastEnd = key, 0, 0
	switch {
	case key == keyVersion:
		d.section = ""
		d.version()
	case key == keyTypes:
		d.types()
	case key == keyMethods:
		d.methods()
	case isSection:
		d.entries(kind, key)
	default:
		if raw := d.skip("value"); d.err == nil {
			d.p.Unknown = append(d.p.Unknown, Member{Key: key, Raw: append([]byte(nil), raw...)})
		}
	}
}

func (d *decoder) version() {
	at := d.offset()
	text, ok := d.text(keyVersion)
	if !ok {
		return
	}
	v, err := parseVersion(string(text))
	switch {
	case err != nil:
		d.violation(at, keyVersion, flaw.Quote(text), "three numbers as in 1.0.0")
	case !v.supported():
		d.fail(d.at(at).Field(keyVersion).Got(v.String()).Want("a major version of 0 or 1").Unsupported())
	case !v.known():
		d.warn(d.at(at).Field(keyVersion).Got(v.String()).
			Want("0.2, 0.4, 1.0 or 1.1; what is new in it is kept as it is").Unsupported())
	}
}

// offset returns the position of the next value.
func (d *decoder) offset() int {
	d.peek()
	return d.pos
}

// open consumes the beginning of an array or object.
func (d *decoder) open(c byte, field string) bool {
	if d.peek() == c {
		d.pos++
		return true
	}
	d.wrongType(field, map[byte]string{'[': "an array", '{': "an object"}[c])
	return false
}

// wrongType records a value of the wrong type and skips it.
func (d *decoder) wrongType(field, want string) {
	at := d.offset()
	if text := d.skip(field); d.err == nil {
		d.violation(at, field, flaw.Quote(text), want)
	}
}

func (d *decoder) text(field string) (text []byte, ok bool) {
	if c := d.peek(); c != '"' && c != 0 {
		d.wrongType(field, "a string")
		return nil, false
	}
	text = d.str(field)
	return text, d.err == nil
}

func (d *decoder) integer(field string, low, high int64) (v int64, ok bool) {
	if c := d.peek(); c != '-' && c-'0' > 9 && c != 0 {
		d.wrongType(field, "an integer")
		return 0, false
	}
	at := d.pos
	text, integer := d.number(field)
	if d.err != nil {
		return 0, false
	}
	if !integer {
		d.violation(at, field, flaw.Quote(text), "an integer, without fraction and exponent")
		return 0, false
	}
	if v, err := strconv.ParseInt(string(text), 10, 64); err == nil && low <= v && v <= high {
		return v, true
	}
	d.violation(at, field, flaw.Quote(text), fmt.Sprintf("an integer from %d to %d", low, high))
	return 0, false
}

func (d *decoder) id(field string) (int32, bool) {
	v, ok := d.integer(field, math.MinInt32, math.MaxInt32)
	return int32(v), ok
}

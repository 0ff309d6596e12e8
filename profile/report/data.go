package report

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"

	"github.com/profuse-pgo/profuse/internal/numbering"
)

// A nameTable numbers the names in the data of a profile's pages: the data holds
// numbers, and profile.names[number] is the name in the browser.
type nameTable struct {
	*numbering.Table[string]        // of cleaned names; the pages of a set share it
	turn                     func() // nil, or waits until the pages before this one have added their names
}

func newNameTable() *nameTable { return &nameTable{Table: new(numbering.Table[string])} }

// after returns a table with the same names for another page. The page waits for its turn
// before it adds the first name.
func (t *nameTable) after(turn func()) *nameTable { return &nameTable{t.Table, turn} }

// wait waits for the turn of the page.
func (t *nameTable) wait() {
	if t.turn != nil {
		t.turn()
		t.turn = nil
	}
}

// add returns the number of a name. It cleans names first; names that are then equal have one number.
func (t *nameTable) add(name string) int {
	t.wait()
	return int(t.Of(clean(name)))
}

func (t *nameTable) addOrNone(name string) int {
	if name == "" {
		return -1
	}
	return t.add(name)
}

// names is the form in which a nameTable is written: ascending order, and each name
// without the prefix that it shares with its predecessor.
type names struct {
	// Order has the numbers of the sorted names, each as the difference from its predecessor.
	Order  []int32 `json:"order"`
	Shared []int   `json:"shared"` // the length of each name's shared prefix in UTF-16 code units
	// Rest has the rest of each name. Line feeds, which names do not contain, separate them.
	Rest string `json:"rest"`
}

// encode returns the table as it is written, once all pages have added their names.
func (t *nameTable) encode() names {
	sorted := t.sorted()
	out := names{Order: make([]int32, len(sorted)), Shared: make([]int, len(sorted))}
	var rest strings.Builder
	before, last := "", int32(0)
	for i, n := range sorted {
		name := t.Keys[n]
		shared, units := commonPrefix(before, name)
		if i > 0 {
			rest.WriteByte('\n')
		}
		rest.WriteString(name[shared:])
		out.Order[i], out.Shared[i] = n-last, units
		before, last = name, n
	}
	out.Rest = rest.String()
	return out
}

// sorted returns the numbers of the names in ascending order of the names. The page of functions adds
// its names in this order, so sorted merges the longest ascending run with the sorted rest.
func (t *nameTable) sorted() []int32 {
	start, end := 0, 0
	for i, first := 1, 0; i <= len(t.Keys); i++ {
		if i == len(t.Keys) || t.Keys[i] < t.Keys[i-1] {
			if i-first > end-start {
				start, end = first, i
			}
			first = i
		}
	}
	rest := make([]int32, 0, len(t.Keys)-(end-start))
	for i := range t.Keys {
		if i < start || i >= end {
			rest = append(rest, int32(i))
		}
	}
	slices.SortFunc(rest, func(a, b int32) int { return strings.Compare(t.Keys[a], t.Keys[b]) })
	out := make([]int32, 0, len(t.Keys))
	for len(rest) > 0 || start < end {
		if start == end || len(rest) > 0 && t.Keys[rest[0]] < t.Keys[start] {
			out, rest = append(out, rest[0]), rest[1:]
		} else {
			out = append(out, int32(start))
			start++
		}
	}
	return out
}

// commonPrefix returns the length of the longest common prefix of whole characters, in
// bytes and in UTF-16 code units.
func commonPrefix(a, b string) (size, units int) {
	for size < len(a) && size < len(b) && a[size] == b[size] {
		size++
	}
	for size > 0 && size < len(b) && !utf8.RuneStart(b[size]) {
		size--
	}
	for _, r := range b[:size] {
		units += utf16.RuneLen(r)
	}
	return size, units
}

// plainLimit is the largest block of data, in bytes, that is not compressed.
const plainLimit = 64 << 10

// blockLevel is the level of compression of blocks. Higher levels do not make columns of numbers smaller.
const blockLevel = 3

// A block is a script element with data, which browsers do not execute.
type block struct {
	id, mime string
	text     []byte
}

const (
	plainBlock = "application/json"
	gzipBlock  = "application/gzip" // of JSON, in base64
)

// encodeBlock marshals data. In JSON the characters with which HTML could end the element are escaped.
func encodeBlock(id string, data any) (block, error) {
	w := &blockWriter{}
	if err := w.encode(data); err != nil {
		return block{}, fmt.Errorf("data of %s: %w", id, err)
	}
	if w.z == nil {
		return block{id, plainBlock, w.text.Bytes()}, nil
	}
	err := errors.Join(w.z.Close(), w.base.Close())
	return block{id, gzipBlock, w.text.Bytes()}, err
}

// A blockWriter takes the text of a block. It compresses a long one.
type blockWriter struct {
	text bytes.Buffer
	z    *gzip.Writer   // nil for a short text
	base io.WriteCloser // to which z writes
}

// encode writes data as JSON, a struct field by field: encoding/json holds the whole text of a value in
// memory, and the columns of a page are long.
func (w *blockWriter) encode(data any) error {
	v := reflect.Indirect(reflect.ValueOf(data))
	if v.Kind() != reflect.Struct {
		return json.NewEncoder(w).Encode(data)
	}
	before := "{"
	for i := range v.NumField() {
		name, option, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if f := v.Field(i); option == "omitempty" && (f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0) {
			continue
		}
		fmt.Fprintf(w, "%s%q:", before, name)
		if err := w.encodeField(v.Field(i).Interface()); err != nil {
			return err
		}
		before = ","
	}
	_, err := w.Write([]byte("}"))
	return err
}

// Columns of whole numbers are most of the text.
func (w *blockWriter) encodeField(field any) error {
	var text []byte
	switch column := field.(type) {
	case []int:
		text = columnJSON(column, appendInt)
	case []int32:
		text = columnJSON(column, appendInt)
	case []uint32:
		text = columnJSON(column, appendUint)
	case []uint64:
		text = columnJSON(column, appendUint)
	default:
		return json.NewEncoder(w).Encode(field)
	}
	_, err := w.Write(text)
	return err
}

// columnJSON returns a column as a JSON array; null for a missing column. one appends an element.
func columnJSON[V any](column []V, one func(text []byte, n V) []byte) []byte {
	if column == nil {
		return []byte("null")
	}
	text := append(make([]byte, 0, 4*len(column)+2), '[')
	for i, n := range column {
		if i > 0 {
			text = append(text, ',')
		}
		text = one(text, n)
	}
	return append(text, ']')
}

func appendInt[V int | int32](text []byte, n V) []byte {
	return strconv.AppendInt(text, int64(n), 10)
}

func appendUint[V uint32 | uint64](text []byte, n V) []byte {
	return strconv.AppendUint(text, uint64(n), 10)
}

// Write drops the line feed at the end of an encoder's output. Once the text is longer than plainLimit,
// Write compresses all of it.
func (w *blockWriter) Write(p []byte) (int, error) {
	if text, ok := bytes.CutSuffix(p, []byte("\n")); ok {
		_, err := w.Write(text)
		return len(p), err
	}
	if w.z == nil && w.text.Len()+len(p) <= plainLimit {
		return w.text.Write(p)
	}
	if w.z == nil {
		plain := bytes.Clone(w.text.Bytes())
		w.text.Reset()
		w.base = base64.NewEncoder(base64.StdEncoding, &w.text)
		z, err := gzip.NewWriterLevel(w.base, blockLevel)
		if err == nil {
			_, err = z.Write(plain)
		}
		w.z = z
		if err != nil {
			return 0, err
		}
	}
	return w.z.Write(p)
}

package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A nameTable numbers the names of a profile, for the data of all its pages:
// data holds numbers, and in the browser profile.names[number] is the name.
type nameTable struct {
	numbers map[string]int
	list    []string
}

func newNameTable() *nameTable { return &nameTable{numbers: make(map[string]int)} }

// add returns the number of a name. Names are cleaned; what then is equal has
// one number.
func (t *nameTable) add(name string) int {
	n, ok := t.numbers[name]
	if ok {
		return n
	}
	cleaned := clean(name)
	if n, ok = t.numbers[cleaned]; !ok {
		n = len(t.list)
		t.list = append(t.list, cleaned)
		t.numbers[cleaned] = n
	}
	if cleaned != name {
		t.numbers[name] = n
	}
	return n
}

// addOrNone is add, but -1 for an empty name.
func (t *nameTable) addOrNone(name string) int {
	if name == "" {
		return -1
	}
	return t.add(name)
}

// names is how a nameTable is written: in ascending order, each as what it has
// in common with the one before and the rest.
type names struct {
	// Order has the numbers of the sorted names, each as the difference from
	// the one before.
	Order []int `json:"order"`
	// Shared is how many UTF-16 code units of the name before begin each name.
	Shared []int `json:"shared"`
	// Rest is what follows them, separated by line feeds, which names do not
	// have.
	Rest string `json:"rest"`
}

func (t *nameTable) encode() names {
	sorted := make([]int, len(t.list))
	for i := range sorted {
		sorted[i] = i
	}
	slices.SortFunc(sorted, func(a, b int) int { return strings.Compare(t.list[a], t.list[b]) })
	out := names{Order: make([]int, len(sorted)), Shared: make([]int, len(sorted))}
	var rest strings.Builder
	before, last := "", 0
	for i, n := range sorted {
		name := t.list[n]
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

// commonPrefix returns how many bytes, of whole characters, a and b begin with
// in common, and how many UTF-16 code units that is.
func commonPrefix(a, b string) (size, units int) {
	for size < len(a) && size < len(b) {
		r, n := utf8.DecodeRuneInString(b[size:])
		if !strings.HasPrefix(a[size:], b[size:size+n]) {
			break
		}
		size += n
		units += utf16.RuneLen(r)
	}
	return size, units
}

// plainLimit is the size in bytes up to which a block of data is in the file as
// it is. It is compressed above.
const plainLimit = 64 << 10

// A block is data as it stands in the file, in a script element that is not
// executed.
type block struct {
	mime string
	text []byte
}

// Types of blocks.
const (
	plainBlock = "application/json"
	gzipBlock  = "application/gzip" // of JSON, in base64
)

// encodeBlock marshals data. In JSON the characters with which HTML could end
// the element are escaped.
func encodeBlock(data any) (block, error) {
	text, err := json.Marshal(data)
	if err != nil {
		return block{}, err
	}
	if len(text) <= plainLimit {
		return block{plainBlock, text}, nil
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return block{}, err
	}
	if _, err := z.Write(text); err != nil {
		return block{}, err
	}
	if err := z.Close(); err != nil {
		return block{}, err
	}
	return block{gzipBlock, base64.StdEncoding.AppendEncode(nil, packed.Bytes())}, nil
}

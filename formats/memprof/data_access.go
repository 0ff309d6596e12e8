package memprof

import (
	"fmt"
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/llvm/zlibtext"
)

func readDataAccess(c *cursor.Cursor) (*DataAccess, error) {
	d := &DataAccess{}
	at := c.Offset()
	numStrings, numCold := c.U64("number of strings"), c.U64("number of cold symbols")
	table := readStrings(c)
	if n := uint64(len(table)); c.Err() == nil && (numStrings > n || numCold != n-numStrings) {
		c.Fail(c.At(at).Field("number of strings").Gotf("%d and %d cold symbols", numStrings, numCold).
			Wantf("%d together, as in the blob", n).Corrupt())
	}
	if c.Err() != nil {
		return nil, c.Err()
	}
	d.ColdSymbols = distinct(c, at, "cold symbol", table[numStrings:])
	table = table[:numStrings:numStrings]

	at = c.Offset()
	if n := c.Count(c.U64("number of cold hashes"), 8, "number of cold hashes"); n > 0 {
		hashes := make([]uint64, n)
		for i := range hashes {
			hashes[i] = c.U64("cold hash")
		}
		d.ColdHashes = distinct(c, at, "cold hash", hashes)
	}
	lookup := func(index, at uint64, field string) string {
		if c.Err() == nil && index >= numStrings {
			c.Fail(c.At(int64(at)).Field(field).Got(index).Wantf("less than %d, the number of strings", numStrings).Corrupt())
		}
		if c.Err() != nil {
			return ""
		}
		return table[index]
	}
	const minRecord, locationSize = 8 + 1 + 8 + 8, 12
	seen := make(dataKeys)
	for i := range c.Count(c.U64("number of data-access records"), minRecord, "number of data-access records") {
		c.Record = i
		at := uint64(c.Offset())
		id := c.U64("symbol or hash")
		literal := c.U8("IsStringLiteral")
		if c.Err() == nil && literal > 1 {
			c.Fail(c.At(int64(at) + 8).Field("IsStringLiteral").Got(literal).Want("0 or 1").Corrupt())
		}
		rec := DataAccessRecord{AccessCount: c.U64("access count")}
		if literal == 1 {
			rec.Hash = id
		} else {
			rec.Symbol = lookup(id, at, "index of the symbol")
		}
		n := c.Count(c.U64("number of locations"), locationSize, "number of locations")
		for range n {
			at := uint64(c.Offset())
			index := c.U64("index of the file name")
			rec.Locations = append(rec.Locations, SourceLocation{lookup(index, at, "index of the file name"), c.U32("line")})
		}
		if c.Err() == nil && !seen.add(&rec) {
			c.Fail(c.At(int64(at)).Field("symbol or hash").Got(rec.key()).Want("each once").Corrupt())
		}
		if c.Err() != nil {
			return nil, c.Err()
		}
		d.Records = append(d.Records, rec)
	}
	return d, c.Err()
}

func readStrings(c *cursor.Cursor) []string {
	size := c.U64("size of the strings")
	start := c.Offset()
	if c.Err() != nil || size == 0 {
		return nil
	}
	blob := c.Bytes(size, "strings")
	if c.Err() == nil {
		c.Skip(cursor.PadTo(size, 8), "padding")
	}
	b := cursor.New(c.Section, start, blob, le)
	length, packed := b.ULEB("uncompressed size"), b.ULEB("compressed size")
	var text string
	if packed == 0 {
		text = string(b.Bytes(length, "text"))
	} else {
		z := b.Bytes(packed, "compressed text")
		if b.Err() == nil && c.Err() == nil {
			var err error
			limit := zlibtext.MaxSize(len(z))
			text, err = zlibtext.Inflate(z, length, limit)
			if err == zlibtext.ErrTooLarge {
				b.Fail(b.At(start).Field("uncompressed size").Got(length).
					Wantf("at most %d, for %d bytes compressed", limit, len(z)).Unsupported())
			} else if err != nil {
				b.Fail(b.At(start).Field("compressed text").Got(err.Error()).
					Wantf("a zlib stream of %d bytes", length).Corrupt())
			}
		}
	}
	if b.Err() == nil && b.Len() > 0 {
		b.Fail(b.At(b.Offset()).Field("size of the strings").Got(size).Wantf("%d, as the text needs", b.Pos()).Corrupt())
	}
	if c.Fail(b.Err()); c.Err() != nil {
		return nil
	}
	return strings.Split(text, stringSeparator)
}

// distinct fails at a value that occurs twice, and returns a copy of the values.
func distinct[T comparable](c *cursor.Cursor, at int64, field string, values []T) []T {
	if v, twice := repeated(values); twice {
		c.Fail(c.At(at).Field(field).Got(v).Want("each once").Corrupt())
	}
	return append([]T(nil), values...)
}

// repeated returns the first value that occurs a second time.
func repeated[T comparable](values []T) (v T, twice bool) {
	seen := make(map[T]struct{}, len(values))
	for _, v := range values {
		if _, twice := seen[v]; twice {
			return v, true
		}
		seen[v] = struct{}{}
	}
	return v, false
}

// A dataKey identifies the data of a data-access record.
type dataKey struct {
	symbol string
	hash   uint64
}

func (k dataKey) String() string {
	if k.symbol != "" {
		return k.symbol
	}
	return fmt.Sprintf("hash %#x", k.hash)
}

func (r *DataAccessRecord) key() dataKey {
	if r.Symbol != "" {
		return dataKey{symbol: r.Symbol}
	}
	return dataKey{hash: r.Hash}
}

type dataKeys map[dataKey]struct{}

// add adds the record's key and reports whether it is new.
func (s dataKeys) add(r *DataAccessRecord) bool {
	n := len(s)
	s[r.key()] = struct{}{}
	return len(s) > n
}

// appendBlock appends the data-access block to dst, whose length must be a multiple of eight.
func (d *DataAccess) appendBlock(dst []byte) []byte {
	var table []string
	index := make(map[string]uint64)
	intern := func(s string) {
		if _, ok := index[s]; !ok {
			index[s] = uint64(len(table))
			table = append(table, s)
		}
	}
	for i := range d.Records {
		r := &d.Records[i]
		if r.Symbol != "" {
			intern(r.Symbol)
		}
		for _, l := range r.Locations {
			intern(l.File)
		}
	}
	for _, s := range d.ColdSymbols {
		intern(s)
	}
	dst = le.AppendUint64(dst, uint64(len(table)))
	dst = le.AppendUint64(dst, uint64(len(d.ColdSymbols)))
	dst = appendStrings(dst, append(table[:len(table):len(table)], d.ColdSymbols...))
	dst = le.AppendUint64(dst, uint64(len(d.ColdHashes)))
	for _, h := range d.ColdHashes {
		dst = le.AppendUint64(dst, h)
	}
	dst = le.AppendUint64(dst, uint64(len(d.Records)))
	for i := range d.Records {
		r := &d.Records[i]
		if r.Symbol != "" {
			dst = append(le.AppendUint64(dst, index[r.Symbol]), 0)
		} else {
			dst = append(le.AppendUint64(dst, r.Hash), 1)
		}
		dst = le.AppendUint64(dst, r.AccessCount)
		dst = le.AppendUint64(dst, uint64(len(r.Locations)))
		for _, l := range r.Locations {
			dst = le.AppendUint64(dst, index[l.File])
			dst = le.AppendUint32(dst, l.Line)
		}
	}
	return dst
}

// appendStrings appends the blob of strings with its size and padding.
func appendStrings(dst []byte, strs []string) []byte {
	if len(strs) == 0 {
		return le.AppendUint64(dst, 0)
	}
	text := strings.Join(strs, stringSeparator)
	z := zlibtext.Deflate(text)
	blob := cursor.AppendULEB(nil, uint64(len(text)))
	blob = cursor.AppendULEB(blob, uint64(len(z)))
	blob = append(blob, z...)
	dst = le.AppendUint64(dst, uint64(len(blob)))
	dst = append(dst, blob...)
	return append(dst, make([]byte, cursor.PadTo(uint64(len(blob)), 8))...)
}

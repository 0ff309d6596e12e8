package irpgo

import (
	"fmt"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
)

// A value profile blob, in raw profiles after all sections and in indexed
// profiles inside each record (ValueProfData, ValueProfRecord):
//
//	u32 TotalSize, this field included, multiple of 8 | u32 NumValueKinds
//	per kind: u32 Kind | u32 NumSites | u8 NumValues[NumSites] | padding to 8
//	          (u64 Value | u64 Count) × ΣNumValues
const (
	valueDataHeader  = 8
	valueKindHeader  = 8
	valueDataPair    = 16
	maxValuesPerSite = 255 // NumValues is a byte
)

// valueBuffer is reusable storage for the value sites of one record.
type valueBuffer struct {
	sites [][]ValueData
	data  []ValueData
}

// readValueData decodes the blob at the cursor into v, whose sites alias b until the next call. The cursor must
// stand at the blob and hold nothing that may not be read.
func (b *valueBuffer) readValueData(c *cursor.Cursor, v *valueSites) {
	*v = valueSites{}
	start, startPos := c.Offset(), c.Pos()
	total, kinds := readValueHeader(c)
	if c.Err() != nil {
		return
	}
	end := startPos + int(total)
	left := func() int { return end - c.Pos() }
	b.sites, b.data = b.sites[:0], b.data[:0]
	for range kinds {
		at := c.Offset()
		if left() < valueKindHeader {
			overrun(c, at, "value kind header", valueKindHeader, left())
			return
		}
		kind := c.U32("value kind")
		n := c.U32("number of value sites")
		switch {
		case kind >= NumValueKinds:
			failValue(c, at, "value kind", kind, "at most 2", "value kind is invalid")
			return
		case v[kind] != nil:
			failValue(c, at, "value kind", fmt.Sprintf("%d again", kind), "each kind once", "value kind is invalid")
			return
		}
		padded := (uint64(n) + 7) &^ 7
		if padded > uint64(left()) {
			overrun(c, at+4, "number of value sites", uint64(n), left())
			return
		}
		counts := c.Bytes(padded, "values per site")[:n]
		pairs := 0
		for _, k := range counts {
			pairs += int(k)
		}
		if pairs*valueDataPair > left() {
			overrun(c, c.Offset(), "number of values", uint64(pairs), left())
			return
		}
		firstSite, firstData := len(b.sites), len(b.data)
		raw := c.Bytes(uint64(pairs*valueDataPair), "values")
		order := c.Order()
		for i := range pairs {
			b.data = append(b.data, ValueData{
				Value: order.Uint64(raw[i*valueDataPair:]),
				Count: order.Uint64(raw[i*valueDataPair+8:]),
			})
		}
		data := b.data[firstData:]
		for _, k := range counts {
			b.sites = append(b.sites, data[:k:k])
			data = data[k:]
		}
		v[kind] = b.sites[firstSite:len(b.sites):len(b.sites)]
	}
	// LLVM walks on by TotalSize; a blob with bytes left over would let the sum of its parts disagree with it.
	if left() != 0 {
		failValue(c, start, "value data size", total, fmt.Sprintf("%d, what its parts add up to", c.Pos()-startPos), beyondTotal)
	}
}

// readValueHeader reads the size of a blob and its number of value kinds.
func readValueHeader(c *cursor.Cursor) (total, kinds uint32) {
	start := c.Offset()
	if c.Len() < valueDataHeader {
		c.Fail(c.At(start).Field("value data").Gotf("%d bytes", c.Len()).Want("at least 8").
			Because(&llvmerr.Error{Code: llvmerr.Truncated}))
		return 0, 0
	}
	total, kinds = c.U32("value data size"), c.U32("number of value kinds")
	switch {
	case uint64(total) > uint64(c.Len()+valueDataHeader):
		c.Fail(c.At(start).Field("value data size").Got(total).
			Wantf("at most the %d bytes left", c.Len()+valueDataHeader).
			Because(&llvmerr.Error{Code: llvmerr.TooLarge}))
	case kinds > NumValueKinds:
		failValue(c, start+4, "number of value kinds", kinds, "at most 3", "number of value profile kinds is invalid")
	case total%8 != 0:
		failValue(c, start, "value data size", total, "a multiple of 8", "total size is not multiples of quardword")
	case total < valueDataHeader:
		failValue(c, start, "value data size", total, "at least 8", beyondTotal)
	}
	return total, kinds
}

// beyondTotal is LLVM's message for value data that does not fit its size.
const beyondTotal = "value profile address is greater than total size"

// failValue is for value data that LLVM calls malformed, in the words of detail.
func failValue(c *cursor.Cursor, at int64, field string, got any, want, detail string) {
	c.Fail(c.At(at).Field(field).Gotf("%v", got).Want(want).Because(malformed(detail)))
}

func overrun(c *cursor.Cursor, at int64, field string, found uint64, left int) {
	failValue(c, at, field, found, fmt.Sprintf("what fits the %d bytes left of the value data", left), beyondTotal)
}

// appendValueData appends the little-endian blob of v; kinds without sites
// are left out, and a site's list is cut to 255 values.
func appendValueData(dst []byte, v *valueSites) []byte {
	start := len(dst)
	kinds := uint32(0)
	dst = append(dst, make([]byte, valueDataHeader)...)
	for kind, sites := range v {
		if len(sites) == 0 {
			continue
		}
		kinds++
		head := len(dst)
		dst = le.AppendUint32(dst, uint32(kind))
		dst = le.AppendUint32(dst, uint32(len(sites)))
		for _, s := range sites {
			dst = append(dst, byte(min(len(s), maxValuesPerSite)))
		}
		for (len(dst)-head)%8 != 0 {
			dst = append(dst, 0)
		}
		for _, s := range sites {
			for _, d := range s[:min(len(s), maxValuesPerSite)] {
				dst = le.AppendUint64(dst, d.Value)
				dst = le.AppendUint64(dst, d.Count)
			}
		}
	}
	le.PutUint32(dst[start:], uint32(len(dst)-start))
	le.PutUint32(dst[start+4:], kinds)
	return dst
}

// valueDataSize is the size of what [appendValueData] appends.
func valueDataSize(v *valueSites) int {
	n := valueDataHeader
	for _, sites := range v {
		if len(sites) == 0 {
			continue
		}
		n += valueKindHeader + (len(sites)+7)&^7
		for _, s := range sites {
			n += min(len(s), maxValuesPerSite) * valueDataPair
		}
	}
	return n
}

// valuesOfKind splits valid value data, which begins with the header of a kind that has the given number of sites:
// the numbers of values per site, the pairs of value and count, and what follows.
func valuesOfKind(data []byte, sites int) (lengths, pairs, rest []byte) {
	lengths = data[valueKindHeader : valueKindHeader+sites]
	data = data[valueKindHeader+(sites+7)&^7:]
	size := 0
	for _, n := range lengths {
		size += int(n) * valueDataPair
	}
	return lengths, data[:size], data[size:]
}

// siteCounts is how many value sites of each kind a record has.
type siteCounts [NumValueKinds]int32

func (s *siteCounts) any() bool { return s[0]|s[1]|s[2] != 0 }
func (s *siteCounts) all() int  { return int(s[0]) + int(s[1]) + int(s[2]) }

// split sets v to the first of sites, as many of each kind as s says.
func (s *siteCounts) split(v *valueSites, sites [][]ValueData) {
	for k, n := range s {
		if n > 0 {
			v[k], sites = sites[:n:n], sites[n:]
		}
	}
}

// read sets s to what the value data at the start of b says and returns the size of the data in bytes. It returns 0
// if the data is not laid out as LLVM lays it out: the kinds that have sites, in ascending order.
func (s *siteCounts) read(bigEndian bool, b []byte) (size int) {
	*s = siteCounts{}
	if len(b) < valueDataHeader {
		return 0
	}
	total, kinds := u32(b, bigEndian), u32(b[4:], bigEndian)
	if total%8 != 0 || total < valueDataHeader || uint64(total) > uint64(len(b)) || kinds > NumValueKinds {
		return 0
	}
	b = b[valueDataHeader:total]
	for next := uint32(0); kinds > 0; kinds-- {
		if len(b) < valueKindHeader {
			return 0
		}
		kind, sites := u32(b, bigEndian), u32(b[4:], bigEndian)
		if kind < next || kind >= NumValueKinds || sites == 0 || valueKindHeader+(uint64(sites)+7)&^7 > uint64(len(b)) {
			return 0
		}
		s[kind], next = int32(sites), kind+1
		size := valueKindHeader + (int(sites)+7)&^7
		for _, n := range b[valueKindHeader : valueKindHeader+sites] {
			size += int(n) * valueDataPair
		}
		if size > len(b) {
			return 0
		}
		b = b[size:]
	}
	if len(b) > 0 {
		return 0
	}
	return int(total)
}

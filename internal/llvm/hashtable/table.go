// Package hashtable reads and arranges LLVM's on-disk chained hash table
// (llvm/Support/OnDiskHashTable.h), which holds the records of indexed profiles.
//
// The payload holds the buckets one after the other; empty ones take no room:
//
//	u16 number of items
//	per item: u64 hash | u64 key length | u64 data length | key | data
//
// After padding to 8 bytes follows the index:
//
//	u64 number of buckets, a power of two | u64 number of entries |
//	u64 offset of each bucket from the start of the file, 0 if empty
//
// Everything is little-endian. A table whose keys all have one length may omit
// the key lengths, see [Table.ImplyKeyLength].
package hashtable

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

const (
	itemHeader   = 24 // hash, key length, data length
	bucketHeader = 2  // number of items
	indexHeader  = 16 // number of buckets, number of entries
)

// Item is one entry of a table. Key and Data alias the file.
type Item struct {
	Hash    uint64
	Key     []byte
	Data    []byte
	DataOff int64 // of Data in the file
}

// Table is a table in a file.
type Table struct {
	section    string
	file       []byte
	payload    int64
	index      int64
	numBuckets uint64
	numEntries uint64
	impliedKey uint64
}

// ImplyKeyLength makes [Table.Items] read items without a key length: every key has n bytes.
func (t *Table) ImplyKeyLength(n int) { t.impliedKey = uint64(n) }

// Open checks the index of a table whose payload begins at offset payload of
// file and whose index is at offset index. section names it in errors.
func Open(section string, file []byte, payload int64, index uint64) (*Table, error) {
	t := &Table{section: section, file: file, payload: payload}
	if index < uint64(payload) || index > uint64(len(file)) {
		return nil, flaw.In(section).Field("offset of the hash table index").Gotf("%#x", index).
			Wantf("%#x to %#x, the end of the file", payload, len(file)).
			Because(truncatedIf(index > uint64(len(file))))
	}
	t.index = int64(index)
	c := cursor.New(section, t.index, file[t.index:], binary.LittleEndian)
	t.numBuckets = c.U64("number of buckets")
	t.numEntries = c.U64("number of entries")
	if c.Err() == nil && bits.OnesCount64(t.numBuckets) != 1 {
		return nil, flaw.At(section, t.index).Field("number of buckets").Got(t.numBuckets).
			Want("a power of two").Corrupt()
	}
	c.Count(t.numBuckets, 8, "number of buckets")
	if c.Err() != nil {
		return nil, c.Err()
	}
	if limit := uint64(t.index-payload) / itemHeader; t.numEntries > limit {
		return nil, flaw.At(section, t.index+8).Field("number of entries").Got(t.numEntries).
			Wantf("at most %d, what the payload can hold", limit).Corrupt()
	}
	return t, nil
}

func truncatedIf(short bool) error {
	if short {
		return profile.ErrTruncated
	}
	return profile.ErrCorrupt
}

// Len returns the number of entries.
func (t *Table) Len() int { return int(t.numEntries) }

// End returns the file offset after the index.
func (t *Table) End() int64 { return t.index + indexHeader + 8*int64(t.numBuckets) }

// NumBuckets returns the number of buckets, a power of two.
func (t *Table) NumBuckets() int { return int(t.numBuckets) }

// Payload returns the file offsets between which the buckets lie.
func (t *Table) Payload() (start, end int64) { return t.payload, t.index }

// BucketOffset returns the file offset of bucket b in the index, 0 if the bucket is empty. b must
// be less than [Table.NumBuckets].
func (t *Table) BucketOffset(b uint64) uint64 {
	return binary.LittleEndian.Uint64(t.file[t.index+indexHeader+8*int64(b):])
}

// Items calls yield for every entry in payload order, as LLVM iterates. With check it verifies
// that a lookup would find every entry: the entry is in the bucket of its hash, and the index
// points to that bucket. Items returns an error at the first entry that fails.
func (t *Table) Items(check bool, yield func(Item) bool) error {
	c := cursor.New(t.section, t.payload, t.file[t.payload:t.index], binary.LittleEndian)
	left, seen := 0, uint64(0)
	var bucketAt int64
	for seen < t.numEntries {
		c.Record = int(seen)
		if left == 0 {
			bucketAt = c.Offset()
			left = int(c.U16("number of items in the bucket"))
			if c.Err() == nil && left == 0 {
				c.Fail(c.At(bucketAt).Field("number of items in the bucket").Got(0).Want("at least 1").Corrupt())
			}
		}
		at := c.Offset()
		item := Item{Hash: c.U64("hash")}
		keyLen := t.impliedKey
		if keyLen == 0 {
			keyLen = c.U64("key length")
		}
		dataLen := c.U64("data length")
		item.Key = c.Bytes(keyLen, "key")
		item.DataOff = c.Offset()
		item.Data = c.Bytes(dataLen, "data")
		if check && c.Err() == nil {
			b := item.Hash & (t.numBuckets - 1)
			if got := t.BucketOffset(b); got != uint64(bucketAt) {
				c.Fail(c.At(at).Field(fmt.Sprintf("bucket of hash %#x", item.Hash)).Gotf("at %#x", bucketAt).
					Wantf("at %#x, where the index has bucket %d", got, b).Corrupt())
			}
		}
		if c.Err() != nil {
			return c.Err()
		}
		left--
		seen++
		if !yield(item) {
			return nil
		}
	}
	if check {
		return t.checkEnd(c, left)
	}
	return nil
}

// checkEnd verifies that only padding follows the last entry.
func (t *Table) checkEnd(c *cursor.Cursor, left int) error {
	c.Record = -1
	switch {
	case left != 0:
		c.Fail(c.At(c.Offset()).Field("items in the last bucket").Gotf("%d more", left).
			Wantf("the %d entries of the index", t.numEntries).Corrupt())
	case c.Len() >= 8:
		c.Fail(c.At(c.Offset()).Field("payload after the last entry").Gotf("%d bytes", c.Len()).
			Want("less than 8 bytes of padding").Corrupt())
	}
	return c.Err()
}

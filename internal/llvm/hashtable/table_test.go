package hashtable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

var le = binary.LittleEndian

func hashOf(key string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(key))
	return h.Sum64()
}

// build writes a table with the given keys, its data the keys turned around,
// after a prefix, and returns the file and the offsets of payload and index.
func build(keys []string) (file []byte, payload int64, index uint64) {
	file = []byte("prefix..")
	hashes := make([]uint64, len(keys))
	for i, k := range keys {
		hashes[i] = hashOf(k)
	}
	c := Arrange(hashes)
	offsets := make([]uint64, c.NumBuckets())
	for b := range offsets {
		n := c.BucketLen(b)
		if n == 0 {
			continue
		}
		offsets[b] = uint64(len(file))
		file = le.AppendUint16(file, uint16(n))
		for i := range c.Bucket(b) {
			file = le.AppendUint64(file, hashes[i])
			file = le.AppendUint64(file, uint64(len(keys[i])))
			file = le.AppendUint64(file, 2)
			file = append(file, keys[i]...)
			file = append(file, 'd', byte(i))
		}
	}
	for len(file)%8 != 0 {
		file = append(file, 0)
	}
	index = uint64(len(file))
	file = le.AppendUint64(file, uint64(len(offsets)))
	file = le.AppendUint64(file, uint64(len(keys)))
	for _, o := range offsets {
		file = le.AppendUint64(file, o)
	}
	return file, 8, index
}

func keys(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint("key ", i)
	}
	return out
}

func TestRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 47, 48, 96, 1000} {
		file, payload, index := build(keys(n))
		table, err := Open("table", file, payload, index)
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[string]bool)
		err = table.Items(true, func(it Item) bool {
			seen[string(it.Key)] = true
			if it.Hash != hashOf(string(it.Key)) || string(it.Data) != string(file[it.DataOff:it.DataOff+2]) || it.Data[0] != 'd' {
				t.Errorf("item %+v", it)
			}
			return true
		})
		if err != nil || len(seen) != n || table.Len() != n || table.End() != int64(len(file)) {
			t.Errorf("%d keys: %d seen, %d long, end %d of %d, %v", n, len(seen), table.Len(), table.End(), len(file), err)
		}
	}
}

// TestArrange: the number of buckets is LLVM's, and every entry stands in the bucket of its hash.
func TestArrange(t *testing.T) {
	for n, want := range map[int]int{0: 1, 1: 1, 2: 1, 3: 8, 5: 8, 6: 16, 11: 16, 12: 32, 47: 64, 48: 128, 1000: 2048} {
		hashes := make([]uint64, n)
		for i, k := range keys(n) {
			hashes[i] = hashOf(k)
		}
		c := Arrange(hashes)
		if c.NumBuckets() != want {
			t.Errorf("%d entries: %d buckets, want %d", n, c.NumBuckets(), want)
		}
		total := 0
		for b := range c.NumBuckets() {
			for i := range c.Bucket(b) {
				total++
				if hashes[i]&uint64(c.NumBuckets()-1) != uint64(b) {
					t.Errorf("entry %d in bucket %d", i, b)
				}
			}
		}
		if total != n {
			t.Errorf("%d entries in the chains, want %d", total, n)
		}
	}
}

func TestDamage(t *testing.T) {
	clean, payload, index := build(keys(20))
	for name, tc := range map[string]struct {
		damage func(f []byte) []byte
		index  uint64
		class  error
	}{
		"index before payload":   {nil, 4, profile.ErrCorrupt},
		"index past the end":     {nil, 1 << 40, profile.ErrTruncated},
		"index cut off":          {func(f []byte) []byte { return f[:len(f)-1] }, index, profile.ErrTruncated},
		"index of 9 bytes":       {func(f []byte) []byte { return f[:index+9] }, index, profile.ErrTruncated},
		"buckets not a power":    {func(f []byte) []byte { f[index] = 3; return f }, index, profile.ErrCorrupt},
		"no buckets":             {func(f []byte) []byte { f[index] = 0; return f }, index, profile.ErrCorrupt},
		"more entries than fit":  {func(f []byte) []byte { f[index+9] = 0xff; return f }, index, profile.ErrCorrupt},
		"one entry more":         {func(f []byte) []byte { f[index+8]++; return f }, index, profile.ErrCorrupt},
		"one entry less":         {func(f []byte) []byte { f[index+8]--; return f }, index, profile.ErrCorrupt},
		"key too long":           {func(f []byte) []byte { f[payload+2+8+3] = 1; return f }, index, profile.ErrTruncated},
		"data too long":          {func(f []byte) []byte { f[payload+2+16+7] = 0xff; return f }, index, profile.ErrTruncated},
		"empty bucket":           {func(f []byte) []byte { f[payload] = 0; return f }, index, profile.ErrCorrupt},
		"hash of another bucket": {func(f []byte) []byte { f[payload+2] ^= 1; return f }, index, profile.ErrCorrupt},
	} {
		f := append([]byte(nil), clean...)
		if tc.damage != nil {
			f = tc.damage(f)
		}
		table, err := Open("table", f, payload, tc.index)
		if err == nil {
			err = table.Items(true, func(Item) bool { return true })
		}
		var fe *profile.FormatError
		if !errors.As(err, &fe) || profile.ClassOf(fe) != tc.class || fe.Section != "table" {
			t.Errorf("%s: %v, want %v", name, err, tc.class)
		}
	}
}

// TestUnchecked: without the check a table whose index is wrong is still walked, as LLVM does.
func TestUnchecked(t *testing.T) {
	f, payload, index := build(keys(20))
	for i := index + 16; i < uint64(len(f)); i++ {
		f[i] ^= 0x55
	}
	table := oracle.Must(Open("table", f, payload, index))(t)
	n := 0
	if err := table.Items(false, func(Item) bool { n++; return true }); err != nil || n != 20 {
		t.Errorf("%d items, %v", n, err)
	}
	if err := table.Items(true, func(Item) bool { return true }); !errors.Is(err, profile.ErrCorrupt) {
		t.Errorf("checked walk: %v", err)
	}
	n = 0
	if err := table.Items(true, func(Item) bool { n++; return false }); n > 1 {
		t.Errorf("walk went on after the caller stopped: %d items, %v", n, err)
	}
}

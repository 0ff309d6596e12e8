package cursor

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

func TestGets(t *testing.T) {
	b := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	c := New("s", 100, b, binary.BigEndian)
	if v := c.U8("a"); v != 1 {
		t.Errorf("U8 = %#x", v)
	}
	if v := c.U16("a"); v != 0x0203 {
		t.Errorf("U16 = %#x", v)
	}
	if v := c.Ptr(4, "a"); v != 0x04050607 {
		t.Errorf("Ptr(4) = %#x", v)
	}
	if v := c.Ptr(8, "a"); v != 0x08090a0b0c0d0e0f {
		t.Errorf("Ptr(8) = %#x", v)
	}
	if c.Err() != nil || c.Len() != 0 || c.Offset() != 115 {
		t.Errorf("err %v, %d left, at %d", c.Err(), c.Len(), c.Offset())
	}
}

// TestExhausted: every get on too little input returns zero, sets one error with the place, and leaves later gets silent.
func TestExhausted(t *testing.T) {
	for name, get := range map[string]func(*Cursor) uint64{
		"U8":    func(c *Cursor) uint64 { return uint64(c.U8("field")) },
		"U16":   func(c *Cursor) uint64 { return uint64(c.U16("field")) },
		"U32":   func(c *Cursor) uint64 { return uint64(c.U32("field")) },
		"U64":   func(c *Cursor) uint64 { return c.U64("field") },
		"Ptr4":  func(c *Cursor) uint64 { return c.Ptr(4, "field") },
		"ULEB":  func(c *Cursor) uint64 { return c.ULEB("field") },
		"Bytes": func(c *Cursor) uint64 { return uint64(len(c.Bytes(1, "field"))) },
		"Count": func(c *Cursor) uint64 { return uint64(c.Count(1, 1, "field")) },
	} {
		c := New("section", 7, nil, binary.LittleEndian)
		c.Record = 3
		if v := get(c); v != 0 {
			t.Errorf("%s = %d", name, v)
		}
		var fe *profile.FormatError
		if !errors.As(c.Err(), &fe) || !errors.Is(fe, profile.ErrTruncated) || fe.Offset != 7 || fe.Section != "section" || fe.Record != 3 {
			t.Errorf("%s: error %v", name, c.Err())
		}
		first := c.Err()
		if v := get(c); v != 0 || c.Err() != first {
			t.Errorf("%s after a failure = %d, error %v", name, v, c.Err())
		}
	}
}

func TestCount(t *testing.T) {
	for _, tc := range []struct {
		n    uint64
		size int
		want int
	}{{3, 8, 3}, {4, 8, 0}, {math.MaxUint64, 8, 0}, {1 << 61, 8, 0}, {24, 1, 24}} {
		c := New("s", 0, make([]byte, 24), binary.LittleEndian)
		if got := c.Count(tc.n, tc.size, "n"); got != tc.want || (c.Err() == nil) != (uint64(got) == tc.n) {
			t.Errorf("Count(%d, %d) = %d, %v", tc.n, tc.size, got, c.Err())
		}
	}
}

func TestULEB(t *testing.T) {
	for _, v := range []uint64{0, 1, 127, 128, 300, 1 << 32, math.MaxUint64} {
		b := AppendULEB(nil, v)
		c := New("s", 0, b, binary.LittleEndian)
		if got := c.ULEB("v"); got != v || c.Len() != 0 || c.Err() != nil {
			t.Errorf("%d: read back %d, %v", v, got, c.Err())
		}
	}
	for _, b := range []string{
		"\x80", // unterminated
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", // 65 bits
		"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00",
	} {
		c := New("s", 0, []byte(b), binary.LittleEndian)
		if got := c.ULEB("v"); got != 0 || c.Err() == nil {
			t.Errorf("% x: %d without an error", b, got)
		}
	}
}

func TestErrorText(t *testing.T) {
	c := New("names", 0x20, []byte{1, 2, 3}, binary.LittleEndian)
	c.U32("size")
	err := flaw.InFile(c.Err(), "a.profraw")
	want := "a.profraw: names at 0x20: size is cut off after 3 bytes, want 4 bytes: truncated profile"
	if err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	c = New("x", 0, nil, binary.LittleEndian)
	c.Fail(c.At(-1).Field("kind").Got(9).Want("at most 2").Corrupt())
	c.Fail(c.At(7).Field("kind").Got(8).Corrupt()) // only the first is kept
	if got := c.Err().Error(); got != "x: kind is 9, want at most 2: corrupt profile" {
		t.Errorf("%q", got)
	}
}

func TestAlign(t *testing.T) {
	c := New("s", 3, make([]byte, 16), binary.LittleEndian)
	c.Skip(3, "x")
	c.Align(8, "padding")
	if c.Pos() != 8 || c.Offset() != 11 {
		t.Errorf("at %d, offset %d", c.Pos(), c.Offset())
	}
	c.Align(8, "padding")
	if c.Pos() != 8 {
		t.Errorf("aligned again: at %d", c.Pos())
	}
	for n, want := range map[uint64]uint64{0: 0, 1: 7, 7: 1, 8: 0, 9: 7} {
		if got := PadTo(n, 8); got != want {
			t.Errorf("PadTo(%d) = %d, want %d", n, got, want)
		}
	}
	if c.Err() != nil {
		t.Error(c.Err())
	}
}

// TestShort: a number of one byte is read, and nothing else.
func TestShort(t *testing.T) {
	for _, b := range []string{"", "\x00", "\x7f", "\x80\x01", "\x80"} {
		c, one := New("s", 0, []byte(b), binary.LittleEndian), New("s", 0, []byte(b), binary.LittleEndian)
		n, ok := c.Short()
		want := one.ULEB("n")
		if short := one.Pos() == 1 && one.Err() == nil; ok != short || ok && n != want || !ok && c.Pos() != 0 || c.Err() != nil {
			t.Errorf("%x: %d, %v, at %d", b, n, ok, c.Pos())
		}
		if one.Err() != nil {
			if _, ok := one.Short(); ok {
				t.Errorf("%x: a number after a failure", b)
			}
		}
	}
}

// TestULEBs: four numbers at once are those read one by one, whatever their lengths and wherever they end.
func TestULEBs(t *testing.T) {
	fields := [4]string{"a", "b", "c", "d"}
	sizes := []uint64{0, 1, 0x7f, 0x80, 1 << 31, math.MaxUint64}
	for i := range 6 * 6 * 6 * 6 {
		var want [4]uint64
		var buf []byte
		for k := range want {
			want[k] = sizes[i%6]
			buf = AppendULEB(buf, want[k])
			i /= 6
		}
		for end := range len(buf) + 1 {
			var got, single [4]uint64
			c, one := New("s", 0, buf[:end], binary.LittleEndian), New("s", 0, buf[:end], binary.LittleEndian)
			got[0], got[1], got[2], got[3] = c.ULEBs(&fields)
			for k, field := range fields {
				single[k] = one.ULEB(field)
			}
			if got != single || c.Pos() != one.Pos() || (c.Err() == nil) != (one.Err() == nil) || c.Err() != nil && c.Err().Error() != one.Err().Error() {
				t.Fatalf("%x: %d at %d, %v, want %d at %d, %v", buf[:end], got, c.Pos(), c.Err(), single, one.Pos(), one.Err())
			}
			if end == len(buf) && got != want {
				t.Fatalf("%x: %d, want %d", buf, got, want)
			}
		}
	}
}

func BenchmarkULEBs(b *testing.B) {
	buf := bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7, 8, 0x85, 1, 1, 2}, 1<<10)
	fields := [4]string{"a", "b", "c", "d"}
	for b.Loop() {
		for c := New("numbers", 0, buf, binary.LittleEndian); c.Len() > 0; {
			c.ULEBs(&fields)
		}
	}
}

// TestSLEB: numbers of either sign, and those that are too long.
func TestSLEB(t *testing.T) {
	for _, c := range []struct {
		data string
		want int64
	}{
		{"\x00", 0},
		{"\x3f", 63},
		{"\x40", -64},
		{"\x7f", -1},
		{"\xff\x00", 127},
		{"\x80\x7f", -128},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", math.MaxInt64},
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", math.MinInt64},
		{"\xff\x80\x80\x80\x00", 127},
	} {
		c2 := New("s", 0, []byte(c.data), binary.LittleEndian)
		if got := c2.SLEB("n"); got != c.want || c2.Err() != nil || c2.Len() != 0 {
			t.Errorf("%x: %d, %v; want %d", c.data, got, c2.Err(), c.want)
		}
	}
	for _, bad := range []string{"", "\x80", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"} {
		c := New("s", 0, []byte(bad), binary.LittleEndian)
		if got := c.SLEB("n"); c.Err() == nil {
			t.Errorf("%x is %d", bad, got)
		}
	}
}

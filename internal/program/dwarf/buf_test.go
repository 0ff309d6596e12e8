package dwarf

import (
	"math"
	"testing"
)

// TestExhausted: every get on too little input gives zero, sets bad and does not move beyond the end.
func TestExhausted(t *testing.T) {
	for name, get := range map[string]func(*buf) uint64{
		"u8":        func(r *buf) uint64 { return uint64(r.u8()) },
		"u16":       func(r *buf) uint64 { return uint64(r.u16()) },
		"u24":       func(r *buf) uint64 { return uint64(r.u24()) },
		"u32":       func(r *buf) uint64 { return uint64(r.u32()) },
		"u64":       func(r *buf) uint64 { return r.u64() },
		"uint 1":    func(r *buf) uint64 { return r.uint(1) },
		"uint 8":    func(r *buf) uint64 { return r.uint(8) },
		"uint 3":    func(r *buf) uint64 { return r.uint(3) }, // no such size
		"uleb":      func(r *buf) uint64 { return r.uleb() },
		"sleb":      func(r *buf) uint64 { return uint64(r.sleb()) },
		"skipULEB":  func(r *buf) uint64 { r.skipULEB(); return 0 },
		"skip":      func(r *buf) uint64 { r.skip(2); return 0 },
		"skip much": func(r *buf) uint64 { r.skip(math.MaxUint64); return 0 },
		"cstring":   func(r *buf) uint64 { return uint64(len(r.cstring())) },
		"unit":      func(r *buf) uint64 { body, _ := r.unit(); return uint64(len(body.b) - body.off) },
	} {
		for _, big := range []bool{false, true} {
			r := buf{b: []byte{0xff, 0xff}, off: 2, big: big}
			if v := get(&r); v != 0 || !r.bad || r.off != 2 {
				t.Errorf("%s: %d, bad %t, at %d", name, v, r.bad, r.off)
			}
		}
	}
}

func TestNumbers(t *testing.T) {
	b := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	for _, c := range []struct {
		size        uint8
		little, big uint64
	}{
		{1, 1, 1}, {2, 0x0201, 0x0102}, {4, 0x04030201, 0x01020304}, {8, 0x0807060504030201, 0x0102030405060708},
	} {
		little, big := buf{b: b}, buf{b: b, big: true}
		if v := little.uint(c.size); v != c.little || little.off != int(c.size) {
			t.Errorf("little-endian, %d bytes: %#x, want %#x", c.size, v, c.little)
		}
		if v := big.uint(c.size); v != c.big {
			t.Errorf("big-endian, %d bytes: %#x, want %#x", c.size, v, c.big)
		}
	}
	little, big := buf{b: b}, buf{b: b, big: true}
	if a, b := little.u24(), big.u24(); a != 0x030201 || b != 0x010203 {
		t.Errorf("u24 = %#x and %#x", a, b)
	}
}

func TestLEB(t *testing.T) {
	for _, c := range []struct {
		bytes    string
		unsigned uint64
		signed   int64
	}{
		{"\x00", 0, 0},
		{"\x7f", 127, -1},
		{"\x80\x01", 128, 128},
		{"\xff\x00", 127, 127},
		{"\x80\x7f", 16256, -128},
		{"\x80\x80\x80\x00", 0, 0},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", math.MaxUint64, -1},
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 1 << 63, math.MinInt64},
		// More than 64 bits: what is beyond is lost.
		{"\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 1, 1},
	} {
		u, s, skip := buf{b: []byte(c.bytes)}, buf{b: []byte(c.bytes)}, buf{b: []byte(c.bytes)}
		if v := u.uleb(); v != c.unsigned || u.bad || u.more() {
			t.Errorf("uleb of % x = %d, want %d", c.bytes, v, c.unsigned)
		}
		if v := s.sleb(); v != c.signed || s.bad || s.more() {
			t.Errorf("sleb of % x = %d, want %d", c.bytes, v, c.signed)
		}
		if skip.skipULEB(); skip.bad || skip.more() {
			t.Errorf("skipULEB of % x stops at %d", c.bytes, skip.off)
		}
	}
}

package profgen

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/profuse-pgo/profuse/internal/program/decode"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

func pieces(numbers ...uint64) (list []piece) {
	for i := 0; i < len(numbers); i += 3 {
		list = append(list, piece{Span{numbers[i], numbers[i+1]}, numbers[i+2]})
	}
	return list
}

// TestDisjoint: what llvm-profgen 22 makes of ranges that overlap.
func TestDisjoint(t *testing.T) {
	for _, c := range []struct{ in, want []piece }{
		{pieces(0x10, 0x1f, 100, 0x10, 0x2f, 200), pieces(0x10, 0x1f, 300, 0x20, 0x2f, 200)},
		{pieces(0x10, 0x1f, 100, 0x1f, 0x2f, 200), pieces(0x10, 0x1e, 100, 0x1f, 0x1f, 300, 0x20, 0x2f, 200)},
		{
			pieces(0x20, 0x2f, 100, 0x40, 0x4f, 200, 0x10, 0x5f, 0),
			pieces(0x10, 0x1f, 0, 0x20, 0x2f, 100, 0x30, 0x3f, 0, 0x40, 0x4f, 200, 0x50, 0x5f, 0),
		},
		// Two ranges of count 0 that begin together end twice: LLVM's depth becomes negative, and gaps are pieces from there on.
		{pieces(0x10, 0x1f, 0, 0x10, 0x2f, 0, 0x40, 0x4f, 7), pieces(0x10, 0x1f, 0, 0x30, 0x3f, 0, 0x40, 0x4f, 7)},
		{pieces(0x20, 0x10, 5), nil},
		{nil, nil},
	} {
		if got := disjoint(c.in); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%x: %x, want %x", c.in, got, c.want)
		}
	}
}

func TestReadUnsymbolized(t *testing.T) {
	c, err := ReadUnsymbolized("x", []byte("2\n10-20:5\n  1F-2f:7\n1\nffffffffffffff01->30:3\n1\n10-20:1\n0\n"), 0x100)
	if err != nil || len(c.Ranges) != 2 || c.Ranges[Span{0x110, 0x120}] != 6 || c.Ranges[Span{0x11f, 0x12f}] != 7 || c.Branches[Span{1, 0x130}] != 3 {
		t.Errorf("%v, %v", c, err)
	}
	for text, want := range map[string]struct {
		class profile.Class
		line  int
	}{
		"":                             {profile.ErrTruncated, 0},
		"foo\n":                        {profile.ErrCorrupt, 1},
		"1\n":                          {profile.ErrTruncated, 1},
		"1\n10-20:5\n":                 {profile.ErrTruncated, 2},
		"1\n10-20:5\n0\n\n":            {profile.ErrCorrupt, 4},
		"1\n10-20:x\n0\n":              {profile.ErrCorrupt, 2},
		"1\n10->20:5\n0\n":             {profile.ErrCorrupt, 2},
		"1\n10-20:-5\n0\n":             {profile.ErrCorrupt, 2},
		"18446744073709551615\n1-2:3":  {profile.ErrTruncated, 2},
		"1\n11112222333344445-6:1\n0":  {profile.ErrCorrupt, 2},
		"[main:3 @ foo]\n  1\n  1-2:3": {profile.ErrUnsupported, 1},
	} {
		_, err := ReadUnsymbolized("x", []byte(text), 0)
		var fe *profile.FormatError
		if !errors.As(err, &fe) || !errors.Is(err, want.class) || fe.Line != want.line {
			t.Errorf("%q: %v, want %v on line %d", text, err, want.class, want.line)
		}
	}
}

func TestIsUnsymbolized(t *testing.T) {
	for text, want := range map[string]bool{
		"2\n10-20:5\n": true, "0\n1\n10->20:5\n": true, "0\n0\n": true, "[]\n1\n10-20:5\n": true,
		"": false, "2\n": false, "main:10:5\n 1: 5\n": false, "1\n10-20\n": false, "x\n10-20:5\n": false, "0\nfoo\n": false,
	} {
		if got := IsUnsymbolized([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// FuzzReadUnsymbolized: what is read can be written and read again, and is the same.
func FuzzReadUnsymbolized(f *testing.F) {
	f.Add([]byte("2\n10-20:5\n1f-2f:7\n1\nffffffffffffff01->30:3\n"))
	f.Add([]byte("0\n0\n1\n1-2:3\n1\n1->2:0\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		IsUnsymbolized(data)
		c, err := ReadUnsymbolized("x", data, 0x1000)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := c.WriteUnsymbolized(&b, 0x1000); err != nil {
			t.Fatal(err)
		}
		again, err := ReadUnsymbolized("x", b.Bytes(), 0x1000)
		if err != nil || !reflect.DeepEqual(c, again) {
			t.Errorf("%q: %v, %v", b.Bytes(), again, err)
		}
		disjoint(sorted(c.Ranges))
	})
}

// TestExternal: what is called from outside the program has no caller, whatever the debug information says of the address.
func TestExternal(t *testing.T) {
	f, err := symbolize.Open("../testdata/profgen/clang", symbolize.Options{NoDebugFiles: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := Open(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	start := p.functions.ranges[0].start
	c := &Counts{Branches: map[Span]uint64{{External, start}: 5}}
	for _, compat := range []bool{false, true} {
		got, err := p.Lines(c, LineOptions{LLVMCompat: compat})
		if err != nil || len(got.Functions) != 1 || got.Functions[0].Head != 5 || len(got.Functions[0].Body) != 0 {
			t.Errorf("compatible %v: %v, %v", compat, got, err)
		}
	}
}

// TestSymbolsBehind: symbols outside their section, as linkers make them for its end, begin no code.
func TestSymbolsBehind(t *testing.T) {
	c := code{decode: decode.For("x86_64")}
	c.add(0x1000, []byte{0x90, 0x06, 0xc3}, []uint64{0x1002, 0x1000, 0xfff, 0x1003, 0x2000, 0x1000})
	if n := c.decodeAll(); n != 1 {
		t.Errorf("%d stretches do not decode", n)
	}
	var got []uint64
	for in, ok := c.next(0, 0x3000); ok; in, ok = c.next(in.addr+1, 0x3000) {
		got = append(got, in.addr)
	}
	if !reflect.DeepEqual(got, []uint64{0x1000, 0x1002}) || c.runs(0x1000, 0x1002) != true || c.runs(0x1002, 0x1001) {
		t.Errorf("instructions at %x", got)
	}
}

// TestSpans: numbers follow first appearances, also after the table has grown.
func TestSpans(t *testing.T) {
	var s spans
	for round := range 2 {
		for i := range uint64(5000) {
			n, added := s.number(Span{i, i * i})
			if n != int(i) || added != (round == 0) {
				t.Fatalf("span %d: number %d, added %v", i, n, added)
			}
		}
	}
}

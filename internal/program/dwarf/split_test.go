package dwarf

import (
	"testing"
)

// packageIndex builds a .debug_cu_index of one unit in two slots.
func packageIndex(version int, id uint64, kinds []int, offsets []int) []byte {
	var a asm
	if version == 5 {
		a.u16(5).u16(0)
	} else {
		a.u32(version)
	}
	a.u32(len(kinds)).u32(1).u32(2)
	a.u64(id).u64(0).u32(1).u32(0)
	for _, k := range kinds {
		a.u32(k)
	}
	for _, o := range offsets {
		a.u32(o)
	}
	for range kinds {
		a.u32(100) // sizes, which are not needed
	}
	return a.b
}

func TestPackageIndex(t *testing.T) {
	first := testInfo(5, func(a *asm) { a.u8(0) })
	info := append(first, testInfo(5, func(a *asm) { a.u8(0) })...)
	second := len(first)
	for _, c := range []struct {
		name    string
		index   []byte
		found   bool
		abbrev  uint64
		base    sectionBases
		problem bool
	}{
		{
			"version 5", packageIndex(5, 7, []int{sectInfo, sectAbbrev, sectStrOffsets, sectRnglists}, []int{second, 10, 20, 30}),
			true, 10,
			sectionBases{20, 30},
			false,
		},
		{
			"version 2", packageIndex(2, 7, []int{sectInfo, sectAbbrev, sectStrOffsets, sectRnglists}, []int{second, 10, 20, 30}),
			true, 10,
			sectionBases{20, 0},
			false,
		},
		{"version 3", packageIndex(3, 7, []int{sectInfo}, []int{second}), false, 0, sectionBases{}, true},
		{"no such unit", packageIndex(5, 7, []int{sectInfo}, []int{second + 1}), false, 0, sectionBases{}, true},
		{"another id", packageIndex(5, 8, []int{sectInfo}, []int{second}), false, 0, sectionBases{}, false},
		{"no columns", packageIndex(5, 7, nil, nil), true, 0, sectionBases{}, false}, // it is at 0 then
	} {
		d := New(Sections{Info: info, CUIndex: c.index}, Config{Split: true})
		if d.HasSplit(7) != c.found || (len(d.Problems()) > 0) != c.problem {
			t.Errorf("%s: found %t, problems %v", c.name, d.HasSplit(7), d.Problems())
		}
		if !c.found {
			continue
		}
		u := d.units[d.splits[7]]
		if u.abbrev != c.abbrev || u.base != c.base {
			t.Errorf("%s: abbreviations at %d, bases %+v", c.name, u.abbrev, u.base)
		}
		for n := 1; n < len(c.index); n++ {
			d := New(Sections{Info: info, CUIndex: c.index[:n]}, Config{Split: true})
			if d.HasSplit(7) || len(d.Problems()) == 0 {
				t.Errorf("%s: %d of %d bytes were enough", c.name, n, len(c.index))
			}
		}
	}
	// Numbers whose products overflow.
	var a asm
	a.u16(5).u16(0).u32(-1).u32(-1).u32(-1).u64(0)
	if d := New(Sections{Info: info, CUIndex: a.b}, Config{Split: true}); len(d.Problems()) == 0 {
		t.Error("read 2^32 columns of nothing")
	}
}

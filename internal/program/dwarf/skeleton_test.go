package dwarf

import (
	"errors"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

// Abbreviation codes of splitAbbrevs.
const (
	skUnit    = 1 // no children; low_pc addr, addr_base, rnglists_base, str_offsets_base, GNU_ranges_base sec_offset, comp_dir line_strp, dwo_name strx1
	skOldUnit = 2 // no children; low_pc addr, GNU_addr_base sec_offset, GNU_dwo_id data8, GNU_dwo_name string, comp_dir string
	skSplit   = 3 // children; name strx1
	skOld     = 4 // children; GNU_dwo_id data8
	skFunc    = 5 // no children; low_pc addrx, high_pc data4, name strx3
	skOldFunc = 6 // no children; low_pc GNU_addr_index, high_pc data4, name GNU_str_index
	skRanges  = 7 // no children; ranges rnglistx, name strx
)

func splitAbbrevs() []byte {
	var a asm
	a.uleb(skUnit, 0x4a).u8(0).uleb(attrLowPC, formAddr, attrAddrBase, formSecOffset, attrRnglistsBase, formSecOffset,
		attrStrOffsetsBase, formSecOffset, attrGNURangesBase, formSecOffset, attrCompDir, formLineStrp, attrDWOName, formStrx1, 0, 0)
	a.uleb(skOldUnit, 0x11).u8(0).uleb(attrLowPC, formAddr, attrGNUAddrBase, formSecOffset, attrGNUDWOID, formData8,
		attrGNUDWOName, formString, attrCompDir, formString, 0, 0)
	a.uleb(skSplit, 0x11).u8(1).uleb(attrName, formStrx1, 0, 0)
	a.uleb(skOld, 0x11).u8(1).uleb(attrGNUDWOID, formData8, 0, 0)
	a.uleb(skFunc, tagSubprogram).u8(0).uleb(attrLowPC, formAddrx, attrHighPC, formData4, attrName, formStrx3, 0, 0)
	a.uleb(skOldFunc, tagSubprogram).u8(0).uleb(attrLowPC, formGNUAddrIndex, attrHighPC, formData4, attrName, formGNUStrIndex, 0, 0)
	a.uleb(skRanges, tagSubprogram).u8(0).uleb(attrRanges, formRnglistx, attrName, formStrx, 0, 0)
	return a.u8(0).b
}

// unitOfKind builds a unit of DWARF 5 with an id, in 32- or 64-bit DWARF.
func unitOfKind(kind int, wide bool, id uint64, dies func(a *asm)) []byte {
	var body, a asm
	body.u16(5).u8(kind, 8)
	if wide {
		body.u64(0)
	} else {
		body.u32(0)
	}
	body.u64(id)
	dies(&body)
	if wide {
		a.u32(-1).u64(uint64(len(body.b)))
	} else {
		a.u32(len(body.b))
	}
	a.b = append(a.b, body.b...)
	return a.b
}

const splitID = 0x1122334455667788

// skeletonFile is a program with a skeleton unit of that version.
func skeletonFile(version int, open func(dwoName, compDir string, id uint64) (*Data, error)) *Data {
	var addr asm
	s := Sections{
		Addr:    addr.u64(0).u64(0x1000).u64(0x2000).b,
		LineStr: []byte("/comp\x00"), Str: []byte("a.dwo\x00"), StrOffsets: make([]byte, 12), Abbrev: splitAbbrevs(),
	}
	if version >= 5 {
		s.Info = unitOfKind(unitSkeleton, false, splitID, func(a *asm) {
			a.uleb(skUnit).u64(0x1000).u32(8).u32(0).u32(8).u32(0).u32(0).u8(0)
		})
	} else {
		s.Info = testInfo(4, func(a *asm) { a.uleb(skOldUnit).u64(0x1000).u32(8).u64(splitID).str("a.dwo", "/comp") })
	}
	return New(s, Config{Name: "program", OpenSplit: open})
}

// splitSections are those of the .dwo file of such a unit. Its strings are "f" and "g".
func splitSections(version int, wide bool) Sections {
	s := Sections{Abbrev: splitAbbrevs(), Str: []byte("f\x00g\x00")}
	var offsets, lists asm
	switch {
	case version < 5:
		s.StrOffsets = offsets.u32(0).u32(2).b
		s.Info = testInfo(4, func(a *asm) {
			a.uleb(skOld).u64(splitID).uleb(skOldFunc).uleb(0).u32(16).uleb(0).uleb(skOldFunc).uleb(1).u32(16).uleb(1).u8(0)
		})
		return s
	case wide:
		s.StrOffsets = offsets.u64(0).u64(0).u64(0).u64(2).b        // a header of 16
		lists.u32(0).u64(0).u64(0).u64(8)                           // one of 20, the offset of list 0
		lists.u8(rleBaseAddressx).uleb(1).u8(rleOffsetPair, 0, 16)  // from 0x2000
		lists.u8(rleBaseAddressx).uleb(99).u8(rleOffsetPair, 0, 16) // no such address: from 99, like LLVM
	default:
		s.StrOffsets = offsets.u64(0).u32(0).u32(2).b // a header of 8
		lists.u64(0).u32(0).u32(4)                    // one of 12, the offset of list 0
		lists.u8(rleBaseAddressx).uleb(1).u8(rleOffsetPair, 0, 16)
		lists.u8(rleBaseAddressx).uleb(99).u8(rleOffsetPair, 0, 16)
	}
	s.Rnglists = lists.u8(rleEndOfList).b
	s.Info = unitOfKind(unitSplitCompile, wide, splitID, func(a *asm) {
		a.uleb(skSplit).u8(0)
		a.uleb(skFunc).uleb(0).u32(16).u8(0, 0, 0)
		a.uleb(skRanges).uleb(0).uleb(1)
		a.uleb(skRanges).uleb(1).uleb(1) // no such list
		a.u8(0)
	})
	return s
}

// TestSkeletons: what a skeleton unit leaves to another file is found there, by way of the tables of both.
func TestSkeletons(t *testing.T) {
	for _, c := range []struct {
		name    string
		version int
		wide    bool
	}{{"version 4", 4, false}, {"version 5", 5, false}, {"version 5, 64-bit", 5, true}} {
		split := New(splitSections(c.version, c.wide), Config{Name: "a.dwo", Split: true})
		if problems := split.Problems(); len(problems) > 0 || !split.HasSplit(splitID) {
			t.Errorf("%s: problems %v", c.name, problems)
		}
		d := skeletonFile(c.version, func(dwoName, compDir string, id uint64) (*Data, error) {
			if dwoName != "a.dwo" || compDir != "/comp" || id != splitID {
				t.Errorf("%s: opens %q of %q, %#x", c.name, dwoName, compDir, id)
			}
			return split, nil
		})
		u, err := d.Load(0)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := map[uint64]string{0x1000: "f:0", 0x100f: "f:0", 0x1010: "", 0x2000: "g:0", 0x200f: "g:0", 0x2010: ""}
		if c.version >= 5 {
			want[99], want[115] = "g:0", ""
		}
		for addr, want := range want {
			if got := names(u.Frames(nil, addr)); got != want {
				t.Errorf("%s: %#x is in %q, want %q", c.name, addr, got, want)
			}
		}
	}
}

// TestSkeletonsWithoutTheRest: the error says what is missing, and the unit stays as good as its skeleton.
func TestSkeletonsWithoutTheRest(t *testing.T) {
	absent := errors.New("no such file")
	opens := func(s Sections) func(string, string, uint64) (*Data, error) {
		return func(string, string, uint64) (*Data, error) { return New(s, Config{Name: "a.dwo", Split: true}), nil }
	}
	noRoot := splitSections(5, false)
	noRoot.Info = unitOfKind(unitSplitCompile, false, splitID, func(a *asm) { a.uleb(99) })
	cutRoot := splitSections(5, false)
	cutRoot.Info = unitOfKind(unitSplitCompile, false, splitID, func(a *asm) { a.uleb(skSplit) })
	noAbbrevs := splitSections(5, false)
	noAbbrevs.Abbrev = []byte{1}
	for _, c := range []struct {
		name  string
		open  func(string, string, uint64) (*Data, error)
		class error
		want  string
	}{
		{"no file", func(string, string, uint64) (*Data, error) { return nil, absent }, absent, "no such file"},
		{
			"another file", opens(Sections{}), profile.ErrMismatch,
			"a.dwo: split unit is missing, want DWO id 0x1122334455667788: mismatching program",
		},
		{
			"an unknown code", opens(noRoot), profile.ErrCorrupt,
			"a.dwo: .debug_info.dwo at 0x14: abbreviation code is 99, want one of the unit's abbreviations: corrupt program",
		},
		{
			"a cut entry", opens(cutRoot), profile.ErrTruncated,
			"a.dwo: .debug_info.dwo at 0x14: first entry of the unit is cut off by the end of the section: truncated program",
		},
		{
			"no abbreviations", opens(noAbbrevs), profile.ErrTruncated,
			"a.dwo: .debug_abbrev.dwo at 0x0: abbreviations of the unit at 0x0 is cut off by the end of the section: truncated program",
		},
	} {
		d := skeletonFile(5, c.open)
		u, err := d.Load(0)
		if !errors.Is(err, c.class) || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
		if u == nil || len(u.Frames(nil, 0x1000)) != 0 {
			t.Errorf("%s: no unit, or frames that nothing tells of", c.name)
		}
	}
	if u, err := skeletonFile(5, nil).Load(0); u == nil || err != nil {
		t.Errorf("where no other files are asked for: %v", err)
	}
	// Before DWARF 5 the id is in the root entry, which has to be read.
	for name, edit := range map[string]func(s *Sections){
		"abbreviations": func(s *Sections) { s.Abbrev = []byte{1} },
		"root entry":    func(s *Sections) { s.Info = testInfo(4, func(a *asm) { a.uleb(skOld).u32(0) }) },
	} {
		s := splitSections(4, false)
		edit(&s)
		if d := New(s, Config{Split: true}); d.HasSplit(splitID) || len(d.Problems()) != 1 || !errors.Is(d.Problems()[0], profile.ErrTruncated) {
			t.Errorf("%s: problems %v", name, d.Problems())
		}
	}
}

package irpgo

import (
	"strings"
	"testing"
)

func TestChooseVersion(t *testing.T) {
	raw := func(version uint32, v Variant) *Info {
		return &Info{Format: FormatRaw, Version: version, Variant: v}
	}
	indexed := func(version uint32, v Variant) *Info {
		return &Info{Format: FormatIndexed, Version: version, Variant: v}
	}
	text := func(v Variant) *Info { return &Info{Format: FormatText, Variant: v} }
	for _, tc := range []struct {
		name    string
		inputs  []*Info
		version uint32
		reason  string
		by      string // of the first input
		hashes  []uint64
	}{
		{"none", nil, 13, "the newest that LLVM 22 reads", "", nil},
		{"clang 19 to 22", []*Info{raw(10, IRLevel)}, 12, "because inputs may be of LLVM 19, which reads no newer one", "LLVM 19 to 22", nil},
		{"loop entries tell 20 from 19", []*Info{raw(10, IRLevel|LoopEntries)}, 12, "LLVM 20", "LLVM 20 to 22", nil},
		{"clang 18", []*Info{raw(9, 0)}, 11, "inputs are of LLVM 18", "LLVM 18", nil},
		{"clang 14 to 17", []*Info{raw(8, IRLevel)}, 7, "LLVM 14", "LLVM 14 to 17", nil},
		{"temporal tells 17", []*Info{raw(8, IRLevel|HasTemporal)}, 10, "inputs are of LLVM 17", "LLVM 17", nil},
		{"clang 13", []*Info{raw(7, IRLevel)}, 7, "LLVM 13", "LLVM 13", nil},
		{"clang 10 to 12", []*Info{raw(5, IRLevel)}, 5, "LLVM 10", "LLVM 10 to 12", nil},
		{"entry first tells 12", []*Info{raw(5, IRLevel|EntryFirst)}, 7, "LLVM 12", "LLVM 12", nil},
		{"clang 3.9 to 9", []*Info{raw(4, IRLevel)}, 4, "LLVM 3.9", "LLVM 3.9 to 9", nil},
		{"context-sensitive tells 9", []*Info{raw(4, IRLevel|ContextSens)}, 5, "LLVM 9", "LLVM 9", nil},
		{"clang 3.5", []*Info{raw(1, 0)}, 4, "the oldest that profuse writes", "LLVM 3.5 to 3.7", nil},
		{"clang 23", []*Info{raw(11, IRLevel)}, 14, "the newest", "LLVM 23", nil},
		{"the oldest decides", []*Info{raw(10, IRLevel), indexed(9, IRLevel), raw(9, IRLevel)}, 9, "inputs may be of LLVM 16", "LLVM 19 to 22", nil},
		{"clang 23 beside text", []*Info{text(IRLevel), raw(11, IRLevel)}, 14, "the newest", "", nil},
		{"clang 23 beside 22", []*Info{raw(11, IRLevel), indexed(13, IRLevel)}, 13, "LLVM 22", "LLVM 23", nil},
		{"indexed by 23", []*Info{indexed(14, IRLevel)}, 14, "the newest", "LLVM 23 and newer", nil},
		{"indexed by 22", []*Info{indexed(13, IRLevel)}, 13, "the newest that LLVM 22 reads", "LLVM 22 and newer", nil},
		{"text says nothing", []*Info{text(IRLevel)}, 13, "the newest that LLVM 22 reads", "", nil},
		{"text that needs more", []*Info{raw(8, IRLevel), text(IRLevel | HasTemporal)}, 10, "that holds", "LLVM 14 to 17", nil},
		{"front-end hashes of clang 19", []*Info{raw(10, 0)}, 12, "LLVM 19", "LLVM 19 to 22", []uint64{24, 0x529f100f364e3597, 0x0c2bb599b185ed65}},
		{"front-end hashes of clang 22", []*Info{raw(10, 0)}, 13, "hash of clang 22", "LLVM 19 to 22", []uint64{24, 0x029f100f364e3597, 0x0c2bb599b185ed65}},
		{"front-end hashes that do not tell", []*Info{raw(10, 0)}, 12, "LLVM 19", "LLVM 19 to 22", []uint64{24, 0x46d1}},
		{"front-end text of clang 19", []*Info{text(0)}, 12, "hash of clang 21 and before", "", []uint64{0x529f100f364e3597}},
		{"clang 18 is not asked", []*Info{raw(9, 0)}, 11, "LLVM 18", "LLVM 18", []uint64{0x029f100f364e3597}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := &Profile{}
			for _, in := range tc.inputs {
				p.Variant |= in.Variant
			}
			for _, h := range tc.hashes {
				p.Functions = append(p.Functions, Function{Records: []*Record{{Hash: h}}})
			}
			got := chooseVersion(p, p.hashes, tc.inputs)
			if got.version != tc.version || !strings.Contains(got.reason, tc.reason) {
				t.Errorf("version %d because %q; want %d, %q", got.version, got.reason, tc.version, tc.reason)
			}
			if len(tc.inputs) > 0 {
				if by, reads := tc.inputs[0].Releases(); by+reads != tc.by {
					t.Errorf("written by %q, readable by %q, want %q", by, reads, tc.by)
				}
			}
		})
	}
}

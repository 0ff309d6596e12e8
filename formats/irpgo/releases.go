package irpgo

import (
	"fmt"
	"iter"
	"slices"
)

// llvmRelease says which versions an LLVM release writes and which variants of profiles it can have made.
type llvmRelease struct {
	name         string
	raw, indexed uint32
	variant      Variant
}

// llvmReleases in order of age.
var llvmReleases = []llvmRelease{
	{"3.5", 1, 1, 0},
	{"3.6", 1, 2, 0},
	{"3.7", 1, 2, 0},
	{"3.8", 2, 3, 0},
	{"3.9", 4, 4, variant4},
	{"4", 4, 4, variant4},
	{"5", 4, 4, variant4},
	{"6", 4, 5, variant4},
	{"7", 4, 5, variant4},
	{"8", 4, 5, variant4},
	{"9", 4, 5, variant5},
	{"10", 5, 5, variant5},
	{"11", 5, 6, variant5},
	{"12", 5, 7, variant5 | EntryFirst},
	{"13", 7, 7, variant5 | EntryFirst},
	{"14", 8, 7, variant7 | DebugInfo},
	{"15", 8, 8, variant8 | DebugInfo},
	{"16", 8, 9, variant8 | DebugInfo},
	{"17", 8, 10, variant10 | DebugInfo},
	{"18", 9, 11, variant10 | DebugInfo},
	{"19", 10, 12, variant10 | DebugInfo},
	{"20", 10, 12, variant12 | DebugInfo},
	{"21", 10, 12, variant12 | DebugInfo},
	{"22", 10, 13, variant12 | DebugInfo},
	{"23", 11, 14, variant12 | DebugInfo},
}

// rawMemProfVersions are the versions of raw MemProf profiles, by release. Older releases write none.
var rawMemProfVersions = map[string]uint32{
	"14": 1, "15": 2, "16": 2, "17": 3, "18": 3, "19": 4, "20": 4, "21": 4, "22": 5, "23": 5,
}

// writers returns the oldest and the newest release that can have written a profile, nil for text, which every
// release writes alike, and for files that no known release can have made.
func (i *Info) writers() (oldest, newest *llvmRelease) {
	for k := range llvmReleases {
		r := &llvmReleases[k]
		if i.Format == FormatRaw && r.raw != i.Version ||
			i.Format == formatRawMemProf && rawMemProfVersions[r.name] != i.Version ||
			i.Format == FormatIndexed && r.indexed != i.Version ||
			i.Format == FormatText || i.Format == FormatPartial || !r.variant.Has(i.Variant&variantBits) {
			continue
		}
		if oldest == nil {
			oldest = r
		}
		newest = r
	}
	return oldest, newest
}

// Releases names the LLVM releases that may have written a raw profile, "LLVM 19 to 22", or the releases
// that read an indexed profile, which any tool may have written, "LLVM 19 and newer". A result is "" if
// the format does not tell.
func (i *Info) Releases() (writtenBy, readableBy string) {
	oldest, newest := i.writers()
	switch {
	case i.Format == FormatIndexed:
		for _, r := range llvmReleases {
			if r.indexed >= i.Version && r.variant.Has(i.Variant&variantBits) {
				return "", "LLVM " + r.name + " and newer"
			}
		}
		return "", ""
	case oldest == nil:
		return "", ""
	case oldest == newest:
		return "LLVM " + oldest.name, ""
	}
	return "LLVM " + oldest.name + " to " + newest.name, ""
}

// formatRawMemProf marks the Info of [RawMemProfInfo].
const formatRawMemProf Format = "raw MemProf"

// RawMemProfInfo returns what stands for raw MemProf profiles of a version among the inputs of
// [Merged.ChooseVersion]: it says which releases write them, and no more.
func RawMemProfInfo(version int) *Info {
	return &Info{Format: formatRawMemProf, Version: uint32(version)}
}

// versionChoice is an indexed version and the reason for it, a phrase that completes "indexed version N, …".
type versionChoice struct {
	version uint32
	reason  string
}

// needs returns the indexed version of the oldest release that can have written the input; 0 if the input does not tell.
func (i *Info) needs() uint32 {
	if oldest, _ := i.writers(); oldest != nil {
		return oldest.indexed
	}
	return 0
}

// hashes yields the hashes of all records.
func (p *Profile) hashes(yield func(hash uint64) bool) {
	for i := range p.Functions {
		for _, r := range p.Functions[i].Records {
			if !yield(r.Hash) {
				return
			}
		}
	}
}

// chooseVersion is [Merged.ChooseVersion] for a profile whose records have the given hashes.
func chooseVersion(p *Profile, hashes iter.Seq[uint64], inputs []*Info) versionChoice {
	c := versionChoice{indexedVersionLLVM22, "the newest that LLVM 22 reads"}
	all := sources(inputs)
	if slices.ContainsFunc(all, func(in *Info) bool { return in.needs() > c.version }) {
		c = versionChoice{IndexedVersionMax, "the newest"}
	}
	for _, in := range all {
		oldest, newest := in.writers()
		if oldest == nil || oldest.indexed >= c.version {
			continue
		}
		c.version = oldest.indexed
		are := "may be"
		if oldest == newest && in.Format != FormatIndexed {
			are = "are"
		}
		c.reason = fmt.Sprintf("because inputs %s of LLVM %s, which reads no newer one", are, oldest.name)
	}
	if c.version < IndexedVersionMinWritten {
		c = versionChoice{IndexedVersionMinWritten, "the oldest that profuse writes"}
	}
	if !p.Variant.Has(IRLevel) && c.version >= 12 {
		c = chooseFrontEnd(hashes, c)
	}
	need := p.Variant & indexedBits &^ HasMemProf
	if p.MemProf != nil {
		need |= HasMemProf
	}
	for v := c.version; v <= IndexedVersionMax; v++ {
		if indexedVersions[v].variant.Has(need) {
			if v != c.version {
				c = versionChoice{v, "the oldest that holds profiles of kind " + need.String()}
			}
			break
		}
	}
	return c
}

// chooseFrontEnd settles between versions 12 and 13 for a front-end profile by the hashes of the functions.
//
// clang picks the algorithm of the hash by the indexed version that it reads (PGOHashVersion of clang's CodeGenPGO):
// the third one up to version 12, the fourth from 13 on (LLVM 22), which clears the top four bits. A function whose
// hash does not match loses its profile with a warning at most, so version and hashes must fit. Short functions have
// no MD5 in their hash and look the same under both.
func chooseFrontEnd(hashes iter.Seq[uint64], c versionChoice) versionChoice {
	const (
		topBits = 0xf << 60
		// long is the size above which a hash that is no MD5 is rare: it would stem from a function of exactly ten constructs.
		long = 1 << 56
	)
	fourth := false // a long hash without top bits
	for hash := range hashes {
		if hash&topBits != 0 {
			if c.version > 12 {
				c = versionChoice{12, "the newest with the front-end hash of clang 21 and before, which the functions have"}
			}
			return c
		}
		fourth = fourth || hash >= long
	}
	if fourth && c.version < 13 {
		c = versionChoice{13, "the first with the front-end hash of clang 22, which the functions have"}
	}
	return c
}

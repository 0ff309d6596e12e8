package sampleprof

import (
	"cmp"
	"slices"
)

// The binary formats begin with a magic number as ULEB128: "SPROF42" and the number of the
// format (SampleProfileFormat). All other numbers are ULEB128 unless they are called u64 or
// u32, which are little-endian. A string ends with a zero byte.
//
//	binary   = magic version summary names { function }
//	summary  = total maxCount maxHead numCounts numFunctions n { cutoff minCount counts }
//	names    = n { string }
//	function = head body
//	body     = name total
//	           n { line discriminator count k { name count } }
//	           m { line discriminator body }
//	           [ v { line discriminator k { name count } } ]  extensible binary with a flag
//
// A name is an index into the name table. In context-sensitive profiles, the name of a function
// that is not inlined is an index into the context table.
//
//	compact  = magic version summary n { id } u64:offset { function } n { name fileOffset }
//
//	extended = magic version u64:n { u64:type u64:flags u64:offset u64:size } { section }
//
//	composite = name n { type size block } m { line discriminator composite } [ v … as in body ]
//	block     = [ head ] total n { line discriminator count k { name count } }  of type 0
//
// Only functions that are not inlined have a head. A function without samples has no block of type 0.
//
// The section table of an extensible binary file lists the sections in reading order, which is not
// their order in the file. Offsets count from the beginning of the file.
const (
	magicBase     = 0x5350524f463432 << 8 // "SPROF42"
	magicBinary   = magicBase | 0xff
	magicCompact  = magicBase | 0x02
	magicExtended = magicBase | 0x04

	version    = 103 // written
	version104 = 104 // laid out as 103
	version105 = 105 // with compositeSection
)

// A sectionType is the type of a section of an extensible binary file (SecType). All but partialSection have 32 bits.
type sectionType uint64

const (
	summarySection  sectionType = 1
	nameSection     sectionType = 2
	symbolSection   sectionType = 3  // { string }, sorted
	offsetSection   sectionType = 4  // n { name offset }: of functions in the next profile section
	metadataSection sectionType = 5  // { name [checksum] [attributes] [m { line discriminator metadata }] }
	contextSection  sectionType = 6  // n { k { name line discriminator } }
	profileSection  sectionType = 32 // { function }

	// Of version 105, in place of offsetSection and profileSection:
	compositeOffsetSection sectionType = 7
	compositeSection       sectionType = 33 // { composite }

	// partialSection is profuse's own section of a partial sum, which LLVM skips. It holds what the other
	// sections cannot hold.
	//
	//	n { string } { size extended }
	//
	// The strings are names that the other sections lack, or hold as GUIDs. The extensible binary
	// profiles, which are not compressed and not partial sums, hold functions of other builds:
	// functions with other checksums.
	partialSection sectionType = 0x70726f66757365 // "profuse"
)

// sectionNames are our names and LLVM's names of the known sections.
var sectionNames = map[sectionType]struct{ name, llvm string }{
	summarySection:  {"summary", "ProfileSummarySection"},
	nameSection:     {"name table", "NameTableSection"},
	symbolSection:   {"symbol list", "ProfileSymbolListSection"},
	offsetSection:   {"function offsets", "FuncOffsetTableSection"},
	metadataSection: {"function metadata", "FunctionMetadata"},
	contextSection:  {"context table", "CSNameTableSection"},
	profileSection:  {"profiles", "LBRProfileSection"},

	compositeOffsetSection: {"composite function offsets", "CompositeFuncOffsetTableSection"},
	compositeSection:       {"composite profiles", "CompositeProfileSection"},
	partialSection:         {"partial sum", ""},
}

func (t sectionType) String() string { return cmp.Or(sectionNames[t].name, "section") }

// A sectionFlag is a flag and LLVM's word for it, "" if LLVM does not print it.
type sectionFlag struct {
	bit  uint64
	word string
}

var commonFlags = []sectionFlag{{flagCompressed, "compressed"}, {flagFlat, "flat"}}

// sectionFlags are the known flags besides commonFlags.
var sectionFlags = map[sectionType][]sectionFlag{
	summarySection: {
		{flagPartial, "partial"},
		{flagContexts, "context"},
		{flagPreInlined, "preInlined"},
		{flagFlowSensitive, "fs-discriminator"},
		{flagVTables, ""},
	},
	nameSection:     {{flagNameHeaps, "eytzinger"}, {flagFixed, "fixlenmd5"}, {flagMD5, "md5"}, {flagUnique, "uniq"}},
	symbolSection:   {{flagSymbolHeap, "md5"}},
	offsetSection:   {{flagOrdered, "ordered"}, {flagOffsetArray, "eytzinger"}},
	metadataSection: {{flagProbes, "probe"}, {flagAttributes, "attr"}},

	compositeOffsetSection: {{flagOrdered, "ordered"}, {flagOffsetArray, "eytzinger"}},
}

// isKnown reports whether files of a version have sections of the type.
func (t sectionType) isKnown(version uint64) bool {
	_, known := sectionNames[t]
	return known && (version >= version105 || t != compositeSection && t != compositeOffsetSection)
}

// flagWords returns LLVM's words for the flags that are set, and the flags that are not known.
func (s *section) flagWords() (words []string, unknown uint64) {
	unknown = s.flags
	for _, f := range slices.Concat(commonFlags, sectionFlags[s.kind]) {
		printed := f.word != "" && !(f.word == "md5" && slices.Contains(words, "fixlenmd5"))
		if s.flags&f.bit != 0 && printed {
			words = append(words, f.word)
		}
		unknown &^= f.bit
	}
	return words, unknown
}

// Flags of sections. The low half means the same in all sections.
const (
	flagCompressed uint64 = 1 << 0
	flagFlat       uint64 = 1 << 1 // functions without callsites

	flagPartial       uint64 = 1 << 32 // summarySection
	flagContexts      uint64 = 1 << 33
	flagFlowSensitive uint64 = 1 << 34
	flagPreInlined    uint64 = 1 << 36
	flagVTables       uint64 = 1 << 37

	flagMD5    uint64 = 1 << 32 // nameSection
	flagFixed  uint64 = 1 << 33 // GUIDs are u64
	flagUnique uint64 = 1 << 34 // some name has uniqueSuffix

	flagOrdered uint64 = 1 << 32 // offsetSection

	// Of LLVM after release 23, under every version: tables that compilers search where they are.
	flagNameHeaps   uint64 = 1 << 35 // nameSection: see readNameHeaps
	flagOffsetArray uint64 = 1 << 33 // offsetSection: see readOffsetArray
	flagSymbolHeap  uint64 = 1 << 32 // symbolSection: { u64:id } as a heap

	flagProbes     uint64 = 1 << 32 // metadataSection
	flagAttributes uint64 = 1 << 33
)

// uniqueSuffix begins the suffix of internal functions with clang -funique-internal-linkage-names.
const uniqueSuffix = ".__uniq."

// A section is an entry of the section table.
type section struct {
	kind                sectionType
	flags, offset, size uint64
	ignored             uint64 // bits of the type that do not count
}

const (
	sectionEntry = 4 * 8 // bytes of an entry
	maxSections  = 64    // LLVM writes seven or eight
)

// maxDepth bounds how deep functions are inlined into each other, and the frames of a context.
const maxDepth = 1_000

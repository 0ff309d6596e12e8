package sampleprof

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
// A name is an index of the table; with contexts, that of a function is an index of the
// context table.
//
//	compact  = magic version summary n { id } u64:offset { function } n { name fileOffset }
//
//	extended = magic version u64:n { u64:type u64:flags u64:offset u64:size } { section }
//
// The sections of an extensible binary file stand in the order in which they are read, and lie in
// another one in the file. Their offsets count from the beginning of the file.
const (
	magicBase     = 0x5350524f463432 << 8 // "SPROF42"
	magicBinary   = magicBase | 0xff
	magicCompact  = magicBase | 0x02
	magicExtended = magicBase | 0x04

	version = 103
)

// A sectionType is the type of a section of an extensible binary file (SecType).
type sectionType uint64

const (
	summarySection  sectionType = 1
	nameSection     sectionType = 2
	symbolSection   sectionType = 3  // { string }, sorted
	offsetSection   sectionType = 4  // n { name offset }: of functions in the next profile section
	metadataSection sectionType = 5  // { name [checksum] [attributes] [m { line discriminator metadata }] }
	contextSection  sectionType = 6  // n { k { name line discriminator } }
	profileSection  sectionType = 32 // { function }

	// restSection is profuse's own, which LLVM skips: of a sum, what the other sections cannot hold.
	//
	//	n { string } { size extended }
	//
	// The strings are names that the other sections have by GUID, or not at all. The profiles,
	// without such a section and not compressed, have functions of other builds, by their checksums.
	restSection sectionType = 0x70726f66757365 // "profuse"
)

var sectionNames = map[sectionType]string{
	summarySection: "summary", nameSection: "name table", symbolSection: "symbol list",
	offsetSection: "function offsets", metadataSection: "function metadata",
	contextSection: "context table", profileSection: "profiles", restSection: "rest of a sum",
}

func (t sectionType) String() string {
	if name, ok := sectionNames[t]; ok {
		return name
	}
	return "section"
}

// llvmName returns the name that LLVM prints.
func (t sectionType) llvmName() string {
	switch t {
	case summarySection:
		return "ProfileSummarySection"
	case nameSection:
		return "NameTableSection"
	case symbolSection:
		return "ProfileSymbolListSection"
	case offsetSection:
		return "FuncOffsetTableSection"
	case metadataSection:
		return "FunctionMetadata"
	case contextSection:
		return "CSNameTableSection"
	case profileSection:
		return "LBRProfileSection"
	}
	return "UnknownSection"
}

// flagWords returns LLVM's words for the flags that are set.
func (s *section) flagWords() (words []string) {
	type flag struct {
		bit  uint64
		word string
	}
	flags := []flag{{flagCompressed, "compressed"}, {flagFlat, "flat"}}
	switch s.kind {
	case nameSection:
		if s.flags&flagFixed != 0 {
			flags = append(flags, flag{flagFixed, "fixlenmd5"})
		} else {
			flags = append(flags, flag{flagMD5, "md5"})
		}
		flags = append(flags, flag{flagUnique, "uniq"})
	case summarySection:
		flags = append(flags, flag{flagPartial, "partial"}, flag{flagContexts, "context"},
			flag{flagPreInlined, "preInlined"}, flag{flagFlowSensitive, "fs-discriminator"})
	case offsetSection:
		flags = append(flags, flag{flagOrdered, "ordered"})
	case metadataSection:
		flags = append(flags, flag{flagProbes, "probe"}, flag{flagAttributes, "attr"})
	}
	for _, f := range flags {
		if s.flags&f.bit != 0 {
			words = append(words, f.word)
		}
	}
	return words
}

// Flags of sections: the low half means the same in all of them.
const (
	flagCompressed uint64 = 1 << 0
	flagFlat       uint64 = 1 << 1 // functions without callsites

	flagPartial       uint64 = 1 << 32 // of the summary
	flagContexts      uint64 = 1 << 33
	flagFlowSensitive uint64 = 1 << 34
	flagPreInlined    uint64 = 1 << 36
	flagVTables       uint64 = 1 << 37

	flagMD5    uint64 = 1 << 32 // of the name table
	flagFixed  uint64 = 1 << 33 // GUIDs are u64
	flagUnique uint64 = 1 << 34 // some name has uniqueSuffix

	flagOrdered uint64 = 1 << 32 // of the function offsets

	flagProbes     uint64 = 1 << 32 // of the metadata
	flagAttributes uint64 = 1 << 33
)

// uniqueSuffix begins what clang appends to names of internal functions to make them
// unique (-funique-internal-linkage-names).
const uniqueSuffix = ".__uniq."

// A section is an entry of the section table.
type section struct {
	kind                sectionType
	flags, offset, size uint64
}

const (
	sectionEntry = 4 * 8 // bytes of an entry
	maxSections  = 64    // LLVM writes seven or eight
)

// maxDepth is how deep functions may be inlined into each other, and how many frames a context
// may have.
const maxDepth = 1_000

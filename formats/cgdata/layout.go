package cgdata

// An indexed file, little-endian:
//
//	header    magic[8] | u32 version | u32 kinds | u64 offset of the tree | u64 offset of the map (since version 2)
//	tree      u32 number of nodes | node *
//	node      u32 id | u64 hash | u32 terminals | u32 number of successors | u32 id of each
//	map       u32 number of names | u64 bytes of the names with padding | names, each ended by a zero byte |
//	          padding to 4 bytes | u32 number of functions | u64 hash of each function | function * |
//	          u64 bytes of all operand lists | operand list *
//	function  u32 name | u32 module | u32 number of instructions | u64 offset of its operands, from this field
//	operands  u32 number | number × { u32 instruction | u32 operand | u64 hash }
//
// The sections of objects have the tree and the map without a header, after a partial link several of them.
const (
	magic   = "\xffcgdata\x81"
	version = 4

	hasTree = 1
	hasMap  = 2

	headerSize    = 32
	oldHeaderSize = 24 // of version 1

	nodeSize     = 20 // without successors
	idSize       = 4
	hashSize     = 8
	functionSize = 20
	operandSize  = 16
)

// The sections, by their names in ELF and Mach-O, and in COFF.
const (
	treeSection     = "__llvm_outline"
	mapSection      = "__llvm_merge"
	treeSectionCOFF = ".loutline"
	mapSectionCOFF  = ".lmerge"
)

// The names of the parts in errors.
const (
	treePart = "outlined hash tree"
	mapPart  = "stable function map"
)

// The beginnings of the parts of text.
const (
	treeLine = ":outlined_hash_tree"
	mapLine  = ":stable_function_map"
)

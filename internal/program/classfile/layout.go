package classfile

// A class file (Java Virtual Machine Specification, chapter 4), big-endian:
//
//	u32 magic 0xCAFEBABE | u16 minor_version | u16 major_version
//	u16 constant_pool_count, one more than the last index | constants
//	u16 access_flags | u16 this_class | u16 super_class
//	u16 interfaces_count | u16×n interfaces
//	u16 fields_count | fields
//	u16 methods_count | methods
//	u16 attributes_count | attributes
//
// A field or method:
//
//	u16 access_flags | u16 name_index | u16 descriptor_index
//	u16 attributes_count | attributes
//
// An attribute:
//
//	u16 attribute_name_index | u32 attribute_length | bytes
//
// Code:
//
//	u16 max_stack | u16 max_locals | u32 code_length | code
//	u16 exception_table_length | 8 bytes each
//	u16 attributes_count | attributes
//
// LineNumberTable; Code may have several:
//
//	u16 line_number_table_length | { u16 start_pc | u16 line_number } each
//
// SourceFile:
//
//	u16 sourcefile_index

const (
	magic = 0xCAFEBABE

	newestMajor = 69 // the newest major version whose list of constants is known to be complete (Java 25)
	oldestMajor = 45

	memberMinSize    = 8 // a field or method without attributes
	attributeMinSize = 6
	constantMinSize  = 3 // an empty string, or a constant with one index
	exceptionSize    = 8
	lineSize         = 4
	maxCodeLength    = 1<<16 - 1
)

// Tags of constants (JVMS table 4.4-A) with their contents.
const (
	tagUTF8               = 1  // u16 length | bytes
	tagInteger            = 3  // 4 bytes
	tagFloat              = 4  // 4 bytes
	tagLong               = 5  // 8 bytes; takes two indexes
	tagDouble             = 6  // 8 bytes; takes two indexes
	tagClass              = 7  // u16
	tagString             = 8  // u16
	tagFieldref           = 9  // u16 u16
	tagMethodref          = 10 // u16 u16
	tagInterfaceMethodref = 11 // u16 u16
	tagNameAndType        = 12 // u16 u16
	tagMethodHandle       = 15 // u8 u16
	tagMethodType         = 16 // u16
	tagDynamic            = 17 // u16 u16
	tagInvokeDynamic      = 18 // u16 u16
	tagModule             = 19 // u16
	tagPackage            = 20 // u16
)

// constantSize is the size in bytes of the contents after a tag; 0 for unknown tags and for CONSTANT_Utf8.
var constantSize = [...]uint64{
	tagInteger: 4, tagFloat: 4, tagLong: 8, tagDouble: 8,
	tagClass: 2, tagString: 2, tagFieldref: 4, tagMethodref: 4, tagInterfaceMethodref: 4, tagNameAndType: 4,
	tagMethodHandle: 3, tagMethodType: 2, tagDynamic: 4, tagInvokeDynamic: 4, tagModule: 2, tagPackage: 2,
}

// Access flags. Only Module changes what the package reads.
const (
	accNative    = 0x0100 // of a method: no code in the class file
	accInterface = 0x0200 // of a class
	accAbstract  = 0x0400
	accSynthetic = 0x1000 // not in the source
	accModule    = 0x8000 // of a class: a module-info, which is no class
)

package dwarf

// Tags (DW_TAG_*) of the inline tree and of the probes of profiles.
const (
	tagSubprogram        = 0x2e
	tagInlinedSubroutine = 0x1d
	tagVariable          = 0x34
	tagLLVMAnnotation    = 0x6000
)

// Attributes.
const (
	attrLocation       = 0x02
	attrName           = 0x03
	attrStmtList       = 0x10
	attrLowPC          = 0x11
	attrHighPC         = 0x12
	attrCompDir        = 0x1b
	attrConstValue     = 0x1c
	attrAbstractOrigin = 0x31
	attrDeclFile       = 0x3a
	attrDeclLine       = 0x3b
	attrSpecification  = 0x47
	attrEntryPC        = 0x52
	attrRanges         = 0x55
	attrCallColumn     = 0x57
	attrCallFile       = 0x58
	attrCallLine       = 0x59
	attrLinkageName    = 0x6e
	attrStrOffsetsBase = 0x72
	attrAddrBase       = 0x73
	attrRnglistsBase   = 0x74
	attrDWOName        = 0x76

	// What producers wrote before DWARF 4 had DW_AT_linkage_name and DWARF 5 had split units.
	attrMIPSLinkageName  = 0x2007
	attrGNUDWOName       = 0x2130
	attrGNUDWOID         = 0x2131
	attrGNURangesBase    = 0x2132
	attrGNUAddrBase      = 0x2133
	attrGNUDiscriminator = 0x2136
)

// Forms.
const (
	formAddr          = 0x01
	formBlock2        = 0x03
	formBlock4        = 0x04
	formData2         = 0x05
	formData4         = 0x06
	formData8         = 0x07
	formString        = 0x08
	formBlock         = 0x09
	formBlock1        = 0x0a
	formData1         = 0x0b
	formFlag          = 0x0c
	formSdata         = 0x0d
	formStrp          = 0x0e
	formUdata         = 0x0f
	formRefAddr       = 0x10
	formRef1          = 0x11
	formRef2          = 0x12
	formRef4          = 0x13
	formRef8          = 0x14
	formRefUdata      = 0x15
	formIndirect      = 0x16
	formSecOffset     = 0x17
	formExprloc       = 0x18
	formFlagPresent   = 0x19
	formStrx          = 0x1a
	formAddrx         = 0x1b
	formRefSup4       = 0x1c
	formStrpSup       = 0x1d
	formData16        = 0x1e
	formLineStrp      = 0x1f
	formRefSig8       = 0x20
	formImplicitConst = 0x21
	formLoclistx      = 0x22
	formRnglistx      = 0x23
	formRefSup8       = 0x24
	formStrx1         = 0x25
	formStrx2         = 0x26
	formStrx3         = 0x27
	formStrx4         = 0x28
	formAddrx1        = 0x29
	formAddrx2        = 0x2a
	formAddrx3        = 0x2b
	formAddrx4        = 0x2c

	// DW_FORM_addrx and DW_FORM_strx before DWARF 5, and the references into the supplementary files of dwz.
	formGNUAddrIndex = 0x1f01
	formGNUStrIndex  = 0x1f02
	formGNURefAlt    = 0x1f20
	formGNUStrpAlt   = 0x1f21
)

// Operations of location expressions.
const (
	opAddr  = 0x03
	opAddrx = 0xa1
)

// Unit types of DWARF 5.
const (
	unitCompile      = 0x01
	unitType         = 0x02
	unitSkeleton     = 0x04
	unitSplitCompile = 0x05
	unitSplitType    = 0x06
)

// Line number opcodes.
const (
	lnsExtended       = 0
	lnsCopy           = 1
	lnsAdvancePC      = 2
	lnsAdvanceLine    = 3
	lnsSetFile        = 4
	lnsSetColumn      = 5
	lnsNegateStmt     = 6
	lnsSetBasicBlock  = 7
	lnsConstAddPC     = 8
	lnsFixedAdvancePC = 9
	lnsPrologueEnd    = 10
	lnsEpilogueBegin  = 11
	lnsSetISA         = 12

	lneEndSequence      = 1
	lneSetAddress       = 2
	lneDefineFile       = 3
	lneSetDiscriminator = 4

	lnctPath           = 1
	lnctDirectoryIndex = 2
)

// Entries of range lists (.debug_rnglists).
const (
	rleEndOfList    = 0
	rleBaseAddressx = 1
	rleStartxEndx   = 2
	rleStartxLength = 3
	rleOffsetPair   = 4
	rleBaseAddress  = 5
	rleStartEnd     = 6
	rleStartLength  = 7
)

// Columns of a package file's index (.debug_cu_index). Versions 2 (GNU, with DWARF 4) and 5 agree on these.
const (
	sectInfo       = 1
	sectAbbrev     = 3
	sectStrOffsets = 6
	sectRnglists   = 8 // only version 5; .debug_macinfo.dwo in version 2
)

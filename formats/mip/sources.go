package mip

// A Place is a line of a source file. Line is 0 if it is not known.
type Place struct {
	File string
	Line uint32
}

// A FunctionSource is the place of a function and its blocks in the sources. Package
// formats finds it in the program.
type FunctionSource struct {
	Declared Place // of the declaration, or else of the first instruction
	Entry    BlockSource
	// Blocks are by index of the function's block; nil without block coverage.
	Blocks []BlockSource
}

// A BlockSource is the place where a block begins in the sources.
type BlockSource struct {
	Place // of the first instruction, which may be inlined from another file
	// LineInFunction is the line in the function itself: for an inlined
	// instruction, the line of the call. 0 if unknown.
	LineInFunction uint32
}

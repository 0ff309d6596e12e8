package mip

// A Place is a source line. Line is 0 if it is not known.
type Place struct {
	File string
	Line uint32
}

// A FunctionSource is the source lines of a function and its blocks. Package formats finds
// them in the program.
type FunctionSource struct {
	Declared Place // of the declaration, or else of the first instruction
	Entry    BlockSource
	// Blocks are by index of the function's block; nil without block coverage.
	Blocks []BlockSource
}

// A BlockSource is the source line where a block begins.
type BlockSource struct {
	Place // of the first instruction, which may be inlined from another file
	// LineInFunction is the line in the function itself: for an inlined
	// instruction, the line of the call. 0 if unknown.
	LineInFunction uint32
}

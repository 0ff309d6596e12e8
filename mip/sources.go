package mip

// A Place is a line of a source file. Line is 0 where it is not known.
type Place struct {
	File string
	Line uint32
}

// Sources says where the functions and blocks of a profile are in the sources.
// Package mip/debuginfo finds out.
type Sources struct {
	Functions []FunctionSource // as many as the profile has, by index
}

// FunctionSource says where a function is in the sources.
type FunctionSource struct {
	Declared Place // the function; in its absence the line of its first instruction
	Entry    BlockSource
	// Blocks are as many as the function has, by index; nil without block
	// coverage.
	Blocks []BlockSource
}

// BlockSource says where a block begins in the sources.
type BlockSource struct {
	Place // of what runs first, which may be inlined there from another file
	// LineInFunction is that in the function itself: where something is inlined
	// the line of its call. 0 if unknown.
	LineInFunction uint32
}

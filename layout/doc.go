// Package layout makes orders of functions in which those that run at the start
// of a program, or at all, are together; judges them; and writes them for
// linkers.
//
//	names := layout.BalancedOrder(view, name)      // name says what a symbol is called
//	set := layout.NewSymbolSet(symbols of the program to be linked, layout.SymbolOptions{})
//	m := set.Match(names)
//	unwritten, err := layout.Write(w, layout.LLD, m.Symbols)
//
// [BalancedOrder] goes by the order of first calls, [ClusterOrder] by who calls
// whom; any other list of names will do, too. Matching is optional: [Unique]
// removes what is named twice, which all linkers either refuse or warn of.
// [NewImage] and [Image.Evaluate] count the page faults of a program as it is,
// [Image.Arrange] makes it what a linker would make of an order.
//
// # The formats
//
//	lld     ld.lld --symbol-ordering-file=FILE        a symbol per line
//	ld64    ld64, ld64.lld -order_file FILE           a symbol per line, with its underscore
//	gold    ld.gold --section-ordering-file=FILE      a section pattern per line
//	gnu-ld  ld: INCLUDE FILE inside .text { … }       a statement per line
//
// gold and GNU ld know sections only, so that the program has to be compiled
// with -ffunction-sections. Beside .text.NAME they are told of .text.hot.NAME
// and .text.startup.NAME, where compilers put some functions, but not of
// .text.unlikely.NAME: beside functions that are said to be cold, that is where
// GCC puts the cold part of a function that is not. The cold part itself, if
// the profile names it (NAME.cold), is found there and in .text.split.NAME.
//
// Before GNU ld 2.43, which has --section-ordering-file, the statements have to
// go into a linker script, "ld --verbose" prints the one in use, before the
// first of the .text sections. From 2.43 on
//
//	.text : { INCLUDE FILE }
//
// is an ordering file.
//
// mold has no format: no option of it orders functions
// (https://github.com/rui314/mold/issues/1231).
//
// # Errors and limits
//
// Symbols that a format cannot express, those with a line break for example,
// are returned, not written. Errors are those of the writer, of unknown linkers
// and, from [Image.Evaluate], [ErrEval]. Memory is in proportion to the symbols
// and traces.
package layout

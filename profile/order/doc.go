// Package order computes function orders, in which the functions that run, and the functions that run
// at startup, are close together; evaluates orders; and writes them for linkers.
//
//	names := order.Balanced(view, name)           // name returns a symbol's name
//	m := order.MatchSymbols(names, symbols of the program to be linked, order.SymbolOptions{})
//	unwritten, err := order.Write(w, "lld", m.Symbols)
//
// [Balanced] uses the order of first calls, [Clustered] the call graph; any other list of names works as well.
// Instead of matching, [Unique] only removes duplicate names, which linkers refuse or warn about. [NewImage] and
// [Image.Evaluate] count the page faults of a program as it is linked; [Image.Arrange] returns the program as a
// linker would arrange it for an order.
//
// # The formats
//
//	lld     ld.lld --symbol-ordering-file=FILE        a symbol per line
//	ld64    ld64, ld64.lld -order_file FILE           a symbol per line, with its underscore
//	gold    ld.gold --section-ordering-file=FILE      a section pattern per line
//	gnu-ld  ld: INCLUDE FILE inside .text { … }       a statement per line
//
// gold and GNU ld order sections, so the program must be compiled with
// -ffunction-sections. For a function NAME the order names .text.NAME,
// .text.hot.NAME and .text.startup.NAME, where compilers put functions, but not .text.unlikely.NAME, where GCC
// also puts the cold part of a hot function. The cold part itself, if the profile names it (NAME.cold), is matched
// there and in .text.split.NAME.
//
// Before version 2.43, GNU ld needs the statements in a linker script, before the first of the .text sections; "ld
// --verbose" prints the script in use. From 2.43 on, which has --section-ordering-file,
//
//	.text : { INCLUDE FILE }
//
// is an ordering file.
//
// mold has no format: no option of it orders functions (https://github.com/rui314/mold/issues/1231).
//
// # Errors and limits
//
// [Write] returns the symbols that a format cannot express, for example symbols with a line break, instead of
// writing them. It fails if the writer does or the linker is unknown. [Image.Evaluate] fails for invalid options
// and if no trace has a function of the image. Memory is proportional to the symbols and traces.
package order

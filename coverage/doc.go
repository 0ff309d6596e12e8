// Package coverage tells which parts of a program ran: its functions, lines and
// branches by source file, with sums by file and folder. It works on the view of
// a profile of any format, and writes tracefiles of lcov.
//
//	c := coverage.Collect(view, coverage.Options{Branches: true})
//	fmt.Println(c.Total.Lines.Covered, "of", c.Total.Lines.Total, "lines ran")
//	err := coverage.WriteLCOV(w, c, coverage.LCOVOptions{})
//
// # What there is
//
// Most profiles know the place of a function only together with the program: the
// view has to be made with its debug information or its class files. Functions
// whose place is not known are in [Coverage.Unplaced]. If no function and no line
// has a place, [Coverage.Files] is empty.
//
// Lines come from views that are a [profile.LineView], branches from stacks with
// a [profile.LabelBranch]. A line or branch that the profile says nothing of is
// missing from the result; it is never taken for one that did not run.
//
// # Errors and memory
//
// [Collect] cannot fail. The errors of [WriteLCOV] are those of its writer.
// Memory grows with the functions, with the pieces of code that the view has a
// line for, and with the branches.
package coverage

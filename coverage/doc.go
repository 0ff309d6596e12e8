// Package coverage computes which functions, lines and branches of a program ran,
// by source file, with totals by file and folder. It works on the view of a
// profile of any format and writes lcov tracefiles.
//
//	c := coverage.Collect(view, coverage.Options{Branches: true})
//	fmt.Println(c.Total.Lines.Covered, "of", c.Total.Lines.Total, "lines ran")
//	err := coverage.WriteLCOV(w, c, coverage.LCOVOptions{})
//
// # What there is
//
// Most profiles do not record where a function stands in the source: make the
// view with the program's debug information or class files. Functions of unknown
// place count in [Coverage].Unplaced. If no function and no line has a place,
// [Coverage].Files is empty.
//
// Lines come from views that implement [profile.LineView], branches from stacks
// with a [profile.LabelBranch]. The result omits a line or branch of which the
// profile says nothing; it never counts as one that did not run.
//
// # Errors and memory
//
// [Collect] cannot fail. [WriteLCOV] fails only if its writer does. Memory is
// proportional to the functions, the lines that the view yields, and the
// branches.
package coverage

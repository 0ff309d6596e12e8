// Package coverage computes which functions, lines and branches of a program ran, by source file, with totals by
// file and folder. It works on the view of a profile of any format, reads tracefiles of lcov, adds coverages up,
// and writes them for other tools.
//
//	c := coverage.Collect(view, nil)
//	fmt.Println(c.Total.Lines.Covered, "of", c.Total.Lines.Total, "lines ran")
//	err := coverage.Write(w, c, "lcov", coverage.WriteOptions{})
//
// # Contents
//
// Most profiles do not record the source lines of functions: make the view with the program's debug
// information or class files. [Coverage].Unplaced sums up the functions without a source line. If the
// lines of all functions are unknown, [Coverage].Files is empty.
//
// Lines come from views that implement [profile.LineView], branches from stacks with a [profile.LabelBranch]. The
// result omits lines and branches without data in the profile; they never count as not run. LLVM's coverage
// mapping has regions and conditions (MC/DC) as well: package formats evaluates it with the option Coverage of its
// views.
//
// # Errors and memory
//
// [Collect] cannot fail. [Write] fails only if its writer does, or the format cannot hold the coverage. Errors of
// [ReadLCOV] are *[profile.FormatError]. Memory is proportional to the functions, lines, branches and regions.
package coverage

// Package compare tells how two profiles differ: which functions or stacks
// became hot or are no longer hot, which appeared or disappeared, which have
// another control flow, and which gained or lost most. It works on views, so
// that the profiles may be of any formats, of different ones as well.
//
//	r, err := compare.Views(before, after, compare.Options{}) // as formats.View returns them
//	fmt.Printf("%.1f %% in common\n", 100*r.Overlap)
//	for _, c := range r.BecameHot {
//		fmt.Println(c.Symbol.Name)
//	}
//
// Counts of two runs are rarely on one scale, so everything but the totals is
// in shares of the profile's own total.
//
// Errors are of options only: a table or value that one of the profiles does
// not have, or that they measure in different units. Memory is in proportion to
// the functions, or the stacks, of both profiles.
package compare

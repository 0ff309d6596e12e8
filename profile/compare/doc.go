// Package compare computes how two profiles differ: which functions or stacks became hot or are no longer hot,
// which appeared or disappeared, which have another control flow, and which gained or lost most. It compares
// views, so the profiles may have any formats, and two different ones.
//
//	r, err := compare.Views(before, after, compare.Options{}) // as formats.View returns them
//	fmt.Printf("%.1f %% in common\n", 100*r.Overlap)
//	for _, c := range r.BecameHot {
//		fmt.Println(c.Symbol.Name)
//	}
//
// Counts of two runs are rarely on one scale, so all results but the totals are shares of the profile's own total.
//
// The only errors are of options: a table or value that one of the profiles does not have, or that the profiles
// measure in different units. Memory is proportional to the functions, or the stacks, of both profiles.
package compare

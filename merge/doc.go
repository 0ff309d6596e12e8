// Package merge adds many profiles up with several workers, keeps an account of
// each, and judges by a budget whether what is missing from the sum is little
// enough. It knows no format: an [Adder] adds one profile to a sum, with the
// Merger of package irpgo, memprof, mip or iprof, say.
//
//	ins, err := inputs.Expand(args, inputs.Options{})
//	…
//	var accounts merge.Accounts
//	err = merge.Run(ctx, ins, []merge.Adder{add}, merge.Options{Ended: accounts.Add})
//	…
//	if err := budget.Judge(accounts.Loss()); err != nil {
//		return err // too much is missing
//	}
//
// [Run] opens the inputs, archives and compressed files too, and hands their
// profiles to the adders, one for each worker. A profile that an adder refuses
// is left out and the others go on. [Quarantine] sets aside what is left out.
//
// # Order
//
// For most formats a sum is the same in any order, and whichever worker is free
// takes the next profile. Where the order of the profiles shows in the result,
// [Options.Ordered] gives each its place in the order of all, which does not
// depend on the number of workers.
//
// # Hostile input
//
// The limits are those of package inputs and of the adders. A mapped file that
// another process cuts short while an adder reads it is left out, or, if a part
// of it may be in the sum already, ends the run with an error.
package merge

// Package merge adds up many profiles with several workers, keeps an account of each, and checks the loss against a
// budget. It knows no format: an [Adder] adds one profile to a sum, for example with the Merger of package irpgo,
// memprof, mip or iprof.
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
// [Run] opens the inputs, archives and compressed files included, and hands their profiles to the adders, one for
// each worker. Run leaves out a profile that its adder refuses and goes on with the others.
//
// # Order
//
// For most formats the order of addition does not change the sum, and any free worker takes the next profile. Where
// the order does change the result, [Options].Ordered numbers the profiles in the order of the inputs, whatever the
// number of workers.
//
// # Hostile input
//
// The limits of package inputs and of the adders apply. A file that another process changes while it is read is
// left out. What happens to a file after that does not matter: adders get bytes in memory.
package merge

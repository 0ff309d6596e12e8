// Package profile defines what all profile formats of this module share: the errors that readers
// return, and the [View], through which exports, reports and comparisons read a profile of any format.
//
// # First calls
//
// formats.View makes a View of a file of any format; the profiles of packages irpgo, memprof, mip and
// iprof have a method View. [Summarize] computes the totals of a view.
//
// # Errors
//
// A reader's error matches one class, such as [ErrCorrupt], with errors.Is, and wraps a *[FormatError],
// which says where the error is. Views return no errors: their profiles have been read already.
//
// # Limits
//
// Each iteration of a view walks the profile anew; [View] says which results stay valid. Sums that
// exceed 64 bits saturate at 2^64-1.
package profile

// Package profile is the ground that every profile format of this module
// stands on.
//
// It holds what is common to all of them: the errors that every reader
// returns, and the [View] that every format offers of its profiles, on which
// everything stands that is done with profiles whatever their format.
//
// # First calls
//
// formats.View makes a View of a file of any format; the profiles of packages
// irpgo, memprof, mip and iprof have a method of that name. [Summarize] sums a
// view up. [FunctionStacks] and [EdgeStacks] show functions and calls as
// stacks, for what knows only those.
//
// # Errors
//
// A reader's error matches one of the classes, [ErrCorrupt] and the others,
// with errors.Is, and holds a *[FormatError], which says where. A View has no
// errors: its profile was read before.
//
// # Limits
//
// Views go through the profile each time they are asked, and [View] says what of
// that may be kept. Sums that outgrow 64 bits stop at
// 2^64-1.
package profile

// Package profile is the ground that every profile format of this module
// stands on.
//
// It holds what is common to all of them: the errors that every reader
// returns, and the [View] that every format offers of its profiles, on which
// everything stands that is done with profiles whatever their format. It
// imports no other package of the module.
package profile

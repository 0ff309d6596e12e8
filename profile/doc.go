// Package profile is the ground that every profile format of this module
// stands on.
//
// It holds what is common to all of them: the errors that every reader
// returns. It imports no other package of the module.
package profile

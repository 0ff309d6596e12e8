// Package doctorcmd is "profuse doctor": it runs a program and finds out why it
// leaves no profile.
package doctorcmd

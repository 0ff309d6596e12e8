// Package doctorcmd implements "profuse doctor", which runs a program and finds
// out why it writes no profile.
package doctorcmd

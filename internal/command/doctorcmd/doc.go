// Package doctorcmd is "profuse doctor", which runs a command and explains why its processes leave no profile.
package doctorcmd

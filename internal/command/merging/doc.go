// Package merging does what "profuse merge", "profuse watch", "profuse coverage" and fleets
// share, for all formats: it opens the inputs and the output, has an [FamilyAdder] add up the
// profiles, checks the loss against the budget, writes the result, and prints the messages.
package merging

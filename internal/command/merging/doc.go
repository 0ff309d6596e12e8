// Package merging is the part that "profuse merge" and "profuse watch" share,
// whatever the formats. It opens the inputs and the output, has an [Adder] add up
// the profiles, checks the loss against the budget, writes the result, and prints
// the messages.
package merging

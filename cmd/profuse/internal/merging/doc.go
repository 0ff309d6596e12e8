// Package merging is what the commands that merge have in common, whatever the
// formats: "profuse merge", "profuse watch" and "profuse mip merge". It opens the
// inputs and the output, has an [Adder] add the profiles up, judges by the budget
// what was lost, writes, and prints what is to be said.
package merging

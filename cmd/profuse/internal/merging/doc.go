// Package merging is what merges of all formats have in common: the inputs and
// their weights, workers, what became of each input, what may be lost, and the
// report and the quarantine that tell of it.
package merging

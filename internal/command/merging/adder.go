// Package merging does what "profuse merge", "profuse watch", "profuse coverage" and fleets
// share, for all formats: it opens the inputs and the output, has an [FamilyAdder] add up the
// profiles, checks the loss against the budget, writes the result, and prints the messages.
package merging

import (
	"context"
	"io"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/profile"
)

// An FamilyAdder adds up the profiles of a family, for one run of "profuse merge" or "profuse watch".
type FamilyAdder interface {
	// Declare declares the options that only this family has. For watching it omits the
	// options that need all inputs at once.
	Declare(f *cli.Flags, watching bool)
	// Results returns the formats that the family writes, the default first. The formats of
	// one Result.Family follow each other.
	Results() []Result
	// Refuses names the options of all families that this family does not support.
	Refuses() []string
	// Check returns what is wrong with the options, before any input is read.
	Check(o *Options) error
	// Open opens the files that the options name. It passes warnings about them to warn.
	Open(o *Options, warn func(text string)) error
	// Add adds up the profiles of a job. It leaves unusable profiles out and records them in
	// the job. With an error there is no sum.
	Add(ctx context.Context, j *Job) (*Sum, error)
}

// A Splitter is an Adder that can divide the inputs into groups, with one result each.
type Splitter interface {
	// Split returns the groups; nil if all inputs go into one result.
	Split(ctx context.Context, o *Options, ins []inputs.Input) ([]*Group, error)
}

// A Group selects the profiles of one result.
type Group struct {
	Name    string                   // of the result, a file in the folder Options.Output
	Inputs  []int                    // indexes of the inputs that contain profiles of the group, ascending
	Members map[int]map[int]struct{} // by index of the input: the numbers of these profiles in it
}

// A Result is a value of option --format.
type Result struct {
	Name   string
	Family formats.Family
	Text   bool
	// Exact is the file suffix of the family's lossless format (partial sums); "" for all
	// other formats. Adding up partial sums gives the sum of all inputs.
	Exact string
	// Whole is the file suffix of the final profile made from partial sums; "" if it is Exact.
	Whole string
}

// A Sum is the result of an Adder, ready to be written.
type Sum struct {
	// Empty is the reason why the sum is not worth writing, such as "no input has any
	// function"; "" if the sum is worth writing.
	Empty string
	// Contents summarizes the sum in words.
	Contents func() string
	// Write writes the sum and returns the name of the format.
	Write func(w io.Writer) (format string, err error)
	// View returns the view of the sum, after which the sum must not be used. It is nil if the
	// view must be of the bytes that Write writes.
	View func(name string, opt formats.ViewOptions) (profile.View, error)
	// State writes the lossless form of the sum, to which watching adds later; nil if Write loses nothing.
	State func(w io.Writer) error
	// Written is called once the file has its final name; may be nil.
	Written func() error
	// Notes prints further remarks about the sum; may be nil.
	Notes func(w io.Writer)
	// Locks is set if other commands update such files in place, so that writing needs a lock.
	Locks bool
}

// A BaseError is an error about the base: the profile to which the inputs are added.
type BaseError struct{ Err error }

func (e *BaseError) Error() string { return e.Err.Error() }

func (e *BaseError) Unwrap() error { return e.Err }

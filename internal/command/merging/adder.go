package merging

import (
	"context"
	"io"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
)

// An Adder adds up the profiles of a family, for one run of "profuse merge" or
// "profuse watch".
type Adder interface {
	// Declare declares the options that only this family has; for watching,
	// without those that need all inputs at once.
	Declare(f *cli.Flags, watching bool)
	// Results returns the formats that it can write, the default first and those of a kind
	// together.
	Results() []Result
	// Refuses names the options for all families that this family does not
	// support.
	Refuses() []string
	// Check returns what is wrong with the options, before any input is read.
	Check(r *Run) error
	// Open opens the files that the options name and passes warn what is
	// suspicious about them.
	Open(r *Run, warn func(text string)) error
	// Add adds up the profiles of a job. It leaves out a profile that cannot be
	// used and reports that to the job. With an error there is no sum.
	Add(ctx context.Context, j *Job) (*Sum, error)
}

// A Splitter is an Adder that may write several results from one set of inputs.
type Splitter interface {
	// Split returns the groups of inputs, one for each result; nil if all
	// inputs have one result.
	Split(ctx context.Context, r *Run, ins []inputs.Input) ([]*Group, error)
}

// A Group holds the profiles, among the inputs, of one of several results.
type Group struct {
	Name    string // of the file, in the folder Run.Output
	Inputs  []int  // that hold any, ascending
	Members map[int]map[int]struct{}
}

// A Result is a value of option --format.
type Result struct {
	Name   string
	Family formats.Family
	Text   bool
	// Exact is the suffix of files of this format if they lose nothing: sums of such
	// sums are those of all inputs. Of the formats of each family one has it.
	Exact string
	// Whole is the suffix of the profile that such sums become; "" if it is Exact.
	Whole string
}

// A Sum is the result of an Adder, ready to be written.
type Sum struct {
	// Empty says why nothing in the sum is worth writing, "no input has any
	// function"; "" if the sum is worth writing.
	Empty string
	// Contents summarizes the sum in words.
	Contents func() string
	// Write writes the sum and returns the name of the format.
	Write func(w io.Writer) (format string, err error)
	// State writes the sum if what Write writes does not hold all of it; nil if it does.
	// It is for watching, which adds to it later.
	State func(w io.Writer) error
	// Written is called once the file has its final name; may be nil.
	Written func() error
	// Notes prints further remarks about the sum; may be nil.
	Notes func(w io.Writer)
	// Locks reports whether other commands update such files in place, so that
	// writing needs a lock.
	Locks bool
}

// A BaseError is an error about the base, the profile that the inputs are added
// to, and not about an input.
type BaseError struct{ Err error }

func (e *BaseError) Error() string { return e.Err.Error() }

func (e *BaseError) Unwrap() error { return e.Err }

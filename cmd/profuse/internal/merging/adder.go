package merging

import (
	"context"
	"io"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
)

// An Adder adds up the profiles of a family, for one run of "profuse merge" or
// "profuse watch".
type Adder interface {
	// Declare declares the options that the family has alone; for watching,
	// without those that need all inputs at once.
	Declare(f *cli.Flags, watching bool)
	// Results are what it can write.
	Results() []Result
	// Refuses names the options, of those that are for all families, that it
	// has no use for.
	Refuses() []string
	// Check finds what is wrong with the options, whatever the inputs.
	Check(r *Run) error
	// Open opens what the options name; warn is told of what is odd about it.
	Open(r *Run, warn func(text string)) error
	Close()
	// Add adds the profiles of a job up. A profile that cannot be used is left
	// out and told to the job; an error leaves no sum.
	Add(ctx context.Context, j *Job) (*Sum, error)
}

// A Splitter is an Adder that may write several results from one set of inputs.
type Splitter interface {
	// Split returns the groups of inputs that have a result each; nil if there
	// is to be one of all.
	Split(ctx context.Context, r *Run, ins []inputs.Input) ([]*Group, error)
}

// A Group is those profiles among the inputs that have a result of their own.
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
}

// A Sum is what an Adder has added up.
type Sum struct {
	// Empty says that nothing in it is worth writing, "no input has any
	// function"; "" if something is.
	Empty string
	// Contents sums up in words what is in it.
	Contents func() string
	// Write writes it and says in which format.
	Write func(w io.Writer) (format string, err error)
	// Written is called when it is in its place; may be nil.
	Written func() error
	// Notes prints what else is to be said of it; may be nil.
	Notes func(w io.Writer)
	// Locks says that other commands update such a file in place.
	Locks bool
}

// A BaseError is about the profile that is added to, and not about an input.
type BaseError struct{ Err error }

func (e *BaseError) Error() string { return e.Err.Error() }

func (e *BaseError) Unwrap() error { return e.Err }

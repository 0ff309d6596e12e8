package console

import (
	"errors"
	"io/fs"
	"math/bits"
	"slices"

	"github.com/profuse-pgo/profuse/profile"
)

// Cutoff is an entry of a summary.
type Cutoff struct {
	Cutoff   uint64 `json:"cutoff"` // share of the total count, in millionths
	MinCount uint64 `json:"min_count"`
	Counters uint64 `json:"counters"`
}

// Symbol names a function or another symbol in three ways.
type Symbol struct {
	Name      string `json:"name"`      // as in the profile; "" if unknown
	Demangled string `json:"demangled"` // without the file
	File      string `json:"file"`      // of a function of local linkage, else ""
}

// Error says what stopped the reading.
type Error struct {
	Class   string `json:"class"`   // a word of errorClasses, or "io"
	Message string `json:"message"` // without the file
	Section string `json:"section"`
	Offset  int64  `json:"offset"` // -1 if none
	Line    int    `json:"line"`   // 0 if none
	Record  int    `json:"record"` // -1 if none
}

var errorClasses = map[error]string{
	profile.ErrCorrupt:      "corrupt",
	profile.ErrTruncated:    "truncated",
	profile.ErrUnsupported:  "unsupported",
	profile.ErrMismatch:     "mismatch",
	profile.ErrUnrecognized: "unrecognized",
	profile.ErrEmpty:        "empty",
}

func DescribeError(err error) *Error {
	e := &Error{Class: "io", Message: err.Error(), Offset: -1, Record: -1}
	for class, word := range errorClasses {
		if errors.Is(err, class) {
			e.Class = word
		}
	}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		e.Message = pe.Err.Error()
	}
	if fe := (*profile.FormatError)(nil); errors.As(err, &fe) {
		anonymous := *fe
		anonymous.File = ""
		e.Message = anonymous.Error()
		e.Section, e.Offset, e.Line, e.Record = fe.Section, fe.Offset, fe.Line, fe.Record
	}
	return e
}

// AddSaturating adds counts; what is too large is the largest number.
func AddSaturating(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return 1<<64 - 1
	}
	return sum
}

// InsertBounded inserts into a sorted list that holds no more than limit.
func InsertBounded[E any](list []E, e E, limit int, order func(a, b E) int) []E {
	i, _ := slices.BinarySearchFunc(list, e, order)
	if i == limit {
		return list
	}
	list = slices.Insert(list, i, e)
	return list[:min(len(list), limit)]
}

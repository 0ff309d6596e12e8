package irpgo

import (
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/profile"
)

// Summary describes how the counts of a profile are spread. Compilers decide from it what is hot and what is cold.
type Summary struct {
	NumFunctions     uint64 // records with counts; pseudo counts are left out
	NumCounts        uint64 // counters of all of them; LLVM says blocks
	MaxFunctionCount uint64 // greatest first counter, which need not be an entry count
	MaxCount         uint64
	MaxInternalCount uint64          // greatest counter that is not a first one
	TotalCount       uint64          // sum of all counters, modulo 2^64 as in LLVM
	Cutoffs          profile.Cutoffs // LLVM's detailed summary
}

// A summary in an indexed profile, all u64:
//
//	number of fields | number of cutoffs | fields | { cutoff, min count, number of counts }
//
// Fields: number of functions, number of counts, maximum function count,
// maximum count, maximum internal count, total count.
const (
	summaryFields     = 6
	cutoffEntrySize   = 3 * 8
	summaryHeaderSize = 2 * 8
)

func appendSummary(dst []byte, s *Summary) []byte {
	dst = slices.Grow(dst, summarySize(len(s.Cutoffs)))
	for _, v := range []uint64{
		summaryFields, uint64(len(s.Cutoffs)),
		s.NumFunctions, s.NumCounts, s.MaxFunctionCount, s.MaxCount, s.MaxInternalCount, s.TotalCount,
	} {
		dst = le.AppendUint64(dst, v)
	}
	for _, e := range s.Cutoffs {
		dst = le.AppendUint64(dst, e.Share)
		dst = le.AppendUint64(dst, e.Min)
		dst = le.AppendUint64(dst, e.Values)
	}
	return dst
}

// summarySize returns the bytes that a summary takes.
func summarySize(cutoffs int) int {
	return summaryHeaderSize + 8*summaryFields + cutoffEntrySize*cutoffs
}

// readSummary honours the numbers of fields and cutoffs in the file: early LLVM versions wrote others. Fields it
// does not know are skipped, missing ones are zero.
func readSummary(c *cursor.Cursor) (*Summary, error) {
	numFields := c.U64("number of summary fields")
	numCutoffs := c.U64("number of summary cutoffs")
	var fields [summaryFields]uint64
	for i := range c.Count(numFields, 8, "number of summary fields") {
		v := c.U64("summary field")
		if i < summaryFields {
			fields[i] = v
		}
	}
	s := &Summary{
		NumFunctions: fields[0], NumCounts: fields[1],
		MaxFunctionCount: fields[2], MaxCount: fields[3], MaxInternalCount: fields[4],
		TotalCount: fields[5],
	}
	n := c.Count(numCutoffs, cutoffEntrySize, "number of summary cutoffs")
	s.Cutoffs = make(profile.Cutoffs, n)
	for i := range s.Cutoffs {
		s.Cutoffs[i] = profile.Cutoff{
			Share: c.U64("summary cutoff"), Min: c.U64("minimum count"), Values: c.U64("number of counts"),
		}
	}
	return s, c.Err()
}

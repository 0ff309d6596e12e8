package iprof

import (
	"fmt"
	"iter"

	"github.com/profuse-pgo/profuse/internal/saturate"
)

// A Section holds the entries of one [Kind] in the order of the file. To hold millions of
// entries, it has all frames in one slice and all records in another.
type Section struct {
	kind    Kind
	frames  []Frame
	records []int64
	ends    []entryEnd
}

// An entryEnd holds the ends of an entry's frames and records, which begin at the ends of the previous entry.
type entryEnd struct {
	frames, records uint32
}

// Len returns the number of entries.
func (s *Section) Len() int { return len(s.ends) }

// start returns where the frames and records of entry i begin.
func (s *Section) start(i int) entryEnd {
	if i == 0 {
		return entryEnd{}
	}
	return s.ends[i-1]
}

// Context returns the context of entry i, which must not be modified.
func (s *Section) Context(i int) []Frame {
	end := s.ends[i].frames
	return s.frames[s.start(i).frames:end:end]
}

// Records returns the records of entry i, a multiple of [Kind.Arity] numbers, which must not be modified.
func (s *Section) Records(i int) []int64 {
	end := s.ends[i].records
	return s.records[s.start(i).records:end:end]
}

// All iterates over contexts and records.
func (s *Section) All() iter.Seq2[[]Frame, []int64] {
	return func(yield func([]Frame, []int64) bool) {
		for i := range s.ends {
			if !yield(s.Context(i), s.Records(i)) {
				return
			}
		}
	}
}

// Count returns the sum of the counts of entry i. Sums in this package saturate at the
// largest and the smallest int64.
func (s *Section) Count(i int) int64 { return sumCounts(s.Records(i), s.kind.Arity()) }

// Total returns the sum of all counts of the section.
func (s *Section) Total() int64 { return sumCounts(s.records, s.kind.Arity()) }

// append appends an entry. Numbers of frames and records fit 32 bits, because a file has at most maxSize bytes.
func (s *Section) append(ctx []Frame, records []int64) {
	s.frames = append(s.frames, ctx...)
	s.records = append(s.records, records...)
	s.end()
}

// end completes the entry whose frames and records have been appended.
func (s *Section) end() {
	s.ends = append(s.ends, entryEnd{uint32(len(s.frames)), uint32(len(s.records))})
}

// fits reports whether an entry may have n numbers as records.
func (k Kind) fits(n int) bool {
	if k.Arity() == 1 {
		return n == 1
	}
	return n%k.Arity() == 0
}

func (k Kind) wantRecords() string {
	if k.Arity() == 1 {
		return "1"
	}
	return fmt.Sprintf("a multiple of %d", k.Arity())
}

func sumCounts(records []int64, arity int) int64 {
	sum := int64(0)
	for i := arity - 1; i < len(records); i += arity {
		sum, _ = saturate.AddSigned(sum, records[i])
	}
	return sum
}

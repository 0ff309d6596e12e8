package profile

import (
	"cmp"
	"iter"
	"slices"
)

// A Line is a line of a source file of which a profile tells whether it ran.
type Line struct {
	File   string // as [Symbol.File]
	Number uint32 // from 1
	// Count is how often the line ran at least; 0 if what begins on it did not
	// run.
	Count uint64
}

// A LineView is a [View] that tells which source lines ran: what coverage tools
// call line coverage. Of lines on which nothing begins that the profile counts
// it says nothing.
type LineView interface {
	View
	// Lines iterates over the lines by file and number, each once.
	Lines() iter.Seq[*Line]
}

// Lines collects lines.
type Lines map[lineKey]uint64

// lineKey is what a [Line] is recognised by.
type lineKey struct {
	File   string
	Number uint32
}

// Add adds a line. Of several counts of one line the greatest stands: they are
// of parts of it. What has no number is not known, and left out.
func (l Lines) Add(file string, number uint32, count uint64) {
	if number == 0 {
		return
	}
	key := lineKey{file, number}
	if old, ok := l[key]; !ok || count > old {
		l[key] = count
	}
}

// All iterates over the lines by file and number.
func (l Lines) All() iter.Seq[*Line] {
	return func(yield func(*Line) bool) {
		keys := make([]lineKey, 0, len(l))
		for key := range l {
			keys = append(keys, key)
		}
		slices.SortFunc(keys, func(a, b lineKey) int {
			return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Number, b.Number))
		})
		var line Line
		for _, key := range keys {
			line = Line{key.File, key.Number, l[key]}
			if !yield(&line) {
				return
			}
		}
	}
}

// Package hostile damages the files that tests of readers read, and checks the errors and the memory of the readers.
package hostile

import (
	"bytes"
	"errors"
	"iter"
	"math/rand/v2"
	"runtime/metrics"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// Cuts yields the beginnings of data, each with its length: every step-th one, and every one if
// [oracle.Everything] is true. Their capacity ends where they end.
func Cuts(data []byte, step int) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for n := 0; n < len(data); n += oracle.Step(step) {
			if !yield(n, data[:n:n]) {
				return
			}
		}
	}
}

// Flips yields data with one bit flipped, and the index of the bit: every step-th bit, and every one
// if [oracle.Everything] is true. The bytes are valid until the next flip.
func Flips(data []byte, step int) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		flipped := slices.Clip(bytes.Clone(data))
		for bit := 0; bit < 8*len(data); bit += oracle.Step(step) {
			flipped[bit/8] ^= 1 << (bit % 8)
			if !yield(bit, flipped) {
				return
			}
			flipped[bit/8] ^= 1 << (bit % 8)
		}
	}
}

// Splices yields the beginning of one seed followed by the end of another, at random, and the index of the first seed.
func Splices(rounds int, seeds ...[]byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		rng := rand.New(rand.NewPCG(4, 4))
		for range rounds {
			first, second := rng.IntN(len(seeds)), rng.IntN(len(seeds))
			a, b := seeds[first], seeds[second]
			if !yield(first, slices.Concat(a[:rng.IntN(len(a))], b[rng.IntN(len(b)):])) {
				return
			}
		}
	}
}

// Check fails the test unless err, which a reader returned for data, is nil or a
// [*profile.FormatError] that says where the data are wrong and how: it has the name of the file, a
// field, what the reader found and the format allows, a class, and either no offset or an offset in
// data. An error with an offset and a line has the line of the offset and its column or none. A
// reader of a part of a file knows no name. Check returns the error, nil if there is none.
func Check(t testing.TB, file string, data []byte, err error) *profile.FormatError {
	t.Helper()
	fe := CheckType(t, file, err)
	switch {
	case fe == nil:
	case fe.Field == "" || fe.Got == "" || fe.Want == "":
		t.Errorf("error without field, or what was found or allowed: %#v in %.80q", fe, data)
	case fe.Offset < -1 || fe.Offset > int64(len(data)):
		t.Errorf("offset %d in %d bytes: %v in %.80q", fe.Offset, len(data), err, data)
	case fe.Line > 0 && fe.Offset >= 0:
		before := data[:fe.Offset]
		line, column := 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n')
		if fe.Line != line || fe.Column > 0 && fe.Column != column {
			t.Errorf("offset %d is in line %d, column %d: %v in %.80q", fe.Offset, line, column, err, data)
		}
	}
	return fe
}

// CheckType fails the test unless err is nil or a [*profile.FormatError] with the name of the file and
// a class. It returns the error, nil if there is none.
func CheckType(t testing.TB, file string, err error) *profile.FormatError {
	t.Helper()
	if err == nil {
		return nil
	}
	fe, ok := errors.AsType[*profile.FormatError](err)
	if !ok || fe.File != file || profile.ClassOf(err) == profile.Unreadable {
		t.Fatalf("error without place, file %q or class: %#v", file, err)
	}
	return fe
}

// Allocated returns how many bytes the process has allocated so far.
func Allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// A Meter checks that reading allocates memory in proportion to the input. It looks once per batch:
// looking costs more than reading a small file.
type Meter struct {
	PerRead int // bytes that each read may allocate, whatever its size

	before       uint64
	bytes, reads int
}

const (
	batch   = 1024 // reads; large enough for the lazy accounts of the runtime to even out
	perByte = 100  // bytes that a reader may allocate for each byte of input
)

// Read notes that a file of a size is about to be read.
func (m *Meter) Read(t testing.TB, size int) {
	t.Helper()
	if m.before == 0 {
		m.before = Allocated()
	}
	m.bytes += size
	if m.reads++; m.reads < batch {
		return
	}
	now := Allocated()
	if used, limit := now-m.before, uint64(m.reads*m.PerRead+perByte*m.bytes); used > limit {
		t.Errorf("%d reads of %d bytes in all allocated %d, limit %d", m.reads, m.bytes, used, limit)
	}
	*m = Meter{PerRead: m.PerRead, before: now}
}

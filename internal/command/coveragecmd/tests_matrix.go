package coveragecmd

import (
	"maps"
	"math/bits"
	"slices"

	"github.com/profuse-pgo/profuse/profile/coverage"
)

// A testMatrix says which tests ran which lines: a bit for each line of a file and test that ran
// something in the file. That is an eighth of a byte for each pair of a line and a test, so that
// thousands of tests of large programs fit in memory.
type testMatrix struct {
	// The number of a test is its index in names, the order in which the inputs are read.
	names []string       // of the tests
	index map[string]int // in names
	files map[string]*testedFile
}

// A testedFile is the lines of a source file that have code.
type testedFile struct {
	number map[uint32]int   // of lines, in order of appearance: the numbers of their bits
	ran    map[int][]uint64 // bits of the lines that a test ran, by test
}

// test returns the number of a test.
func (m *testMatrix) test(name string) int {
	i, ok := m.index[name]
	if !ok {
		if m.index == nil {
			m.index, m.files = make(map[string]int), make(map[string]*testedFile)
		}
		i = len(m.names)
		m.index[name] = i
		m.names = append(m.names, name)
	}
	return i
}

// add adds the lines of a file, and those of them that a test ran.
func (m *testMatrix) add(test string, of *coverage.File) {
	if m.files == nil {
		m.index, m.files = make(map[string]int), make(map[string]*testedFile)
	}
	f := m.files[of.Path]
	if f == nil {
		f = &testedFile{make(map[uint32]int, len(of.Lines)), make(map[int][]uint64)}
		m.files[of.Path] = f
	}
	var ran []uint64
	for _, l := range of.Lines {
		// Lines get their numbers as they appear: a test of another build may know lines that
		// earlier ones do not.
		n, ok := f.number[l.Number]
		if !ok {
			n = len(f.number)
			f.number[l.Number] = n
		}
		if l.Count == 0 {
			continue
		}
		for len(ran) <= n/64 {
			ran = append(ran, 0)
		}
		ran[n/64] |= 1 << (n % 64)
	}
	// A test that ran nothing in a file costs nothing.
	if ran == nil {
		return
	}
	t := m.test(test)
	for i, word := range f.ran[t] {
		if i == len(ran) {
			ran = append(ran, 0)
		}
		ran[i] |= word
	}
	f.ran[t] = slices.Clip(ran)
}

// anyLines reports whether there is a line with code.
func (m *testMatrix) anyLines() bool {
	for _, f := range m.files {
		if len(f.number) > 0 {
			return true
		}
	}
	return false
}

// paths returns the source files, sorted.
func (m *testMatrix) paths() []string { return slices.Sorted(maps.Keys(m.files)) }

// has reports whether a bit is set.
func has(set []uint64, n int) bool { return n/64 < len(set) && set[n/64]>>(n%64)&1 != 0 }

// testsOf returns the tests that ran a line, ascending. known is false if the line has no
// code.
func (f *testedFile) testsOf(line uint32) (tests []int, known bool) {
	n, known := f.number[line]
	if !known {
		return nil, false
	}
	for t, ran := range f.ran {
		if has(ran, n) {
			tests = append(tests, t)
		}
	}
	slices.Sort(tests)
	return tests, true
}

// A testShare is how much of the lines a test runs.
type testShare struct {
	name  string
	lines int
	alone int // of them, those that no other test runs
}

// shares returns the shares of all tests, and how many of all lines any of them runs.
func (m *testMatrix) shares() (shares []testShare, all coverage.Ratio) {
	shares = make([]testShare, len(m.names))
	for i, name := range m.names {
		shares[i].name = name
	}
	for _, f := range m.files {
		words := (len(f.number) + 63) / 64
		// A word holds 64 lines: a line in once that a test sets again goes into more, and those of
		// a test that are not in more are its alone.
		once, more := make([]uint64, words), make([]uint64, words) // lines that some test runs, that several run
		for _, ran := range f.ran {
			for i, word := range ran {
				more[i] |= once[i] & word
				once[i] |= word
			}
		}
		all.Total += len(f.number)
		for _, word := range once {
			all.Covered += bits.OnesCount64(word)
		}
		for t, ran := range f.ran {
			for i, word := range ran {
				shares[t].lines += bits.OnesCount64(word)
				shares[t].alone += bits.OnesCount64(word &^ more[i])
			}
		}
	}
	return shares, all
}

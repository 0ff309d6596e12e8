package coveragecmd

import (
	"maps"
	"math/bits"
	"slices"

	"github.com/profuse-pgo/profuse/profile/coverage"
)

// A testMatrix says which tests ran which lines. For each source file and test that ran something in the
// file it has a bit for each line, so that thousands of tests of large programs fit in memory.
type testMatrix struct {
	names []string       // of the tests, in the order of the inputs; the index is the number of the test
	index map[string]int // in names
	files map[string]*testedFile
}

type testedFile struct {
	number map[uint32]int   // bit of each line, in order of appearance
	ran    map[int][]uint64 // bits of the lines that a test ran, by the number of the test
}

func (m *testMatrix) number(name string) int {
	i, ok := m.index[name]
	if !ok {
		if m.index == nil {
			m.index = make(map[string]int)
		}
		i = len(m.names)
		m.index[name] = i
		m.names = append(m.names, name)
	}
	return i
}

// addFile adds the lines of a file, and which of them a test ran.
func (m *testMatrix) addFile(test string, cov *coverage.File) {
	if m.files == nil {
		m.files = make(map[string]*testedFile)
	}
	f := m.files[cov.Path]
	if f == nil {
		f = &testedFile{make(map[uint32]int, len(cov.Lines)), make(map[int][]uint64)}
		m.files[cov.Path] = f
	}
	var ran []uint64
	for _, l := range cov.Lines {
		// A test of another build may have lines that earlier tests do not have.
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
	if ran == nil {
		return
	}
	t := m.number(test)
	for i, word := range f.ran[t] {
		if i == len(ran) {
			ran = append(ran, 0)
		}
		ran[i] |= word
	}
	f.ran[t] = slices.Clip(ran)
}

func (m *testMatrix) anyLines() bool {
	for _, f := range m.files {
		if len(f.number) > 0 {
			return true
		}
	}
	return false
}

func (m *testMatrix) paths() []string { return slices.Sorted(maps.Keys(m.files)) }

// testsOf returns the numbers of the tests that ran a line, ascending. known: the line has code.
func (f *testedFile) testsOf(line uint32) (tests []int, known bool) {
	n, known := f.number[line]
	if !known {
		return nil, false
	}
	for t, ran := range f.ran {
		if n/64 < len(ran) && ran[n/64]>>(n%64)&1 != 0 {
			tests = append(tests, t)
		}
	}
	slices.Sort(tests)
	return tests, true
}

// A testShare is how many lines a test runs.
type testShare struct {
	Name  string `json:"test"`
	Lines int    `json:"lines"`
	Alone int    `json:"alone"` // lines that no other test runs
}

// shares returns the share of each test, and how many of all lines any test runs.
func (m *testMatrix) shares() (shares []testShare, all coverage.Ratio) {
	shares = make([]testShare, len(m.names))
	for i, name := range m.names {
		shares[i].Name = name
	}
	for _, f := range m.files {
		words := (len(f.number) + 63) / 64
		once, more := make([]uint64, words), make([]uint64, words) // bits of lines that a test runs, that several tests run
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
				shares[t].Lines += bits.OnesCount64(word)
				shares[t].Alone += bits.OnesCount64(word &^ more[i])
			}
		}
	}
	return shares, all
}

package sampleprof

import (
	"bytes"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

type adding func(m *Merger, data []byte, weight uint64) error

func addFile(m *Merger, data []byte, weight uint64) error {
	_, err := m.AddFile("", data, ReaderOptions{}, weight)
	return err
}

func addProfile(m *Merger, data []byte, weight uint64) error {
	p, err := Read("", data, ReaderOptions{})
	if err == nil {
		_, err = m.AddProfile("", p, weight)
	}
	return err
}

// sumOf merges files with the weights 1, 2, 1, 2, …
func sumOf(t testing.TB, opt MergeOptions, files [][]byte, add adding) *Merged {
	t.Helper()
	m := NewMerger(opt)
	for i, data := range files {
		oracle.NoError(t, add(m, data, uint64(i%2+1)))
	}
	return m.Finish()
}

// mapOrderOf returns the functions in the order of LLVM's map.
func mapOrderOf(p *Profile) (labels []string) {
	for _, f := range p.InMapOrder() {
		labels = append(labels, f.Label())
	}
	return labels
}

// TestAddFile: AddFile gives the sum of AddProfile, and Merged.Write the bytes of Profile.Write.
func TestAddFile(t *testing.T) {
	plain := 0
	for seed := range uint64(72) {
		kind, vtables := kinds[seed%uint64(len(kinds))], seed%5 == 0
		opt := []WriteOptions{{}, {Format: FormatBinary}, {MD5: true}, {Compress: true}, {Split: true}, {Format: FormatText}}[seed/6%6]
		if kind.ContextSensitive || kind.ProbeBased {
			opt = WriteOptions{}
		}
		opt.VTables = vtables
		var files [][]byte
		for i := range uint64(4) {
			data := mustWrite(t, mustRead(t, randomText(seed*4+i, int(seed)+2, kind, vtables)), opt)
			if p, _ := readPlain(data, &ReaderOptions{}, new(nameTable), nil); p != nil {
				plain++
			}
			files = append(files, data)
		}
		for _, opt := range []MergeOptions{{}, {LLVMCompat: true}} {
			a, b := sumOf(t, opt, files, addFile), sumOf(t, opt, files, addProfile)
			sum := mustWrite(t, a, WriteOptions{VTables: true})
			if other := mustWrite(t, b, WriteOptions{VTables: true}); !bytes.Equal(sum, other) {
				t.Fatalf("seed %d, %s: %d bytes of files, %d of profiles", seed, kind, len(sum), len(other))
			}
			if other := mustWrite(t, a.Profile(), WriteOptions{VTables: true}); !bytes.Equal(sum, other) {
				t.Fatalf("seed %d, %s: %d bytes of the sum, %d of its profile", seed, kind, len(sum), len(other))
			}
			if a, b := mapOrderOf(a.Profile()), mapOrderOf(b.Profile()); !slices.Equal(a, b) {
				t.Fatalf("seed %d, %s: functions of files in the order\n%s\nof profiles\n%s", seed, kind, a, b)
			}
		}
	}
	if plain < 30 {
		t.Errorf("only %d files are plain", plain)
	}
}

// TestManyBatches: the order of LLVM's map depends neither on when it is filled nor on GUIDs in place of names.
func TestManyBatches(t *testing.T) {
	var files [][]byte
	for i := range uint64(6 * maxBatched) {
		p := mustRead(t, randomText(i, 20, Kind{}, false))
		p.Functions = append(p.Functions, &Function{Name: NameOf(strings.Repeat("n", int(i)))})
		files = append(files, mustWrite(t, p, WriteOptions{MD5: i%3 == 1}))
	}
	a := mapOrderOf(sumOf(t, MergeOptions{LLVMCompat: true}, files, addFile).Profile())
	if b := mapOrderOf(sumOf(t, MergeOptions{LLVMCompat: true}, files, addProfile).Profile()); !slices.Equal(a, b) {
		t.Errorf("functions of files in the order\n%s\nof profiles\n%s", a, b)
	}
}

// TestFlowDiscriminators: the sum has the flag that the caller sets for a binary file.
func TestFlowDiscriminators(t *testing.T) {
	data := mustWrite(t, mustRead(t, randomText(1, 9, Kind{}, false)), WriteOptions{Format: FormatBinary})
	opt := ReaderOptions{FlowDiscriminators: true}
	m := NewMerger(MergeOptions{})
	oracle.Must(m.AddFile("", data, opt, 1))(t)
	p, _, err := ReadSorted("", data, opt)
	if sum := m.Finish(); err != nil || sum.Kind != (Kind{FlowDiscriminators: true}) || p.Kind != sum.Kind {
		t.Errorf("sum: %s, profile: %s, %v", sum.Kind, p.Kind, err)
	}
}

// TestAddFileRefused: a refused file leaves no trace in the sum.
func TestAddFileRefused(t *testing.T) {
	data := mustWrite(t, mustRead(t, randomText(1, 9, Kind{}, false)), WriteOptions{Format: FormatBinary})
	m := NewMerger(MergeOptions{})
	if _, err := m.AddFile("", data[:len(data)-3], ReaderOptions{}, 1); err == nil || len(m.sums.names) > 0 || m.any {
		t.Errorf("%v, %d names", err, len(m.sums.names))
	}
}

// clones yields copies of functions that stay valid.
func clones(functions iter.Seq[*Function]) iter.Seq[*Function] {
	return func(yield func(*Function) bool) {
		for f := range functions {
			if !yield(f.clone()) {
				return
			}
		}
	}
}

// clone returns a deep copy. Empty lists are nil.
func (f *Function) clone() *Function {
	c := *f
	c.Body, c.Callsites, c.VTables = nil, nil, nil
	targets := func(list []Target) []Target { return append([]Target(nil), list...) }
	for _, s := range f.Body {
		c.Body = append(c.Body, Sample{s.Location, s.Count, targets(s.Targets)})
	}
	for _, s := range f.VTables {
		c.VTables = append(c.VTables, Sample{Location: s.Location, Targets: targets(s.Targets)})
	}
	for _, s := range f.Callsites {
		c.Callsites = append(c.Callsites, Callsite{s.Location, s.Callee.clone()})
	}
	return &c
}

// FuzzAddFile: AddFile, ReadSorted and Read agree, and merging a partial sum gives the sum.
func FuzzAddFile(f *testing.F) {
	for _, data := range fixtures(f) {
		f.Add(data)
	}
	for _, data := range laterSeeds(f) {
		f.Add(data)
	}
	f.Add(mustWrite(f, mustRead(f, randomText(6, 5, Kind{}, false)), WriteOptions{}))
	first := mustWrite(f, mustRead(f, randomText(7, 5, Kind{}, false)), WriteOptions{})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, opt := range []ReaderOptions{{}, {Lenient: true}} {
			a, b := NewMerger(MergeOptions{LLVMCompat: opt.Lenient}), NewMerger(MergeOptions{LLVMCompat: opt.Lenient})
			for _, m := range []*Merger{a, b} {
				oracle.Must(m.AddFile("", first, opt, 1))(t)
			}
			_, errA := a.AddFile("", data, opt, 3)
			p, errB := Read("", data, opt)
			_, functions, errC := ReadSorted("", data, opt)
			if (errB != nil) != (errC != nil) {
				t.Fatalf("%v, and one by one %v", errB, errC)
			}
			if errB == nil {
				one, whole := slices.Collect(clones(functions)), slices.Collect(clones(slices.Values(p.Functions)))
				if !reflect.DeepEqual(one, whole) {
					t.Fatalf("%d functions, and one by one %d", len(whole), len(one))
				}
				_, errB = b.AddProfile("", p, 3)
			}
			if (errA != nil) != (errB != nil) {
				t.Fatalf("%v, and %v", errA, errB)
			}
			if errA != nil {
				continue
			}
			sum := a.Finish()
			if x, y := text(t, sum.Profile()), text(t, b.Finish().Profile()); x != y {
				t.Fatalf("%s\nand\n%s", x, y)
			}
			if opt.Lenient {
				continue
			}
			part := mustWrite(t, sum, WriteOptions{Partial: true})
			if x, y := written(t, finished(t, [][]byte{part}, 1)), written(t, sum); !bytes.Equal(x, y) {
				t.Fatalf("%q\nis read as\n%q", y, x)
			}
		}
	})
}

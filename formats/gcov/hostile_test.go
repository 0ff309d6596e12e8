package gcov

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestTruncation: counts that are cut anywhere are truncated. GCC's notes have no end, so a cut between two records is
// not seen.
func TestTruncation(t *testing.T) {
	meter := hostile.Meter{PerRead: 600 << 10} // counters without bytes
	for _, name := range []string{"flow-gcc12", "flow-gcc11", "flow-s390x", "flow-clang22", "flow-clang14"} {
		whole := fixture(t, name+".gcda")
		for n, cut := range hostile.Cuts(whole, 1) {
			if n >= len(whole)-4 && name != "flow-gcc12" && name != "flow-gcc11" && name != "flow-s390x" {
				break // clang writes a second end
			}
			meter.Read(t, n)
			_, err := ReadCounts("f", cut)
			if want := classOfCut(n); hostile.Check(t, "f", cut, err) == nil || profile.ClassOf(err) != want {
				t.Errorf("%s.gcda cut at %d: %v", name, n, err)
			}
		}
		notes := fixture(t, name+".gcno")
		readable, step := 0, oracle.Step(5)
		for n, cut := range hostile.Cuts(notes, step) {
			_, err := ReadNotes("f", cut)
			if hostile.Check(t, "f", cut, err) == nil {
				readable++
			} else if want := classOfCut(n); profile.ClassOf(err) != want {
				t.Errorf("%s.gcno cut at %d: %v", name, n, err)
			}
		}
		if all := oracle.Must(ReadNotes("f", notes))(t); readable > len(notes)/8/step || step == 1 && readable < len(all.Functions) {
			t.Errorf("%s.gcno: %d cuts of %d are readable", name, readable, len(notes))
		}
	}
}

// classOfCut is the class of the error about the first n bytes of a file.
func classOfCut(n int) error {
	switch {
	case n == 0:
		return profile.ErrEmpty
	case n < 4:
		return profile.ErrUnrecognized
	}
	return profile.ErrTruncated
}

// checkCounts demands an error with a place, or counts that a merger and a writer keep.
func checkCounts(t *testing.T, data []byte) {
	t.Helper()
	c, err := ReadCounts("f", data)
	if hostile.Check(t, "f", data, err) != nil {
		return
	}
	first, err := oracle.Written(c.Write)
	if err != nil {
		return
	}
	again, err := ReadCounts("f", first)
	if err != nil {
		t.Fatalf("what was written cannot be read: %v", err)
	}
	if second, err := oracle.Written(again.Write); err != nil || !bytes.Equal(first, second) {
		t.Fatalf("other bytes: %v", err)
	}
	var m Merger
	if err := m.Add(again, 3); err != nil {
		t.Fatal(err)
	}
	if sum, err := oracle.Written(m.Counts(1).Write); err == nil {
		if _, err := ReadCounts("f", sum); err != nil {
			t.Fatalf("a sum cannot be read: %v", err)
		}
	}
}

// checkNotes demands an error with a place, or notes whose flow graphs are solved. Counters of all arcs make the
// blocks consistent: what enters a block leaves it, if no arc is missing.
func checkNotes(t *testing.T, data []byte) {
	t.Helper()
	n, err := ReadNotes("f", data)
	if hostile.Check(t, "f", data, err) != nil {
		return
	}
	u := oracle.Must(NewUnit(n, nil))(t)
	for i := range n.Functions {
		counters := make([]int64, n.Functions[i].counted)
		for k := range counters {
			counters[k] = int64(k % 5)
		}
		u.arcs[i] = counters
	}
	for r := range u.Results() {
		if len(r.Counts) != r.Blocks {
			t.Fatalf("%d counts for %d blocks", len(r.Counts), r.Blocks)
		}
		for _, l := range r.Lines {
			if l.Source >= len(n.Sources) || l.Number == 0 {
				t.Fatalf("line %d of source %d", l.Number, l.Source)
			}
		}
	}
}

// TestBitFlips: a flipped bit is an error with a place, or other contents.
func TestBitFlips(t *testing.T) {
	for _, name := range []string{"flow-gcc12", "flow-gcc11", "flow-s390x", "flow-clang22"} {
		meter := hostile.Meter{PerRead: 2 << 20}
		for _, flipped := range hostile.Flips(fixture(t, name+".gcda"), 3) {
			meter.Read(t, len(flipped))
			checkCounts(t, flipped)
		}
		for _, flipped := range hostile.Flips(fixture(t, name+".gcno"), 7*oracle.Step(9)) {
			checkNotes(t, flipped)
		}
	}
	for _, flipped := range hostile.Flips(fixture(t, "values3-gcc12.gcda"), 5) {
		checkCounts(t, flipped)
	}
}

// record appends a record of words to a file of GCC 11.
func record(b []byte, tag uint32, words ...uint32) []byte {
	b = binary.LittleEndian.AppendUint32(b, tag)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(words)))
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func words(values ...uint32) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

const version11 = 0x42313300 | '*' // B13*

// graph returns notes of one function, all of whose blocks stand on one line. arcs returns the targets of a block.
func graph(blocks uint32, arcs func(b uint32) []uint32) []byte {
	data := words(magicNotes, version11, 0, 0, 1)
	data = record(data, tagFunction, 1, 2, 3, 1, 'f', 0, 1, 's', 1, 0, 9, 9)
	data = record(data, tagBlocks, blocks)
	for b := range blocks {
		body := []uint32{b}
		for _, to := range arcs(b) {
			body = append(body, to, 0)
		}
		if len(body) > 1 {
			data = record(data, tagArcs, body...)
		}
	}
	for b := range blocks {
		data = record(data, tagLines, b, 0, 1, 's', 1, 0, 0)
	}
	return data
}

// TestHostileGraphs: a flow graph costs time and memory in proportion to its file.
func TestHostileGraphs(t *testing.T) {
	const n = 4000
	for name, data := range map[string][]byte{
		"a long cycle":     graph(n, func(b uint32) []uint32 { return []uint32{(b + 1) % n} }),
		"cycles of cycles": graph(n, func(b uint32) []uint32 { return []uint32{(b + 1) % n, (b * 7) % n, (b + n - 3) % n} }),
		"all with all":     graph(150, func(uint32) []uint32 { return upTo(150) }),
		"two rows": graph(n, func(b uint32) []uint32 {
			return []uint32{(b + 1) % n, (b + 2) % n, b &^ 1, b &^ 15}
		}),
	} {
		before, allocated := time.Now(), hostile.Allocated()
		checkNotes(t, data)
		if took := time.Since(before); took > 30*time.Second {
			t.Errorf("%s: %v", name, took)
		}
		if used := hostile.Allocated() - allocated; used > uint64(100*len(data)+1<<20) {
			t.Errorf("%s: %d bytes allocated for %d", name, used, len(data))
		}
	}
	head := words(magicNotes, version11, 0, 0, 1)
	function := record(nil, tagFunction, 1, 2, 3, 1, 'f', 0, 1, 's', 1, 0, 9, 9)
	many := bytes.Clone(head)
	for range 1000 {
		many = record(append(many, function...), tagBlocks, 10000)
	}
	counts := words(magicCounts, version11, 0)
	zeros := bytes.Clone(counts)
	for range 1000 {
		zeros = append(record(zeros, tagFunction, 1, 2, 3), words(tagCounters, 0x80000000)...)
	}
	for name, c := range map[string]struct {
		data  []byte
		notes bool
		want  error
	}{
		"many blocks":          {record(append(bytes.Clone(head), function...), tagBlocks, 1<<31), true, profile.ErrCorrupt},
		"many blocks for each": {many, true, profile.ErrCorrupt},
		"a block too many":     {record(record(append(bytes.Clone(head), function...), tagBlocks, 3), tagArcs, 3, 0, 0), true, profile.ErrCorrupt},
		"a line too early":     {record(record(append(bytes.Clone(head), function...), tagBlocks, 3), tagLines, 1, 5, 0, 0), true, profile.ErrCorrupt},
		"counters of nothing":  {append(bytes.Clone(counts), words(tagCounters, 2, 0, 0, 0)...), false, profile.ErrCorrupt},
		"half a counter":       {append(record(record(bytes.Clone(counts), tagFunction, 1, 2, 3), tagCounters, 1), 0, 0, 0, 0), false, profile.ErrCorrupt},
		"a long list":          {append(record(record(bytes.Clone(counts), tagFunction, 1, 2, 3), tagCounters+3<<kindShift, 1, 0, 9, 0), 0, 0, 0, 0), false, profile.ErrCorrupt},
		"zeros without end":    {zeros, false, profile.ErrCorrupt},
	} {
		before := hostile.Allocated()
		var err error
		if c.notes {
			_, err = ReadNotes("f", c.data)
		} else {
			_, err = ReadCounts("f", c.data)
		}
		if hostile.Check(t, "f", c.data, err) == nil || profile.ClassOf(err) != c.want {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if used := hostile.Allocated() - before; used > uint64(100*len(c.data)+1<<20) {
			t.Errorf("%s: %d bytes allocated for %d", name, used, len(c.data))
		}
	}
}

func upTo(n uint32) (all []uint32) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

func FuzzReadCounts(f *testing.F) {
	for _, file := range oracle.Must(filepath.Glob(filepath.Join(testdata, "*.gcda")))(f) {
		f.Add(oracle.ReadFile(f, file))
	}
	f.Fuzz(checkCounts)
}

func FuzzReadNotes(f *testing.F) {
	for _, name := range []string{"flow-gcc11", "flow-gcc12-O2", "flow-clang14", "flow-clang22", "sums-gcc12"} {
		f.Add(fixture(f, name+".gcno"))
	}
	f.Fuzz(checkNotes)
}

// TestLongLists: a list of many values, which only a hostile file has, adds up as a short one does. Each value has a count of
// its own, which a sum of two doubles.
func TestLongLists(t *testing.T) {
	for _, n := range []int{maxListed / 2, 4 * maxListed, 300_000} {
		list := List{Total: 1 << 40}
		for i := range n {
			list.Values = append(list.Values, ListValue{Value: int64(i), Count: int64(i%1000) + 1})
		}
		var sum List
		var m Merger
		for range 2 {
			m.addList(&sum, &list, 1)
		}
		if sum.Total != 2<<40 || len(sum.Values) != n {
			t.Fatalf("%d values: total %d, %d values", n, sum.Total, len(sum.Values))
		}
		for i, v := range sum.Values {
			if want := (ListValue{int64(i), 2 * (int64(i%1000) + 1)}); v != want {
				t.Fatalf("%d values: value %d is %v, want %v", n, i, v, want)
			}
		}
	}
}

package sampleprof

import (
	"bytes"
	"testing"
)

// sumOf merges files, each read by add.
func sumOf(t testing.TB, opt MergeOptions, files [][]byte, add func(m *Merger, data []byte, weight uint64) error) []byte {
	t.Helper()
	m := NewMerger(opt)
	for i, data := range files {
		if err := add(m, data, uint64(i%2+1)); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := m.Finish().Write(&b, WriteOptions{VTables: true}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestAddFile: adding files is adding the profiles that [Read] makes of them, and writing a sum is
// writing its profile.
func TestAddFile(t *testing.T) {
	addFile := func(m *Merger, data []byte, weight uint64) error {
		_, err := m.AddFile("", data, ReadOptions{}, weight)
		return err
	}
	addProfile := func(m *Merger, data []byte, weight uint64) error {
		_, err := m.AddProfile("", mustRead(t, data), weight)
		return err
	}
	plain := 0
	for seed := range uint64(72) {
		kind, vtables := kinds[seed%uint64(len(kinds))], seed%5 == 0
		opt := []WriteOptions{{}, {Format: FormatBinary}, {MD5: true}, {Compress: true}, {Split: true}, {Format: FormatText}}[seed/6%6]
		if kind&(ContextSensitive|ProbeBased) != 0 {
			opt = WriteOptions{}
		}
		opt.VTables = vtables
		var files [][]byte
		for i := range uint64(4) {
			data := mustWrite(t, mustRead(t, randomText(seed*4+i, int(seed)+2, kind, vtables)), opt)
			if p, _ := readPlain(data, &ReadOptions{}, new(nameTable), nil); p != nil {
				plain++
			}
			files = append(files, data)
		}
		for _, opt := range []MergeOptions{{}, {LLVMCompat: true}} {
			a, b := sumOf(t, opt, files, addFile), sumOf(t, opt, files, addProfile)
			if !bytes.Equal(a, b) {
				t.Fatalf("seed %d, %s: %d bytes of files, %d of profiles", seed, kind, len(a), len(b))
			}
			m := NewMerger(opt)
			for i, data := range files {
				if err := addFile(m, data, uint64(i%2+1)); err != nil {
					t.Fatal(err)
				}
			}
			if c := mustWrite(t, m.Profile(), WriteOptions{VTables: true}); !bytes.Equal(a, c) {
				t.Fatalf("seed %d, %s: %d bytes of the sum, %d of its profile", seed, kind, len(a), len(c))
			}
		}
	}
	if plain < 30 {
		t.Errorf("only %d files are plain", plain)
	}
}

// TestAddFileRefused: a file that is refused leaves nothing behind.
func TestAddFileRefused(t *testing.T) {
	data := mustWrite(t, mustRead(t, randomText(1, 9, 0, false)), WriteOptions{Format: FormatBinary})
	m := NewMerger(MergeOptions{})
	if _, err := m.AddFile("", data[:len(data)-3], ReadOptions{}, 1); err == nil || len(m.sums.names) > 0 || m.any {
		t.Errorf("%v, %d names", err, len(m.sums.names))
	}
}

// FuzzAddFile: a file is added as [Read] reads it, or refused by both.
func FuzzAddFile(f *testing.F) {
	for _, data := range fixtures(f) {
		f.Add(data)
	}
	f.Add(mustWrite(f, mustRead(f, randomText(6, 5, 0, false)), WriteOptions{}))
	first := mustWrite(f, mustRead(f, randomText(7, 5, 0, false)), WriteOptions{})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, opt := range []ReadOptions{{}, {Lenient: true}} {
			a, b := NewMerger(MergeOptions{LLVMCompat: opt.Lenient}), NewMerger(MergeOptions{LLVMCompat: opt.Lenient})
			for _, m := range []*Merger{a, b} {
				if _, err := m.AddFile("", first, opt, 1); err != nil {
					t.Fatal(err)
				}
			}
			_, errA := a.AddFile("", data, opt, 3)
			p, errB := Read("", data, opt)
			if errB == nil {
				_, errB = b.AddProfile("", p, 3)
			}
			if (errA != nil) != (errB != nil) {
				t.Fatalf("%v, and %v", errA, errB)
			}
			if errA != nil {
				continue
			}
			if x, y := text(t, a.Profile()), text(t, b.Profile()); x != y {
				t.Fatalf("%s\nand\n%s", x, y)
			}
		}
	})
}

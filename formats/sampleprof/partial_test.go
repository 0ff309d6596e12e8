package sampleprof

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// partInputs returns profiles of two builds with different checksums, some with GUIDs instead of names.
func partInputs(t *testing.T, kind Kind, seed uint64) (files [][]byte) {
	for i := range uint64(6) {
		text := randomText(100*seed+i%4, 10, kind, true)
		switch {
		case i > 3: // another build
			text = bytes.ReplaceAll(text, []byte("Checksum: "), []byte("Checksum: 1"))
		case i == 3 && kind.ProbeBased && !kind.PreInlined:
			text = bytes.ReplaceAll(text, []byte("!CFG"), []byte("!Attributes: 1\n !CFG"))
			text = bytes.ReplaceAll(text, []byte("  !Attributes: 1\n !"), []byte("  !"))
		}
		if i%3 == seed%3 {
			text = mustWrite(t, mustRead(t, text), WriteOptions{MD5: true, VTables: true})
		}
		files = append(files, text)
	}
	return files
}

func finished(t testing.TB, files [][]byte, weight uint64) *Merged {
	t.Helper()
	m := NewMerger(MergeOptions{})
	for _, data := range files {
		oracle.Must(m.AddFile("", data, ReaderOptions{}, weight))(t)
	}
	return m.Finish()
}

// written returns the bytes of a sum in two formats.
func written(t *testing.T, m *Merged) []byte {
	t.Helper()
	return append(mustWrite(t, m, WriteOptions{Lossless: true}), mustWrite(t, m, WriteOptions{Format: FormatText})...)
}

// tree shuffles files and merges random groups of them into partial sums, perhaps several times.
func tree(t *testing.T, rng *rand.Rand, files [][]byte) [][]byte {
	t.Helper()
	var parts [][]byte
	rng.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	for len(files) > 0 {
		n := 1 + rng.IntN(min(3, len(files)))
		part := mustWrite(t, finished(t, files[:n], 1), WriteOptions{Partial: true, Compress: rng.IntN(4) == 0})
		parts, files = append(parts, part), files[n:]
	}
	if len(parts) > 1 && rng.IntN(2) == 0 {
		return tree(t, rng, parts)
	}
	return parts
}

// partialFixture returns the partial sum of probe-based profiles of two builds, one with GUIDs.
func partialFixture(t testing.TB, probes []byte) []byte {
	t.Helper()
	p := mustRead(t, probes)
	other := bytes.ReplaceAll(mustWrite(t, p, WriteOptions{Format: FormatText}), []byte("Checksum: "), []byte("Checksum: 1"))
	files := [][]byte{mustWrite(t, p, WriteOptions{MD5: true}), other, []byte("f:1:1\n 1: 1\n !CFGChecksum: 7\n")}
	return mustWrite(t, finished(t, files, 1), WriteOptions{Partial: true})
}

// TestPartials: the sum of partial sums, in random trees and orders, is the sum of all inputs.
func TestPartials(t *testing.T) {
	differ, sums, builds := 0, 0, 0
	for i, kind := range kinds {
		for seed := 0; seed < 12; seed += oracle.Step(4) {
			rng := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
			files := partInputs(t, kind, uint64(seed))
			flat := finished(t, files, 3)
			want := written(t, flat)
			for range 4 {
				got := finished(t, tree(t, rng, slices.Clone(files)), 3)
				if got.Left != flat.Left || !bytes.Equal(written(t, got), want) {
					t.Fatalf("%s, seed %d: a tree gives another sum, without %d functions in place of %d", kind, seed, got.Left, flat.Left)
				}
			}
			if kind.ProbeBased != (flat.Left > 0) {
				t.Errorf("%s: %d functions of other builds", kind, flat.Left)
			}
			builds += flat.Left
			var parts [][]byte
			for _, half := range [][][]byte{files[:3], files[3:]} {
				part := finished(t, half, 1)
				lossless := mustWrite(t, part, WriteOptions{Lossless: true})
				parts = append(parts, lossless)
				if !part.Exceeds() && !bytes.Equal(mustWrite(t, part, WriteOptions{Partial: true}), lossless) {
					t.Errorf("%s: the partial sum differs although the sum exceeds nothing", kind)
				}
			}
			if !bytes.Equal(written(t, finished(t, parts, 3)), want) {
				differ++
			}
			sums++
		}
	}
	t.Logf("%d functions of other builds; %d of %d sums would differ without partial sums", builds, differ, sums)
	if differ < sums/2 || builds == 0 {
		t.Error("the inputs show nothing")
	}
}

// TestPartialErrors: a damaged section of a partial sum is refused.
func TestPartialErrors(t *testing.T) {
	const byLine, byProbe = "f:1:1\n 1: 1\n", "f:1:1\n 1: 1\n !CFGChecksum: 7\n"
	write := func(text string, opt WriteOptions) []byte {
		var b bytes.Buffer
		oracle.NoError(t, mustRead(t, []byte(text)).pack().writeExtended(&b, &opt))
		return b.Bytes()
	}
	profiles := func(list ...[]byte) []byte {
		data := []byte{0}
		for _, p := range list {
			data = append(cursor.AppendULEB(data, uint64(len(p))), p...)
		}
		return data
	}
	good := write(byLine, WriteOptions{})
	for want, data := range map[string][]byte{
		"": profiles(good, good), "name is no zero byte": {1, 'a'}, "number of names": {200, 1},
		"profile": {0, 90, 1}, "profile is text, want extensible binary": profiles([]byte(byLine)),
		"kind is probe-based, want line-based": profiles(good, write(byProbe, WriteOptions{})),
		"section is a partial sum within":      profiles(write(byLine, WriteOptions{partialData: []byte{0}})),
		"want at most 0 more":                  profiles(write(byLine, WriteOptions{Compress: true})),
		"version is 106":                       profiles(bytes.Replace(good, []byte{103}, []byte{106}, 1)),
	} {
		t.Run(want, func(t *testing.T) {
			_, err := Read("x", write(byLine, WriteOptions{partialData: data}), ReaderOptions{})
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Error(err)
			}
		})
	}
}

package perfdata_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/formats/perfdata"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// perf returns the path of perf of Linux 6.1, whose text WriteScript writes.
func perf(t *testing.T) string {
	t.Helper()
	exe := oracle.Tool(t, "perf")
	if version, _, _ := oracle.Run(t, exe, "--version"); !strings.HasPrefix(version, "perf version 6.1.") {
		t.Skipf("%s is not of Linux 6.1", strings.TrimSpace(version))
	}
	return exe
}

// TestPerfScript: WriteScript writes what perf prints, in the same order.
func TestPerfScript(t *testing.T) {
	exe := perf(t)
	files := map[string][]byte{}
	for _, name := range fixtures(t) {
		// Where a sample has an unknown event, perf ends.
		if strings.HasSuffix(name, ".perf.data") && !strings.HasPrefix(filepath.Base(name), "troubled") {
			files[filepath.Base(name)] = oracle.ReadFile(t, name)
		}
	}
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, "perf.data")
		oracle.WriteFile(t, path, data)
		fields := "ip,brstack"
		if facts, err := perfdata.Read(name, data, &perfdata.Handler{}, perfdata.Options{}); err != nil || facts.Branched == 0 {
			fields = "ip" // perf refuses to print branches that are not there
		}
		want, stderr, code := oracle.Run(t, exe, "script", "--show-mmap-events", "-F", fields, "-i", path)
		if code != 0 {
			t.Fatalf("%s: %s", name, stderr)
		}
		var got bytes.Buffer
		if _, err := perfdata.WriteScript(&got, name, data, perfdata.Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(asPerf61(t, got.String(), data), "\n")); diff != "" {
			t.Errorf("%s: %.3000s", name, diff)
		}
	}
}

// TestPerfScriptRandom compares recordings of any records in any order with perf's text.
func TestPerfScriptRandom(t *testing.T) {
	exe := perf(t)
	rounds := uint64(10)
	if oracle.Everything() {
		rounds = 300
	}
	for seed := range rounds {
		r := randomRecording(t, rand.New(rand.NewPCG(seed, 2)), seed)
		data := r.bytes()
		path := filepath.Join(t.TempDir(), "perf.data")
		oracle.WriteFile(t, path, data)
		want, stderr, code := oracle.Run(t, exe, "script", "--show-mmap-events", "-F", "ip,brstack", "-i", path)
		var got bytes.Buffer
		_, err := perfdata.WriteScript(&got, "a", data, perfdata.Options{})
		if err != nil || code != 0 {
			t.Errorf("seed %d: %v; perf: %d %s", seed, err, code, stderr)
		} else if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got.String(), "\n")); diff != "" {
			t.Errorf("seed %d: %.1500s", seed, diff)
		}
	}
}

// randomRecording returns a recording that is, by the number of its kind, of two events, without times of other records
// than samples, or compressed.
func randomRecording(t *testing.T, random *rand.Rand, kind uint64) *recorder {
	r := newRecorder()
	id := func() uint64 { return random.Uint64N(300) } // of one event, the id does not matter
	if kind%3 == 1 {
		second := r.attrs[0]
		second.ids = []uint64{200, 201}
		r.attrs = append(r.attrs, second)
		id = func() uint64 { return []uint64{100, 200, 201, 0}[random.IntN(4)] }
	}
	trailer := func(b []byte, time uint64) []byte { return r.trailer(b, 7, time, id()) }
	if kind%4 == 1 {
		for i := range r.attrs {
			r.attrs[i].idAll = false
		}
		trailer = func(b []byte, _ uint64) []byte { return b }
	}
	word := func() uint64 { return random.Uint64() >> random.IntN(64) }
	base := uint64(1000)
	for i := range uint64(300) {
		time := base + random.Uint64N(40)
		if random.IntN(30) == 0 {
			time = 0
		}
		mapping := r.words(r.halves(nil, 7, 7), 0x10000*i, 0x1000, i)
		switch random.IntN(12) {
		case 0:
			base += 20
			r.add(68, 0, nil)
		case 1:
			b := r.halves(r.words(r.halves(mapping, 0xfe, 0), 10019070, 0), uint32(i%8), uint32(1+i%2))
			r.add(10, 2, trailer(append(b, padded("/bin/a b"[:3+i%6])...), time))
		case 2:
			r.add(1, uint16(2|i%2<<13), trailer(append(mapping, padded("/bin/c")...), time))
		case 3:
			r.add([]uint32{3, 19, 82}[random.IntN(3)], 0, trailer(append(r.halves(nil, 7, 7), padded("x")...), time))
		default:
			branches := make([]uint64, 3*random.IntN(4))
			for j := range branches {
				if branches[j] = word(); j%3 == 2 {
					branches[j] &^= 1 << 29 // perf prints "(null)" for further types that it does not know
				}
			}
			b := r.words(r.halves(r.words(nil, id(), word()), 7, 7), time, 1000003, uint64(len(branches)/3))
			r.add(9, 2, r.words(b, branches...))
		}
	}
	if kind%5 == 0 {
		r.features[27] = r.halves(nil, 1, 1, 1, 4, 1<<19) // perf needs the size of its buffers
		r.compress(t, 1, 20, 40000, 81)
	}
	return r
}

// asPerf61 returns the text with the fault of perf 5.10 to 6.4: addresses of user code in call chains are offsets in
// files.
func asPerf61(t *testing.T, script string, data []byte) string {
	t.Helper()
	var offsets []string
	var spaces perfdata.Spaces[struct{}]
	_, err := perfdata.Read("a", data, &perfdata.Handler{
		Mapping: func(m *perfdata.Mapping) error { spaces.Map(m, struct{}{}); return nil },
		Fork:    func(t *perfdata.Task) error { spaces.Fork(t); return nil },
		Command: func(c *perfdata.Command) error { spaces.Exec(c); return nil },
		Sample: func(s *perfdata.Sample) error {
			for _, address := range s.Chain {
				if perfdata.IsMarker(address) {
					continue
				}
				if _, offset, ok := spaces.Find(s.PID, address); ok {
					address = offset
				}
				offsets = append(offsets, fmt.Sprintf("\t%16x", address))
			}
			return nil
		},
	}, perfdata.Options{})
	oracle.NoError(t, err)
	lines := strings.Split(script, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "\t") {
			lines[i], offsets = offsets[0], offsets[1:]
		}
	}
	return strings.Join(lines, "\n")
}

package perfdata_test

import (
	"bytes"
	"fmt"
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
	// Two processors, whose records come in rounds, and records of which some have no time.
	r := newRecorder()
	r.mmap2(7, 0, 0x7000, 0x1000, 0, 4, "[vdso]")
	for i := range uint64(200) {
		r.sample(7, 1000+i*100%1700+i, 0x401000+i, 0x401010+i, 0x401020+i, i%32)
		if i%60 == 59 {
			r.mmap2(7, 1000+i, 0x10000*i, 0x1000, 0x1000*i, uint32(i%8), "/bin/a b")
			r.add(68, 0, nil)
		}
	}
	files["rounds"] = r.bytes()
	r.features[27] = r.halves(nil, 1, 1, 1, 4, 1<<19) // perf needs the size of its buffers
	r.compress(t, 1, 20, 40000, 81)
	files["rounds, compressed"] = r.bytes()

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

package memprofcmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/merge"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestHeapMergeShares: workers share what they look up, and count what is lost together.
func TestHeapMergeShares(t *testing.T) {
	programs, err := symbolize.OpenPrograms([]string{filepath.Join(oracle.Root(t), "testdata", "memprof", "raw")}, symbolize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer programs.Close()
	h := NewReader(programs)
	data, err := os.ReadFile(filepath.Join(filepath.Join(oracle.Root(t), "testdata", "memprof", "raw"), "clang22-pie.memprofraw"))
	if err != nil {
		t.Fatal(err)
	}
	var group []chan error
	for range 8 {
		done := make(chan error, 1)
		group = append(group, done)
		go func() {
			_, err := h.Add(irpgo.NewMerger(irpgo.MergeOptions{}), &merge.Profile{Name: "raw", Data: data, Weight: 1}, formats.MemProfRaw, func(w profile.Warning) { t.Error(w) })
			done <- err
		}()
	}
	for _, done := range group {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	var said bytes.Buffer
	h.PrintLosses(&said)
	for _, want := range []string{"note: dropped 24 of 136 contexts ", "lack 24 addresses in programs and libraries that were not given: "} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("it says\n%swithout %q", said.String(), want)
		}
	}
}

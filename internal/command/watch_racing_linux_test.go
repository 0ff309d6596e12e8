//go:build amd64 || arm64

package command

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestWatchRacingWriter has a program write over a file, without a lock and with the same
// size, while "profuse watch" merges it. Version k counts 4^k calls of every function, so
// the sum says which versions it has: each as a whole, once at most, and the last one.
func TestWatchRacingWriter(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	const functions, versions = 3000, 26
	var names []byte
	for i := range functions {
		names = fmt.Appendf(names, "f%d\x01", i)
	}
	le := binary.LittleEndian
	profile := rawBomb{records: functions, counters: functions, each: 1, names: chunkOf(bytes.TrimSuffix(names, []byte("\x01")))}.build()
	const header, record = 88, 48
	for i := range functions {
		le.PutUint64(profile[header+record*i:], irpgo.NameRef(fmt.Sprintf("f%d", i)))
	}
	version := func(k int) []byte {
		b := bytes.Clone(profile)
		for i := range functions {
			le.PutUint64(b[header+record*functions+8*i:], 1<<(2*k))
		}
		return b
	}
	for round := range 40 / oracle.Step(10) {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			raceWatch(t, round, versions, version)
		})
	}
}

// raceWatch writes versions of a file over each other.
func raceWatch(t *testing.T, round, versions int, version func(k int) []byte) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out.profdata")
	if err := os.Mkdir(in, 0o777); err != nil {
		t.Fatal(err)
	}
	settle := []string{"0s", "1ms", "20ms"}[round%3]
	cmd := exec.Command("profuse", "watch", "--settle", settle, "--every", "0s", "-o", out, in)
	var log strings.Builder
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(in, "a.profraw")
	oracle.WriteFile(t, name, version(0))
	for k := 1; k < versions; k++ {
		time.Sleep(rand.N(40 * time.Millisecond))
		writeOver(t, name, version(k), round%2 == 0)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, log.String())
	}
	// What the writer left may be too new for the first run.
	if text, err := combined(exec.Command("profuse", "watch", "--settle", settle, "--once", "-o", out, in)); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	p, err := irpgo.Read(out, oracle.ReadFile(t, out), irpgo.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sum := p.Functions[0].Records[0].Counts[0]
	for _, f := range p.Functions {
		if n := f.Records[0].Counts[0]; n != sum {
			t.Fatalf("%s ran %#x times, %s %#x times: a mixture of versions\n%s", p.Functions[0].Name, sum, f.Name, n, log.String())
		}
	}
	merged := 0
	for k := range versions {
		switch n := sum >> (2 * k) & 3; {
		case n > 1:
			t.Errorf("settle %s: version %d is in the sum %d times\n%s", settle, k, n, log.String())
		case n == 1:
			merged++
		case k == versions-1:
			t.Errorf("settle %s: the last version is not in the sum %#x\n%s", settle, sum, log.String())
		}
	}
	t.Logf("%d of %d versions merged", merged, versions)
}

// writeOver writes over a file of the same size, piece by piece, at once or with rests.
func writeOver(t *testing.T, name string, contents []byte, rest bool) {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for piece := range slices.Chunk(contents, 8<<10) {
		if _, err := f.Write(piece); err != nil {
			t.Fatal(err)
		}
		if rest {
			time.Sleep(rand.N(3 * time.Millisecond))
		}
	}
}

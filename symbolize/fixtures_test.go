package symbolize

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// A fixture is a program of testdata/symbolize/fixtures.
type fixture struct {
	name, file string
	arch       string // of a universal file
	text       string // name of the section with code
}

func fixtures(t testing.TB) []fixture {
	t.Helper()
	dir := filepath.Join(oracle.Root(t), "testdata", "symbolize", "fixtures")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []fixture
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext == ".frames" || ext == ".dwp" {
			continue
		}
		f := fixture{name: e.Name(), file: filepath.Join(dir, e.Name()), text: ".text"}
		if strings.HasSuffix(f.name, "-universal") {
			f.arch, f.text = "arm64", "__text"
		}
		out = append(out, f)
	}
	return out
}

// TestFixtures compares with what llvm-symbolizer said when the fixtures were made.
func TestFixtures(t *testing.T) {
	for _, fx := range fixtures(t) {
		t.Run(fx.name, func(t *testing.T) {
			f := open(t, fx.file, Options{Arch: fx.arch, SymbolTable: true})
			addrs := every(t, f, fx.text, 1)
			want := readAnswers(t, fx.file+".frames", addrs)
			c := compareFrames(t, addrs, batchFrames(t, f, addrs), want)
			if c.inlined == 0 {
				t.Errorf("compared nothing: %+v", c)
			}
		})
	}
}

// readAnswers reads a .frames file: a line at each address where the frames change, and the number of addresses.
func readAnswers(t *testing.T, name string, addrs []uint64) [][]Frame {
	t.Helper()
	at := map[uint64][]Frame{}
	for line := range bytes.Lines(oracle.ReadFile(t, name)) {
		var addr uint64
		var n int
		if _, err := fmt.Sscanf(string(line), "end %d", &n); err == nil {
			if n != len(addrs) {
				t.Fatalf("%s has %d addresses, want %d", name, n, len(addrs))
			}
			break
		}
		place, symbols, _ := bytes.Cut(line, []byte(" "))
		if _, err := fmt.Sscanf(string(place), "0x%x", &addr); err != nil {
			t.Fatalf("%s: %q: %v", name, line, err)
		}
		var answer []struct {
			FunctionName, FileName                 string
			Line, Column, StartLine, Discriminator uint32
		}
		if err := json.Unmarshal(symbols, &answer); err != nil {
			t.Fatalf("%s: %q: %v", name, line, err)
		}
		var frames []Frame
		for i, s := range answer {
			frames = append(frames, Frame{s.FunctionName, s.FileName, s.Line, s.Column, s.StartLine, s.Discriminator, i+1 < len(answer)})
		}
		at[addr] = frames
	}
	out := make([][]Frame, len(addrs))
	var last []Frame
	for i, a := range addrs {
		if f, ok := at[a]; ok {
			last = f
		}
		if !slices.Equal(last, []Frame{{}}) {
			out[i] = last
		}
	}
	return out
}

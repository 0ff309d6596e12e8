package irpgo

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// fixtureDifferences are the fixtures whose indexed form differs from that of
// one of the tools on purpose. The reasons stand in docs/differences.md.
var fixtureDifferences = []struct {
	pattern  string // of the fixture's path
	releases []int
	why      string
}{
	{"*/correlate-*.profraw", []int{14, 16, 19, 22}, "nothing to merge before correlation; LLVM writes an empty profile"},
	{"*/temporal-function-entry.profraw", []int{19, 22}, "no room for the timestamp; LLVM reads its neighbours"},
	{"clang22/ir-loop-entries.profraw", []int{19}, "LLVM 19 does not know the mark, version 12 does"},
	{"*/concat*.profraw", []int{16}, "LLVM 16 keeps the binary ids of the last profile only"},
	{"llvm19/temporal-reservoir.profdata", []int{19}, "temporal traces are sampled as LLVM 22 does"},
	{"text/temporal.proftext", []int{19}, "temporal traces are sampled as LLVM 22 does"},
	{"*/memprof*.profdata", []int{16, 19}, "LLVM writes an empty memprof section, profuse a whole one"},
	{"*/memprof.profdata", []int{22}, "LLVM writes an empty memprof section, profuse a whole one"},
	{"*/memprof-[iv]*.profdata", []int{22}, "LLVM writes an empty memprof section, profuse a whole one"},
	{"text/hash-all-ones.proftext", []int{14, 16, 19, 22}, "LLVM loses the hash that its map reserves"},
	{"text/pseudo*.proftext", []int{14}, "LLVM 14 counts pseudo counts into the summary"},
}

func knownDifference(fixture string, release int) string {
	for _, d := range fixtureDifferences {
		if ok, _ := path.Match(d.pattern, fixture); ok {
			for _, r := range d.releases {
				if r == release {
					return d.why
				}
			}
		}
	}
	return ""
}

// TestFixtureBytes merges every fixture with every llvm-profdata that can read
// it and compares the indexed bytes, merged exactly and as LLVM merges.
func TestFixtureBytes(t *testing.T) {
	for _, llvm := range llvmIndexed {
		tool := oracle.LLVM(t, llvm.release)
		compared := 0
		for _, f := range oracle.Fixtures(t) {
			if !f.Readable(llvm.release) || len(f.Bytes(t)) == 0 {
				continue // an empty file merges to nothing in LLVM and is an error here
			}
			compared++
			t.Run(fmt.Sprintf("llvm%d/%s", llvm.release, f.Path), func(t *testing.T) {
				// LLVM 22 on profiles of its release stands for all.
				if llvm.release != 22 || f.Producer != "llvm22" {
					oracle.Slow(t)
				}
				t.Parallel()
				out := filepath.Join(t.TempDir(), "out.profdata")
				_, stderr, code := oracle.Run(t, tool, "merge", "-j", "1", "-o", out, f.File())
				if code != 0 {
					t.Fatalf("llvm-profdata exits %d: %s", code, stderr)
				}
				if warned := stderr != ""; warned != slices.Contains(f.WarnedBy, llvm.release) {
					t.Errorf("warned is %t, listed as warned by %v\n%s", warned, f.WarnedBy, stderr)
				}
				want := oracle.ReadFile(t, out)
				for _, compat := range []bool{false, true} {
					got, err := indexFixture(f.Bytes(t), llvm.version, llvm.release, compat)
					same := err == nil && bytes.Equal(got, want)
					switch why := knownDifference(f.Path, llvm.release); {
					case why == "" && err != nil:
						t.Errorf("compat %v: %v", compat, err)
					case why == "" && !same:
						t.Errorf("compat %v: indexed files of %d and %d bytes differ at byte %d", compat, len(got), len(want), firstDifference(got, want))
					case why != "" && same && !compat:
						t.Errorf("no difference any more, though: %s", why)
					}
				}
			})
		}
		if compared < 40 {
			t.Errorf("only %d fixtures are readable by LLVM %d", compared, llvm.release)
		}
	}
}

func indexFixture(data []byte, version uint32, release int, compat bool) ([]byte, error) {
	r, err := NewReader("fixture", data, ReaderOptions{Lenient: compat})
	if err != nil {
		return nil, err
	}
	m := NewMerger(MergeOptions{LLVMCompat: compat})
	if _, err := m.Add(r, 1); err != nil {
		return nil, err
	}
	opt := IndexedOptions{Version: version}
	if compat {
		opt.LLVMRelease = release
	}
	return encodeIndexed(m.Finish().Profile(), opt)
}

// TestSamples reads the real profiles of old versions that do not ship with
// the repository. Check has nothing to say about them.
func TestSamples(t *testing.T) {
	dir := filepath.Join(oracle.Samples(t), "irpgo")
	files, err := filepath.Glob(filepath.Join(dir, "*.prof*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples in %s: %v", dir, err)
	}
	versions := make(map[string]int)
	for _, name := range files {
		data := oracle.ReadFile(t, name)
		r, err := NewReader(name, data, ReaderOptions{})
		if err != nil {
			t.Error(err)
			continue
		}
		n := 0
		for _, err := range r.Records() {
			if err != nil {
				t.Error(err)
				break
			}
			n++
		}
		if n == 0 {
			t.Errorf("%s: no records", name)
		}
		if got := findings(Check(name, data)); got != "" {
			t.Errorf("%s: %s", name, got)
		}
		versions[fmt.Sprintf("%v%d", r.Info.Format, r.Info.Version)]++
	}
	for _, v := range []string{"raw5", "raw7", "raw8", "raw9", "raw10", "indexed1", "indexed2", "indexed4", "indexed10"} {
		if versions[v] == 0 {
			t.Errorf("no sample of %s was read", v)
		}
	}
}

// encodeIndexed returns the bytes that [WriteIndexed] writes.
func encodeIndexed(p *Profile, opt IndexedOptions) ([]byte, error) {
	return oracle.Written(func(w io.Writer) error { return WriteIndexed(w, p, opt) })
}

func indexedBytes(t testing.TB, p *Profile, opt IndexedOptions) []byte {
	t.Helper()
	b, err := encodeIndexed(p, opt)
	must(t, err)
	return b
}

package memprof

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/symbolize"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// rawFixture is a profile of testdata/memprof/raw.
type rawFixture struct {
	name    string
	file    string // the profile
	program string // headers and debug information of the program
	version int
}

func (f rawFixture) is(word string) bool { return strings.Contains(f.name, word) }

func rawFixtures(t testing.TB) []rawFixture {
	t.Helper()
	dir := filepath.Join(oracle.Root(t), "testdata", "memprof", "raw")
	files, err := filepath.Glob(filepath.Join(dir, "*.memprofraw"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no raw profiles in %s: %v", dir, err)
	}
	versions := map[string]int{"clang14": 1, "clang16": 2, "clang19": 4, "clang22": 5}
	var out []rawFixture
	for _, file := range files {
		base := strings.TrimSuffix(file, ".memprofraw")
		name := filepath.Base(base)
		producer, _, _ := strings.Cut(name, "-")
		out = append(out, rawFixture{name, file, base + ".debug", versions[producer]})
	}
	return out
}

func rawFixtureNamed(t testing.TB, name string) rawFixture {
	t.Helper()
	all := rawFixtures(t)
	i := slices.IndexFunc(all, func(f rawFixture) bool { return f.name == name })
	if i < 0 {
		t.Fatalf("no raw profile %s", name)
	}
	return all[i]
}

func (f rawFixture) read(t testing.TB, opt RawOptions) *RawProfile {
	t.Helper()
	p, err := ReadRaw(f.name, oracle.ReadFile(t, f.file), opt)
	must(t, err)
	return p
}

func openBinaries(t testing.TB, paths ...string) *Binaries {
	t.Helper()
	programs, err := symbolize.OpenPrograms(paths, symbolize.Options{})
	must(t, err)
	t.Cleanup(func() { programs.Close() })
	return NewBinaries(programs)
}

func symbolizeRaw(t testing.TB, raw *RawProfile, b *Binaries, opt SymbolizeOptions) (*Profile, *Coverage) {
	t.Helper()
	p, about, err := raw.Symbolize(b, opt)
	must(t, err)
	return p, about
}

// tools are the releases of llvm-profdata that symbolize a raw profile.
func (f rawFixture) tools() []int {
	switch {
	case f.is("histogram-dumps"):
		return nil // they crash when they add up histograms
	case f.version == 2 && !f.is("pie"):
		return []int{16}
	case f.version == 4:
		return []int{19, 22}
	case f.version == 5:
		return []int{22}
	}
	return nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func readRaw(t testing.TB, data []byte, opt RawOptions) *RawProfile {
	t.Helper()
	p, err := ReadRaw("x", data, opt)
	must(t, err)
	return p
}

func readYAML(t testing.TB, doc []byte) *Profile {
	t.Helper()
	p, err := ReadYAML("", doc)
	must(t, err)
	return p
}

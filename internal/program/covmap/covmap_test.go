package covmap

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestMain(m *testing.M) { oracle.Main(m) }

const testdata = "../../../testdata/covmap"

func readProfile(t testing.TB, name string) *irpgo.Profile {
	t.Helper()
	p, err := irpgo.Read(name, oracle.ReadFile(t, name), irpgo.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// evaluate evaluates a profile on the mappings of objects as llvm-cov does.
func evaluate(t testing.TB, p *irpgo.Profile, objects ...string) *Coverage {
	t.Helper()
	var maps []*Mapping
	for _, o := range objects {
		maps = append(maps, readMappings(t, o)...)
	}
	c, err := Evaluate(maps, p, EvaluateOptions{FirstWins: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// exports returns both documents of a coverage.
func exports(t testing.TB, c *Coverage) (lcov, json string) {
	t.Helper()
	var l, j bytes.Buffer
	if err := WriteLCOV(&l, c, LCOVOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := WriteJSON(&j, c, JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	return l.String(), j.String()
}

func compare(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	part := func(s string) string { return s[max(0, min(at-60, len(s))):min(at+60, len(s))] }
	t.Errorf("%s differs at %d:\n got …%q\nwant …%q", what, at, part(got), part(want))
}

// TestFixtures compares the exports of objects by several compilers with those that llvm-cov 22 made.
func TestFixtures(t *testing.T) {
	names, err := filepath.Glob(testdata + "/*.proftext")
	if err != nil || len(names) < 6 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		base := strings.TrimSuffix(name, ".proftext")
		t.Run(filepath.Base(base), func(t *testing.T) {
			lcov, json := exports(t, evaluate(t, readProfile(t, name), base+".o"))
			compare(t, "lcov", lcov, string(oracle.ReadFile(t, base+".lcov")))
			compare(t, "JSON", json, string(oracle.ReadFile(t, base+".json")))
		})
	}
}

// TestObjectFormats: objects for other targets give the same coverage.
func TestObjectFormats(t *testing.T) {
	profile := readProfile(t, testdata+"/conditions-22.proftext")
	names, err := filepath.Glob(testdata + "/conditions-*-*.o")
	if err != nil || len(names) < 4 {
		t.Fatal(names, err)
	}
	var want string
	for _, name := range names {
		lcov, _ := exports(t, evaluate(t, profile, name))
		if want == "" {
			want = lcov
		}
		compare(t, name, lcov, want)
	}
	if !strings.Contains(want, "SF:conditions.c\n") || !strings.Contains(want, "FNDA:10,plain\n") {
		t.Errorf("%.300s", want)
	}
}

// TestDamage cuts an object at every byte and flips bits in it: an error or another coverage, but no panic.
func TestDamage(t *testing.T) {
	profile := readProfile(t, testdata+"/conditions-22.proftext")
	data := oracle.ReadFile(t, testdata+"/conditions-22.o")
	try := func(data []byte) {
		m, err := Read("damaged.o", data, Options{})
		if hostile.CheckType(t, "damaged.o", err) != nil {
			return
		}
		c, err := Evaluate(m, profile, EvaluateOptions{})
		if err != nil {
			return
		}
		_, _ = exports(t, c)
	}
	for _, cut := range hostile.Cuts(data, 7) {
		try(cut)
	}
	for _, flipped := range hostile.Flips(data, 31) {
		try(flipped)
	}
}

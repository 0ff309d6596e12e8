package irpgo_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/program/object"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// builds are programs of testdata/against with data records: of all layouts of records, byte orders and object formats.
var builds = []string{
	"ir-14.o", "ir-22.o", "ir-14-i386.o", "ir-i386-linux-gnu.o", "ir-mips-linux-gnu.o", "ir-arm64-apple-macos.o",
	"ir-x86_64-pc-windows-msvc.o", "ir.dll", "ir.so", "cs.o", "fe.o",
}

func readBuild(t testing.TB, name string) []byte {
	return oracle.ReadFile(t, filepath.Join(oracle.Root(t), "testdata", "against", name))
}

// TestCorrelateData: the data records of a program are the records of its profiles, and the version word is in all
// programs of the IR pass with symbols but COFF ones.
func TestCorrelateData(t *testing.T) {
	for name, variant := range map[string]irpgo.Variant{
		"ir-14.o": irpgo.IRLevel, "ir-22.o": irpgo.IRLevel, "ir-i386-linux-gnu.o": irpgo.IRLevel, "ir-mips-linux-gnu.o": irpgo.IRLevel,
		"ir-arm64-apple-macos.o": irpgo.IRLevel, "cs.o": irpgo.IRLevel | irpgo.ContextSens,
		"ir-x86_64-pc-windows-msvc.o": 0, "ir.dll": 0, "ir.so": 0, "fe.o": 0,
	} {
		c := oracle.Must(correlate("data", readBuild(t, name), nil))(t)
		if c.HasVariant != (variant != 0) || c.Variant != variant {
			t.Errorf("%s: variant %v, known: %t; want %v", name, c.Variant, c.HasVariant, variant)
		}
		counters := make(map[string]uint32)
		for _, fn := range c.Functions {
			counters[fn.Name] = fn.Counters
		}
		file := "drift.c;"
		if name == "ir-14.o" || name == "fe.o" {
			file = "drift.c:"
		}
		want := map[string]uint32{file + "busy": 3, file + "choose": 4, "fresh": 2, "steady": 2, "main": 2}
		if name == "cs.o" { // counts functions after inlining
			want[file+"choose"] = 5
		}
		for fn, n := range want {
			if counters[fn] != n || len(counters) != len(want) {
				t.Errorf("%s: counters %v, want %v", name, counters, want)
				break
			}
		}
	}
	if _, err := correlate("data", readBuild(t, "plain.o"), nil); !errors.Is(err, profile.ErrEmpty) {
		t.Errorf("a program without instrumentation: %v", err)
	}
}

// checkCorrelateData: every function of a program has counters and a name whose reference it has, and none occurs twice.
func checkCorrelateData(t *testing.T, program []byte) {
	c, err := correlate("data", program, nil)
	if err != nil {
		if profile.ClassOf(err) == profile.Unreadable {
			t.Errorf("an error without class: %v", err)
		}
		return
	}
	seen := make(map[irpgo.CorrelatedFunction]bool)
	for _, fn := range c.Functions {
		if fn.Counters == 0 || fn.Name == "" || irpgo.NameRef(fn.Name) != fn.NameRef || seen[fn] {
			t.Errorf("%+v, seen: %t", fn, seen[fn])
		}
		seen[fn] = true
	}
}

// TestCorrelateDataDamaged gives the reader damaged programs.
func TestCorrelateDataDamaged(t *testing.T) {
	for _, name := range builds {
		program := readBuild(t, name)
		for n, cut := range hostile.Cuts(program, 13*37) {
			if n%13 == 0 {
				checkCorrelateData(t, cut)
			}
		}
		for bit, flipped := range hostile.Flips(program, 89*37) {
			if bit%89 == 0 {
				checkCorrelateData(t, flipped)
			}
		}
	}
}

func FuzzCorrelateData(f *testing.F) {
	for _, name := range builds {
		f.Add(readBuild(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if object.IsImage(data) {
			checkCorrelateData(t, data)
		}
	})
}

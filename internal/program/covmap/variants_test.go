package covmap

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// oneHash is the program of llvm#148673: both ways of the preprocessor have one hash.
const oneHash = `int other(int);
int main(void) {
#ifdef EXTRA
  other(1); other(2);
#else
  other(3);
#endif
  return 0;
}
int other(int a) { return a; }
`

// countedBy returns the counts in raw profiles, with the programs that wrote them.
func countedBy(t *testing.T, names ...string) func(func(string) bool, func(string, *irpgo.Record)) error {
	return func(wanted func(string) bool, add func(string, *irpgo.Record)) error {
		for _, name := range names {
			p := readProfile(t, name)
			for _, f := range p.Functions {
				if wanted(f.Name) {
					add(string(slices.Concat(p.BinaryIDs...)), f.Records[0])
				}
			}
		}
		return nil
	}
}

// TestOneHash: of functions with one name and hash that differ in their code, or are in other files (llvm#148279),
// each has the counts of its programs. If these are not known, each has the sum, and what they share has it once.
func TestOneHash(t *testing.T) {
	b := compiled{t, t.TempDir()}
	source := filepath.Join(b.dir, "source.h")
	oracle.WriteFile(t, source, []byte(oneHash))
	plain, plainRaw := b.make("plain", "#include \"source.h\"\n")
	extra, extraRaw := b.make("extra", "#include \"source.h\"\n", "-DEXTRA")
	third, thirdRaw := b.make("third", "#include \"source.h\"\n") // its code is that of plain
	unknown, unknownRaw := b.make("unknown", "#include \"source.h\"\n", "-DEXTRA", "-Wl,--build-id=none")
	far, farRaw := b.make("far", "int main(void) {\n  return 0;\n}\n")

	for _, test := range []struct {
		name     string
		programs []string
		profiles []string
		known    bool
		want     string // lines of the source, main and other
	}{
		{"both", []string{plain, extra}, []string{plainRaw, extraRaw}, true, "2:2 3:1 4:1 6:1 7:1 8:2 9:2 10:3"},
		{"in the other order", []string{extra, plain}, []string{plainRaw, extraRaw}, true, "2:2 3:1 4:1 6:1 7:1 8:2 9:2 10:3"},
		{"three", []string{plain, extra, third}, []string{plainRaw, extraRaw, thirdRaw, thirdRaw}, true, "2:4 3:1 4:1 6:3 7:3 8:4 9:4 10:5"},
		{"one ran", []string{plain, extra}, []string{extraRaw}, true, "2:1 3:1 4:1 6:0 7:0 8:1 9:1 10:2"},
		{"one without an id", []string{plain, unknown}, []string{plainRaw, unknownRaw}, true, "2:2 3:1 4:1 6:1 7:1 8:2 9:2 10:3"},
		{"a program that is not given", []string{plain, unknown}, []string{plainRaw, extraRaw}, true, "2:2 3:1 4:1 6:1 7:1 8:2 9:2 10:3"},
		{"nothing known", []string{plain, extra}, []string{plainRaw, extraRaw}, false, "2:2 3:2 4:2 6:2 7:2 8:2 9:2 10:3"},
		{"in another file", []string{plain, far}, []string{plainRaw, farRaw, farRaw}, true, "2:1 6:1 7:1 8:1 9:1 10:1"},
		{"in another file, nothing known", []string{plain, far}, []string{plainRaw, farRaw, farRaw}, false, "2:3 6:3 7:3 8:3 9:3 10:1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var maps []*Mapping
			for _, p := range test.programs {
				maps = append(maps, readMappings(t, p)...)
			}
			opt := EvaluateOptions{}
			if test.known {
				opt.Counted = countedBy(t, test.profiles...)
			}
			c, err := Evaluate(maps, sum(t, test.profiles...), opt)
			if err != nil {
				t.Fatal(err)
			}
			for _, details := range []bool{false, true} {
				all := c.Collect(details)
				if len(all.Misfits) > 0 {
					t.Errorf("%+v", all.Misfits)
				}
				for _, f := range all.Files {
					if f.Path != source {
						continue
					}
					var got []string
					for _, l := range f.Lines {
						got = append(got, fmt.Sprintf("%d:%d", l.Number, l.Count))
					}
					if strings.Join(got, " ") != test.want {
						t.Errorf("details %v: lines %v, want %s", details, got, test.want)
					}
					calls := uint64(0)
					for _, fn := range f.Functions {
						if fn.Name == "main" {
							calls += fn.Calls
						}
					}
					if want := f.Lines[0].Count; calls != want {
						t.Errorf("details %v: %d calls of main, want %d", details, calls, want)
					}
				}
			}
		})
	}
}

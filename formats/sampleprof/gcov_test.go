package sampleprof

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// gcovVariant says how a program writes the gcov format.
type gcovVariant struct {
	version     string
	exact, rich bool
}

var gcovVariants = map[string]gcovVariant{
	"LLVM, create_gcov 0.19":       {version: "*704"},
	"GCC 11":                       {version: "\x01\x00\x00\x00"},
	"GCC 12":                       {version: "\x02\x00\x00\x00", exact: true},
	"GCC 16":                       {version: "\x03\x00\x00\x00", exact: true, rich: true},
	"create_gcov with exact names": {version: "*704", exact: true},
	"create_gcov with file names":  {version: "*704", exact: true, rich: true},
}

// gcovProfile builds a profile in the gcov format: main with an inlined and a called function.
func gcovProfile() []byte { return gcovVariants["LLVM, create_gcov 0.19"].build() }

func (v gcovVariant) build() []byte {
	b := []byte("adcg" + v.version)
	word := func(values ...uint32) {
		for _, v := range values {
			b = le.AppendUint32(b, v)
		}
	}
	long := func(v uint64) { word(uint32(v), uint32(v>>32)) }
	text := func(s string) {
		padded := s + "\x00\x00\x00\x00"[:4-len(s)%4]
		if v.exact {
			padded = s + "\x00"
			word(uint32(len(padded)))
		} else {
			word(uint32(len(padded) / 4))
		}
		b = append(b, padded...)
	}
	top := func(head uint64) {
		long(head)
		if v.rich {
			long(123456789) // time of the first sample
		}
	}
	names := []string{"main", "inlined", "called"}
	word(0)
	if v.rich {
		word(tagSummary)
		for _, n := range []uint64{1<<33 + 20, 1 << 33, 7, 3, 2, 1} {
			long(n)
		}
		word(990000)
		long(11)
		long(2)
	}
	word(tagNames, 0)
	if v.rich {
		word(1)
		text("dir/file.c")
	}
	word(uint32(len(names)))
	for _, name := range names {
		text(name)
		if v.rich {
			word(0)
		}
	}
	word(tagFunctions, 0, 2)
	top(7)
	word(0, 1, 1) // main: one position, one callsite
	word(3<<16|2, 1)
	long(1 << 33)
	word(targetKind)
	long(2)
	long(5)
	word(4<<16, 1, 1, 0) // inlined at line 4
	word(1<<16, 0)
	long(11)
	top(5)
	word(2, 1, 0)
	word(1<<16, 0)
	long(9)
	return b
}

const gcovText = `main:8589934603:7
 3.2: 8589934592 called:5
 4: inlined:11
  1: 11
called:9:5
 1: 9
`

func TestGCov(t *testing.T) {
	for name, v := range gcovVariants {
		data := v.build()
		p := mustRead(t, data)
		if got := mustWrite(t, p, WriteOptions{Format: FormatText}); string(got) != gcovText {
			t.Errorf("%s: %s", name, got)
		}
		if want := strings.Trim(v.version, "\x00"); p.fileVersion() != want && p.fileVersion() != fmt.Sprint(want[0]) {
			t.Errorf("%s: version %q", name, p.fileVersion())
		}
		for n := 8; n < len(data); n++ {
			if _, err := Read("", data[:n], ReaderOptions{}); err == nil {
				t.Errorf("%s: read the first %d bytes", name, n)
			}
		}
		// LLVM reads one version, as it was first written.
		if _, err := Read("", data, ReaderOptions{Lenient: true}); (err == nil) != (v == gcovVariant{version: "*704"}) {
			t.Errorf("%s: as LLVM: %v", name, err)
		}
	}
	for _, other := range []string{"adcg", "adcgB22*\x00\x00\x00\x00", "adcg\x04\x00\x00\x00\x00\x00\x00\x00", "adcg\x00\x00\x00\x00"} {
		if f, ok := Detect([]byte(other)); ok {
			t.Errorf("%q is %s", other, f)
		}
	}
}

// TestGCovWrite: what is written is read again, and by compilers; what the format cannot hold is refused.
func TestGCovWrite(t *testing.T) {
	for _, gcc := range []int{0, 5, 11, 12, 15} {
		for seed := range uint64(20) {
			p := mustRead(t, randomText(seed, int(seed)+1, Kind{}, false))
			want := mustWrite(t, mustRead(t, mustWrite(t, p, WriteOptions{Format: FormatGCov})), WriteOptions{Format: FormatText})
			data := mustWrite(t, p, WriteOptions{Format: FormatGCov, GCC: gcc})
			q := mustRead(t, data)
			if got := mustWrite(t, q, WriteOptions{Format: FormatText}); !bytes.Equal(got, want) {
				t.Errorf("GCC %d: %s\nwant %s", gcc, got, want)
			}
			if again := mustWrite(t, q, WriteOptions{Format: FormatGCov, GCC: gcc}); !bytes.Equal(again, data) {
				t.Errorf("GCC %d: written twice, %d and %d bytes differ", gcc, len(data), len(again))
			}
			// The format has the counts, the entries and the calls, but no totals.
			if a, b := p.Summarize(), q.Summarize(); !reflect.DeepEqual(a, b) {
				t.Errorf("GCC %d: summary %+v, want %+v", gcc, b, a)
			}
		}
	}
	far := &Profile{Functions: []*Function{{
		Name: NameOf("f"), Head: 1, Body: []Sample{{Location: Location{1, 0}, Count: 5}, {Location: Location{65537, 0}, Count: 4}},
		Callsites: []Callsite{{Location{65538, 3}, &Function{Name: NameOf("g"), Body: []Sample{{Location: Location{70000, 0}, Count: 2}}}}},
	}}}
	const short = "f:11:1\n 1: 9\n 2.3: g:2\n  4464: 2\n" // lines modulo 2^16
	if got := mustWrite(t, mustRead(t, mustWrite(t, far, WriteOptions{Format: FormatGCov})), WriteOptions{Format: FormatText}); string(got) != short {
		t.Errorf("%s\nwant %s", got, short)
	}
	for name, p := range map[string]*Profile{
		"contexts":       mustRead(t, []byte("[f]:9:1\n 1: 9\n")),
		"probes":         mustRead(t, []byte("f:9:1\n 1: 9\n !CFGChecksum: 1\n")),
		"GUIDs":          mustRead(t, fixtures(t)["lines-md5.afdo"]),
		"discriminators": mustRead(t, []byte("f:9:1\n 1.65536: 9\n")),
		"flow":           mustRead(t, fixtures(t)["flow.afdo"]),
	} {
		if err := p.Write(io.Discard, WriteOptions{Format: FormatGCov}); !errors.Is(err, profile.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCompilersReadGCov: each compiler finds the counts in its own version, and refuses the others.
func TestCompilersReadGCov(t *testing.T) {
	const source = "__attribute__((noinline)) int f(int x) {\n  int s = 0;\n  for (int i = 0; i < x; i++)\n    s += i * i ^ s;\n  return s;\n}\n" +
		"int main(int c, char **v) {\n  int s = 0;\n  for (int i = 0; i < c; i++)\n    s += f(i);\n  return s & 1;\n}\n"
	p := mustRead(t, []byte("f:181000:1000\n 1: 500\n 2: 90000\n 3: 90000\n 4: 500\nmain:3003:0\n 1: 1\n 2: 1500\n 3: 1500 f:1000\n 4: 1\n"))
	dir := t.TempDir()
	oracle.WriteFile(t, filepath.Join(dir, "p.c"), []byte(source))
	for _, gcc := range []int{0, 11, 12} {
		oracle.WriteFile(t, filepath.Join(dir, fmt.Sprint(gcc)), mustWrite(t, p, WriteOptions{Format: FormatGCov, GCC: gcc}))
	}
	for tool, reads := range map[string]int{"gcc-11": 11, "gcc-12": 12} {
		t.Run(tool, func(t *testing.T) {
			exe := oracle.Tool(t, tool)
			for _, gcc := range []int{0, 11, 12} {
				_, stderr, code := oracle.RunIn(t, dir, exe, "-O2", "-g", "-c", "p.c", fmt.Sprintf("-fauto-profile=%d", gcc), "-fdump-ipa-cgraph=dump")
				if (code == 0) != (gcc == reads) {
					t.Errorf("for GCC %d: exit code %d: %s", gcc, code, stderr)
				}
				if dump := ""; gcc == reads {
					dump = string(oracle.ReadFile(t, filepath.Join(dir, "dump")))
					if !strings.Contains(dump, "count:1000 (auto FDO)") {
						t.Errorf("for GCC %d: the compiler did not find the 1000 entries of f:\n%s", gcc, dump)
					}
				}
			}
		})
	}
	t.Run("llvm-profdata", func(t *testing.T) {
		llvm := oracle.LLVM(t, 22)
		want := mustWrite(t, mustRead(t, oracle.ReadFile(t, filepath.Join(dir, "0"))), WriteOptions{Format: FormatText})
		for _, gcc := range []int{0, 11, 12} {
			out, stderr, code := oracle.RunIn(t, dir, llvm, "merge", "--sample", "--text", "-o", "-", fmt.Sprint(gcc))
			if (code == 0) != (gcc == 0) || gcc == 0 && out != string(want) {
				t.Errorf("for GCC %d: exit code %d: %s%s", gcc, code, out, stderr)
			}
		}
	})
}

// TestGCovDamaged: errors name the damaged field; a function that occurs twice counts once.
func TestGCovDamaged(t *testing.T) {
	for word, want := range map[int]string{
		1: "tag is 0x9, want", 13: "tag is 0x9, want", 18: "name is 9, want less than 3, the number of names", 25: "kind of targets is 9, want",
	} {
		data := gcovProfile()
		le.PutUint32(data[8+4*word:], 9)
		if _, err := Read("", data, ReaderOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("word %d: error %v, want %q", word, err, want)
		}
	}
	// Both functions have one name: of the second, only the head counts.
	data := gcovProfile()
	le.PutUint32(data[len(data)-28:], 0)
	const want = "main:8589934603:12\n 3.2: 8589934592 called:5\n 4: inlined:11\n  1: 11\n"
	if got := mustWrite(t, mustRead(t, data), WriteOptions{Format: FormatText}); string(got) != want {
		t.Errorf("%s", got)
	}
}

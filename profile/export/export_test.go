package export

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pprof "github.com/google/pprof/profile"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/coverage"
	"github.com/profuse-pgo/profuse/test/fulldisk"
	"github.com/profuse-pgo/profuse/test/oracle"
)

var update = flag.Bool("update", false, "write the files of testdata anew")

// written exports, and fails the test if that is not possible.
func written(t testing.TB, f Format, v profile.View, opt Options) ([]byte, []Loss) {
	t.Helper()
	var b bytes.Buffer
	losses, err := Write(&b, f, v, opt)
	if err != nil {
		t.Fatalf("%s: %v", f, err)
	}
	return b.Bytes(), losses
}

// TestGolden pins the files of each format, and what is said to be lost. Files
// of pprof are shown as its library prints them.
func TestGolden(t *testing.T) {
	for _, tc := range []struct {
		file   string
		format Format
		v      profile.View
		opt    Options
	}{
		{"java.pprof.txt", "pprof", javaView(), Options{}},
		{"java-receivers.pprof.txt", "pprof", javaView(), Options{Table: "receivers"}},
		{"heap.pprof.txt", "pprof", heapView(), Options{Value: "alloc_objects", Demangle: true}},
		{"counter.pprof.txt", "pprof", counterView(), Options{}},
		{"java.folded", "folded", javaView(), Options{Signatures: true, Lines: true}},
		{"heap.folded", "folded", heapView(), Options{Value: "alloc_objects", Demangle: true, Lines: true}},
		{"counter.folded", "folded", counterView(), Options{}},
		{"counter-edges.folded", "folded", counterView(), Options{Table: edgeSet, Demangle: true}},
		{"java.speedscope.json", "speedscope", javaView(), Options{Value: "receivers"}},
		{"heap.speedscope.json", "speedscope", heapView(), Options{Lines: true}},
		{"java.json", "json", javaView(), Options{}},
		{"heap.json", "json", heapView(), Options{}},
		{"counter.json", "json", counterView(), Options{}},
		{"java.ndjson", "ndjson", javaView(), Options{}},
		{"counter.ndjson", "ndjson", counterView(), Options{}},
		{"counter.csv", "csv", counterView(), Options{}},
		{"counter-edges.csv", "csv", counterView(), Options{Table: edgeSet}},
		{"counter-traces.csv", "csv", counterView(), Options{Table: traceSet}},
		{"heap.csv", "csv", heapView(), Options{}},
		{"java.callgrind", "callgrind", javaView(), Options{}},
		{"heap.callgrind", "callgrind", heapView(), Options{}},
		{"counter.callgrind", "callgrind", counterView(), Options{Demangle: true}},
		{"source.info", lcov, sourceView(), Options{Demangle: true}},
		{"functions.info", lcov, sourceView().fakeView, Options{Table: profile.FunctionSet}},
	} {
		t.Run(tc.file, func(t *testing.T) {
			got, losses := written(t, tc.format, tc.v, tc.opt)
			if tc.format == "pprof" {
				p, err := pprof.ParseData(got)
				if err != nil {
					t.Fatal(err)
				}
				got = []byte(p.String())
			}
			if tc.format != "json" && tc.format != "speedscope" && len(got) > 0 && got[len(got)-1] != '\n' {
				got = append(got, '\n')
			}
			got = append(got, "== lost ==\n"...)
			for _, l := range losses {
				got = append(got, l.String()+"\n"...)
			}
			path := filepath.Join("testdata", tc.file)
			if *update {
				oracle.WriteFile(t, path, got)
			}
			want := oracle.ReadFile(t, path)
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFixtures exports every fixture, or some of them, to every format, in all
// its tables, twice: it works and is the same.
func TestFixtures(t *testing.T) {
	views := fakeViews()
	for i, nv := range realViews(t) {
		if i%oracle.Step(5) == 0 {
			views = append(views, nv)
		}
	}
	for _, nv := range views {
		for _, f := range Formats() {
			for _, table := range append(tables(nv.v), "") {
				opt := Options{Table: table}
				var first, second bytes.Buffer
				_, err := Write(&first, f, nv.v, opt)
				if err != nil {
					if f.ofCoverage() && strings.Contains(err.Error(), "source lines") || f == llvmJSON {
						continue // see TestNoSourceLines and TestLLVMJSON
					}
					if table == traceSet && strings.Contains(err.Error(), `table "traces" has no stacks, which `+string(f)+` is made of`) {
						continue
					}
					t.Errorf("%s to %s, table %q: %v", nv.name, f, table, err)
					continue
				}
				if _, err := Write(&second, f, nv.v, opt); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
					t.Errorf("%s to %s, table %q differs from itself (%v)", nv.name, f, table, err)
				}
			}
		}
	}
}

// TestSums: the formats agree with the view, and with each other, on the sum of
// each value and on the stacks it is made of.
func TestSums(t *testing.T) {
	for _, nv := range append(realViews(t), fakeViews()...) {
		sets := append(slices.Clone(nv.v.Stacks()), functionStacks(nv.v), edgeStacks(nv.v))
		for _, set := range sets {
			if !slices.Contains(tables(nv.v), set.Name) {
				continue
			}
			for i, value := range set.Values {
				if value.Combine != profile.Sum {
					continue
				}
				var want, stacks uint64
				for _, s := range collect(set) {
					v := s.Values[i]
					if v > 0 {
						stacks++
					}
					want += min(v, math.MaxInt64) // as pprof has it
				}
				where := fmt.Sprintf("%s, %s, %s", nv.name, set.Name, value.Name)

				data, _ := written(t, "pprof", nv.v, Options{Table: set.Name})
				p, err := pprof.ParseData(data)
				if err != nil {
					t.Fatalf("%s: %v", where, err)
				}
				column := slices.IndexFunc(p.SampleType, func(vt *pprof.ValueType) bool { return vt.Type == value.Name })
				var got uint64
				for _, s := range p.Sample {
					got += uint64(s.Value[column])
				}
				if got != want {
					t.Errorf("%s: pprof has %d, want %d", where, got, want)
				}

				data, _ = written(t, "folded", nv.v, Options{Table: set.Name, Value: value.Name})
				got = 0
				lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
				if len(data) == 0 {
					lines = nil
				}
				for _, line := range lines {
					var v uint64
					if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &v); err != nil {
						t.Fatalf("%s: %q", where, line)
					}
					got += min(v, math.MaxInt64)
				}
				if got != want || uint64(len(lines)) != stacks {
					t.Errorf("%s: folded has %d in %d stacks, want %d in %d", where, got, len(lines), want, stacks)
				}
			}
		}
	}
}

// TestErrors: what of the options there is not is said, and nothing written.
func TestErrors(t *testing.T) {
	odd := &fakeView{stacks: []profile.StackSet{{Name: "odd", Values: []profile.ValueType{{Name: "greatest", Combine: profile.Max}}, ReusedStacks: reusing(nil)}}}
	for _, tc := range []struct {
		format Format
		v      profile.View
		opt    Options
		want   string
	}{
		{"svg", javaView(), Options{}, `unknown format "svg": want one of pprof, folded, speedscope, json, ndjson, csv, callgrind, lcov, cobertura, sonar, codecov, coveralls, llvm-json`},
		{"json", javaView(), Options{Table: "x"}, `no table "x" in this profile: want one of samples, receivers, functions, edges`},
		{"folded", heapView(), Options{Table: "edges"}, `no table "edges" in this profile: want one of allocations, functions`},
		{"folded", heapView(), Options{Value: "x"}, `no value "x" that adds up over stacks: want one of alloc_space, alloc_objects, lifetime`},
		{"pprof", heapView(), Options{Value: "max_lifetime"}, `no value "max_lifetime" that adds up over stacks: want one of alloc_space, alloc_objects, lifetime`},
		{"speedscope", javaView(), Options{Value: "x"}, `no value "x" that adds up over stacks: want one of samples, receivers`},
		{"callgrind", heapView(), Options{Value: "lifetime"}, "callgrind files have all values: none is chosen"},
		{"callgrind", counterView(), Options{Table: traceSet}, `table "traces" has no stacks, which callgrind is made of`},
		{"pprof", odd, Options{}, `table "odd" has no value that adds up over stacks`},
		{"folded", odd, Options{}, `table "odd" has no value that adds up over stacks`},
		{"speedscope", odd, Options{}, `table "odd" has no value that adds up over stacks`},
		{"callgrind", odd, Options{}, `table "odd" has no value that adds up over stacks`},
	} {
		var b bytes.Buffer
		_, err := Write(&b, tc.format, tc.v, tc.opt)
		if err == nil || err.Error() != tc.want || b.Len() > 0 {
			t.Errorf("%s %+v: error %v, want %s; %d bytes written", tc.format, tc.opt, err, tc.want, b.Len())
		}
	}
}

// TestWriteFails: an error of the file is never swallowed.
func TestWriteFails(t *testing.T) {
	many, lined := counterView(), sourceView()
	for range 12 { // so that buffers overflow before the end
		many.functions = append(many.functions, many.functions...)
		lined.functions = append(lined.functions, lined.functions...)
	}
	for i := range 10_000 {
		lined.lines = append(lined.lines, profile.Line{File: "Fib.java", Number: uint32(i + 1)})
	}
	for _, v := range []profile.View{counterView(), many, sourceView(), lined} {
		for _, f := range Formats() {
			if _, known := v.(profile.LineView); f.ofCoverage() && !known || f == llvmJSON {
				continue
			}
			data, _ := written(t, f, v, Options{})
			for _, n := range []int{0, len(data) / 2, len(data) - 1} {
				if _, err := Write(&fulldisk.Writer{Room: n}, f, v, Options{}); !errors.Is(err, fulldisk.ErrFull) {
					t.Errorf("%s, %d of %d bytes: %v", f, n, len(data), err)
				}
			}
			if _, err := Write(&fulldisk.Writer{Room: len(data)}, f, v, Options{}); err != nil {
				t.Errorf("%s: %v", f, err)
			}
		}
	}
}

// TestFormats: each format has all that is told of it.
func TestFormats(t *testing.T) {
	seen := make(map[string]bool)
	for _, f := range Formats() {
		if !strings.HasPrefix(f.Suffix(), ".") || seen[f.Suffix()] || f.Description() == "" {
			t.Errorf("%s: suffix %q, description %q", f, f.Suffix(), f.Description())
		}
		seen[f.Suffix()] = true
	}
	for _, f := range coverage.Formats() {
		if !seen[Format(f).Suffix()] {
			t.Errorf("%s is in no row", f)
		}
	}
	if f := Format("x"); f.Suffix() != "" || f.Description() != "" {
		t.Error("an unknown format is known")
	}
}

// TestPprofCompressed: pprof files are gzip streams without a time, so that they do not change from day to day.
func TestPprofCompressed(t *testing.T) {
	data, _ := written(t, "pprof", javaView(), Options{})
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if !z.ModTime.IsZero() || z.Name != "" {
		t.Errorf("header %+v", z.Header)
	}
	if _, err := io.Copy(io.Discard, z); err != nil {
		t.Error(err)
	}
}

// TestDocument: the table of docs/export.md is what the package says.
func TestDocument(t *testing.T) {
	text := oracle.ReadFile(t, filepath.Join(oracle.Root(t), "docs", "export.md"))
	for _, f := range Formats() {
		row := fmt.Sprintf("\n| `%s` | `%s` | %s | ", f, f.Suffix(), f.Description())
		_, lacks, ok := strings.Cut(string(text), row)
		if all := f == "json" || f == "ndjson"; !ok || all != strings.HasPrefix(lacks, "|\n") {
			t.Errorf("docs/export.md lacks the row%s…", row)
		}
	}
}

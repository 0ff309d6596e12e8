package irpgocmd

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// What llvm-profdata says of a profile, show must say too.
func TestFactsAgainstLLVM(t *testing.T) {
	if testing.Short() {
		t.Skip("starts hundreds of processes, which is slow under the race detector")
	}
	tool := oracle.LLVM(t, 22)
	compared := 0
	for i, f := range oracle.Fixtures(t) {
		if i%oracle.Step(5) != 0 {
			continue
		}
		stdout, _, code := oracle.Run(t, tool, "show", "--all-functions", "--ic-targets", "--memop-sizes", "--show-vtables",
			"--binary-ids", "--profile-version", "--detailed-summary", f.File())
		got, err := collectFacts(f.Path, f.Bytes(t), factsOptions{})
		if code != 0 || err != nil {
			continue // which files are refused is tested where they are read
		}
		compared++
		t.Run(f.Path, func(t *testing.T) {
			compareFacts(t, got, stdout)
		})
	}
	if compared < 50/oracle.Step(5) {
		t.Errorf("only %d fixtures compared", compared)
	}
}

func compareFacts(t *testing.T, f *counterFacts, llvm string) {
	number := func(section, label string) (uint64, bool) {
		_, rest, ok := strings.Cut(llvm, section)
		_, rest, ok2 := strings.Cut(rest, label+": ")
		line, _, _ := strings.Cut(rest, "\n")
		n, err := strconv.ParseUint(line, 10, 64)
		return n, ok && ok2 && err == nil
	}
	check := func(section, label string, got uint64) {
		t.Helper()
		if want, ok := number(section, label); ok && got != want {
			t.Errorf("%s: %d, llvm-profdata says %d", label, got, want)
		} else if !ok {
			t.Errorf("llvm-profdata does not say %q", label)
		}
	}
	check("", "Functions shown", uint64(f.Records-f.CSRecords))
	switch f.Format {
	case "raw":
		check("", "Profile version", f.VersionWord)
	default:
		check("", "Profile version", uint64(f.Version))
	}
	// Of context-sensitive records llvm-profdata counts other sites.
	if f.CSRecords == 0 {
		for k, section := range []string{
			"Statistics for indirect call sites profile", "Statistics for memory intrinsic calls sizes profile",
			"Statistics for vtable profile",
		} {
			if !strings.Contains(llvm, section) {
				if f.Values[k].Sites > 0 {
					t.Errorf("%d sites, llvm-profdata has no %q", f.Values[k].Sites, section)
				}
				continue
			}
			check(section, "Total number of sites", uint64(f.Values[k].Sites))
			check(section, "Total number of sites with values", uint64(f.Values[k].SitesWithValues))
			check(section, "Total number of profiled values", uint64(f.Values[k].Values))
		}
	}
	for _, id := range f.BinaryIDs {
		if !strings.Contains(llvm, "\n"+id+"\n") {
			t.Errorf("binary id %s, unknown to llvm-profdata", id)
		}
	}
	if slices.ContainsFunc(f.Warnings, func(w *console.Error) bool { return strings.Contains(w.Message, "the summary in the file lacks") }) {
		return // llvm-profdata computes another one
	}
	check("", "Total functions", f.Summary.Functions)
	check("", "Maximum function count", f.Summary.MaxFunctionCount)
	check("", "Maximum internal block count", f.Summary.MaxInternalCount)
	check("", "Total number of blocks", f.Summary.Counters)
	check("", "Total count", f.Summary.TotalCount)
	_, detailed, _ := strings.Cut(llvm, "Detailed summary:")
	for _, c := range f.Summary.Cutoffs {
		want := fmt.Sprintf("\n%d blocks (", c.Counters)
		level := fmt.Sprintf(") with count >= %d account for %s%% ", c.MinCount, llvmPercent(c.Cutoff))
		if before, _, ok := strings.Cut(detailed, level); !ok || !strings.Contains(before[strings.LastIndexByte(before, '\n'):], want) {
			t.Errorf("cutoff %d: %d counters from %d up, llvm-profdata says\n%s", c.Cutoff, c.Counters, c.MinCount, detailed)
		}
	}
}

// llvmPercent prints millionths as llvm-profdata does: with six digits.
func llvmPercent(millionths uint64) string {
	return strconv.FormatFloat(float64(millionths)/10_000, 'g', 6, 64)
}

// Cut off anywhere, a profile is shown as far as it goes, with an error, and never more than is there.
func TestFactsTruncated(t *testing.T) {
	for _, path := range []string{"clang22/ir-run1.profraw", "clang22/tool-a.profraw"} {
		data := oracle.ReadFile(t, filepath.Join(oracle.Root(t), "testdata", "irpgo", path))
		whole, err := collectFacts(path, data, factsOptions{top: 3})
		if err != nil {
			t.Fatal(err)
		}
		for n, cut := range hostile.Cuts(data, 1) {
			f, err := collectFacts(path, cut, factsOptions{top: 3, choose: regexp.MustCompile("")})
			if (err == nil) != (f.Error == nil) {
				t.Fatalf("%s cut to %d bytes: error %v, facts say %v", path, n, err, f.Error)
			}
			if err == nil && f.Records != whole.Records {
				t.Errorf("%s cut to %d bytes: %d records and no error", path, n, f.Records)
			}
			if f.Records > whole.Records || f.TotalCount > whole.TotalCount || len(f.Selected) != f.Records {
				t.Errorf("%s cut to %d bytes: %d records, %d listed, total count %d", path, n, f.Records, len(f.Selected), f.TotalCount)
			}
		}
	}
}

// No array is null in the JSON, whatever is wrong with the file.
func TestFactsJSONArrays(t *testing.T) {
	for _, f := range oracle.Fixtures(t) {
		got, _ := collectFacts(f.Path, f.Bytes(t), factsOptions{top: 1, choose: regexp.MustCompile("")})
		b, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var fields any
		if err := json.Unmarshal(b, &fields); err != nil {
			t.Fatal(err)
		}
		noNullBut(t, f.Path, fields, "summary", "cs_summary", "error", "symbol")
	}
}

func noNullBut(t *testing.T, path string, v any, allowed ...string) {
	switch v := v.(type) {
	case map[string]any:
		for name, field := range v {
			if field == nil && !slices.Contains(allowed, name) {
				t.Errorf("%s: %s is null", path, name)
			}
			noNullBut(t, path+"."+name, field, allowed...)
		}
	case []any:
		for _, e := range v {
			noNullBut(t, path+"[]", e, allowed...)
		}
	}
}

func TestFactsPseudoCounts(t *testing.T) {
	const text = `:ir
hot
1
2
18446744073709551615
18446744073709551615

warm
1
1
18446744073709551614

never
1
2
0
0

often
1
2
18446744073709551613
7
`
	f, err := collectFacts("pseudo.proftext", []byte(text), factsOptions{top: 9})
	if err != nil {
		t.Fatal(err)
	}
	if f.PseudoHotRecords != 1 || f.PseudoWarmRecords != 1 || f.FunctionsNotRun != 1 || f.Functions != 4 {
		t.Errorf("%d hot, %d warm, %d never ran of %d", f.PseudoHotRecords, f.PseudoWarmRecords, f.FunctionsNotRun, f.Functions)
	}
	if f.TotalCount != math.MaxUint64 {
		t.Errorf("total count %d does not saturate", f.TotalCount)
	}
	if len(f.Hottest) != 1 || f.Hottest[0].Name != "often" || f.Hottest[0].Share != 1 {
		t.Errorf("hottest: %+v", f.Hottest)
	}
}

// An indexed profile whose summary was tampered with is told of.
func TestFactsForeignSummary(t *testing.T) {
	p := &irpgo.Profile{Variant: irpgo.IRLevel, Functions: []irpgo.Function{
		{Name: "f", Records: []*irpgo.Record{{Name: "f", Hash: 1, Counts: []uint64{5}}}},
	}}
	data, err := oracle.Written(func(w io.Writer) error { return irpgo.WriteIndexed(w, p, irpgo.IndexedOptions{}) })
	if err != nil {
		t.Fatal(err)
	}
	f, err := collectFacts("good", data, factsOptions{})
	if err != nil || len(f.Warnings) != 0 || !f.Summary.Stored {
		t.Fatalf("%v, warnings %q, summary stored: %v", err, f.Warnings, f.Summary.Stored)
	}
	const totalCount = 9*8 + 2*8 + 5*8 // header, numbers of fields and cutoffs, five fields
	if data[totalCount] != 5 {
		t.Fatalf("the total count is not where the test looks: %d", data[totalCount])
	}
	data[totalCount]++
	f, err = collectFacts("tampered", data, factsOptions{})
	if err != nil || len(f.Warnings) != 1 {
		t.Errorf("%v, warnings %q, want one", err, f.Warnings)
	}
}

func TestSizeRange(t *testing.T) {
	for v, want := range map[uint64]string{
		0: "0 bytes", 1: "1 byte", 8: "8 bytes", 9: "9 to 15 bytes", 16: "16 bytes", 17: "17 to 31 bytes",
		257: "257 to 511 bytes", 512: "512 bytes", 513: "513 bytes or more", 1024: "1,024 bytes", 12: "12 bytes",
		math.MaxUint64: "18,446,744,073,709,551,615 bytes",
	} {
		if got := sizeRange(v); got != want {
			t.Errorf("%d: %q, want %q", v, got, want)
		}
	}
}

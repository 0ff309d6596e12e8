package cov

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// A releaseOutput is an output that releases of llvm-cov write, and what of it is the same in all of them.
type releaseOutput struct {
	name string
	args []string
	same func(text string) string
}

var (
	branchRecord = regexp.MustCompile(`(?m)^BRDA:.*\n`)
	rule         = regexp.MustCompile(`(?m)^-+$`)
)

var releaseOutputs = []releaseOutput{
	// LLVM 22 also lists branches of macros at the expansion, and adds some up.
	{"lcov", []string{"export", "-format=lcov"}, func(s string) string { return branchRecord.ReplaceAllString(s, "") }},
	{"json", []string{"export"}, sameJSON},
	// Before LLVM 19 the rule of dashes is longer than the table.
	{"report", []string{"report"}, func(s string) string { return rule.ReplaceAllString(s, "-") }},
	{"show", []string{"show"}, func(s string) string { return s }},
}

// sameJSON removes the version, the MC/DC fields that LLVM 18 added, and the branches of files,
// because LLVM 22 adds the branches in macros.
func sameJSON(text string) string {
	var document any
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		return text
	}
	var strip func(value any)
	strip = func(value any) {
		switch v := value.(type) {
		case map[string]any:
			for _, key := range []string{"version", "mcdc", "mcdc_records"} {
				delete(v, key)
			}
			if v["segments"] != nil {
				delete(v, "branches")
			}
			for _, inner := range v {
				strip(inner)
			}
		case []any:
			for _, inner := range v {
				strip(inner)
			}
		}
	}
	strip(document)
	out, _ := json.Marshal(document)
	return string(out)
}

// TestReleases: older releases of llvm-cov write the same but for what docs/llvm-cov.md
// says, of programs that they can read. It logs how many outputs are equal byte for byte.
func TestReleases(t *testing.T) {
	oracle.Slow(t)
	releases := []int{14, 16, 19, 22}
	equal, total := make(map[string]int), make(map[string]int)
	for _, version := range releases {
		for _, p := range programs {
			for _, level := range []string{"-O0", "-O2"} {
				if version < p.from {
					continue
				}
				t.Run(fmt.Sprint(p.sources[0], version, level, p.options), func(t *testing.T) {
					clang := "clang"
					if strings.HasSuffix(p.sources[0], ".cpp") {
						clang = "clang++"
					}
					clang = llvmTool(t, version, clang)
					copySources(t)
					sh(t, clang, slices.Concat(instrumented, p.options, p.sources, []string{level, "-o", "program"})...)
					profileOf(t, version, "program")
					for _, o := range releaseOutputs {
						args := append(slices.Clone(o.args), "-instr-profile=program.profdata", "program")
						ours := runMain(t, args...).stdout
						for _, release := range releases[slices.Index(releases, version):] {
							theirs := sh(t, llvmTool(t, release, "llvm-cov"), args...)
							row := fmt.Sprintf("%-6s of llvm-cov %d", o.name, release)
							total[row]++
							if ours == theirs {
								equal[row]++
							}
							if ours, theirs := o.same(ours), o.same(theirs); ours != theirs {
								t.Errorf("%s: %s", row, parting(ours, theirs))
							}
						}
					}
				})
			}
		}
	}
	for row := range total {
		t.Logf("%s: %d of %d equal", row, equal[row], total[row])
	}
	for _, o := range releaseOutputs {
		if row := fmt.Sprintf("%-6s of llvm-cov 22", o.name); equal[row] != total[row] || total[row] < 40 {
			t.Errorf("%s: %d of %d equal", row, equal[row], total[row])
		}
	}
}

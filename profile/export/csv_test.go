package export

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

// TestFormulas: no text of a profile is a formula in a spreadsheet, and numbers remain numbers.
func TestFormulas(t *testing.T) {
	for name, want := range map[string]string{
		"=HYPERLINK(\"http://x\")": "'=HYPERLINK(\"http://x\")",
		"+[Class method]":          "'+[Class method]",
		"-[Class method]":          "'-[Class method]",
		"@SUM(A1)":                 "'@SUM(A1)",
		"\t=1+1":                   "'\t=1+1",
		"\r=1+1":                   "'\r=1+1",
		"\n=1+1":                   "'\n=1+1",
		"main":                     "main",
		"a=b":                      "a=b",
		"":                         "",
	} {
		for raw, want := range map[bool]string{false: want, true: name} {
			var out strings.Builder
			e := &exporter{opt: Options{RawCells: raw}}
			c := csvTable{e: e, w: csv.NewWriter(&out)}
			c.symbol(&profile.Symbol{Name: name, Signature: name, File: name})
			c.labels([]profile.Label{{Key: name, Value: "v"}})
			c.int(-5)
			c.float(-0.5)
			label := want + "=v"
			if name == "" && !raw {
				label = "'=v"
			}
			got := strings.Join(c.row, "|")
			if expect := strings.Join([]string{want, want, want, "0", "", label, "-5", "-0.5"}, "|"); got != expect {
				t.Errorf("%q, raw %t: %q, want %q", name, raw, got, expect)
			}
		}
	}
}

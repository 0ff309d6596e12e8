package irpgocmd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/test/alike"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestFitRules: which records compilers use, what they warn of, and which functions seem to be renamed.
func TestFitRules(t *testing.T) {
	const cs = 1 << 60
	type shapes = map[string][]shape
	for _, c := range []struct {
		name    string
		profile string // functions "name hash count …", separated by semicolons
		front   bool
		program shapes
		want    string // warnings, and functions that do not fit
	}{
		{
			"all fit", "f 1 5 6, g 2 3", false,
			shapes{"f": {{1, 2}}, "g": {{2, 0}}},
			"0 mismatched, 0 inconsistent, 0 missing",
		},
		{
			"another hash", "f 1 5 6", false,
			shapes{"f": {{2, 2}}},
			"1 mismatched, 0 inconsistent, 0 missing; f changed 11 of 11, warned 11",
		},
		{
			"another number of counters", "f 1 5 6", false,
			shapes{"f": {{1, 3}}},
			"0 mismatched, 1 inconsistent, 0 missing; f counters 11 of 11, warned 11",
		},
		{
			"two versions, one of which fits", "f 1 5 6, f 2 7", false,
			shapes{"f": {{2, 1}}},
			"0 mismatched, 0 inconsistent, 0 missing; f other 11 of 18, warned 0",
		},
		{
			"two versions, none of which fits: clang names the greater", "f 1 5 6, f 2 7", false,
			shapes{"f": {{3, 1}}},
			"1 mismatched, 0 inconsistent, 0 missing; f changed 18 of 18, warned 11",
		},
		{
			"two copies in the program, one of which fits", "f 1 5 6", false,
			shapes{"f": {{1, 2}, {2, 2}}},
			"1 mismatched, 0 inconsistent, 0 missing",
		},
		{
			"gone and new", "f 1 5 6", false,
			shapes{"g": {{2, 2}}},
			"0 mismatched, 0 inconsistent, 1 missing; f gone 11 of 11, warned 0",
		},
		{
			"renamed: alone of its shape", "f 1 5 6, g 2 3", false,
			shapes{"h": {{1, 2}}, "g": {{2, 1}}},
			"0 mismatched, 0 inconsistent, 1 missing; f renamed h 11 of 11, warned 0",
		},
		{
			"not renamed: another has its shape", "f 1 5 6, g 1 3 4", false,
			shapes{"h": {{1, 2}}},
			"0 mismatched, 0 inconsistent, 1 missing; f gone 11 of 11, warned 0; g gone 7 of 7, warned 0",
		},
		{
			"not renamed: one counter", "f 1 5", false,
			shapes{"h": {{1, 1}}},
			"0 mismatched, 0 inconsistent, 1 missing; f gone 5 of 5, warned 0",
		},
		{
			"renamed: another folder", "a/x.c;f 1 5", false,
			shapes{"b/x.c;f": {{1, 1}}},
			"0 mismatched, 0 inconsistent, 1 missing; a/x.c;f renamed b/x.c;f 5 of 5, warned 0",
		},
		{
			"a local function of older releases", "x.c:f 1 5 6", false,
			shapes{"x.c;f": {{1, 2}}},
			"0 mismatched, 0 inconsistent, 0 missing",
		},
		{
			"a newer name is unknown to older releases", "x.c;f 1 5 6", false,
			shapes{"x.c:f": {{1, 2}}},
			"0 mismatched, 0 inconsistent, 1 missing; x.c;f renamed x.c:f 11 of 11, warned 0",
		},
		{
			"records without contexts are not judged by a context-sensitive build", fmt.Sprintf("f 1 5 6, f %d 4", uint64(cs+2)), false,
			shapes{"f": {{cs + 3, 1}}},
			"1 mismatched, 0 inconsistent, 0 missing; f changed 4 of 4, warned 4",
		},
		{
			"bit 60 means nothing in hashes of the front end", fmt.Sprintf("f %d 5 6", uint64(cs+2)), true,
			shapes{"f": {{3, 2}}},
			"0 mismatched, 0 inconsistent, 1 missing, 1 unlike; f changed 11 of 11, warned 11",
		},
		{
			"a verdict instead of counts", "f 1 18446744073709551615 18446744073709551615", false,
			shapes{"f": {{2, 2}}},
			"1 mismatched, 0 inconsistent, 0 missing; f changed 0 of 0, warned 0",
		},
	} {
		var text strings.Builder
		if !c.front {
			text.WriteString(":ir\n")
		}
		for _, f := range strings.Split(c.profile, ", ") {
			w := strings.Fields(f)
			fmt.Fprintf(&text, "%s\n%s\n%d\n%s\n\n", w[0], w[1], len(w)-2, strings.Join(w[2:], "\n"))
		}
		p := oracle.Must(irpgo.Read("profile", []byte(text.String()), irpgo.ReaderOptions{}))(t)
		d := &demand{shapes: c.program, records: true}
		d.count()
		oracle.NoError(t, d.admit(p, "program", "profile"))
		f := compareWithDemand(p, d, "program")
		f.fit()
		w := f.facts.Warnings
		got := fmt.Sprintf("%d mismatched, %d inconsistent, %d missing", w.Mismatched, w.Inconsistent, w.Missing)
		if w.Unlike > 0 {
			got += fmt.Sprintf(", %d unlike", w.Unlike)
		}
		for _, fn := range f.facts.Stale {
			all := uint64(0)
			for i := range f.functions {
				if f.functions[i].Name == fn.Name {
					all = f.functions[i].all
				}
			}
			got += fmt.Sprintf("; %s %s of %d, warned %d", fn.Name, strings.Join(strings.Fields(fmt.Sprint(fn.Condition, " ", fn.NewName, " ", fn.Stale)), " "), all, fn.Warned)
		}
		alike.Values(t, c.name, c.want, got)
	}
}

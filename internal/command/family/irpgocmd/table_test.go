package irpgocmd

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/test/oracle"
)

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

func printFacts(t *testing.T, f *counterFacts, term cli.Terminal) string {
	t.Helper()
	var b bytes.Buffer
	p := &family.Printer{Printer: console.Printer{W: &b, Term: term}, Cutoffs: true, Counts: true, Values: true}
	f.Print(p)
	return b.String()
}

// On a terminal nothing is wider than it. Elsewhere nothing is shortened, and there are no escape sequences.
func TestTableWidth(t *testing.T) {
	opt := factsOptions{top: 10, choose: regexp.MustCompile("")}
	for i, fixture := range oracle.Fixtures(t) {
		if i%oracle.Step(3) != 0 {
			continue
		}
		f, _ := collectFacts(fixture.Path, fixture.Bytes(t), opt)
		for _, width := range []int{80, 100, 132} {
			text := printFacts(t, f, cli.Terminal{Interactive: true, Color: true, Width: width})
			if f.TotalCount > 1e15 && width < 100 {
				continue // its numbers alone are wider than some terminals
			}
			for line := range strings.Lines(escapes.ReplaceAllString(text, "")) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%s, %d columns: %q has %d", fixture.Path, width, line, n)
				}
			}
		}
		text := printFacts(t, f, cli.Terminal{})
		if escapes.MatchString(text) {
			t.Errorf("%s: escape sequences in a file", fixture.Path)
		}
		for _, fn := range f.Hottest {
			if want := (&family.Printer{}).Symbol(fn.Symbol); f.variant == 0 && !strings.Contains(text, want) {
				t.Errorf("%s: no %q in the text", fixture.Path, want)
			}
		}
		for line := range strings.Lines(text) {
			if strings.TrimRight(line, " \n")+"\n" != line {
				t.Errorf("%s: spaces at the end of %q", fixture.Path, line)
			}
		}
	}
}

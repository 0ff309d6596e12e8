package command

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/command/families"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
)

// TestFamilies: every format belongs to one family, and every family can write sums that
// lose nothing, which fleets need.
func TestFamilies(t *testing.T) {
	for _, f := range formats.All() {
		n := 0
		for _, known := range families.All {
			if slices.Contains(known.Kinds, f.Family()) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: its family %s is one of %d families of commands, want 1", f, f.Family(), n)
		}
	}
	fleets, err := os.ReadFile("../../docs/fleet.md") // its table of files lists those of partial sums
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range families.All {
		if known.Help.Merge == "" || len(known.Help.Show) == 0 {
			t.Errorf("family %v: the help texts of merge and show say nothing of it", known.Kinds)
		}
		results := known.Adder().Results()
		exact := slices.IndexFunc(results, func(r merging.Result) bool { return r.Exact != "" })
		if exact < 0 {
			t.Errorf("family %v: no result is exact", known.Kinds)
		} else if suffix := results[exact].Exact; !strings.Contains(string(fleets), suffix+"`") {
			t.Errorf("family %v: docs/fleet.md has no partial sum *%s", known.Kinds, suffix)
		}
	}
}

// TestChoicesAreExplained: the help text of a command has every word that one of its options takes,
// so that a list written by hand cannot lack one.
func TestChoicesAreExplained(t *testing.T) {
	choices := 0
	var look func(path string, commands []*cli.Command)
	look = func(path string, commands []*cli.Command) {
		for _, c := range commands {
			look(path+" "+c.Name, c.Commands)
			if c.Setup == nil {
				continue
			}
			f := cli.NewFlags(c.Name)
			c.Setup(f)
			f.VisitAll(func(o *flag.Flag) {
				choice, ok := o.Value.(*cli.Choice)
				if !ok {
					return
				}
				choices++
				text := strings.FieldsFunc(o.Usage+" "+c.Long, func(r rune) bool { return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
				for _, word := range choice.Allowed {
					if !slices.Contains(text, word) {
						t.Errorf("%s %s --%s: the help text lacks %q", path, c.Name, o.Name, word)
					}
				}
			})
		}
	}
	look("profuse", app().Commands)
	if choices < 10 {
		t.Errorf("%d options have a choice", choices)
	}
}

package command

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/command/families"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// docs/commands.md is made of the help texts: with -update, by this test.
func TestReference(t *testing.T) {
	made := reference()
	file := filepath.Join("..", "..", "docs", "commands.md")
	if *update {
		oracle.WriteFile(t, file, []byte(made))
	}
	written := oracle.ReadFile(t, file)
	if diff := cmp.Diff(string(written), made); diff != "" {
		t.Errorf("docs/commands.md is not what the commands say; go test ./internal/command -run Reference -update writes it\n%s", diff)
	}
}

// reference returns the help texts of all commands as one Markdown document, a section
// each, those of nested lists after the command that they stand under.
func reference() string {
	var list, sections strings.Builder
	var add func(path []string, commands []*cli.Command)
	add = func(path []string, commands []*cli.Command) {
		for _, c := range commands {
			at := append(slices.Clip(path), c.Name)
			title := "profuse " + strings.Join(at, " ")
			// Markdown viewers join the words of a heading by dashes.
			fmt.Fprintf(&list, "- [%s](#%s): %s\n", title, strings.ReplaceAll(title, " ", "-"), c.Short)
			fmt.Fprintf(&sections, "\n## %s\n\n```text\n", title)
			app().Run(context.Background(), &cli.Env{Stdout: &sections}, append([]string{"help"}, at...))
			sections.WriteString("```\n")
			add(at, c.Commands)
		}
	}
	add(nil, app().Commands)
	return "# Reference of profuse\n\nThis page contains the output of `profuse help COMMAND` for all commands.\n\n" + list.String() + exitCodes + sections.String()
}

// exitCodes is the section about them.
const exitCodes = `
## Exit codes

| code | command | meaning |
|--:|---|---|
| 0 | all commands | done |
| 1 | all commands | failed: a file that is missing, a full disk, no profile |
| 1 | ` + "`check`" + ` | a file is not sound, or differs too much from the profile of ` + "`--against`" + ` |
| 1 | ` + "`show`, `salvage`, `watch --once`" + ` | one of the files cannot be read or merged |
| 1 | ` + "`doctor`" + ` | an instrumented process left no profile that can be read, or no process is instrumented |
| 1 | ` + "`coverage`, `coverage tests`" + ` | a limit is missed |
| 2 | all commands | the command line is wrong; nothing was done |
| 4 | ` + "`merge`, `coverage`, `fleet reduce`" + ` | more inputs or functions are lost than the budget allows; nothing is written |
| that of the command | ` + "`coverage -- COMMAND`, `cc`" + ` | the command, or the compiler, failed |
| 128 + N | all commands | signal N ended the command; ` + "`watch` and `view`" + ` end with 0 |

The drop-in commands have the exit codes of LLVM's tools: 0, or 1 after an error.
`

// TestRelease: the program has the version of the newest changes.
func TestRelease(t *testing.T) {
	changes := oracle.ReadFile(t, "../../CHANGELOG.md")
	heading := regexp.MustCompile(`(?m)^## (\S+)`).FindSubmatch(changes)
	if heading == nil || string(heading[1]) != release {
		t.Errorf("CHANGELOG.md begins with %q, profuse version with %q", heading, release)
	}
}

func TestVersionOf(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for _, test := range []struct {
		what, main, revision, modified, want string
	}{
		{"go install of a release", "v" + release, "", "", release},
		{"a tag that is checked out", "v" + release, commit, "false", release},
		{"a tag with changes", "v" + release + "+dirty", commit, "true", release + "+0123456789ab.dirty"},
		{"a commit before the first tag", "v0.0.0-20261126013000-0123456789ab", commit, "false", release + "+0123456789ab"},
		{"a commit after a tag", "v1.0.0-rc.0.0.20261126013000-0123456789ab+dirty", commit, "true", release + "+0123456789ab.dirty"},
		{"go install of a commit", "v0.0.0-20261126013000-0123456789ab", "", "", release + "+0123456789ab"},
		{"old Go", "(devel)", commit, "false", release + "+0123456789ab"},
		{"no repository", "(devel)", "", "", release + "+unknown"},
		{"no module", "", "", "", release + "+unknown"},
	} {
		t.Run(test.what, func(t *testing.T) {
			info := &debug.BuildInfo{Main: debug.Module{Version: test.main}}
			for key, value := range map[string]string{"vcs.revision": test.revision, "vcs.modified": test.modified} {
				if value != "" {
					info.Settings = append(info.Settings, debug.BuildSetting{Key: key, Value: value})
				}
			}
			if got := versionOf(info); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestDemoFiles: the files of "profuse demo" are the fixtures that the compiler made.
func TestDemoFiles(t *testing.T) {
	fixtures := filepath.Join(oracle.Root(t), "testdata", "irpgo")
	files := 0
	err := fs.WalkDir(demoFiles, "demo", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		fixture := strings.TrimPrefix(name, "demo/")
		if strings.HasSuffix(name, ".profraw") {
			fixture = "clang22/ir-" + fixture
		}
		have, err := demoFiles.ReadFile(name)
		if err != nil {
			return err
		}
		if !bytes.Equal(have, oracle.ReadFile(t, filepath.Join(fixtures, filepath.FromSlash(fixture)))) {
			t.Errorf("%s differs from %s", name, fixture)
		}
		return nil
	})
	if err != nil || files != 7 {
		t.Errorf("%d files, %v", files, err)
	}
}

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
	fleets := oracle.ReadFile(t, "../../docs/fleet.md") // its table of files lists the files of partial sums
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

package command

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

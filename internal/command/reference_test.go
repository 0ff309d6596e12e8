package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/internal/command/cli"
)

// docs/commands.md is made of the help texts: with -update, by this test.
func TestReference(t *testing.T) {
	made := reference()
	file := filepath.Join("..", "..", "docs", "commands.md")
	if *update {
		if err := os.WriteFile(file, []byte(made), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
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
	return "# Reference of profuse\n\nWhat `profuse help COMMAND` prints, for all commands.\n\n" + list.String() + sections.String()
}

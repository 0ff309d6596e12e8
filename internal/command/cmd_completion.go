package command

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
)

// completionScripts has a file for each shell. The scripts ask the program for candidates.
//
//go:embed completion
var completionScripts embed.FS

// completionCommand is "profuse completion", for the commands of the app.
func completionCommand(a *cli.App) *cli.Command {
	return &cli.Command{
		Name:  "completion",
		Args:  "SHELL",
		Short: "print a script that completes commands, options and files in a shell",
		Long: "Prints a script for " + shells() + `:

    source <(profuse completion bash)      # for example in ~/.bashrc
    source <(profuse completion zsh)
    profuse completion fish > ~/.config/fish/completions/profuse.fish
    profuse completion powershell | Out-String | Invoke-Expression

The scripts ask profuse for candidates, so they need no update. Where a command takes
profiles they offer folders and files with the suffix of a profile; all files if there are none.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &completionRun{app: a}
			f.BoolVar(&c.candidates, "candidates", false, "for the scripts: print candidates for the last of the words after --")
			f.TakesCommand(&c.words)
			return c.run
		},
	}
}

func shells() string {
	entries, _ := completionScripts.ReadDir("completion") // embedded, so it is there
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return cli.AnyOf(names)
}

type completionRun struct {
	app        *cli.App
	candidates bool
	words      []string // the command line to complete, without the program's name; the last word is unfinished
}

// run prints a script, in which PROGRAM stands for the program's name, or candidates.
func (c *completionRun) run(_ context.Context, env *cli.Env, args []string) error {
	if c.candidates {
		printCandidates(env, c.app.Complete(c.words), c.words)
		return nil
	}
	if len(args) != 1 {
		return cli.Usagef("want one shell: %s", shells())
	}
	script, err := completionScripts.ReadFile("completion/" + args[0])
	if err != nil {
		return cli.Usagef("unknown shell %q: want %s", args[0], shells())
	}
	_, err = env.Stdout.Write([]byte(strings.ReplaceAll(string(script), "PROGRAM", c.app.Name)))
	return err
}

// printCandidates prints "words" or "files", and then a line for each candidate: the word and, after a tab,
// its meaning. A file may be the value of an option, --option=FILE; bash passes the = as a separate word.
func printCandidates(env *cli.Env, e cli.Expected, words []string) {
	if e.Files == cli.NoFiles || len(e.Words) > 0 {
		fmt.Fprintln(env.Stdout, "words")
		for _, w := range e.Words {
			fmt.Fprintf(env.Stdout, "%s\t%s\n", w.Word, w.About)
		}
		return
	}
	fmt.Fprintln(env.Stdout, "files")
	// The candidate replaces the whole word, including the option.
	begun, option := words[len(words)-1], ""
	if at := strings.IndexByte(begun, '='); at >= 0 && strings.HasPrefix(begun, "-") {
		option, begun = begun[:at+1], begun[at+1:]
	}
	if begun == "=" {
		begun = ""
	}
	for _, name := range filesBeginning(begun, e.Files) {
		fmt.Fprintln(env.Stdout, option+name)
	}
}

// filesBeginning returns the paths that begin with begun: folders, with a slash at the end, and files of a
// kind. If there are neither profiles nor folders, it returns all files.
func filesBeginning(begun string, kind cli.FileKind) []string {
	folder, name := filepath.Split(begun)
	// Shells pass ~/ as it is; the candidates keep it.
	read := folder
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(folder, "~/") {
		read = home + folder[1:]
	}
	if read == "" {
		read = "."
	}
	entries, err := os.ReadDir(read)
	if err != nil {
		return nil
	}
	var found, others []string
	for _, e := range entries {
		path := folder + e.Name()
		// Tabs and line breaks would break the lines that the scripts read.
		hidden := strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(name, ".")
		if hidden || !strings.HasPrefix(e.Name(), name) || strings.ContainsAny(path, "\n\t") {
			continue
		}
		info, err := os.Stat(filepath.Join(read, e.Name()))
		switch {
		case err == nil && info.IsDir():
			found = append(found, path+"/")
		case kind == cli.AnyFiles || kind == cli.Profiles && isNamedProfile(e.Name()):
			found = append(found, path)
		case kind == cli.Profiles:
			others = append(others, path)
		}
	}
	if len(found) == 0 {
		return others
	}
	return found
}

// isNamedProfile reports whether a name has the suffix of a profile, compressed or not, or of an archive.
func isNamedProfile(name string) bool {
	switch filepath.Ext(name) {
	case ".gz", ".zst":
		name = strings.TrimSuffix(name, filepath.Ext(name))
	case ".tar", ".tgz", ".zip":
		return true
	}
	_, ok := formats.BySuffix(name)
	return ok || filepath.Ext(name) == ".tar"
}

package cli

import (
	"flag"
	"slices"
	"strings"
)

// A Candidate is a possible word of a command line.
type Candidate struct {
	Word  string
	About string // one line; "" if there is nothing to say
}

// Expected describes the possible last words of a command line.
type Expected struct {
	Words []Candidate // that begin with the typed text, in the order of the help text
	Files FileKind
}

// A FileKind is the kind of files that a word may name.
type FileKind int

// The kinds of files.
const (
	NoFiles FileKind = iota
	AnyFiles
	Folders
	Profiles
)

// Complete returns the possible completions of the last of words, which follow the program's name.
// The last word is the text typed so far; it may be "".
func (a *App) Complete(words []string) Expected {
	words = joinValues(words)
	if len(words) == 0 {
		return Expected{}
	}
	if last := words[len(words)-1]; len(words) == 1 {
		return Expected{Words: beginning(last, a.commandWords())}
	}
	if words[0] == "help" {
		return a.completeHelp(words[1:])
	}
	c := a.find(words[0])
	switch {
	case c == nil:
		return Expected{}
	case c.Commands != nil && (c.Setup == nil || len(words) > 2 && a.nested(c).find(words[1]) != nil):
		return a.nested(c).Complete(words[1:])
	case c.Foreign != nil:
		return Expected{Files: AnyFiles}
	}
	e := c.complete(words[1:])
	if c.Commands != nil && len(words) == 2 {
		e.Words = append(beginning(words[1], a.nested(c).commandWords()), e.Words...)
	}
	return e
}

// completeHelp is Complete for the words after "help".
func (a *App) completeHelp(words []string) Expected {
	if len(words) == 1 {
		return Expected{Words: beginning(words[0], a.commandWords())}
	}
	if c := a.find(words[0]); c != nil && c.Commands != nil {
		return a.nested(c).completeHelp(words[1:])
	}
	return Expected{}
}

// complete is [App.Complete] for the options and arguments of the command.
func (c *Command) complete(words []string) Expected {
	f, _ := c.flags(new(Env))
	before, last := words[:len(words)-1], words[len(words)-1]
	if slices.Contains(before, "--") {
		return c.argument()
	}
	if name, value, ok := strings.Cut(last, "="); ok && strings.HasPrefix(last, "-") {
		e := valueOf(f.Lookup(optionName(name)), value)
		for i := range e.Words {
			e.Words[i].Word = name + "=" + e.Words[i].Word
		}
		return e
	}
	if strings.HasPrefix(last, "-") {
		return Expected{Words: beginning(last, f.optionWords())}
	}
	if n := len(before); n > 0 && strings.HasPrefix(before[n-1], "-") && f.takesNext(before[n-1]) {
		return valueOf(f.Lookup(optionName(before[n-1])), last)
	}
	return c.argument()
}

func (c *Command) argument() Expected {
	if c.Profiles {
		return Expected{Files: Profiles}
	}
	return Expected{Files: AnyFiles}
}

// valueOf describes the values of an option, by its type or by the value's name in the help text.
func valueOf(o *flag.Flag, begun string) Expected {
	if o == nil {
		return Expected{}
	}
	if choice, ok := o.Value.(*Choice); ok {
		var words []Candidate
		for _, w := range choice.Allowed {
			words = append(words, Candidate{Word: w})
		}
		return Expected{Words: beginning(begun, words)}
	}
	switch name, _ := valueName(o); name {
	case "DIR", "FOLDER":
		return Expected{Files: Folders}
	case "FILE", "OUTPUT", "PATH", "PROGRAM", "PATCH", "OTHER":
		return Expected{Files: AnyFiles}
	}
	return Expected{}
}

func (a *App) commandWords() (words []Candidate) {
	for _, c := range a.Commands {
		words = append(words, Candidate{c.Name, c.Short})
	}
	return append(words, Candidate{"help", "show the help of a command"})
}

func (f *Flags) optionWords() (words []Candidate) {
	for _, g := range f.sorted() {
		for _, o := range g.options {
			_, usage := valueName(o)
			words = append(words, Candidate{dashed(o.Name), usage})
		}
	}
	return append(words, Candidate{"--help", "show the options"})
}

func beginning(begun string, words []Candidate) (found []Candidate) {
	for _, w := range words {
		if strings.HasPrefix(w.Word, begun) {
			found = append(found, w)
		}
	}
	return found
}

// joinValues joins options and values that shells split at the equals sign: "--to", "=", "lcov".
func joinValues(words []string) (joined []string) {
	for i, w := range words {
		after := i > 0 && words[i-1] == "=" && w != "="
		if n := len(joined); n > 0 && strings.HasPrefix(joined[n-1], "--") && (w == "=" || after) {
			joined[n-1] += w
			continue
		}
		joined = append(joined, w)
	}
	return joined
}

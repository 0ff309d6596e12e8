package architecture_test

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)

// testsOf lists all tests, as "internal/command TestX" and "internal/command x.txtar".
func testsOf(t *testing.T) (tests []string) {
	t.Helper()
	for _, file := range tree(t) {
		dir := path.Dir(file)
		switch {
		case strings.HasSuffix(file, "_test.go"):
			text := oracle.ReadFile(t, filepath.Join(root, file))
			for _, m := range testFunction.FindAllSubmatch(text, -1) {
				tests = append(tests, dir+" "+string(m[1]))
			}
		case path.Ext(file) == ".txtar":
			tests = append(tests, strings.TrimSuffix(dir, "/testdata/script")+" "+path.Base(file))
		}
	}
	return tests
}

// Each difference on purpose has tests, which are there, or a reason why none is.
func TestDifferencesAreTested(t *testing.T) {
	tests := testsOf(t)
	text := oracle.ReadFile(t, filepath.Join(root, "docs", "differences.md"))
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 5 || cells[4] == "test |" || strings.HasPrefix(line, "|-") {
			continue
		}
		rows++
		named := strings.TrimSuffix(cells[4], " |")
		if reason, none := strings.CutPrefix(named, "none: "); none && reason != "" {
			continue
		}
		folder := ""
		for _, name := range strings.Split(named, ", ") {
			if of, test, ok := strings.Cut(name, " "); ok {
				folder, name = of, test
			} else if path.Ext(name) == ".txtar" {
				folder = "command"
			}
			isNamed := func(test string) bool { return strings.HasSuffix("/"+test, "/"+folder+" "+name) }
			if !slices.ContainsFunc(tests, isNamed) {
				t.Errorf("%s\nno test %q in %s", line, name, folder)
			}
		}
	}
	if rows < 100 {
		t.Errorf("only %d differences", rows)
	}
}

var (
	inlineCode  = regexp.MustCompile("`([^`\n]+)`")
	setVariable = regexp.MustCompile(`^[A-Z_]+=`)
	optionWord  = regexp.MustCompile(`^(--?[A-Za-z][\w-]*)(=.*)?$`)
	makeTarget  = regexp.MustCompile(`(?m)^([a-z-]+):`)
)

// commandsIn lists the command lines in a document, as words: those of code,
// without variables in front, up to a comment, a pipe or "--".
func commandsIn(doc document) (commands [][]string) {
	fenced := false
	add := func(line string) {
		line, _, _ = strings.Cut(line, " #")
		line, _, _ = strings.Cut(line, " | ")
		words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "$ "))
		for len(words) > 0 && setVariable.MatchString(words[0]) {
			words = words[1:]
		}
		if i := slices.Index(words, "--"); i >= 0 {
			words = words[:i]
		}
		if len(words) > 0 {
			commands = append(commands, words)
		}
	}
	for line := range strings.Lines(doc.text) {
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced, strings.HasPrefix(line, "    "):
			add(line)
		default:
			for _, m := range inlineCode.FindAllStringSubmatch(line, -1) {
				add(m[1])
			}
		}
	}
	return commands
}

// What documents say to run can be run: programs, targets of make, packages,
// tests, and profuse's commands with options that they have.
func TestCommandsOfDocuments(t *testing.T) {
	makefile := oracle.ReadFile(t, filepath.Join(root, "Makefile"))
	var targets []string
	for _, m := range makeTarget.FindAllSubmatch(makefile, -1) {
		targets = append(targets, string(m[1]))
	}
	c := &commandChecker{targets, testsOf(t), readReference(t)}
	checked := map[string]int{}
	for _, doc := range documents(t) {
		if doc.path == "docs/commands.md" || doc.path == "CHANGELOG.md" {
			continue
		}
		for _, words := range commandsIn(doc) {
			complain := func(what string) { t.Errorf("%s: %s: %s", doc.path, strings.Join(words, " "), what) }
			if c.check(words[0], words[1:], complain) {
				checked[path.Base(words[0])]++
			}
		}
	}
	if checked["profuse"] < 50 || checked["make"] < 10 || checked["go"] < 10 {
		t.Errorf("checked only %v", checked)
	}
}

// A commandChecker has what command lines may name.
type commandChecker struct {
	targets   []string // of make
	tests     []string
	reference reference
}

// check checks a command line. It returns false for a program that it does not know.
func (c *commandChecker) check(program string, args []string, complain func(string)) bool {
	switch {
	case program == "make" && len(args) > 0:
		if !strings.Contains(args[0], "=") && !slices.Contains(c.targets, args[0]) {
			complain("no such target")
		}
	case program == "go" && len(args) > 1 && (args[0] == "test" || args[0] == "run"):
		checkGo(args, c.tests, complain)
	case program == "profuse" || program == "bin/profuse":
		c.reference.check(args, complain)
		for _, arg := range args {
			if strings.HasPrefix(arg, "testdata/") && !found(filepath.Join(root, arg)) {
				complain("no " + arg)
			}
		}
	case strings.HasPrefix(program, "build/scripts/"), strings.HasPrefix(program, "bench/"), program == ".ci/run":
		if !found(filepath.Join(root, program)) {
			complain("no such program")
		}
	default:
		return false
	}
	return true
}

func checkGo(args, tests []string, complain func(string)) {
	dir := ""
	for i, arg := range args {
		if rest, ok := strings.CutPrefix(arg, "./"); ok && rest != "..." {
			dir = rest
			if !found(filepath.Join(root, dir, "*.go")) {
				complain("no package " + dir)
			}
		}
		if arg == "-run" && dir != "" {
			name := strings.Trim(args[i+1], "'^$")
			isRun := func(test string) bool {
				return strings.HasPrefix(test, dir+" ") && strings.Contains(test, name)
			}
			if !slices.ContainsFunc(tests, isRun) {
				complain("no such test")
			}
		}
	}
}

// A reference has the text of each command in docs/commands.md.
type reference map[string]string

func readReference(t *testing.T) reference {
	t.Helper()
	text := oracle.ReadFile(t, filepath.Join(root, "docs", "commands.md"))
	r := make(reference)
	for _, section := range strings.Split(string(text), "\n## profuse ")[1:] {
		name, body, _ := strings.Cut(section, "\n")
		r[name] = body
	}
	return r
}

// standIns take options of their own, and of compilers.
var standIns = []string{"llvm-profdata", "llvm-cov", "llvm-mipdata", "llvm-profgen", "cc"}

// check looks the command and its options up.
func (r reference) check(args []string, complain func(string)) {
	if len(args) == 0 {
		return
	}
	name := args[0]
	text, ok := r[name]
	if len(args) > 1 {
		if sub, isSub := r[name+" "+args[1]]; isSub {
			text = sub
		}
	}
	if !ok {
		complain("no such command")
	}
	if slices.Contains(standIns, name) {
		return
	}
	for _, arg := range args[1:] {
		if m := optionWord.FindStringSubmatch(arg); m != nil && !regexp.MustCompile(`(?m)^  (-\w, )?`+m[1]+`\b`).MatchString(text) {
			complain("no option " + m[1])
		}
	}
}

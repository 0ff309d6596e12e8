package fleet

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"
	"unicode"
	"unicode/utf8"
)

// A Definition describes an array job.
type Definition struct {
	Name        string // of the job in the scheduler
	Job         string // URL
	Output      string // URL of the result
	Image       string // of a container; empty for Slurm
	Program     string // path of profuse
	Tasks       int
	Parallelism int      // number of tasks that may run at once
	CPU         int      // processors of a task
	MemoryMiB   int      // of a task
	ScratchMiB  int      // disk space of a task
	Minutes     int      // time limit of a task
	Attempts    int      // of a task
	Options     []string // of task
	Reduce      []string // options of reduce
	Account     string   // service account, role or partition; may be empty
}

// Schedulers are the names of the schedulers that [Definition.Render] knows.
var Schedulers = []string{"kubernetes", "slurm", "awsbatch", "cloudrun"}

var (
	//go:embed kubernetes.yaml
	kubernetes string
	//go:embed slurm.sh
	slurm string
	//go:embed awsbatch.sh
	awsBatch string
	//go:embed cloudrun.yaml
	cloudRun string
)

// jobName matches the names that all schedulers accept.
var jobName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z]([a-z0-9-]{0,50}[a-z0-9])?$`)
})

// Render returns the definition for a scheduler. It quotes all fields, as JSON, which YAML contains, or for a shell.
func (d *Definition) Render(scheduler string) ([]byte, error) {
	text := map[string]string{"kubernetes": kubernetes, "slurm": slurm, "awsbatch": awsBatch, "cloudrun": cloudRun}[scheduler]
	if text == "" {
		return nil, fmt.Errorf("no scheduler %q; there are %s", scheduler, strings.Join(Schedulers, ", "))
	}
	if !jobName().MatchString(d.Name) {
		return nil, fmt.Errorf("name %q: want lower-case letters, digits and hyphens, beginning with a letter, at most 52", d.Name)
	}
	// A line break would end a line of the script or of YAML.
	words := slices.Concat([]string{d.Job, d.Output, d.Image, d.Program, d.Account}, d.Options, d.Reduce)
	for _, w := range words {
		if !utf8.ValidString(w) || strings.ContainsFunc(w, endsLine) {
			return nil, fmt.Errorf("%q has a control character or a line break", w)
		}
	}
	if scheduler == "kubernetes" {
		d = d.escaped()
	}
	t, err := template.New(scheduler).Funcs(template.FuncMap{
		"json": func(v any) (string, error) {
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			err := enc.Encode(v)
			return strings.TrimSpace(b.String()), err
		},
		"shell": quote,
		"words": quoteAll,
		"task":  func() []string { return append([]string{"fleet", "task", d.Job}, d.Options...) },
		"reduce": func(more ...string) []string {
			return slices.Concat([]string{"fleet", "reduce", d.Job, "-o", d.Output}, more, d.Reduce)
		},
		"sub": func(a, b int) int { return a - b },
		"mul": func(a, b int) int { return a * b },
		"max": func(a, b int) int { return max(a, b) },
	}).Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, d)
	return b.Bytes(), err
}

// endsLine reports whether r is a control character or ends a line of YAML.
func endsLine(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// escaped returns d for Kubernetes, which expands $(NAME) in command lines.
func (d Definition) escaped() *Definition {
	escape := func(word string) string { return strings.ReplaceAll(word, "$", "$$") }
	d.Job, d.Output, d.Program = escape(d.Job), escape(d.Output), escape(d.Program)
	d.Options, d.Reduce = slices.Clone(d.Options), slices.Clone(d.Reduce)
	for _, words := range [][]string{d.Options, d.Reduce} {
		for i := range words {
			words[i] = escape(words[i])
		}
	}
	return &d
}

// plainWord matches words that a shell does not change.
var plainWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)
})

// quote quotes a word for a POSIX shell.
func quote(word string) string {
	if plainWord().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}

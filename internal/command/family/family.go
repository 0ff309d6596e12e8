// Package family defines the interfaces through which commands work on one family of formats.
// Packages irpgocmd, mipcmd, iprofcmd and samplecmd implement them.
package family

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/profuse-pgo/profuse/docs/schema"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/files/packing"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// A Family holds the operations of commands on one family of formats. Commands that work on views do not need it.
type Family struct {
	Kinds []formats.Family
	Help  Help
	// Takes reports whether a file belongs to the family although package formats detects another format; may be nil.
	Takes func(name string, data []byte) bool
	Show  func() Shower
	Check func() Checker
	Adder func() merging.FamilyAdder
	// Origin returns the origin of a profile; nil if the family's profiles do not tell it.
	Origin func(name string, data []byte) Origin
	// Program returns the origin of profiles of a program, for families whose profiles have no
	// build id; nil for other families.
	Program func(name string, data []byte) (packing.Origin, error)
	// Randomize makes the coverage of a profile private, in place; nil if the family has no such
	// profiles. random returns 32 random bits.
	Randomize func(name string, data []byte, epsilon float64, random func() uint32) error
	// Fit compares a profile with a program, for "profuse check --against PROGRAM"; may be nil.
	Fit func(program Program, name string, data []byte, warn func(profile.Warning)) (*Fit, error)
}

// A Program is the program, library, object file or static archive that a profile is compared with.
type Program struct {
	Path    string
	Options symbolize.Options // how to open it
}

// NotComparable returns the error about a profile of a kind that is not compared with programs.
func (p *Program) NotComparable() error {
	return flaw.File(p.Path).Field("format").Got("a program").Want("the last good profile").
		Hint("only sample profiles and LLVM's instrumentation profiles are compared with programs").Mismatch()
}

// Help is the family's part in the help texts of commands.
type Help struct {
	// Merge is a paragraph of "profuse merge --help": what the sum is, and for which compiler.
	Merge string
	// Show is for "profuse show --help". It has a row for each kind of profile: a word of at most 7
	// letters, and what the command shows.
	Show [][2]string
}

// An Origin says where a profile comes from. Merges of many programs divide the inputs by it.
type Origin struct {
	packing.Origin        // as far as the profile tells
	Kind           string // profiles of different kinds cannot be added up; "" if the family has one kind
	// Needs are build ids of programs, in hexadecimal. One of these programs is needed to read the
	// profile; nil if none is needed.
	Needs []string
}

// NoLimit stands for a share without a limit of its own: compilers use a part of the samples of functions that have
// changed.
const NoLimit = -1

// A Fit says how much of a profile fits a program, which may be a later build than the profiled
// one. Shares are from 0 to 1.
type Fit struct {
	Stale   float64 // share of the profile's weight that does not fit
	Lost    float64 // share of the functions that ran and are no longer in the program
	HotLost float64 // share of the hot functions that are gone or have changed
	Changed float64 // share of the profile's weight that does not fit because functions have changed; or NoLimit
	Ran     int     // number of functions that ran

	// Facts returns labels and values. It passes names of files through name.
	Facts func(name func(string) string) [][2]string
	Unit  string     // title of the counts: "Samples"
	Parts [][]string // parts of the weight: count, share, number of functions, description
	// Functions lists the functions that do not fit, the greatest weight first.
	Functions func(p *console.Printer) (header []string, rows [][]string)
	JSON      any // an object, the member "fit" of the verdict
}

// A Shower is one run of "profuse show", for the files of a family.
type Shower interface {
	// Declare declares the options that only this family has.
	Declare(f *cli.Flags)
	// Open opens the files that the options name, and the programs.
	Open(p *sources.Programs) error
	// Facts returns the facts of a profile up to its end or the first error, which it also returns.
	Facts(name string, data []byte, f formats.Format, opt *ShowOptions) (Facts, error)
}

// ShowOptions are the options of "profuse show" for all families.
type ShowOptions struct {
	Top    int            // number of hottest functions to list
	Choose *regexp.Regexp // functions to list in full; nil lists none
	Blocks bool           // list the blocks of these functions
}

// Printer prints facts for people.
type Printer struct {
	console.Printer

	Cutoffs, Counts, Values bool // options of "profuse show"

	Packed packing.Origin // of the next file, from the pack that contains it

	any bool // something was printed
}

// Title begins the facts of a file. It prints an empty line between two files.
func (p *Printer) Title(file string) {
	if p.any {
		fmt.Fprintln(p.W)
	}
	p.any = true
	fmt.Fprintln(p.W, p.Term.Paint(cli.Bold, console.Printable(file)))
	if of := p.Packed.String(); of != "" {
		fmt.Fprintln(p.W, "  Packed as of "+of)
	}
}

// A Checker is one run of "profuse check", for the files of a family.
type Checker interface {
	// Open opens what the options name.
	Open(env *cli.Env, p *sources.Programs) error
	// Admit returns an error if a given option does not apply to the file.
	Admit(name string, data []byte) error
	Check(name string, data []byte, f formats.Format) Checked
}

// Checked is the result of checking one file. docs/schema/check.schema.json describes the JSON.
type Checked struct {
	schema.Head
	File  string `json:"file"`
	Sound bool   `json:"sound"`
	schema.FileFormat
	Records  int       `json:"records"` // read before anything stopped it
	Findings []Finding `json:"findings"`
	// Remarks are suspicious findings that do not make the file unsound.
	Remarks []Finding `json:"remarks,omitempty"`
	Omitted int       `json:"omitted,omitempty"` // findings and remarks beyond those above
	// Against is the verdict of --against.
	Against any `json:"against,omitempty"`
	// Own holds the results that only this family has; may be nil.
	Own Own `json:"-"`
	// Packed is the file's origin from the pack that contains it; nil without a pack.
	Packed *packing.Origin `json:"packed,omitempty"`
	Shapes Shapes          `json:"-"` // to compare the file with others

	what string // the format for people; "" if unknown
}

// A Finding is one thing that is wrong with a file, or suspicious.
type Finding struct {
	*console.Error
	Rule     string `json:"rule,omitempty"`
	Severity string `json:"severity,omitempty"`
	Count    int    `json:"count,omitempty"` // how often it was found; Error is about the first
	Of       int    `json:"of,omitempty"`    // how often it was looked for
}

// Own holds the results that only one family has. It marshals to a JSON object, whose members
// follow the members of Checked.
type Own interface {
	Print(w io.Writer)
}

// MarshalJSON appends the members of Own.
func (r Checked) MarshalJSON() ([]byte, error) {
	type plain Checked
	all, err := json.Marshal(plain(r))
	if err != nil || r.Own == nil {
		return all, err
	}
	own, err := json.Marshal(r.Own)
	if err != nil || len(own) <= len("{}") {
		return all, err
	}
	return append(append(all[:len(all)-1], ','), own[1:]...), nil
}

// Print writes "FILE: ok: …", or "FILE: not sound" and the findings below it.
func (r *Checked) Print(p *console.Printer) {
	what := r.what
	if r.Version > 0 {
		what += fmt.Sprintf(" version %d", r.Version)
	}
	if r.FormatVersion != "" {
		what += " version " + r.FormatVersion
	}
	switch {
	case what != "":
		what += fmt.Sprintf(", records: %d", r.Records)
	case len(r.Findings) > 0 && r.Findings[0].Class == profile.ErrUnsupported:
		what = "unsupported format"
	case len(r.Findings) > 0 && r.Findings[0].Class == profile.ErrUnrecognized:
		what = "not a profile"
	default:
		what = "unknown format"
	}
	if r.Sound {
		if r.Packed != nil {
			what += ", " + r.Packed.String()
		}
		fmt.Fprintf(p.W, "%s: ok: %s\n", console.Printable(r.File), what)
	} else {
		fmt.Fprintf(p.W, "%s: %s: %s\n", console.Printable(r.File), p.Term.Paint(cli.Red, "not sound"), what)
	}
	for _, line := range r.Lines() {
		p.Item(console.Printable(line))
	}
	if r.Own != nil {
		r.Own.Print(p.W)
	}
}

// Lines returns the findings and remarks for people.
func (r *Checked) Lines() []string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, f.Message)
	}
	for _, f := range r.Remarks {
		out = append(out, "remark: "+strings.TrimSuffix(f.Message, ": "+f.Class.Error()))
	}
	if r.Omitted > 0 {
		out = append(out, fmt.Sprintf("… and %s more", cli.Count(r.Omitted)))
	}
	return out
}

// NewChecked returns the result for a file before it is read; f is 0 if its format is unknown.
func NewChecked(file string, f formats.Format) Checked {
	c := Checked{Head: schema.For("check"), File: file, FileFormat: schema.FileFormatOf(string(f.Family()), f.Describe().Word, ""), Findings: []Finding{}}
	if f != 0 {
		c.what = f.String()
	}
	return c
}

// Finding describes an error, by default in the file.
func (c *Checked) Finding(err error) Finding {
	return Finding{Error: console.NewWarning(profile.Warning{File: c.File, Err: err})}
}

// Note adds errors as findings.
func (c *Checked) Note(errs ...error) {
	for _, err := range errs {
		c.Findings = append(c.Findings, c.Finding(err))
	}
}

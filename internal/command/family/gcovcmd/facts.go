package gcovcmd

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/gcov"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile"
)

// fileFacts are the facts that "profuse show" prints about notes or counts. The JSON names are a stable interface.
type fileFacts struct {
	family.Head
	Release   string      `json:"release"` // of the compiler, as the version says
	Stamp     string      `json:"stamp"`   // in hexadecimal; notes and counts of one compilation have the same
	Functions int         `json:"functions"`
	Runs      uint32      `json:"runs"`    // of the program; 0 in notes
	Greatest  uint32      `json:"max"`     // sum of the greatest counter of each run; 0 in notes
	Folder    string      `json:"folder"`  // of the compiler, in notes
	Sources   []string    `json:"sources"` // in notes
	Arcs      int         `json:"arcs"`    // of all flow graphs, in notes
	Kinds     []kindFacts `json:"kinds"`   // of counters
	// Hottest are the functions with the greatest counts; their names are in the notes.
	Hottest []functionFacts `json:"hottest"`
	// Selected are the functions that --function selects; null without the option.
	Selected []functionFacts `json:"function_records,omitzero"`
	family.Problems

	selecting bool
}

// kindFacts describe all counters of a kind.
type kindFacts struct {
	Kind     string `json:"kind"`
	Counters int    `json:"counters"` // lists, for kinds that are lists of values
	Cut      int    `json:"cut"`      // lists that have lost values
}

type functionFacts struct {
	Ident     string  `json:"ident"` // in hexadecimal
	Name      string  `json:"name"`  // linkage name; "" if unknown
	Demangled string  `json:"demangled"`
	Source    string  `json:"source"`
	Line      int32   `json:"line"`
	Calls     int64   `json:"calls"`
	Max       int64   `json:"max"` // greatest count of a block or arc
	Blocks    []int64 `json:"blocks,omitzero"`
}

// collectFacts returns the facts of a file. With an error, they only have the error.
func collectFacts(name string, data []byte, format formats.Format, opt *family.ShowOptions, programs []string) (*fileFacts, error) {
	f := &fileFacts{
		Head: family.NewHead(name, len(data), format), Problems: family.NewProblems(), selecting: opt.Choose != nil,
		Sources: []string{}, Kinds: []kindFacts{}, Hottest: []functionFacts{},
	}
	if f.selecting {
		f.Selected = []functionFacts{}
	}
	p, err := read(name, data, format)
	if err != nil {
		return f, f.End(err)
	}
	f.FormatVersion, f.Release, f.Functions = p.version().String(), p.version().Release(), p.functions()
	if n := p.notes; n != nil {
		f.Stamp, f.Folder, f.Sources = fmt.Sprintf("%08x", n.Stamp), n.Folder, n.Sources
		for i := range n.Functions {
			f.Arcs += len(n.Functions[i].Arcs)
		}
		u, err := gcov.NewUnit(n, nil)
		if err != nil {
			return f, f.End(err)
		}
		f.collectFunctions(u, opt)
		return f, nil
	}
	c := p.counts
	f.Stamp, f.Runs, f.Greatest = fmt.Sprintf("%08x", c.Stamp), c.Runs, c.Max
	f.collectKinds(c)
	u, err := formats.JoinNotes(name, c, programs)
	if err != nil {
		f.Warn(profile.Warning{File: name, Err: err})
		f.collectIdents(c, opt)
		return f, nil
	}
	f.collectFunctions(u, opt)
	return f, nil
}

func (f *fileFacts) collectKinds(c *gcov.Counts) {
	at := make(map[gcov.Kind]int)
	for i := range c.Functions {
		for k := range c.Functions[i].Counters {
			set := &c.Functions[i].Counters[k]
			if _, ok := at[set.Kind]; !ok {
				at[set.Kind] = len(f.Kinds)
				f.Kinds = append(f.Kinds, kindFacts{Kind: set.Kind.String()})
			}
			facts := &f.Kinds[at[set.Kind]]
			facts.Counters += len(set.Values) + len(set.Lists)
			for _, l := range set.Lists {
				if l.Total < 0 {
					facts.Cut++
				}
			}
		}
	}
}

func byMax(a, b functionFacts) int { return cmp.Compare(b.Max, a.Max) }

// collectFunctions collects functions with their solved flow graphs.
func (f *fileFacts) collectFunctions(u *gcov.Unit, opt *family.ShowOptions) {
	for r := range u.Results() {
		facts := functionFacts{
			Ident: fmt.Sprintf("%08x", r.Ident), Name: r.Name, Demangled: symbols.Demangle(r.Name),
			Source: u.Notes.Sources[r.Source], Line: int32(r.StartLine), Calls: r.Calls,
		}
		for _, n := range r.Counts {
			facts.Max = max(facts.Max, n)
		}
		f.add(facts, r.Counts, opt)
	}
}

// collectIdents collects functions by their ident, without a name, and with their counted arcs.
func (f *fileFacts) collectIdents(c *gcov.Counts, opt *family.ShowOptions) {
	for i := range c.Functions {
		fn := &c.Functions[i]
		if fn.Placeholder {
			continue
		}
		facts := functionFacts{Ident: fmt.Sprintf("%08x", fn.Ident)}
		for _, n := range fn.Arcs() {
			facts.Max = max(facts.Max, n)
		}
		f.add(facts, fn.Arcs(), opt)
	}
}

func (f *fileFacts) add(facts functionFacts, counts []int64, opt *family.ShowOptions) {
	if facts.Max > 0 {
		f.Hottest = console.InsertBounded(f.Hottest, facts, opt.Top, byMax)
	}
	if f.selecting && (opt.Choose.MatchString(facts.Name) || opt.Choose.MatchString(facts.Demangled) || opt.Choose.MatchString(facts.Ident)) {
		if opt.Blocks {
			facts.Blocks = append([]int64{}, counts...)
		}
		f.Selected = append(f.Selected, facts)
	}
}

// Print prints the facts, unless the file could not be read.
func (f *fileFacts) Print(p *family.Printer) {
	if f.Error != nil {
		return
	}
	p.Title(f.File)
	rows := [][2]string{
		{"Format", fmt.Sprintf("%s, version %s (%s), %s", f.What, console.Printable(f.FormatVersion), f.Release, cli.Quantity(f.Size, "byte", "bytes"))},
		{"Stamp", f.Stamp},
	}
	if len(f.Sources) > 0 {
		rows = append(rows, [2]string{"Sources", console.Printable(strings.Join(f.Sources[:min(len(f.Sources), 4)], ", ")) + more(len(f.Sources)-4)})
		if f.Folder != "" {
			rows = append(rows, [2]string{"Folder", console.Printable(f.Folder)})
		}
		rows = append(rows, [2]string{"Functions", fmt.Sprintf("%s, with %s", cli.Count(f.Functions), cli.Quantity(f.Arcs, "arc", "arcs"))})
	} else {
		rows = append(rows, [2]string{"Functions", cli.Count(f.Functions)})
	}
	if f.Runs > 0 {
		rows = append(rows, [2]string{"Runs", fmt.Sprintf("%s; greatest counters: %s", cli.Count(f.Runs), cli.Count(f.Greatest))})
	}
	for _, k := range f.Kinds {
		text := cli.Quantity(k.Counters, "counter", "counters")
		if k.Cut > 0 {
			text += fmt.Sprintf("; %s lost values", cli.Quantity(k.Cut, "list has", "lists have"))
		}
		rows = append(rows, [2]string{k.Kind, text})
	}
	p.List(append(rows, f.Rows(p.Term, "")...))
	f.printFunctions(p, f.Hottest, "Hottest functions")
	switch {
	case !f.selecting:
	case len(f.Selected) == 0:
		fmt.Fprintln(p.W, "\n  No function matches.")
	default:
		f.printFunctions(p, f.Selected, "Functions chosen")
		for i := range f.Selected {
			if fn := &f.Selected[i]; fn.Blocks != nil {
				fmt.Fprintf(p.W, "\n  %s\n", p.Term.Paint(cli.Bold, fn.text(p)))
				p.Fold("    ", fmt.Sprintf("blocks %d", fn.Blocks))
			}
		}
	}
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %s more", cli.Count(n))
}

func (f *fileFacts) printFunctions(p *family.Printer, functions []functionFacts, title string) {
	console.TableOf(&p.Printer, []string{"Calls", "Greatest", title}, functions, func(fn *functionFacts) []string {
		return []string{cli.Count(fn.Calls), cli.Count(fn.Max), fn.text(p)}
	})
}

// text returns the name and place of a function for people; the ident of a function without a name.
func (fn *functionFacts) text(p *family.Printer) string {
	if fn.Name == "" {
		return fn.Ident
	}
	name := fn.Demangled
	if p.Mangled {
		name = fn.Name
	}
	return console.Printable(fmt.Sprintf("%s [%s:%d]", name, fn.Source, fn.Line))
}

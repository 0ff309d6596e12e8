package ctxprofcmd

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/ctxprof"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile"
)

// fileFacts are the facts that "profuse show" prints about a contextual profile. The JSON names are a stable interface.
type fileFacts struct {
	family.Head
	Contexts  int             `json:"contexts"`  // roots included
	Depth     int             `json:"depth"`     // of the deepest context; a root has depth 1
	Functions int             `json:"functions"` // different ones
	Named     int             `json:"named"`     // functions with a known name
	Flat      int             `json:"flat"`      // functions that ran outside of roots
	Roots     []rootFacts     `json:"roots"`     // most entered first
	Hottest   []functionFacts `json:"hottest"`   // most entered first
	// Selected are the functions that --function selects, most entered first; null without the option.
	Selected []functionFacts `json:"function_records,omitzero"`
	family.Problems

	selecting bool
	roots     int // more than are listed
}

type rootFacts struct {
	guidName
	Total     uint64 `json:"total"`     // all entries
	Collected uint64 `json:"collected"` // entries with contexts
	Contexts  int    `json:"contexts"`
	Depth     int    `json:"depth"`
	Unhandled int    `json:"unhandled"` // functions below the root outside of contexts
}

// functionFacts have sums over all contexts.
type functionFacts struct {
	guidName
	Entries   uint64   `json:"entries"`
	Flattened uint64   `json:"flattened"` // entries as LLVM weighs them
	Contexts  int      `json:"contexts"`  // in which it ran; counts flat and unhandled ones, too
	Size      int      `json:"size"`      // number of counters
	Counters  []uint64 `json:"counters,omitzero"`
}

// A guidName identifies a function.
type guidName struct {
	GUID      string `json:"guid"` // in decimal, as LLVM prints it
	Name      string `json:"name"` // linkage name; "" if unknown
	Demangled string `json:"demangled"`
}

func newName(p *ctxprof.Profile, guid uint64) guidName {
	return guidName{strconv.FormatUint(guid, 10), p.Names[guid], symbols.Demangle(p.Names[guid])}
}

func nameOf(p *ctxprof.Profile, guid uint64) string {
	return cmp.Or(p.Names[guid], strconv.FormatUint(guid, 10))
}

// collectFacts returns the facts of a contextual profile. With an error, they only have the error.
func collectFacts(name string, data []byte, format formats.Format, opt *family.ShowOptions, programs *formats.ViewOptions) (*fileFacts, error) {
	f := &fileFacts{
		Head: family.NewHead(name, len(data), format), Problems: family.NewProblems(),
		Roots: []rootFacts{}, Hottest: []functionFacts{}, selecting: opt.Choose != nil,
	}
	p, err := ctxprof.Read(name, data, func(err error) { f.Warn(profile.Warning{File: name, Err: err}) })
	if err == nil {
		p.Names, err = programs.FunctionNames(maps.Keys(p.Flatten()))
	}
	if err != nil {
		return f, f.End(err)
	}
	f.Version = p.Version
	f.collectRoots(p, opt.Top)
	f.collectFunctions(p, opt)
	return f, nil
}

func (f *fileFacts) collectRoots(p *ctxprof.Profile, top int) {
	f.Flat = len(p.Flat)
	for i := range p.Roots {
		r := &p.Roots[i]
		var t totals
		t.add(r)
		f.Contexts, f.Depth = f.Contexts+t.Contexts, max(f.Depth, t.Depth)
		facts := rootFacts{newName(p, r.GUID), r.Total, 0, t.Contexts, t.Depth, t.Unhandled}
		if len(r.Counters) > 0 {
			facts.Collected = r.Counters[0]
		}
		f.Roots = append(f.Roots, facts)
	}
	slices.SortStableFunc(f.Roots, func(a, b rootFacts) int { return cmp.Compare(b.Total, a.Total) })
	f.roots = len(f.Roots)
	f.Roots = f.Roots[:min(len(f.Roots), max(top, 0))]
}

// collectFunctions adds up what was counted in each function.
func (f *fileFacts) collectFunctions(p *ctxprof.Profile, opt *family.ShowOptions) {
	all := make(map[uint64]*functionFacts)
	add := func(fn *ctxprof.Function) {
		to := all[fn.GUID]
		if to == nil {
			to = &functionFacts{guidName: newName(p, fn.GUID)}
			all[fn.GUID] = to
		}
		to.Contexts++
		if more := len(fn.Counters) - len(to.Counters); more > 0 {
			to.Counters = append(to.Counters, make([]uint64, more)...)
		}
		for i, n := range fn.Counters {
			to.Counters[i] = saturate.Add(to.Counters[i], n)
		}
	}
	for fn := range p.All() {
		add(fn)
	}
	for guid, counters := range p.Flatten() {
		to := all[guid]
		if to.Size = len(counters); to.Size > 0 {
			to.Entries, to.Flattened = to.Counters[0], counters[0]
		}
		if to.Name != "" {
			f.Named++
		}
	}
	f.Functions = len(all)
	sorted := slices.SortedFunc(maps.Keys(all), func(a, b uint64) int {
		return cmp.Or(cmp.Compare(all[b].Entries, all[a].Entries), cmp.Compare(a, b))
	})
	if f.selecting {
		f.Selected = []functionFacts{}
	}
	for i, guid := range sorted {
		facts := *all[guid]
		if f.selecting && (opt.Choose.MatchString(facts.Name) || opt.Choose.MatchString(facts.Demangled) || opt.Choose.MatchString(facts.GUID)) {
			chosen := facts
			if !opt.Blocks {
				chosen.Counters = nil
			}
			f.Selected = append(f.Selected, chosen)
		}
		if facts.Counters = nil; i < opt.Top {
			f.Hottest = append(f.Hottest, facts)
		}
	}
}

// Print prints the facts, unless the file could not be read.
func (f *fileFacts) Print(p *family.Printer) {
	if f.Error != nil {
		return
	}
	p.Title(f.File)
	what := f.What
	if f.Version > 0 {
		what += fmt.Sprintf(", version %d", f.Version)
	}
	rows := [][2]string{
		{"Format", fmt.Sprintf("%s, %s", what, cli.Quantity(f.Size, "byte", "bytes"))},
		{"Roots", fmt.Sprintf("%s, with %s, at most %d deep", cli.Count(f.roots), cli.Quantity(f.Contexts, "context", "contexts"), f.Depth)},
		{"Functions", fmt.Sprintf("%s, %s outside of roots", cli.Count(f.Functions), cli.Count(f.Flat))},
	}
	if f.Named < f.Functions {
		rows = append(rows, [2]string{"Names", fmt.Sprintf("%s known; --program PATH takes names from a program or a profile", cli.Count(f.Named))})
	}
	p.List(append(rows, f.Rows(p.Term, "")...))
	console.TableOf(&p.Printer, []string{"Entered", "Collected", "Contexts", "Depth", "Unhandled", "Roots"}, f.Roots, func(r *rootFacts) []string {
		return []string{cli.Count(r.Total), cli.Count(r.Collected), cli.Count(r.Contexts), cli.Count(r.Depth), cli.Count(r.Unhandled), r.text(p)}
	})
	printFunctions(p, f.Hottest, "Hottest functions")
	switch {
	case !f.selecting:
	case len(f.Selected) == 0:
		fmt.Fprintln(p.W, "\n  No function matches.")
	default:
		printFunctions(p, f.Selected, "Functions chosen")
		for i := range f.Selected {
			if fn := &f.Selected[i]; fn.Counters != nil {
				fmt.Fprintf(p.W, "\n  %s\n", p.Term.Paint(cli.Bold, fn.text(p)))
				p.Fold("    ", fmt.Sprintf("counters %d", fn.Counters))
			}
		}
	}
}

// text returns the name for people; the GUID of a function without a name.
func (n *guidName) text(p *family.Printer) string {
	if p.Mangled {
		return console.Printable(cmp.Or(n.Name, n.GUID))
	}
	return console.Printable(cmp.Or(n.Demangled, n.GUID))
}

func printFunctions(p *family.Printer, functions []functionFacts, title string) {
	header := []string{"Entered", "In LLVM", "Contexts", "Counters", title}
	console.TableOf(&p.Printer, header, functions, func(fn *functionFacts) []string {
		return []string{cli.Count(fn.Entries), cli.Count(fn.Flattened), cli.Count(fn.Contexts), cli.Count(fn.Size), fn.text(p)}
	})
}

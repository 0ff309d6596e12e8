package samplecmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/sampleprof"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/internal/symbols"
)

// fileFacts are the facts that "profuse show" prints about a sample profile. The JSON names are a stable interface.
type fileFacts struct {
	family.Head
	Kind         string          `json:"kind"`          // "context-sensitive, probe-based"
	Functions    int             `json:"functions"`     // contexts in context-sensitive profiles
	Inlined      int             `json:"inlined"`       // functions inlined into the Functions
	Locations    uint64          `json:"locations"`     // with a count
	Samples      uint64          `json:"samples"`       // sum of the counts, modulo 2^64 as in LLVM
	Totals       uint64          `json:"totals"`        // sum of the totals of the functions; saturating
	HotThreshold uint64          `json:"hot_threshold"` // least count of a hot location, at LLVM's hot cutoff (99 %)
	Symbols      int             `json:"symbols"`       // in the list of the program's functions
	Sections     []sectionFacts  `json:"sections"`      // of an extensible binary file
	Blocks       []blockFacts    `json:"blocks"`        // by type, of the functions of a composite profile
	Hottest      []functionFacts `json:"hottest"`
	// Selected are the functions that --function selects, the most samples first; null without the option.
	Selected []functionFacts `json:"function_records,omitzero"`
	family.Problems

	selecting, contexts bool
}

type sectionFacts struct {
	Type   uint64   `json:"type"`
	Name   string   `json:"name"`   // LLVM's
	Flags  []string `json:"flags"`  // LLVM's words
	Offset uint64   `json:"offset"` // in the file
	Size   uint64   `json:"size"`
}

type blockFacts struct {
	Type  uint64 `json:"type"` // 0 holds samples; others are left out
	Count int    `json:"count"`
	Size  uint64 `json:"size"` // of all, in bytes
}

// functionFacts describe one function or context.
type functionFacts struct {
	Name      string `json:"name"` // or context
	Demangled string `json:"demangled"`
	// Count is the sum of the counts, including inlined functions; saturating.
	Count uint64 `json:"count"`
	// Total is what the head of the function states. AutoFDO counts bytes of code there, llvm-profgen
	// instructions, so it compares with other totals only.
	Total     uint64 `json:"total"`
	Head      uint64 `json:"head"` // samples of calls to the function
	Locations int    `json:"locations"`
	Inlined   int    `json:"inlined"`
	// Checksum is the pseudo probes' hash of the control flow; 0 in profiles by line.
	Checksum uint64        `json:"checksum"`
	Samples  []sampleFacts `json:"samples,omitzero"` // on request
}

// sampleFacts describe the samples of one location.
type sampleFacts struct {
	Inlined []string `json:"inlined"` // path of inlined calls from the function to the location: "3.1 callee"
	// Location is the line relative to the beginning of the function, with a discriminator after a
	// point, or the number of a probe.
	Location string   `json:"location"`
	Count    uint64   `json:"count"`
	Targets  []string `json:"targets"` // "name:count", the most frequent first
}

// collectFacts returns the facts of a sample profile. With an error, they only have the error.
func collectFacts(name string, data []byte, format formats.Format, opt *family.ShowOptions) (*fileFacts, error) {
	f := &fileFacts{
		Head: family.NewHead(name, len(data), format), Problems: family.NewProblems(),
		Sections: []sectionFacts{}, Blocks: []blockFacts{}, Hottest: []functionFacts{}, selecting: opt.Choose != nil,
	}
	if format == formats.SampleSums {
		return f, f.End(formats.WrongFormat(name, data, "a sample profile"))
	}
	p, err := sampleprof.Read(name, data, sampleprof.ReaderOptions{})
	if err != nil {
		return f, f.End(err)
	}
	if sections, err := sampleprof.Sections(name, data); err == nil {
		for _, s := range sections {
			f.Sections = append(f.Sections, sectionFacts{s.Type, s.Name, append([]string{}, s.Flags...), s.Offset, s.Size})
		}
	}
	f.collect(p, opt)
	if version := versionOf(p); version != "" { // text has none
		f.SetVersion(version)
		f.What += " version " + version
	}
	return f, nil
}

// collect fills the facts.
func (f *fileFacts) collect(p *sampleprof.Profile, opt *family.ShowOptions) {
	s := p.Summarize()
	f.contexts = p.Kind.ContextSensitive
	f.Kind, f.Functions, f.Symbols = p.Kind.String(), len(p.Functions), len(p.Symbols)+len(p.SymbolIDs)
	for _, b := range p.Blocks {
		f.Blocks = append(f.Blocks, blockFacts(b))
	}
	f.Locations, f.Samples = s.NumCounts, s.Total
	f.HotThreshold, _ = s.Cutoffs.Hot()
	if f.selecting {
		f.Selected = []functionFacts{}
	}
	functions := make([]measured, len(p.Functions))
	for i, fn := range p.Functions {
		functions[i] = measure(fn)
		f.Inlined += functions[i].inlined
		f.Totals = saturate.Add(f.Totals, fn.Total)
	}
	slices.SortStableFunc(functions, func(a, b measured) int { return cmp.Compare(b.count, a.count) })
	for i, fn := range functions {
		listed := i < opt.Top && fn.count > 0
		if !listed && !f.selecting {
			continue
		}
		facts := functionOf(fn)
		if listed {
			f.Hottest = append(f.Hottest, facts)
		}
		if f.selecting && (opt.Choose.MatchString(facts.Name) || opt.Choose.MatchString(facts.Demangled)) {
			if opt.Blocks {
				facts.Samples = appendSamples([]sampleFacts{}, fn.Function, nil)
			}
			f.Selected = append(f.Selected, facts)
		}
	}
}

// functionOf describes a function or a context. It demangles each function of a context.
func functionOf(fn measured) functionFacts {
	facts := functionFacts{
		Name: fn.Label(), Count: fn.count, Total: fn.Total, Head: fn.Head, Checksum: fn.Checksum,
		Locations: fn.locations, Inlined: fn.inlined,
	}
	readable := sampleprof.Function{Name: demangled(fn.Name), Context: slices.Clone(fn.Context)}
	for i := range readable.Context {
		readable.Context[i].Name = demangled(readable.Context[i].Name)
	}
	facts.Demangled = readable.Label()
	return facts
}

// A measured function has sums over itself and the functions inlined into it: of its counts, its locations, and
// how many inlined functions there are.
type measured struct {
	*sampleprof.Function
	count              uint64
	locations, inlined int
}

func measure(fn *sampleprof.Function) measured {
	m := measured{Function: fn, locations: len(fn.Body), inlined: len(fn.Callsites)}
	for i := range fn.Body {
		m.count = saturate.Add(m.count, fn.Body[i].Count)
	}
	for i := range fn.Callsites {
		callee := measure(fn.Callsites[i].Callee)
		m.count = saturate.Add(m.count, callee.count)
		m.locations, m.inlined = m.locations+callee.locations, m.inlined+callee.inlined
	}
	return m
}

// demangled returns the demangled name; a GUID stays as it is.
func demangled(n sampleprof.Name) sampleprof.Name {
	if n.Text != "" {
		return sampleprof.NameOf(symbols.Demangle(n.Text))
	}
	return n
}

// appendSamples appends the samples of a function and of the functions inlined into it. path is the
// path of inlined calls that leads to the function.
func appendSamples(dst []sampleFacts, fn *sampleprof.Function, path []string) []sampleFacts {
	for _, s := range fn.Body {
		facts := sampleFacts{Inlined: append([]string{}, path...), Location: s.Location.String(), Count: s.Count, Targets: []string{}}
		for _, t := range s.Targets {
			facts.Targets = append(facts.Targets, fmt.Sprintf("%s:%d", t.Name, t.Count))
		}
		dst = append(dst, facts)
	}
	// The full slice expression makes append copy path, which siblings share.
	for _, c := range fn.Callsites {
		dst = appendSamples(dst, c.Callee, append(path[:len(path):len(path)], fmt.Sprintf("%s %s", c.Location, c.Callee.Name)))
	}
	return dst
}

// Print prints the facts, unless the file could not be read.
func (f *fileFacts) Print(p *family.Printer) {
	if f.Error != nil {
		return
	}
	p.Title(f.File)
	things, hottest := "Functions", "Hottest functions"
	if f.contexts {
		things, hottest = "Contexts", "Hottest contexts"
	}
	if f.Inlined > 0 {
		hottest += ", with inlined ones"
	}
	functions := cli.Count(f.Functions)
	if f.Inlined > 0 {
		functions += ", with " + cli.Quantity(f.Inlined, "inlined one", "inlined ones")
	}
	rows := [][2]string{
		{"Format", fmt.Sprintf("%s, %s", f.What, cli.Quantity(f.Size, "byte", "bytes"))},
		{"Kind", f.Kind},
		{things, functions},
		{"Samples", fmt.Sprintf("%s at %s", cli.Count(f.Samples), cli.Quantity(f.Locations, "location", "locations"))},
		{"Hot from", cli.Quantity(f.HotThreshold, "sample", "samples")},
	}
	if f.Totals != f.Samples {
		rows = append(rows, [2]string{"Totals", cli.Count(f.Totals) + " by the heads of the functions, where tools count bytes or instructions"})
	}
	if f.Symbols > 0 {
		rows = append(rows, [2]string{"Symbols", cli.Count(f.Symbols)})
	}
	if len(f.Sections) > 0 {
		var names []string
		for _, s := range f.Sections {
			name := fmt.Sprintf("%s %s", s.Name, cli.Count(s.Size))
			if len(s.Flags) > 0 {
				name += " (" + strings.Join(s.Flags, ", ") + ")"
			}
			names = append(names, name)
		}
		rows = append(rows, [2]string{"Sections", strings.Join(names, "; ")})
	}
	for _, b := range f.Blocks {
		row := [2]string{"Blocks", fmt.Sprintf("%s of type %d, %s", cli.Count(b.Count), b.Type, cli.Quantity(b.Size, "byte", "bytes"))}
		if b.Type != 0 {
			row[1] += ", left out: only type 0 is known"
		}
		rows = append(rows, row)
	}
	p.List(append(rows, f.Rows(p.Term, "")...))
	printFunctions(p, f.Hottest, hottest)
	switch {
	case !f.selecting:
	case len(f.Selected) == 0:
		fmt.Fprintln(p.W, "\n  No function matches.")
	case p.Counts:
		for i := range f.Selected {
			printFunction(p, &f.Selected[i])
		}
	default:
		printFunctions(p, f.Selected, things)
	}
}

func nameOf(p *family.Printer, fn *functionFacts) string {
	if p.Mangled {
		return console.Printable(fn.Name)
	}
	return console.Printable(fn.Demangled)
}

func printFunctions(p *family.Printer, functions []functionFacts, title string) {
	totals := slices.ContainsFunc(functions, func(fn functionFacts) bool { return fn.Total != fn.Count })
	optional := func(column string) []string {
		if totals {
			return []string{column}
		}
		return nil
	}
	header := slices.Concat([]string{"Samples"}, optional("Total"), []string{"Entered", "Locations", "Inlined", title})
	console.TableOf(&p.Printer, header, functions, func(fn *functionFacts) []string {
		return slices.Concat([]string{cli.Count(fn.Count)}, optional(cli.Count(fn.Total)), []string{
			cli.Count(fn.Head), cli.Count(fn.Locations), cli.Count(fn.Inlined), nameOf(p, fn),
		})
	})
}

func printFunction(p *family.Printer, fn *functionFacts) {
	fmt.Fprintf(p.W, "\n  %s\n", p.Term.Paint(cli.Bold, nameOf(p, fn)))
	what := []string{cli.Quantity(fn.Count, "sample", "samples"), "entered " + cli.Count(fn.Head)}
	if fn.Total != fn.Count {
		what = append(what, "total "+cli.Count(fn.Total))
	}
	if fn.Checksum != 0 {
		what = append(what, fmt.Sprintf("checksum %#x", fn.Checksum))
	}
	p.Fold("    ", strings.Join(what, ", "))
	for _, s := range fn.Samples {
		line := fmt.Sprintf("    %8s  %14s", s.Location, cli.Count(s.Count))
		if len(s.Inlined) > 0 {
			line += "  in " + strings.Join(s.Inlined, ", ")
		}
		if len(s.Targets) > 0 {
			line += "  calls " + strings.Join(s.Targets, " ")
		}
		fmt.Fprintln(p.W, console.Printable(line))
	}
}

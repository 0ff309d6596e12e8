package cgdatacmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/cgdata"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile"
)

// fileFacts are the facts that "profuse show" prints about codegen data. The JSON names are a stable interface.
type fileFacts struct {
	family.Head
	Objects     int             `json:"objects"`      // with codegen data, in an object file or static library
	Nodes       int             `json:"nodes"`        // of the tree, with the root
	Sequences   int             `json:"sequences"`    // outlined ones
	Outlined    uint64          `json:"outlined"`     // how often sequences were outlined
	Depth       int             `json:"depth"`        // instructions of the longest sequence
	Hashes      int             `json:"hashes"`       // of functions
	Functions   int             `json:"functions"`    // in the map
	Mergeable   int             `json:"mergeable"`    // functions with a hash that others have, too
	TopSequence []sequenceFacts `json:"top_sequence"` // most instructions first
	TopGroup    []groupFacts    `json:"top_group"`    // most instructions first
	// Selected are the functions that --function selects; null without the option.
	Selected []functionFacts `json:"function_records,omitzero"`
	family.Problems

	selecting bool
}

// sequenceFacts describe an outlined sequence.
type sequenceFacts struct {
	Outlined     uint32   `json:"outlined"` // how often
	Instructions int      `json:"instructions"`
	Hashes       []string `json:"hashes"` // of the instructions, in hexadecimal
}

// groupFacts describe the functions with one hash.
type groupFacts struct {
	Hash         string   `json:"hash"` // in hexadecimal
	Instructions uint32   `json:"instructions"`
	Operands     int      `json:"operands"` // that may differ
	Functions    int      `json:"functions"`
	Names        []string `json:"names"` // of the first ones
}

type functionFacts struct {
	Hash         string `json:"hash"`
	Name         string `json:"name"`
	Demangled    string `json:"demangled"`
	Module       string `json:"module"`
	Instructions uint32 `json:"instructions"`
	Operands     int    `json:"operands"`
}

// maxNames limits the names of a group.
const maxNames = 8

// collectFacts returns the facts of a file. With an error, they only have the error.
func collectFacts(name string, data []byte, format formats.Format, opt *family.ShowOptions, arch string) (*fileFacts, error) {
	f := &fileFacts{
		Head: family.NewHead(name, len(data), format), Problems: family.NewProblems(),
		TopSequence: []sequenceFacts{}, TopGroup: []groupFacts{}, selecting: opt.Choose != nil,
	}
	all, err := readAll(name, data, format, arch, func(err error) { f.Warn(profile.Warning{File: name, Err: err}) })
	if err != nil {
		return f, f.End(err)
	}
	d := all[0]
	if format == formats.CGDataObject {
		m := cgdata.Merger{Partial: true}
		for _, one := range all {
			m.Add(one)
		}
		d, f.Objects = m.Data(), len(all)
	} else {
		f.Version = d.Version
	}
	f.collectTree(d, opt.Top)
	f.collectFunctions(d, opt)
	return f, nil
}

// collectTree collects the sequences whose outlining took the most instructions out of the program.
func (f *fileFacts) collectTree(d *cgdata.Data, top int) {
	f.Nodes = len(d.Tree)
	order := func(a, b sequenceFacts) int {
		return cmp.Compare(uint64(b.Outlined)*uint64(b.Instructions), uint64(a.Outlined)*uint64(a.Instructions))
	}
	for hashes, n := range d.Sequences() {
		f.Sequences++
		f.Outlined += uint64(n)
		f.Depth = max(f.Depth, len(hashes))
		s := sequenceFacts{Outlined: n, Instructions: len(hashes)}
		if len(f.TopSequence) < top || top > 0 && order(s, f.TopSequence[top-1]) < 0 {
			for _, h := range hashes {
				s.Hashes = append(s.Hashes, fmt.Sprintf("%016x", h))
			}
			f.TopSequence = console.InsertBounded(f.TopSequence, s, top, order)
		}
	}
}

// collectFunctions collects the groups with the most instructions that merging would remove.
func (f *fileFacts) collectFunctions(d *cgdata.Data, opt *family.ShowOptions) {
	if f.selecting {
		f.Selected = []functionFacts{}
	}
	order := func(a, b groupFacts) int {
		saved := func(g groupFacts) uint64 { return uint64(g.Functions-1) * uint64(g.Instructions) }
		return cmp.Compare(saved(b), saved(a))
	}
	f.Functions = len(d.Functions)
	for rest := d.Functions; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Hash == rest[0].Hash {
			n++
		}
		f.Hashes++
		if n > 1 {
			f.Mergeable += n
			g := groupFacts{Hash: hex(rest[0].Hash), Instructions: rest[0].Instructions, Operands: len(rest[0].Operands), Functions: n}
			for _, fn := range rest[:min(n, maxNames)] {
				g.Names = append(g.Names, fn.Name)
			}
			f.TopGroup = console.InsertBounded(f.TopGroup, g, opt.Top, order)
		}
		for i := range rest[:n] {
			fn := &rest[i]
			facts := functionFacts{hex(fn.Hash), fn.Name, symbols.Demangle(fn.Name), fn.Module, fn.Instructions, len(fn.Operands)}
			if f.selecting && (opt.Choose.MatchString(facts.Name) || opt.Choose.MatchString(facts.Demangled)) {
				f.Selected = append(f.Selected, facts)
			}
		}
		rest = rest[n:]
	}
}

func hex(hash uint64) string { return fmt.Sprintf("%016x", hash) }

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
	rows := [][2]string{{"Format", fmt.Sprintf("%s, %s", what, cli.Quantity(f.Size, "byte", "bytes"))}}
	if f.Objects > 0 {
		rows = append(rows, [2]string{"Objects", cli.Count(f.Objects)})
	}
	if f.Nodes > 0 {
		rows = append(rows, [2]string{"Sequences", fmt.Sprintf("%s, outlined %s, of up to %s; %s", cli.Count(f.Sequences),
			cli.Quantity(f.Outlined, "time", "times"), cli.Quantity(f.Depth, "instruction", "instructions"), cli.Quantity(f.Nodes, "node", "nodes"))})
	}
	if f.Functions > 0 {
		rows = append(rows, [2]string{"Functions", fmt.Sprintf("%s with %s, %s in groups", cli.Count(f.Functions),
			cli.Quantity(f.Hashes, "hash", "hashes"), cli.Count(f.Mergeable))})
	}
	p.List(append(rows, f.Rows(p.Term, "")...))
	console.TableOf(&p.Printer, []string{"Outlined", "Length", "Sequences, as hashes of instructions"}, f.TopSequence, func(s *sequenceFacts) []string {
		return []string{cli.Count(s.Outlined), cli.Count(s.Instructions), strings.Join(s.Hashes, " ")}
	})
	console.TableOf(&p.Printer, []string{"Functions", "Instructions", "Operands", "Groups"}, f.TopGroup, func(g *groupFacts) []string {
		names := make([]string, len(g.Names))
		for i, name := range g.Names {
			names[i] = nameOf(p, name, symbols.Demangle(name))
		}
		if g.Functions > len(names) {
			names = append(names, "…")
		}
		return []string{cli.Count(g.Functions), cli.Count(g.Instructions), cli.Count(g.Operands), strings.Join(names, ", ")}
	})
	switch {
	case !f.selecting:
	case len(f.Selected) == 0:
		fmt.Fprintln(p.W, "\n  No function matches.")
	default:
		slices.SortStableFunc(f.Selected, func(a, b functionFacts) int { return cmp.Compare(a.Module, b.Module) })
		console.TableOf(&p.Printer, []string{"Hash", "Instructions", "Operands", "Functions chosen"}, f.Selected, func(fn *functionFacts) []string {
			return []string{fn.Hash, cli.Count(fn.Instructions), cli.Count(fn.Operands), nameOf(p, fn.Name, fn.Demangled) + " [" + console.Printable(fn.Module) + "]"}
		})
	}
}

func nameOf(p *family.Printer, name, demangled string) string {
	if p.Mangled {
		return console.Printable(name)
	}
	return console.Printable(demangled)
}

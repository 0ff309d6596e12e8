package mipcmd

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/family"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/mip/debuginfo"
	"github.com/profuse-pgo/profuse/symbolize"
)

// mipEdgeFacts says how often one function was called from one place.
type mipEdgeFacts struct {
	Weight uint64 `json:"weight"` // calls, estimated
	// Caller is null if it is not instrumented, or outside of the program.
	Caller *mipEdgeEnd `json:"caller"`
	Callee mipEdgeEnd  `json:"callee"`
	// Offset is that of the instruction after the call from the start of the
	// caller, in bytes.
	Offset  uint32       `json:"offset"`
	Address int64        `json:"address"` // of that instruction, less that of the raw section; 0 if outside
	Source  *sourceFacts `json:"source"`  // of the call; null if not known
	// Code is the function with the call as the program's symbols name it,
	// where the profile does not know it.
	Code string `json:"code,omitzero"`
}

type mipEdgeEnd struct {
	Name      string `json:"name"`
	Demangled string `json:"demangled"`
}

func mipEdgeEndOf(f *mip.Function) mipEdgeEnd { return mipEdgeEnd{f.Name, symbols.Demangle(f.Name)} }

func (e *mipEdgeEnd) matches(choose *regexp.Regexp) bool {
	return choose.MatchString(e.Name) || choose.MatchString(e.Demangled)
}

// edges collects the calls of which an end is chosen.
func (f *mipFacts) edges(p *mip.Profile, choose *regexp.Regexp) {
	f.Edges = []mipEdgeFacts{}
	for _, c := range p.Calls() {
		e := mipEdgeFacts{
			Weight: c.Weight, Callee: mipEdgeEndOf(&p.Functions[c.Callee]), Offset: c.Offset, Address: int64(c.Source),
		}
		chosen := e.Callee.matches(choose)
		if c.Caller >= 0 {
			end := mipEdgeEndOf(&p.Functions[c.Caller])
			e.Caller = &end
			chosen = chosen || end.matches(choose)
		}
		if chosen {
			f.Edges = append(f.Edges, e)
		}
	}
	slices.SortStableFunc(f.Edges, func(a, b mipEdgeFacts) int { return cmp.Compare(b.Weight, a.Weight) })
}

// edgeSources adds where the calls are in the sources.
func (f *mipFacts) edgeSources(debug *debuginfo.Program) error {
	var at []int64
	var to []*mipEdgeFacts
	for i := range f.Edges {
		if e := &f.Edges[i]; e.Address != 0 {
			at, to = append(at, e.Address-1), append(to, e) // inside the call
		}
	}
	warnings, err := debug.Frames(at, func(i int, frames []symbolize.Frame) {
		if s := innermost(frames); s.File != "" && s.Line > 0 {
			to[i].Source = &s
		}
	})
	f.Warnings = append(f.Warnings, warnings...)
	for _, e := range to {
		if e.Caller != nil {
			continue
		}
		if s, ok, err := debug.File().Symbol(debug.Address(e.Address - 1)); err == nil && ok {
			e.Code = s.Name
		}
	}
	return err
}

// printMIPEdges prints a table of calls.
func printMIPEdges(p *family.Printer, f *mipFacts) {
	if len(f.Edges) == 0 {
		why := "No call of the functions chosen is known."
		if !f.profileType.Has(mip.ReturnAddress) {
			why = "The program did not record who calls whom: it needs -fmachine-profile-runtime-buffer=N."
		}
		fmt.Fprintln(p.W, "\n  "+why)
		return
	}
	name := func(e *mipEdgeEnd) string {
		if p.Mangled {
			return e.Name
		}
		return e.Demangled
	}
	rows := make([][]string, 0, len(f.Edges))
	for i := range f.Edges {
		e := &f.Edges[i]
		caller := "(outside)"
		switch {
		case e.Caller != nil:
			caller = name(e.Caller) + fmt.Sprintf("+%#x", e.Offset)
		case e.Code != "":
			caller = "(" + e.Code + ")"
		case e.Address != 0:
			caller = "(not instrumented)"
		}
		rows = append(rows, []string{cli.Count(e.Weight), console.Printable(caller + " → " + name(&e.Callee) + sourceNote(e.Source))})
	}
	p.Table([]string{"Calls", "From → to"}, rows)
}

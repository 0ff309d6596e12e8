package mipcmd

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/mip/debuginfo"
	"github.com/profuse-pgo/profuse/internal/symbols"
)

// edgeFacts describes the calls of a function by one call instruction: see [mip.Profile.Calls].
type edgeFacts struct {
	Weight uint64   `json:"weight"` // estimated number of calls
	Caller *edgeEnd `json:"caller"` // null if not instrumented, or outside of the program
	Callee edgeEnd  `json:"callee"`
	// Offset is the number of bytes from the start of the caller to the instruction after the call.
	Offset  uint32       `json:"offset"`
	Address int64        `json:"address"` // of the instruction after the call, relative to the raw section; 0 if outside
	Source  *sourceFacts `json:"source"`  // of the call; null if unknown
	// Code is the caller's name from the program's symbols, if the profile does not have the caller.
	Code string `json:"code,omitzero"`
}

// edgeEnd names one function of a call.
type edgeEnd struct {
	Name      string `json:"name"`
	Demangled string `json:"demangled"`
}

func edgeEndOf(f *mip.Function) edgeEnd { return edgeEnd{f.Name, symbols.Demangle(f.Name)} }

// collectEdges collects the calls whose caller or callee is chosen, the most frequent first. Equally
// frequent calls stay in the order of the profile.
func (f *fileFacts) collectEdges(p *mip.Profile, choose *regexp.Regexp) {
	f.Edges = []edgeFacts{}
	for _, c := range p.Calls() {
		e := edgeFacts{
			Weight: c.Weight, Callee: edgeEndOf(&p.Functions[c.Callee]), Offset: c.Offset, Address: int64(c.Source),
		}
		chosen := matches(choose, e.Callee.Name, e.Callee.Demangled)
		if c.Caller >= 0 {
			end := edgeEndOf(&p.Functions[c.Caller])
			e.Caller = &end
			chosen = chosen || matches(choose, end.Name, end.Demangled)
		}
		if chosen {
			f.Edges = append(f.Edges, e)
		}
	}
	slices.SortStableFunc(f.Edges, func(a, b edgeFacts) int { return cmp.Compare(b.Weight, a.Weight) })
}

// addEdgeSources adds the source lines of the calls, and the names of callers that are not instrumented.
func (f *fileFacts) addEdgeSources(program *debuginfo.Program) {
	var lines lookups
	for i := range f.Edges {
		e := &f.Edges[i]
		if e.Address == 0 {
			continue
		}
		inside := e.Address - 1 // in the call, not after it
		lines.add(inside, &e.Source)
		if e.Caller != nil {
			continue
		}
		if s, ok, err := program.File().Symbol(program.Address(inside)); err == nil && ok {
			e.Code = s.Name
		}
	}
	f.lookUp(program, &lines)
}

// printEdges prints a table of calls, or why there are none. Callers in parentheses are not
// functions of the profile.
func printEdges(p *family.Printer, f *fileFacts) {
	if len(f.Edges) == 0 {
		why := "No calls of these functions are known."
		if !f.profileType.Has(mip.ReturnAddress) {
			why = "The program did not record callers: compile it with -fmachine-profile-runtime-buffer=N."
		}
		fmt.Fprintln(p.W, "\n  "+why)
		return
	}
	name := func(e *edgeEnd) string {
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

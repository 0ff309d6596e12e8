package sampleprof

import (
	"slices"

	"github.com/profuse-pgo/profuse/internal/tally"
	"github.com/profuse-pgo/profuse/profile"
)

// Cutoffs, in millionths, at which counts become hot and stop being cold.
const (
	hotCutoff  = 990_000
	coldCutoff = 999_999
)

// Summarize computes the summary of the profile as it is now. The contexts of one
// function are merged for it, and inlined functions that are [Duplicated] are left out.
func (p *Profile) Summarize() *Summary {
	functions := p.Functions
	if p.Kind.Has(ContextSensitive) {
		functions = p.withoutContexts()
	}
	return summarize(functions)
}

func summarize(functions []*Function) *Summary {
	var counts tally.Tally
	s := &Summary{NumFunctions: uint64(len(functions))}
	for _, f := range functions {
		s.MaxHead = max(s.MaxHead, f.Head)
		f.walk(func(g *Function) bool {
			if g != f && g.Attributes&Duplicated != 0 {
				return false
			}
			for i := range g.Body {
				counts.Add(g.Body[i].Count)
			}
			return true
		})
	}
	d := counts.Distribution(profile.DefaultCutoffs(), true)
	s.Total, s.MaxCount, s.NumCounts = d.Low, d.Max, d.Values
	for _, c := range d.Cutoffs {
		s.Cutoffs = append(s.Cutoffs, profile.Cutoff(c))
	}
	return s
}

// withoutContexts returns one function for each name, the sum of its contexts in the
// order in which LLVM adds them up. Contexts with another checksum than the first are left
// out.
func (p *Profile) withoutContexts() []*Function {
	var sum functionMap
	for _, f := range p.InMapOrder() {
		sum.add(&Function{
			Name: f.Name, Total: f.Total, Head: f.Head, Body: f.Body, Callsites: f.Callsites, VTables: f.VTables,
			Checksum: f.Checksum,
		}, 1)
	}
	return sum.slice()
}

// threshold returns the least count at a cutoff, in millionths.
func (s *Summary) threshold(cutoff uint64) (count uint64, ok bool) {
	i := slices.IndexFunc(s.Cutoffs, func(c profile.Cutoff) bool { return c.Share >= cutoff })
	if i < 0 {
		return 0, false
	}
	return s.Cutoffs[i].Min, true
}

// HotThreshold returns the least count that is hot: the counts from there up make up
// 99 % of the total. It reports false if the summary does not go that far.
func (s *Summary) HotThreshold() (count uint64, ok bool) { return s.threshold(hotCutoff) }

// ColdThreshold returns the greatest count that is cold: the counts from there up make up
// 99.9999 % of the total. It reports false if the summary does not go that far.
func (s *Summary) ColdThreshold() (count uint64, ok bool) { return s.threshold(coldCutoff) }

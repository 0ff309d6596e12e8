package sampleprof

import (
	"github.com/profuse-pgo/profuse/internal/tally"
	"github.com/profuse-pgo/profuse/profile"
)

// Summarize computes the summary of the profile as it is now. It merges the contexts of a
// function, and leaves out inlined functions whose samples a base profile also has.
func (p *Profile) Summarize() *Summary { return p.pack().summarize() }

// summarize computes the summary once.
func (p *packedProfile) summarize() *Summary {
	if p.summary == nil {
		of := p
		if p.kind.ContextSensitive {
			of = p.withoutContexts()
		}
		p.summary = of.survey().summary
	}
	return p.summary
}

// withoutContexts returns the sums of contexts by name, without contexts whose checksum differs from the first.
func (p *packedProfile) withoutContexts() *packedProfile {
	sums := packedSums{packer: packer{nameTable: p.names}}
	for i := range p.inMapOrder() {
		f := &packedFunction{name: p.functions[i].name, head: p.functions[i].head, body: p.functions[i].body}
		i, fresh := sums.get(f)
		sums.addFunction(i, f, 1, fresh)
	}
	return &packedProfile{names: p.names, functions: sums.functions}
}

// A survey lists the names that functions use and the distribution of their counts.
type survey struct {
	counts     tally.Tally
	summary    *Summary
	used       []uses // by name number
	attributes bool   // some function has attributes
	duplicated bool   // a base profile has the samples of the function being read
}

// uses says what a name is used for. It is a set of bits.
type uses uint8

const (
	ofFunction uses = 1 << iota
	ofVTable
)

// survey returns the survey of all functions, made at the first call.
func (p *packedProfile) survey() *survey {
	if p.surveyed != nil {
		return p.surveyed
	}
	s := &survey{used: make([]uses, len(p.names.names)), summary: &Summary{NumFunctions: uint64(len(p.functions))}}
	for i := range p.functions {
		f := &p.functions[i]
		s.used[f.name] |= ofFunction
		for _, frame := range f.context {
			s.used[p.names.numberOf(frame.Name)] |= ofFunction
		}
		s.summary.MaxHead = max(s.summary.MaxHead, f.head)
		s.addBody(f.body, false)
	}
	d := s.counts.Distribution(profile.DefaultCutoffs(), true)
	s.summary.Total, s.summary.MaxCount, s.summary.NumCounts = d.Low, d.Max, d.Values
	for _, c := range d.Cutoffs {
		s.summary.Cutoffs = append(s.summary.Cutoffs, profile.Cutoff(c))
	}
	s.counts = tally.Tally{}
	p.surveyed = s
	return s
}

func (s *survey) addBody(body []byte, inlined bool) {
	u := unpacker{b: body}
	u.skip()
	u.skip()
	around := s.duplicated
	attributes := u.num()
	s.attributes = s.attributes || attributes != 0
	if attributes&duplicated != 0 && inlined {
		s.duplicated = true
	}
	for p := u.location(); p.ok; p = u.location() {
		if count := u.num(); !s.duplicated {
			s.counts.Add(count)
		}
		s.addList(&u, p, ofFunction)
	}
	for c := u.call(); c.ok; c = u.call() {
		s.used[c.name] |= ofFunction
		s.addBody(c.body, true)
	}
	s.duplicated = around
	for p := u.location(); p.ok; p = u.location() {
		s.addList(&u, p, ofVTable)
	}
}

func (s *survey) addList(u *unpacker, p packedLocation, use uses) {
	if p.listed {
		for n := u.num(); n > 0; n-- {
			s.used[u.num()] |= use
			u.skip()
		}
	}
}

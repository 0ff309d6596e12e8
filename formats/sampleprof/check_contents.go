package sampleprof

import (
	"cmp"
	"fmt"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/internal/symbols"
)

// checkContents looks for profiles that are of little use to compilers, and that tools write without a word.
func (p *Profile) checkContents() (findings []error) {
	note := func(field, got, want string) {
		findings = append(findings, flaw.In(profileSection.String()).Field(field).Got(got).Want(want).Corrupt())
	}
	if len(p.Functions) == 0 {
		note("number of functions", "0", "some: the tool found no sample in the program, or could not read its debug information")
	}
	var all uint64
	var lineless offsetSamples
	strange := 0
	example := ""
	for _, f := range p.Functions {
		f.walk(func(g *Function) bool {
			if !symbols.IsText(g.Name.Text) {
				strange++
				example = cmp.Or(example, g.Name.Text)
			}
			for _, s := range g.Body {
				all = saturate.Add(all, s.Count)
				if s.Line > maxOffset {
					lineless.add(g, s)
				}
			}
			return true
		})
	}
	if strange > 0 {
		note("name", fmt.Sprintf("%q, one of %d that are no text", example, strange), "text: the tool read stray bytes of its memory")
	}
	if p.numbered {
		note("name", "a number", "text, or a GUID of the extensible binary format: LLVM takes a number for a name, which no function has; merge writes it as a GUID")
	}
	if !p.Kind.ProbeBased && lineless.samples > 0 && lineless.samples >= all/leastLineless {
		note("samples at lines above "+fmt.Sprint(maxOffset), fmt.Sprintf("%d of %d, such as at %s", lineless.samples, all, lineless.example),
			"fewer: they are of code to which the compiler gave no line, and fit as long as the function begins on its present line")
	}
	return findings
}

// Offsets from the first line of a function are modulo 2^16, so code of line 0 or before the function has
// an offset above maxOffset. Most profiles have some; check remarks on more than one in leastLineless samples.
const (
	maxOffset     = 1<<15 - 1
	leastLineless = 20
)

// offsetSamples are the samples at some locations. The location with the most samples is the example.
type offsetSamples struct {
	samples, most uint64
	example       string
}

func (o *offsetSamples) add(f *Function, s Sample) {
	if o.samples = saturate.Add(o.samples, s.Count); s.Count > o.most {
		o.most, o.example = s.Count, s.Location.String()+" in "+f.Name.String()
	}
}

package sampleprof

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
)

// randomText returns a random text profile with n names.
func randomText(seed uint64, n int, kind Kind, vtables bool) []byte {
	g := &generator{r: rand.New(rand.NewPCG(seed, 1)), kind: kind, vtables: vtables, attribute: shouldBeInlined}
	for i := range n {
		name := fmt.Sprintf("_ZN%dns%dfunc_%dEv", g.r.IntN(8)+2, i%13, i)
		if g.r.IntN(6) == 0 {
			name += fmt.Sprintf("%s%d", uniqueSuffix, i*7919)
		}
		g.names = append(g.names, name)
	}
	for _, name := range g.names {
		if !kind.ContextSensitive {
			g.function(name)
			continue
		}
		seen := make(map[string]bool)
		for range g.r.IntN(3) + 1 {
			context := name
			for range g.r.IntN(12) {
				context = fmt.Sprintf("%s:%s%s%s", g.name(), g.location(), frameSeparator, context)
			}
			if !seen[context] {
				seen[context] = true
				g.function("[" + context + "]")
			}
		}
	}
	return g.b.Bytes()
}

type generator struct {
	b       bytes.Buffer
	r       *rand.Rand
	kind    Kind
	vtables bool
	names   []string

	attribute uint32 // of the first function: the kind shows in it
}

func (g *generator) name() string { return g.names[g.r.IntN(len(g.names))] }

func (g *generator) count() uint64 { return g.r.Uint64() >> (24 + g.r.IntN(40)) }

func (g *generator) location() Location {
	l := Location{Line: g.r.Uint32N(90)}
	if !g.kind.ProbeBased && g.r.IntN(3) == 0 {
		l.Discriminator = g.r.Uint32N(5)
	}
	return l
}

func (g *generator) function(head string) {
	fmt.Fprintf(&g.b, "%s:%d:%d\n", head, g.count(), g.count()%1000)
	g.body(" ", 3)
}

func (g *generator) body(indent string, depth int) {
	for range g.r.IntN(9) {
		at := g.location()
		fmt.Fprintf(&g.b, "%s%s: %d", indent, at, g.count())
		for range g.r.IntN(5) - 2 {
			fmt.Fprintf(&g.b, " %s:%d", g.name(), g.count())
		}
		g.b.WriteByte('\n')
		if g.vtables && g.r.IntN(5) == 0 {
			fmt.Fprintf(&g.b, "%s%s: vtables _ZTV%d:%d _ZTV%d:%d \n", indent, at, g.r.IntN(9), g.count(), 9+g.r.IntN(9), g.count())
		}
	}
	if depth > 0 && !g.kind.ContextSensitive && g.r.IntN(2) == 0 {
		for range g.r.IntN(3) {
			fmt.Fprintf(&g.b, "%s%s: %s:%d\n", indent, g.location(), g.name(), g.count())
			g.body(indent+" ", depth-1)
		}
	}
	if g.kind.ProbeBased {
		fmt.Fprintf(&g.b, "%s!CFGChecksum: %d\n", indent, g.r.Uint64N(1<<60)+1)
	}
	if g.kind.PreInlined && g.r.IntN(2) == 0 {
		fmt.Fprintf(&g.b, "%s!Attributes: %d\n", indent, g.r.IntN(4)|int(g.attribute))
		g.attribute = 0
	}
}

// kinds are the kinds of random profiles.
var kinds = []Kind{
	{},
	{ContextSensitive: true},
	{ContextSensitive: true, ProbeBased: true},
	{ContextSensitive: true, ProbeBased: true, PreInlined: true},
	{ProbeBased: true},
	{ProbeBased: true, PreInlined: true},
}

func mustRead(t testing.TB, data []byte) *Profile {
	t.Helper()
	p, err := Read("", data, ReaderOptions{})
	must(t, err)
	return p
}

func mustWrite(t testing.TB, p interface {
	Write(io.Writer, WriteOptions) error
}, opt WriteOptions,
) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, p.Write(&b, opt))
	return b.Bytes()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

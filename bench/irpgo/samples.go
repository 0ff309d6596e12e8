//go:build linux

package main

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/profuse-pgo/profuse/bench/internal/measure"
	"github.com/profuse-pgo/profuse/formats/sampleprof"
)

// Sample profiles are made by package sampleprof: no run of a program gives so many functions.
const (
	sampledFunctions = 100_000 // of the large one
	sampledFiles     = 50
	fileFunctions    = 16_000 // of one of many, which have a seventh of their functions in common with another
)

func makeSampled(dir string) ([]string, error) { return writtenSamples(dir, "sampled", 1) }
func makeSampledMany(dir string) ([]string, error) {
	return writtenSamples(dir, "sampled-many", sampledFiles)
}

// writtenSamples returns profiles that another process writes.
func writtenSamples(dir, name string, n int) ([]string, error) {
	var out []string
	for i := range n {
		out = append(out, filepath.Join(dir, fmt.Sprintf("%s%d.afdo", name, i)))
	}
	// They are written in order, so the last one shows that all are there.
	if measure.Exists(out[n-1]) {
		return out, nil
	}
	return out, prepareApart("samples", out...)
}

// writeSamples writes sample profiles: one large one, or several.
func writeSamples(names []string) error {
	functions := fileFunctions
	if len(names) == 1 {
		functions = sampledFunctions
	}
	for i, name := range names {
		g := &sampled{rng: rand.New(rand.NewPCG(uint64(i), 3))}
		p := g.profile(functions)
		if err := measure.WriteFile(name, func(w *bufio.Writer) error { return p.Write(w, sampleprof.WriteOptions{}) }); err != nil {
			return err
		}
	}
	return nil
}

// sampled makes a random sample profile.
type sampled struct {
	rng   *rand.Rand
	names []sampleprof.Name
}

// profile makes n functions. Seven namespaces by chance make a seventh of the names of two files
// equal, so that a merge has both new functions and known ones.
func (g *sampled) profile(n int) *sampleprof.Profile {
	for i := range n {
		g.names = append(g.names, sampleprof.NameOf(fmt.Sprintf("_ZN7project%d11component%02d14Handler%07d7processEv", g.rng.IntN(7), i%50, i)))
	}
	p := new(sampleprof.Profile)
	for _, name := range g.names {
		f := g.function(name, 3)
		f.Head = g.count() % 1000
		p.Functions = append(p.Functions, f)
	}
	return p
}

// count returns a number of samples: most are small, a few very large.
func (g *sampled) count() uint64 {
	return uint64(10*math.Pow(1-g.rng.Float64(), -1/0.6)) % (1 << 40)
}

// function returns a function into which others are inlined, depth levels deep at most.
func (g *sampled) function(name sampleprof.Name, depth int) *sampleprof.Function {
	f := &sampleprof.Function{Name: name}
	for range 1 + g.rng.IntN(13) {
		s := sampleprof.Sample{Location: g.location(120), Count: g.count()}
		if g.rng.IntN(4) == 0 {
			for range 1 + g.rng.IntN(3) {
				target := sampleprof.Target{Name: g.name(), Count: 1 + g.rng.Uint64N(s.Count+1)}
				if !slices.ContainsFunc(s.Targets, func(t sampleprof.Target) bool { return t.Name == target.Name }) {
					s.Targets = append(s.Targets, target)
				}
			}
			slices.SortFunc(s.Targets, func(a, b sampleprof.Target) int { return cmp.Compare(a.Name.ID, b.Name.ID) })
		}
		f.Body = append(f.Body, s)
		f.Total += s.Count
	}
	// A location is in the body once.
	slices.SortStableFunc(f.Body, func(a, b sampleprof.Sample) int { return compareLocations(a.Location, b.Location) })
	f.Body = slices.CompactFunc(f.Body, func(a, b sampleprof.Sample) bool { return a.Location == b.Location })
	if depth > 0 && g.rng.IntN(2) == 0 {
		for range 1 + g.rng.IntN(2) {
			c := sampleprof.Callsite{Location: g.location(150), Callee: g.function(g.name(), depth-1)}
			f.Callsites = append(f.Callsites, c)
			f.Total += c.Callee.Total
		}
		slices.SortStableFunc(f.Callsites, func(a, b sampleprof.Callsite) int { return compareLocations(a.Location, b.Location) })
		f.Callsites = slices.CompactFunc(f.Callsites, func(a, b sampleprof.Callsite) bool { return a.Location == b.Location })
	}
	return f
}

// name returns the name of a random function, which may be the caller.
func (g *sampled) name() sampleprof.Name { return g.names[g.rng.IntN(len(g.names))] }

// location returns a line relative to the function's first one, every other time with a discriminator.
func (g *sampled) location(lines uint32) sampleprof.Location {
	l := sampleprof.Location{Line: g.rng.Uint32N(lines)}
	if g.rng.IntN(2) == 0 {
		l.Discriminator = g.rng.Uint32N(4)
	}
	return l
}

// mergingSamples merges sample profiles. llvm-profdata has no threads for them.
func (b *bench) mergingSamples(inputs []string) []*command {
	commands := b.mergingWith("out-%s.afdo", inputs, nil, nil)
	for _, c := range commands[1:] {
		c.argv = append(c.argv, "--sample")
	}
	return commands
}

// showingSamples prints all of a sample profile.
func (b *bench) showingSamples(inputs []string) []*command {
	return []*command{
		{name: "drop-in", kind: ours, stdout: true, argv: append([]string{b.profuse, "llvm-profdata", "show", "--sample"}, inputs...)},
		{name: "llvm", kind: peer, stdout: true, argv: append([]string{b.llvm, "show", "--sample"}, inputs...)},
	}
}

func compareLocations(a, b sampleprof.Location) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Discriminator, b.Discriminator))
}

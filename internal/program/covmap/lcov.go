package covmap

import (
	"cmp"
	"io"
	"slices"
	"strconv"

	"github.com/profuse-pgo/profuse/profile/coverage"
)

// LCOVOptions modify [WriteLCOV].
type LCOVOptions struct {
	// SeparateInstantiations writes the branches of every instantiation of a function separately
	// (--unify-instantiations=false).
	SeparateInstantiations bool
	SummaryOnly            bool     // writes only how many functions, lines and branches there are
	SkipBranches           bool     // leaves out branches and their numbers
	SkipFunctions          bool     // leaves out functions, but not how many there are
	Files                  []string // the files to write; nil means all
}

// WriteLCOV writes the tracefile that llvm-cov 22 writes (export -format=lcov). Like
// llvm-cov, it adds up different conditions of one macro, and counts modulo 2^32 in BRDA.
// Package coverage writes tracefiles without these faults.
func WriteLCOV(w io.Writer, c *Coverage, opt LCOVOptions) error {
	names := c.filesOr(opt.Files)
	return inOrder(len(names), func(i int, p *producer[byte], dst []byte) []byte {
		s := c.summarizer()
		defer c.spare.put(s)
		b := &s.placed
		b.list, b.expanded, b.met, b.paths = b.list[:0], b.expanded[:0], 0, b.paths[:0]
		f := c.file(names[i], s, func(fn *Function) { s.placed.add(s.code, names[i]) })
		return f.appendLCOV(dst, p, opt, &s.placed)
	}, writeTo(w))
}

// appendLCOV appends the section of a file. Branches of one line have numbers from 0, and "-" as the
// count where the condition was never reached.
func (f *File) appendLCOV(dst []byte, p *producer[byte], opt LCOVOptions, placed *placedBranches) []byte {
	line := func(key string, n uint64) {
		dst = strconv.AppendUint(append(append(dst, key...), ':'), n, 10)
	}
	total := func(key string, r coverage.Ratio) {
		line(key+"F", uint64(r.Total))
		line("\n"+key+"H", uint64(r.Covered))
		dst = append(dst, '\n')
	}
	dst = append(append(append(dst, "SF:"...), f.Name...), '\n')
	if !opt.SummaryOnly && !opt.SkipFunctions {
		for _, key := range []string{"FN", "FNDA"} {
			for _, fn := range f.Functions {
				if fn.Files[0] != f.Name {
					continue
				}
				n := fn.Count
				if key == "FN" {
					n = uint64(fn.line)
				}
				line(key, n)
				dst = append(append(append(dst, ','), fn.Name...), '\n')
			}
		}
	}
	total("FN", f.Total.Functions)
	if !opt.SummaryOnly {
		for l := range Lines(f.Segments) {
			if l.Mapped {
				line("DA", uint64(l.Number))
				dst = append(strconv.AppendUint(append(dst, ','), l.Count, 10), '\n')
				dst = p.pass(dst)
			}
		}
		if !opt.SkipBranches {
			dst = placed.append(dst, !opt.SeparateInstantiations)
		}
	}
	if !opt.SkipBranches {
		total("BR", f.Total.Branches)
	}
	total("L", f.Total.Lines)
	return append(dst, "end_of_record\n"...)
}

// A placedBranch is a branch with its path: the starts of the expansions that enclose it, outermost
// first, or its own start if no expansion encloses it.
type placedBranch struct {
	first       Position // first position of the path
	rest, end   uint32   // range of the further positions in placedBranches.paths
	index       uint32   // among the branches of the file, or among the branches of expansions
	true, false uint64
}

// placedBranches are the branches in a file and in the expansions of the file.
type placedBranches struct {
	list     []placedBranch // of all branches in the end
	expanded []placedBranch
	met      uint32 // number of branches of expansions so far
	paths    []Position
	walk     expansionWalk
	sorter   runSorter[placedBranch]
}

func (p *placedBranches) rest(b *placedBranch) []Position { return p.paths[b.rest:b.end] }

func (p *placedBranches) add(code *functionCode, name string) {
	for file := range code.fn.virtualFiles(name) {
		branches := code.branchesOf(file)
		for i := range branches {
			if b := &branches[i]; !b.folded() {
				p.list = append(p.list, placedBranch{first: b.Start, index: uint32(len(p.list)), true: b.True, false: b.False})
			}
		}
	}
	if !code.fn.ownIn(name) {
		return
	}
	p.walk.begin(code)
	own := code.ownRegions()
	for i := range own {
		if own[i].Kind != Expansion {
			continue
		}
		p.walk.branches(&own[i], func(b *CountedBranch, path []Position) {
			if !b.folded() {
				at := uint32(len(p.paths))
				p.paths = append(p.paths, path[1:]...)
				p.expanded = append(p.expanded, placedBranch{path[0], at, uint32(len(p.paths)), p.met, b.True, b.False})
			}
			p.met++
		})
	}
}

// append appends the branches in their order. If unify is set, it adds up branches with equal paths.
func (p *placedBranches) append(dst []byte, unify bool) []byte {
	compare := func(a, b *placedBranch) int {
		if c := comparePositions(a.first, b.first); c != 0 {
			return c
		}
		return slices.CompareFunc(p.rest(a), p.rest(b), comparePositions)
	}
	all := append(p.list, p.expanded...)
	p.list = all
	if unify {
		all = p.sorter.sort(all, compare, func(to, other *placedBranch) {
			to.true += other.true
			to.false += other.false
		})
	} else {
		all = p.sorter.sort(all, func(a, b *placedBranch) int { return cmp.Or(compare(a, b), cmp.Compare(a.index, b.index)) }, nil)
	}
	last, pair, number := uint32(0), uint64(0), uint64(0)
	for i := range all {
		b := &all[i]
		if b.first.Line != last {
			last, pair, number = b.first.Line, 0, 0
		}
		counts := [...]uint64{uint64(uint32(b.true)), uint64(uint32(b.false))}
		for _, n := range counts {
			dst = append(dst, "BRDA:"...)
			dst = strconv.AppendUint(dst, uint64(last), 10)
			dst = strconv.AppendUint(append(dst, ','), pair, 10)
			dst = strconv.AppendUint(append(dst, ','), number, 10)
			dst = append(dst, ',')
			if counts == [2]uint64{} {
				dst = append(dst, '-')
			} else {
				dst = strconv.AppendUint(dst, n, 10)
			}
			dst = append(dst, '\n')
			number++
		}
		pair++
	}
	return dst
}

func writeTo(w io.Writer) func(text []byte) error {
	return func(text []byte) error {
		_, err := w.Write(text)
		return err
	}
}

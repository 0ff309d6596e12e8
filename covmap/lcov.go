package covmap

import (
	"cmp"
	"io"
	"slices"
	"strconv"

	"github.com/profuse-pgo/profuse/coverage"
)

// LCOVOptions modify [WriteLCOV].
type LCOVOptions struct {
	// SeparateInstantiations writes the branches of every instantiation of a
	// function by itself (--unify-instantiations=false).
	SeparateInstantiations bool
	// SummaryOnly leaves out functions, lines and branches but for their numbers.
	SummaryOnly bool
	// SkipBranches leaves out branches and their numbers.
	SkipBranches bool
	// Files are the files to write; nil means all.
	Files []string
}

// WriteLCOV writes the tracefile that llvm-cov 22 writes (export -format=lcov). Like
// llvm-cov, it adds up different conditions of one macro, and counts modulo 2^32 in BRDA.
// Package coverage writes tracefiles without these faults.
func WriteLCOV(w io.Writer, c *Coverage, opt LCOVOptions) error {
	names := c.filesOr(opt.Files)
	return inOrder(len(names), func(i int, p *producer[byte], dst []byte) []byte {
		return c.File(names[i]).appendLCOV(dst, p, opt)
	}, writeTo(w))
}

func (f *File) appendLCOV(dst []byte, p *producer[byte], opt LCOVOptions) []byte {
	line := func(key string, numbers ...uint64) {
		dst = append(append(dst, key...), ':')
		for i, n := range numbers {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = strconv.AppendUint(dst, n, 10)
		}
	}
	end := func() { dst = append(dst, '\n') }
	total := func(key string, r coverage.Ratio) {
		line(key+"F", uint64(r.Total))
		end()
		line(key+"H", uint64(r.Covered))
		end()
	}
	dst = append(append(append(dst, "SF:"...), f.Name...), '\n')
	if !opt.SummaryOnly {
		for _, key := range []string{"FN", "FNDA"} {
			for _, fn := range f.Functions {
				if fn.Files[0] != f.Name {
					continue
				}
				n := fn.Count
				if key == "FN" {
					n = 0
					if len(fn.Regions) > 0 {
						n = uint64(fn.Regions[0].Start.Line)
					}
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
				line("DA", uint64(l.Number), l.Count)
				end()
				dst = p.pass(dst)
			}
		}
		if !opt.SkipBranches {
			dst = f.appendBranches(dst, !opt.SeparateInstantiations)
		}
	}
	if !opt.SkipBranches {
		total("BR", f.Total.Branches)
	}
	total("L", f.Total.Lines)
	return append(dst, "end_of_record\n"...)
}

// A placedBranch is a branch with the starts of the expansions that it lies in,
// the outermost first; if it lies in none, with its own start.
type placedBranch struct {
	path        []Position
	index       int // among the branches of the file, or among those of expansions
	true, false uint64
}

// appendBranches appends the branches of the file. Those with equal paths are
// added up if unify is set.
func (f *File) appendBranches(dst []byte, unify bool) []byte {
	var all []placedBranch
	starts := make([]Position, len(f.Branches)) // memory of paths
	for i, b := range f.Branches {
		if !b.folded() {
			starts[i] = b.Start
			all = append(all, placedBranch{starts[i : i+1 : i+1], len(all), b.True, b.False})
		}
	}
	var walk expansionWalk
	index := 0
	for fn, r := range f.Expansions {
		walk.branches(fn, r, func(b *CountedBranch, path []Position) {
			if !b.folded() {
				all = append(all, placedBranch{path, index, b.True, b.False})
			}
			index++
		})
	}
	slices.SortStableFunc(all, func(a, b placedBranch) int {
		return cmp.Or(slices.CompareFunc(a.path, b.path, comparePositions), cmp.Compare(a.index, b.index))
	})
	last, pair, number := uint32(0), uint64(0), uint64(0)
	for len(all) > 0 {
		b, n := all[0], 1
		for ; unify && n < len(all) && slices.Equal(all[n].path, b.path); n++ {
			b.true += all[n].true
			b.false += all[n].false
		}
		all = all[n:]
		if b.path[0].Line != last {
			last, pair, number = b.path[0].Line, 0, 0
		}
		counts := [...]uint64{uint64(uint32(b.true)), uint64(uint32(b.false))}
		for _, n := range counts {
			dst = append(dst, "BRDA:"...)
			dst = strconv.AppendUint(dst, uint64(last), 10)
			dst = strconv.AppendUint(append(dst, ','), pair, 10)
			dst = strconv.AppendUint(append(dst, ','), number, 10)
			if dst = append(dst, ','); counts == [2]uint64{} {
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

// writeTo returns a function that writes texts to w.
func writeTo(w io.Writer) func(text []byte) error {
	return func(text []byte) error {
		_, err := w.Write(text)
		return err
	}
}

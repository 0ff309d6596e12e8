package coverage

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

func writeLCOV(w io.Writer, c *Coverage, opt WriteOptions) error {
	t := tracefile{bufio.NewWriter(w), opt}
	for _, f := range c.Files {
		t.printf("TN:%s\nSF:%s\n", oneLine.Replace(opt.Test), oneLine.Replace(f.Path))
		t.functions(f)
		t.branches(f)
		t.decisions(f)
		t.lines(f)
		t.printf("end_of_record\n")
	}
	return t.Flush()
}

var oneLine = strings.NewReplacer("\n", `\n`, "\r", `\r`)

type tracefile struct {
	*bufio.Writer // remembers the first error
	opt           WriteOptions
}

func (t *tracefile) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

func (t *tracefile) name(s *profile.Symbol) string { return oneLine.Replace(t.opt.name(s)) }

// functions writes the functions by name. FNF and FNH are the numbers of summaries: functions that begin at one line and
// column count once, as instances of one function, and functions of one name at several lines as several.
func (t *tracefile) functions(f *File) {
	type source struct {
		line  int32  // least of all functions with the name
		calls uint64 // of all functions with the name
	}
	functions := make(map[string]source, len(f.Functions))
	for i := range f.Functions {
		fn := &f.Functions[i]
		name := t.name(&fn.Symbol)
		of, ok := functions[name]
		if !ok || fn.StartLine < of.line {
			of.line = fn.StartLine
		}
		of.calls = saturate.Add(of.calls, fn.Calls)
		functions[name] = of
	}
	names := sortedKeys(functions)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(functions[a].line, functions[b].line) })
	for _, name := range names {
		t.printf("FN:%d,%s\n", functions[name].line, name)
	}
	for _, name := range names {
		t.printf("FNDA:%d,%s\n", functions[name].calls, name)
	}
	t.printf("FNF:%d\nFNH:%d\n", f.Total.Functions.Total, f.Total.Functions.Covered)
}

func (t *tracefile) branches(f *File) {
	line, number := uint32(0), 0
	for i := range f.Branches {
		b := &f.Branches[i]
		if b.Line != line {
			line, number = b.Line, 0
		}
		for way, n := range b.Ways {
			count := "-"
			if b.covered() {
				count = fmt.Sprint(n)
			}
			t.printf("BRDA:%d,%d,%d,%s\n", line, number, way, count)
		}
		number++
	}
	if sum := f.Total.Branches; sum.Total > 0 {
		t.printf("BRF:%d\nBRH:%d\n", sum.Total, sum.Covered)
	}
}

// decisions writes the MC/DC of decisions, as lcov 2.2 and later do: a record for each value of a condition. The
// decisions of one line with equal numbers of conditions are one group, because lcov knows no columns. MCF counts each
// condition twice.
func (t *tracefile) decisions(f *File) {
	var found, hit int
	index := make(map[[2]int]int) // by line and number of conditions
	for i := range f.Decisions {
		d := &f.Decisions[i]
		group := [2]int{int(d.Line), cmp.Or(d.size, d.Conditions.Total)}
		for k := range d.Operands {
			c := &d.Operands[k]
			if c.Constant {
				continue
			}
			for _, value := range []int{1, 0} {
				t.printf("MCDC:%d,%d,%c,%d,%d,%s\n", group[0], group[1], "ft"[value], c.Shown[value], index[group],
					cmp.Or(oneLine.Replace(c.Expression), strconv.Itoa(index[group])))
				found++
				if c.Shown[value] > 0 {
					hit++
				}
			}
			index[group]++
		}
	}
	if found > 0 {
		t.printf("MCF:%d\nMCH:%d\n", found, hit)
	}
}

func (t *tracefile) lines(f *File) {
	for _, l := range f.Lines {
		t.printf("DA:%d,%d\n", l.Number, l.Count)
	}
	if sum := f.Total.Lines; sum.Total > 0 {
		t.printf("LF:%d\nLH:%d\n", sum.Total, sum.Covered)
	}
}

package coverage

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// LCOVOptions configures [WriteLCOV]. The zero value suits most uses.
type LCOVOptions struct {
	// Name returns the name to write for a function; nil means its name and
	// signature. Functions of one file with the same name are instances of one
	// source function and are written as one, with the sum of their calls.
	Name func(*profile.Symbol) string
}

// WriteLCOV writes an lcov tracefile with the records in lcov's order. The
// section of a file has
//
//	TN:                             empty test name
//	SF:PATH                         the source file
//	FN:LINE,NAME                    a function
//	FNDA:CALLS,NAME                 its calls
//	FNF:N, FNH:N                    functions, and those that ran
//	BRDA:LINE,BRANCH,WAY,COUNT      a way of a branch; COUNT is "-" if the program did not reach the branch
//	BRF:N, BRH:N                    ways of branches, and those that the program took
//	DA:LINE,COUNT                   a line
//	LF:N, LH:N                      lines, and those that ran
//	end_of_record
//
// A file without branches or lines lacks their records. The format cannot hold
// line breaks in names; WriteLCOV escapes them as "\n" and "\r".
func WriteLCOV(w io.Writer, c *Coverage, opt LCOVOptions) error {
	t := tracefile{bufio.NewWriter(w), opt}
	for _, f := range c.Files {
		t.printf("TN:\nSF:%s\n", oneLine.Replace(f.Path))
		t.functions(f.Functions)
		t.branches(f)
		t.lines(f)
		t.printf("end_of_record\n")
	}
	return t.Flush()
}

var oneLine = strings.NewReplacer("\n", `\n`, "\r", `\r`)

// A tracefile is a tracefile being written.
type tracefile struct {
	*bufio.Writer // remembers the first error
	opt           LCOVOptions
}

func (t *tracefile) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

func (t *tracefile) name(s *profile.Symbol) string { return oneLine.Replace(t.opt.name(s)) }

func (t *tracefile) functions(all []Function) {
	type source struct {
		line  int32 // least line of all instances
		calls uint64
	}
	functions := make(map[string]source, len(all))
	for i := range all {
		name := t.name(&all[i].Symbol)
		f, ok := functions[name]
		if !ok || all[i].StartLine < f.line {
			f.line = all[i].StartLine
		}
		f.calls = saturate.Add(f.calls, all[i].Calls)
		functions[name] = f
	}
	names := sortedKeys(functions)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(functions[a].line, functions[b].line) })
	for _, name := range names {
		t.printf("FN:%d,%s\n", functions[name].line, name)
	}
	var ran Ratio
	for _, name := range names {
		t.printf("FNDA:%d,%s\n", functions[name].calls, name)
		ran.Count(functions[name].calls > 0)
	}
	t.printf("FNF:%d\nFNH:%d\n", ran.Total, ran.Covered)
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

func (t *tracefile) lines(f *File) {
	for _, l := range f.Lines {
		t.printf("DA:%d,%d\n", l.Number, l.Count)
	}
	if sum := f.Total.Lines; sum.Total > 0 {
		t.printf("LF:%d\nLH:%d\n", sum.Total, sum.Covered)
	}
}

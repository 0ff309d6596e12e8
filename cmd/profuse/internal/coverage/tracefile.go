package coverage

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/saturate"
)

// An file is the coverage of one source file.
type file struct {
	functions map[string]function // by name
	lines     map[uint32]uint64   // counts by line
}

type function struct {
	line  uint32
	calls uint64
}

// Files is the coverage of a program, by path.
type Files map[string]*file

func (l Files) file(path string) *file {
	f := l[path]
	if f == nil {
		f = &file{make(map[string]function), make(map[uint32]uint64)}
		l[path] = f
	}
	return f
}

// Function adds a function. Those of one name are instances of one source
// function, a static one in a header say.
func (l Files) Function(path string, line uint32, name string, calls uint64) {
	functions := l.file(path).functions
	f, ok := functions[name]
	if !ok || line < f.line {
		f.line = line
	}
	f.calls = saturate.Add(f.calls, calls)
	functions[name] = f
}

// Block adds a block that begins on a line. Of several the most counts.
func (l Files) Block(path string, line uint32, count uint64) {
	lines := l.file(path).lines
	lines[line] = max(lines[line], count)
}

// Write writes the tracefile, in the order that lcov itself writes one.
func (l Files) Write(w io.Writer) error {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(l)) {
		f := l[path]
		fmt.Fprintf(&b, "TN:\nSF:%s\n", path)
		names := slices.SortedFunc(maps.Keys(f.functions), func(a, b string) int {
			return cmp.Or(cmp.Compare(f.functions[a].line, f.functions[b].line), cmp.Compare(a, b))
		})
		ran := 0
		for _, n := range names {
			fmt.Fprintf(&b, "FN:%d,%s\n", f.functions[n].line, n)
		}
		for _, n := range names {
			if f.functions[n].calls > 0 {
				ran++
			}
			fmt.Fprintf(&b, "FNDA:%d,%s\n", f.functions[n].calls, n)
		}
		fmt.Fprintf(&b, "FNF:%d\nFNH:%d\n", len(names), ran)
		if len(f.lines) > 0 {
			ran = 0
			for _, line := range slices.Sorted(maps.Keys(f.lines)) {
				if f.lines[line] > 0 {
					ran++
				}
				fmt.Fprintf(&b, "DA:%d,%d\n", line, f.lines[line])
			}
			fmt.Fprintf(&b, "LF:%d\nLH:%d\n", len(f.lines), ran)
		}
		b.WriteString("end_of_record\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

package gcov

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// jsonUnit is a unit as gcov 11 and 12 print it as JSON, with the data of one file.
type jsonUnit struct {
	*Unit
	canonical []int // by source: the first source with the same canonical name
	names     []string
	lines     []map[uint32]*Line // by source
	highest   []uint32
	functions [][]*jsonFunction // by source
}

type jsonFunction struct {
	Function
	shared    bool
	calls     int64
	blocksRan int
	lines     map[uint32]*Line // its own, if it is shared
}

// canonicalName removes parts of a path as gcov does: each dot, and a part before two dots if it exists.
func canonicalName(name string) string {
	var parts []string
	for i, part := range strings.Split(name, "/") {
		switch {
		case part == ".", part == "" && i > 0:
			continue
		case part == ".." && len(parts) > 0 && parts[len(parts)-1] != "..":
			if _, err := os.Stat(strings.Join(parts, "/")); err == nil {
				parts = parts[:len(parts)-1]
				continue
			}
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "/")
}

// asJSON returns what gcov prints with --json-format -t -b for the file base.
func asJSON(n *Notes, u *Unit, base string) string {
	j := &jsonUnit{Unit: u}
	known := make(map[string]int)
	for i, name := range n.Sources {
		name = canonicalName(name)
		if _, ok := known[name]; !ok {
			known[name] = i
		}
		j.canonical, j.names = append(j.canonical, known[name]), append(j.names, name)
		j.lines = append(j.lines, make(map[uint32]*Line))
	}
	j.highest, j.functions = make([]uint32, len(j.names)), make([][]*jsonFunction, len(j.names))
	for r := range u.Results() {
		j.add(r)
	}
	var files []string
	for i := range j.names {
		if j.canonical[i] == i {
			files = append(files, j.file(i))
		}
	}
	version := map[bool]string{true: "12.2.0", false: "11.3.0"}[n.release >= 1200]
	return `{"gcc_version": "` + version + `", "files": [` + strings.Join(files, ", ") + `], "format_version": "1", "current_working_directory": ` +
		quoted(n.Folder) + `, "data_file": ` + quoted(base) + "}\n"
}

func quoted(s string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`) + `"`
}

func (j *jsonUnit) add(r *Result) {
	f := &jsonFunction{Function: *r.Function, shared: r.Shared, calls: r.Calls, blocksRan: r.BlocksRan}
	f.Source = j.canonical[f.Source]
	if f.shared {
		f.lines = make(map[uint32]*Line)
	}
	j.functions[f.Source] = append(j.functions[f.Source], f)
	for i := range r.Lines {
		l := r.Lines[i]
		source := j.canonical[l.Source]
		j.highest[source] = max(j.highest[source], l.Number)
		into := j.lines[source]
		if f.shared && source == f.Source && f.StartLine <= l.Number && l.Number <= f.EndLine {
			into = f.lines
		}
		old := into[l.Number]
		if old == nil {
			l.Branches = slices.Clone(l.Branches)
			into[l.Number] = &l
			continue
		}
		old.Unexecuted = old.Unexecuted || l.Unexecuted
		old.Branches = append(old.Branches, l.Branches...)
		switch {
		case old.HasBlocks == l.HasBlocks:
			old.Count += l.Count
		case l.HasBlocks:
			old.Count, old.HasBlocks = l.Count, true
		}
	}
}

func (j *jsonUnit) file(source int) string {
	byStart := func(a, b *jsonFunction) bool {
		return cmp.Or(cmp.Compare(a.StartLine, b.StartLine), cmp.Compare(a.StartColumn, b.StartColumn)) < 0
	}
	all := slices.Clone(j.functions[source])
	starts := make(map[uint32][]*jsonFunction)
	for _, f := range all {
		starts[f.StartLine] = append(starts[f.StartLine], f)
		j.highest[source] = max(j.highest[source], f.StartLine)
	}
	stdSort(all, byStart)
	var functions, lines []string
	for _, f := range all {
		functions = append(functions, fmt.Sprintf(`{"blocks": %d, "end_column": %d, "start_line": %d, "name": %s, "blocks_executed": %d, "execution_count": %d, "demangled_name": "", "start_column": %d, "end_line": %d}`,
			f.Blocks-2, f.EndColumn, f.StartLine, quoted(f.Name), f.blocksRan, f.calls, f.StartColumn, f.EndLine))
	}
	var stack []*jsonFunction
	for number := uint32(1); number <= j.highest[source]; number++ {
		at := starts[number]
		stdSort(at, byStart)
		for _, f := range at {
			if !f.shared {
				stack = append(stack, f)
			}
			for own := f.StartLine; own <= f.EndLine; own++ {
				if l := f.lines[own]; l != nil {
					lines = append(lines, jsonLine(l, f))
				}
			}
		}
		var f *jsonFunction
		if len(stack) > 0 {
			f = stack[len(stack)-1]
		}
		if l := j.lines[source][number]; l != nil {
			lines = append(lines, jsonLine(l, f))
		}
		if f != nil && f.EndLine == number {
			stack = stack[:len(stack)-1]
		}
	}
	return `{"lines": [` + strings.Join(lines, ", ") + `], "functions": [` + strings.Join(functions, ", ") + `], "file": ` + quoted(j.names[source]) + "}"
}

func jsonLine(l *Line, f *jsonFunction) string {
	var branches []string
	for _, b := range l.Branches {
		if !b.Unconditional && !b.Call {
			branches = append(branches, fmt.Sprintf(`{"fallthrough": %t, "count": %d, "throw": %t}`, b.Fallthrough, b.Count, b.Throw))
		}
	}
	s := fmt.Sprintf(`{"branches": [%s], "count": %d, "line_number": %d, "unexecuted_block": %t`, strings.Join(branches, ", "), l.Count, l.Number, l.Unexecuted)
	if f != nil {
		s += `, "function_name": ` + quoted(f.Name)
	}
	return s + "}"
}

// stdSort sorts as libstdc++'s std::sort: the order of equal elements is visible in gcov's documents.
func stdSort[T any](v []T, less func(a, b T) bool) {
	const threshold = 16
	insert := func(i int) {
		x := v[i]
		for ; less(x, v[i-1]); i-- {
			v[i] = v[i-1]
		}
		v[i] = x
	}
	insertion := func(from, to int) {
		for i := from + 1; i < to; i++ {
			if x := v[i]; less(x, v[from]) {
				copy(v[from+1:i+1], v[from:i])
				v[from] = x
			} else {
				insert(i)
			}
		}
	}
	adjust := func(base, hole, n int, x T) {
		top, child := hole, hole
		for child < (n-1)/2 {
			child = 2 * (child + 1)
			if less(v[base+child], v[base+child-1]) {
				child--
			}
			v[base+hole], hole = v[base+child], child
		}
		if n%2 == 0 && child == (n-2)/2 {
			child = 2 * (child + 1)
			v[base+hole], hole = v[base+child-1], child-1
		}
		for parent := (hole - 1) / 2; hole > top && less(v[base+parent], x); parent = (hole - 1) / 2 {
			v[base+hole], hole = v[base+parent], parent
		}
		v[base+hole] = x
	}
	heap := func(from, to int) {
		n := to - from
		for i := (n - 2) / 2; i >= 0; i-- {
			adjust(from, i, n, v[from+i])
		}
		for ; to-from > 1; to-- {
			x := v[to-1]
			v[to-1] = v[from]
			adjust(from, 0, to-1-from, x)
		}
	}
	var loop func(from, to, depth int)
	loop = func(from, to, depth int) {
		for to-from > threshold {
			if depth == 0 {
				heap(from, to)
				return
			}
			depth--
			a, b, c := from+1, from+(to-from)/2, to-1
			m := a
			switch {
			case less(v[a], v[b]) && less(v[b], v[c]):
				m = b
			case less(v[a], v[b]):
				if less(v[a], v[c]) {
					m = c
				}
			case less(v[a], v[c]):
			case less(v[b], v[c]):
				m = c
			default:
				m = b
			}
			v[from], v[m] = v[m], v[from]
			i, k := from+1, to
			for {
				for less(v[i], v[from]) {
					i++
				}
				for k--; less(v[from], v[k]); k-- {
				}
				if i >= k {
					break
				}
				v[i], v[k] = v[k], v[i]
				i++
			}
			loop(i, to, depth)
			to = i
		}
	}
	if n := len(v); n > 1 {
		depth := 0
		for m := n; m > 1; m >>= 1 {
			depth += 2
		}
		loop(0, n, depth)
		insertion(0, min(n, threshold))
		for i := threshold; i < n; i++ {
			insert(i)
		}
	}
}

// demangled matches the names that gcov demangles with libiberty, in a style of its own.
var demangled = regexp.MustCompile(`"demangled_name": "(\\\\.|[^"\\\\])*"`)

// withoutDemangled leaves the demangled names out of a document of gcov.
func withoutDemangled(document string) string {
	return demangled.ReplaceAllString(document, `"demangled_name": ""`)
}

package cov

import (
	"bytes"
	"cmp"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
	"github.com/profuse-pgo/profuse/internal/program/covmap"
)

// A view is a part of a source with everything that is shown about it.
type view struct {
	name     string           // of the file or function, as printed
	file     string           // of a macro
	source   []string         // lines of the file without line ends
	segments []covmap.Segment // where counts change, sorted by position
	// These four are sorted by line.
	expansions []expansion
	branches   []lineOf[*covmap.CountedBranch]
	mcdc       []lineOf[*covmap.MCDC]
	instances  []instance
}

// lines yields the lines to show with their counts: the whole file, or only the lines from the first to the last one with code.
func (v *view) lines(whole bool) iter.Seq2[string, *covmap.Line] {
	return func(yield func(string, *covmap.Line) bool) {
		next, stop := iter.Pull(covmap.Lines(v.segments))
		defer stop()
		known, more := next()
		for i, text := range v.source {
			number := uint32(i + 1)
			if !whole && !more {
				return
			}
			if !whole && number < v.segments[0].Line {
				continue
			}
			l := covmap.Line{Number: number}
			if more && known.Number == number {
				l = known
				known, more = next()
			}
			if !yield(text, &l) {
				return
			}
		}
	}
}

// An expansion is the view of what a macro stands for.
type expansion struct {
	region *covmap.CountedRegion
	view   *view
}

// A lineOf holds the items that are shown after one line.
type lineOf[T any] struct {
	line  uint32
	items []T
}

// An instance is an instantiation of a function, shown after its last line. view is nil if it did not run.
type instance struct {
	name string
	line uint32
	view *view
}

// byLine groups neighbours of the same line and sorts the groups by line. Items of a line keep the order of the mapping.
func byLine[T any](items []T, lineOfItem func(T) uint32) (groups []lineOf[T]) {
	for _, item := range items {
		line := lineOfItem(item)
		if n := len(groups); n > 0 && groups[n-1].line == line {
			groups[n-1].items = append(groups[n-1].items, item)
		} else {
			groups = append(groups, lineOf[T]{line, []T{item}})
		}
	}
	slices.SortStableFunc(groups, func(a, b lineOf[T]) int { return cmp.Compare(a.line, b.line) })
	return groups
}

// source returns the text of a file of the mapping. If it cannot read the file, it prints the error and returns nil.
func (t *tool) source(name string) []string {
	if path, ok := t.local[name]; ok {
		name = path
	}
	if s, ok := t.texts[name]; ok {
		return s
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.fail(name, withcolor.Words(err))
		return nil
	}
	t.texts[name] = splitLines(data)
	return t.texts[name]
}

// splitLines divides a source into lines, up to the first zero byte. A carriage return
// before a line feed belongs to the line end.
func splitLines(data []byte) []string {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		data = data[:i]
	}
	lines := strings.Split(string(data), "\n")
	if n := len(lines); lines[n-1] == "" {
		lines = lines[:n-1]
	}
	for i, s := range lines {
		if i+1 < len(lines) || bytes.HasSuffix(data, []byte("\n")) {
			lines[i] = strings.TrimSuffix(s, "\r")
		}
	}
	return lines
}

// fileView returns the view of a file, nil if there is nothing to show. The view has the
// instantiations of functions that the program contains several times.
func (t *tool) fileView(name string) *view {
	source := t.source(name)
	if source == nil {
		return nil
	}
	f := t.cov.File(name)
	if len(f.Segments) == 0 {
		return nil
	}
	v := &view{name: name, source: source, segments: f.Segments}
	t.attach(v, f.Branches, f.MCDC)
	if t.opt.expansions {
		var fn *covmap.Function
		var x *expander
		for in, r := range f.Expansions {
			if in != fn {
				fn, x = in, t.expander(in)
			}
			x.addExpansion(v, r)
		}
		v.sortExpansions()
	}
	if !t.opt.showInstances {
		return v
	}
	// A group holds the functions that begin at the same position.
	for i := range f.Groups {
		if len(f.Groups[i].Functions) < 2 {
			continue
		}
		for _, fn := range f.Groups[i].Functions {
			in := instance{name: t.display(fn.Name), line: lastLine(fn)}
			if fn.Count > 0 {
				in.view = t.partView(fn, in.name, source)
			}
			v.instances = append(v.instances, in)
		}
	}
	slices.SortStableFunc(v.instances, func(a, b instance) int { return cmp.Compare(a.line, b.line) })
	return v
}

// lastLine returns the last line of a function in the virtual file of its first region.
func lastLine(fn *covmap.Function) (line uint32) {
	regions := fn.Regions()
	for i := range regions {
		if r := &regions[i]; r.File == regions[0].File {
			line = max(line, r.End.Line)
		}
	}
	return line
}

// functionView returns the view of one function, nil if there is nothing to show.
func (t *tool) functionView(fn *covmap.Function) *view {
	if fn.Main() < 0 || len(fn.Parts()(fn.Main()).Segments) == 0 {
		return nil
	}
	source := t.source(fn.MainFile())
	if source == nil {
		return nil
	}
	return t.partView(fn, t.display(fn.Name), source)
}

// partView returns the view of a function's own code.
func (t *tool) partView(fn *covmap.Function, name string, source []string) *view {
	x := t.expander(fn)
	p := x.part(fn.Main())
	v := &view{name: name, source: source, segments: p.Segments}
	t.attach(v, p.Branches, p.MCDC)
	if t.opt.expansions {
		for _, r := range p.Expansions {
			x.addExpansion(v, r)
		}
		v.sortExpansions()
	}
	return v
}

// attach adds branches and MC/DC to a view if the options ask for them. Branches are shown
// below the line where they begin, decisions below the line where they end.
func (t *tool) attach(v *view, branches []*covmap.CountedBranch, mcdc []*covmap.MCDC) {
	if t.opt.showBranches != noBranches {
		v.branches = byLine(branches, func(b *covmap.CountedBranch) uint32 { return b.Start.Line })
	}
	if t.opt.showMCDC {
		v.mcdc = byLine(mcdc, func(m *covmap.MCDC) uint32 { return m.End.Line })
	}
}

// An expander makes the views of the expansions in a function. It shows a virtual file once,
// even if several expansions share it.
type expander struct {
	*tool
	fn   *covmap.Function
	part func(file int) *covmap.Part
	done []bool // by virtual file
}

func (t *tool) expander(fn *covmap.Function) *expander {
	return &expander{t, fn, fn.Parts(), make([]bool, len(fn.Files))}
}

// addExpansion adds the view of an expansion to v, with the expansions inside it. It leaves out
// expansions without code or without a readable source.
func (x *expander) addExpansion(v *view, r *covmap.CountedRegion) {
	if x.done[r.Expanded] {
		return
	}
	x.done[r.Expanded] = true
	p := x.part(int(r.Expanded))
	if len(p.Segments) == 0 {
		return
	}
	source := x.source(p.Name)
	if source == nil {
		return
	}
	sub := &view{name: x.fn.Name, file: p.Name, source: source, segments: p.Segments}
	x.attach(sub, p.Branches, nil)
	for _, inner := range p.Expansions {
		x.addExpansion(sub, inner)
	}
	sub.sortExpansions()
	v.expansions = append(v.expansions, expansion{r, sub})
}

// sortExpansions sorts by line and column, which is the order in which they are printed.
func (v *view) sortExpansions() {
	slices.SortStableFunc(v.expansions, func(a, b expansion) int {
		return cmp.Or(cmp.Compare(a.region.Start.Line, b.region.Start.Line), cmp.Compare(a.region.Start.Column, b.region.Start.Column))
	})
}

package coverage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/addup"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// Union adds coverages up. A function, line, branch or region in several of them counts once, with the
// sum of its counts.
func Union(all ...*Coverage) *Coverage {
	u := new(Coverage)
	var files []*File
	for _, c := range all {
		u.HasLines = u.HasLines || c.HasLines
		u.Unplaced.Add(c.Unplaced)
		u.Unknown = append(u.Unknown, c.Unknown...)
		u.Misfits = append(u.Misfits, c.Misfits...)
		u.BelowZero += c.BelowZero
		files = append(files, c.Files...)
	}
	if len(all) == 1 {
		u.LLVMJSON = all[0].LLVMJSON
	}
	u.unite(files)
	return u
}

func (c *Coverage) unite(files []*File) {
	parts := make(map[string][]*File)
	for _, f := range files {
		parts[f.Path] = append(parts[f.Path], f)
	}
	c.Files = nil
	for path, of := range parts {
		f := of[0]
		if len(of) > 1 {
			f = sum(path, of)
		} else {
			own := *f
			f = &own
		}
		c.Files = append(c.Files, f)
	}
	c.Finish()
}

func sum(path string, parts []*File) *File {
	f := &File{Path: path}
	for _, p := range parts {
		f.Functions = append(f.Functions, p.Functions...)
		f.Lines = append(f.Lines, p.Lines...)
		f.Regions = append(f.Regions, p.Regions...)
		f.Decisions = append(f.Decisions, p.Decisions...)
		f.Expansions = append(f.Expansions, p.Expansions...)
	}
	f.Functions = addup.Equal(f.Functions, func(a, b *Function) int {
		return cmp.Or(cmp.Compare(a.StartLine, b.StartLine), strings.Compare(a.Name, b.Name), strings.Compare(a.Signature, b.Signature))
	}, func(to, from *Function) {
		to.Calls = saturate.Add(to.Calls, from.Calls)
		to.Column = max(to.Column, from.Column)
		to.Blocks.Max(from.Blocks)
		to.Part = united(to.Part, from.Part)
	})
	f.Lines = addup.Equal(f.Lines, func(a, b *Line) int { return cmp.Compare(a.Number, b.Number) },
		func(to, from *Line) { to.Count = saturate.Add(to.Count, from.Count) })
	f.Branches = addBranches(parts)
	f.Regions = addup.Equal(f.Regions, compareRegions, func(to, from *Region) { to.Count = saturate.Add(to.Count, from.Count) })
	f.Decisions = addup.Equal(f.Decisions, func(a, b *Decision) int {
		if c := cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)); c != 0 || a.Column > 0 {
			return c
		}
		return cmp.Compare(a.size, b.size) // of tracefiles, without columns
	}, addDecision)
	f.Expansions = addup.Equal(f.Expansions, func(a, b *Expansion) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.EndLine, b.EndLine),
			cmp.Compare(a.EndColumn, b.EndColumn), strings.Compare(a.Of.Path, b.Of.Path))
	}, func(to, from *Expansion) { to.Of = united(to.Of, from.Of) })
	return f
}

func united(a, b *File) *File {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	f := sum(a.Path, []*File{a, b})
	f.finish()
	return f
}

// addDecision adds a decision to another at the same line and column. A condition is covered if it is
// covered in one of them.
func addDecision(to, from *Decision) {
	to.Conditions.Max(from.Conditions)
	if len(to.Operands) != len(from.Operands) {
		if len(to.Operands) == 0 {
			to.Operands, to.Vectors = from.Operands, from.Vectors
		}
		return
	}
	to.Operands = slices.Clone(to.Operands)
	for i, c := range from.Operands {
		own := &to.Operands[i]
		shown := [2]uint64{saturate.Add(own.Shown[0], c.Shown[0]), saturate.Add(own.Shown[1], c.Shown[1])}
		if c.Covered && !own.Covered || own.Wanted == "" && !own.Covered {
			*own = c
		}
		own.Shown = shown
		own.Covered = own.Covered || shown[0] > 0 && shown[1] > 0
	}
	// The decisions may cover different conditions, so the sum may cover more than each. A sum may also
	// cover more conditions than its operands show.
	covered := 0
	for i := range to.Operands {
		if to.Operands[i].Covered {
			covered++
		}
	}
	to.Conditions.Covered = max(to.Conditions.Covered, covered)
	to.Vectors = slices.Clone(to.Vectors)
	for _, v := range from.Vectors {
		if !slices.Contains(to.Vectors, v) {
			to.Vectors = append(to.Vectors, v)
		}
	}
}

func compareRegions(a, b *Region) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.EndLine, b.EndLine), cmp.Compare(a.EndColumn, b.EndColumn))
}

// A branchKey identifies a branch of a file. nth counts the branches with the same line, column,
// function and number of ways.
type branchKey struct {
	line, column uint32
	function     profile.Symbol
	ways         int
	nth          int
}

func addBranches(parts []*File) (out []Branch) {
	at := make(map[branchKey]int)   // in out
	placed := make(map[uint32]bool) // lines whose branches all have columns
	for _, p := range parts {
		for _, b := range p.Branches {
			known, seen := placed[b.Line]
			placed[b.Line] = b.Column > 0 && (known || !seen)
		}
	}
	for _, p := range parts {
		seen := make(map[branchKey]int)
		for i := range p.Branches {
			b := &p.Branches[i]
			k := branchKey{b.Line, b.Column, b.Function, len(b.Ways), 0}
			if !placed[b.Line] {
				k.column = 0
			}
			seen[k]++
			k.nth = seen[k]
			have, ok := at[k]
			if !ok {
				at[k] = len(out)
				out = append(out, *b)
				out[len(out)-1].Ways = slices.Clone(b.Ways)
				continue
			}
			for w, n := range b.Ways {
				out[have].Ways[w] = saturate.Add(out[have].Ways[w], n)
			}
			out[have].Column = max(out[have].Column, b.Column)
		}
	}
	slices.SortStableFunc(out, func(a, b Branch) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
	return out
}

// Rename gives the files other paths. It drops those whose path becomes "", and adds
// files up whose paths become equal.
func (c *Coverage) Rename(path func(string) string) {
	var files []*File
	for _, f := range c.Files {
		name := path(f.Path)
		if name != f.Path {
			c.LLVMJSON = nil
		}
		if name != "" {
			own := f.renamed(path)
			own.Path = name
			files = append(files, own)
		}
	}
	c.unite(files)
}

// renamed returns a copy of a file with other paths, in its parts as well. A path that would become "" stays.
func (f *File) renamed(path func(string) string) *File {
	own := *f
	if name := path(f.Path); name != "" {
		own.Path = name
	}
	own.Expansions = slices.Clone(f.Expansions)
	for i := range own.Expansions {
		own.Expansions[i].Of = own.Expansions[i].Of.renamed(path)
	}
	if slices.ContainsFunc(f.Functions, func(fn Function) bool { return fn.Part != nil }) {
		own.Functions = slices.Clone(f.Functions)
	}
	for i := range own.Functions {
		if fn := &own.Functions[i]; fn.Part != nil {
			fn.Part = fn.Part.renamed(path)
		}
	}
	return &own
}

// choose returns the coverage of the chosen functions, nil for all. See lastLine for where a function ends.
func (c *Coverage) choose(function func(*profile.Symbol) bool) *Coverage {
	if function == nil {
		return c
	}
	part := &Coverage{HasLines: c.HasLines, Unplaced: c.Unplaced, Unknown: c.Unknown, Misfits: c.Misfits, BelowZero: c.BelowZero}
	for _, f := range c.Files {
		own := *f
		if own.chooseFunctions(function); len(own.Functions) > 0 {
			part.Files = append(part.Files, &own)
		}
	}
	part.Finish()
	return part
}

func (f *File) chooseFunctions(chosen func(*profile.Symbol) bool) {
	var kept []Function
	var spans [][2]uint32 // first line, last line
	for i := range f.Functions {
		fn := &f.Functions[i]
		if !chosen(&fn.Symbol) {
			continue
		}
		kept = append(kept, *fn)
		spans = append(spans, [2]uint32{uint32(fn.StartLine), f.lastLine(fn)})
	}
	f.Functions = kept
	f.keepLines(func(line uint32) bool {
		return slices.ContainsFunc(spans, func(s [2]uint32) bool { return s[0] <= line && line <= s[1] })
	}, nil)
}

// lastLine returns the last line of a function: the end of the region that begins where the function
// does or, without such a region, the line before the next function.
func (f *File) lastLine(fn *Function) uint32 {
	last := uint32(0)
	for i := range f.Regions {
		if r := &f.Regions[i]; r.Line == uint32(fn.StartLine) && r.Column == uint32(fn.Column) {
			last = max(last, r.EndLine)
		}
	}
	if last > 0 {
		return last
	}
	last = ^uint32(0)
	for i := range f.Functions {
		if n := f.Functions[i].StartLine; n > fn.StartLine {
			last = min(last, uint32(n)-1)
		}
	}
	return last
}

// keepLines keeps what begins on lines that line selects. Branches and decisions must also begin on lines
// that branches selects, if it is not nil.
func (f *File) keepLines(line, branches func(uint32) bool) {
	f.Lines = selected(f.Lines, func(l *Line) bool { return line(l.Number) })
	f.Branches = selected(f.Branches, func(b *Branch) bool { return line(b.Line) && (branches == nil || branches(b.Line)) })
	f.Regions = selected(f.Regions, func(r *Region) bool { return line(r.Line) })
	f.Decisions = selected(f.Decisions, func(d *Decision) bool { return line(d.Line) && (branches == nil || branches(d.Line)) })
	f.Expansions = selected(f.Expansions, func(x *Expansion) bool { return line(x.Line) })
	for i := range f.Functions {
		if fn := &f.Functions[i]; fn.Part != nil {
			own := *fn.Part
			own.keepLines(line, branches)
			own.finish()
			fn.Part = &own
		}
	}
}

func selected[E any](list []E, ok func(*E) bool) (out []E) {
	for i := range list {
		if ok(&list[i]) {
			out = append(out, list[i])
		}
	}
	return out
}

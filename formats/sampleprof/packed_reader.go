package sampleprof

import (
	"cmp"
	"errors"
	"iter"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
)

// errNotPlain is the error for a file that a filePacker does not read.
var errNotPlain = errors.New("not a plain profile")

// A filePacker reads the functions of binary files for a [Merger], without making a model of them.
// It reads only plain files as LLVM writes them: line-based, without virtual tables, with functions,
// locations and targets in order, each once. [Read] reads all other files, and reports damage.
type filePacker struct {
	table   *nameTable
	numbers []uint32 // number in table by index of a name in the file
	used    []bool   // by index of a name, whether the file uses it
	seen    []bool   // by number of a name, whether there is a function
	lines   uint64   // greatest allowed line of a sample

	section  []byte // section being read
	pos      int    // position in the section
	notPlain bool   // the functions are not plain
	out      []byte // bodies, concatenated
	list     []packedTarget
	calls    []span

	totals    totals
	functions []fileFunction
}

// isNotPlain reports whether a section shows that the file is not plain.
func (s section) isNotPlain() bool {
	switch s.kind {
	case metadataSection, partialSection, compositeSection:
		return s.size > 0
	case summarySection:
		return s.flags&(flagContexts|flagVTables) != 0
	}
	return s.kind == nameSection && s.flags&flagNameHeaps != 0
}

// A fileFunction is a function of a file. Its body begins at the end of the previous body.
type fileFunction struct {
	name uint32 // number in the table
	head uint64
	end  int // of the body in out
}

// A span is a callsite in out.
type span struct {
	word, name uint64
	begin, end int
}

// readPlain reads a plain file: p has everything but the functions, f has these. p is nil for other files.
func readPlain(data []byte, opt *ReaderOptions, table *nameTable, memory []byte) (p *Profile, f *filePacker) {
	format, _ := Detect(data)
	if format != FormatExtended && format != FormatBinary {
		return nil, nil
	}
	known, named := len(table.names), len(table.named)
	// Take back the names of a file that turns out not to be plain.
	defer func() {
		if p == nil {
			table.truncate(known, named)
		}
	}()
	r := newBinaryReader(data, format, opt)
	r.packer = &filePacker{table: table, lines: r.lines, out: memory[:0]}
	p, err := r.read(format)
	if err != nil {
		return nil, nil
	}
	opt.setFormat(p, format)
	return p, r.packer
}

// setNames sets the name table of the functions that follow. inOrder says that the names are sorted, each once.
func (p *filePacker) setNames(names []Name, used []bool, inOrder bool) {
	p.numbers, p.used = p.table.numbersOf(names, inOrder), used
	p.seen = append(p.seen, make([]bool, len(p.table.names)-len(p.seen))...)
}

// readFunctions reads functions to the end of the section, about expected. With compare, it returns their offsets.
func (p *filePacker) readFunctions(c *cursor.Cursor, expected uint64, compare bool) (starts []functionOffset) {
	const least = 6 // bytes of a function
	p.section, p.pos = c.Rest(), 0
	size := len(p.section)
	if room := size + size/8; cap(p.out)-len(p.out) < room {
		p.out = append(make([]byte, 0, len(p.out)+room), p.out...)
	}
	p.functions = slices.Grow(p.functions, int(min(expected, uint64(size/least))))
	known, last := uint64(math.MaxUint64), uint64(0)
	for first := true; p.pos < size && !p.notPlain; first = false {
		start := p.pos
		head, i := p.num(), p.num()
		if compare {
			starts = append(starts, functionOffset{i, uint64(start)})
		}
		p.totals.functions++
		p.totals.maxHead = max(p.totals.maxHead, head)
		name := p.number(i)
		if p.notPlain {
			break
		}
		if key := p.table.firstTwin(uint32(name)); p.seen[key] {
			p.notPlain = true
		} else {
			p.seen[key] = true
		}
		total := p.body(1)
		p.functions = append(p.functions, fileFunction{uint32(name), head, len(p.out)})
		p.notPlain = p.notPlain || total > known || total == known && i <= last && !first
		known, last = total, i
	}
	if p.notPlain {
		c.Fail(errNotPlain)
	}
	c.Skip(uint64(c.Len()), "functions")
	return starts
}

// function returns function i. Its body aliases p.out.
func (p *filePacker) function(i int) packedFunction {
	begin := 0
	if i > 0 {
		begin = p.functions[i-1].end
	}
	f := &p.functions[i]
	return packedFunction{name: f.name, head: f.head, body: p.out[begin:f.end:f.end]}
}

// sorted yields the functions in file order. Each is valid until the next.
func (p *filePacker) sorted() iter.Seq[*Function] {
	all := &packedProfile{names: p.table, functions: make([]packedFunction, len(p.functions))}
	for i := range all.functions {
		all.functions[i] = p.function(i)
	}
	return func(yield func(*Function) bool) {
		e := expander{names: p.table.names}
		for _, i := range all.sorted() {
			if !yield(e.function(&all.functions[i])) {
				return
			}
			e.reset()
		}
	}
}

// num reads a number. Most numbers have one byte.
func (p *filePacker) num() uint64 {
	if i := uint(p.pos); i < uint(len(p.section)) {
		if b := p.section[i]; b < 0x80 {
			p.pos++
			return uint64(b)
		}
	}
	return p.longNum()
}

// longNum reads a number of any length, at most 64 bits.
func (p *filePacker) longNum() uint64 {
	b := p.section[p.pos:]
	v := uint64(0)
	for i := 0; i < len(b) && i < 10; i++ {
		if i == 9 && b[i] > 1 {
			break
		}
		v |= uint64(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			p.pos += i + 1
			return v
		}
	}
	p.fail()
	return 0
}

// fail ends the reading of functions: they are not plain.
func (p *filePacker) fail() { p.notPlain, p.pos = true, len(p.section) }

// number returns the number of name i of the file in the table.
func (p *filePacker) number(i uint64) uint64 {
	if i >= uint64(len(p.numbers)) {
		p.fail()
		return 0
	}
	p.used[i] = true
	return uint64(p.numbers[i])
}

// word reads a location with a line up to limit.
func (p *filePacker) word(limit uint64) uint64 {
	line, discriminator := p.num(), p.num()
	if line > limit || discriminator > math.MaxUint32 {
		p.notPlain = true
	}
	return line<<32 | discriminator
}

// body reads a body, appends it to p.out in packed form and returns its total.
func (p *filePacker) body(depth int) (total uint64) {
	if depth > maxDepth {
		p.fail()
	}
	total = p.num()
	out := append(cursor.AppendULEB(p.out, total), 0, 0) // no checksum, no attributes
	last := uint64(0)
	for i, n := uint64(0), p.num(); i < n && !p.notPlain; i++ {
		word, count, targets := p.word(p.lines), p.num(), p.num()
		if word <= last && i > 0 {
			p.notPlain = true
		}
		last = word
		p.totals.count(count)
		out = cursor.AppendULEB(appendPackedLocation(out, word, targets > 0), count)
		if targets > 0 {
			out = p.targets(out, targets)
		}
	}
	p.out = appendEnd(out)
	p.callsites(depth)
	p.out = appendEnd(appendEnd(p.out)) // no virtual tables
	return total
}

// targets reads n targets and appends them to out. Files sort them by descending count, bodies by name number.
func (p *filePacker) targets(out []byte, n uint64) []byte {
	p.list = p.list[:0]
	known, last := uint64(0), uint64(0)
	for ; n > 0 && !p.notPlain; n-- {
		i, count := p.num(), p.num()
		if len(p.list) > 0 && (count > known || count == known && i <= last) {
			p.notPlain = true
		}
		known, last = count, i
		p.list = append(p.list, packedTarget{p.number(i), count})
	}
	sortList(p.list)
	for i := 1; i < len(p.list); i++ {
		p.notPlain = p.notPlain || p.list[i-1].name == p.list[i].name
	}
	return appendList(out, p.list)
}

// callsites appends callsites to p.out, at one location sorted by name number; files sort them by name.
func (p *filePacker) callsites(depth int) {
	first := len(p.calls)
	sorted := true
	index := uint64(0) // of the last callee's name in the file
	for n := p.num(); n > 0 && !p.notPlain; n-- {
		word, i := p.word(math.MaxUint32), p.num()
		c := span{word: word, name: p.number(i), begin: len(p.out)}
		var begin int
		p.out, begin = beginCall(p.out, c.word, c.name)
		p.body(depth + 1)
		endCall(p.out, begin)
		c.end = len(p.out)
		if len(p.calls) > first {
			last := p.calls[len(p.calls)-1]
			p.notPlain = p.notPlain || word < last.word || word == last.word && i <= index
			sorted = sorted && c.compare(last) > 0
		}
		index = i
		p.calls = append(p.calls, c)
	}
	calls := p.calls[first:]
	p.calls = p.calls[:first]
	if sorted || p.notPlain {
		return
	}
	begin := calls[0].begin
	all := slices.Clone(p.out[begin:])
	slices.SortFunc(calls, span.compare)
	p.out = p.out[:begin]
	for _, c := range calls {
		p.out = append(p.out, all[c.begin-begin:c.end-begin]...)
	}
}

func (c span) compare(o span) int {
	return cmp.Or(cmp.Compare(c.word, o.word), cmp.Compare(c.name, o.name))
}

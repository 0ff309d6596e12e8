package sampleprof

import (
	"cmp"
	"errors"
	"iter"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
)

// errNotPlain ends the reading of a file that a filePacker does not read.
var errNotPlain = errors.New("not a plain profile")

// A filePacker reads the functions of binary files for a [Merger], without making a model of them.
// It reads plain files as LLVM writes them: line-based, functions, locations and targets in order,
// each once, without virtual tables. [Read] reads all others, and says what is wrong with bad ones.
type filePacker struct {
	table   *nameTable
	numbers []uint32 // of the names of the file in the table
	used    []bool   // by index of a name, whether the file uses it
	seen    []bool   // by number of a name, whether there is a function
	lines   uint64   // the greatest line of a sample

	in    []byte // the section that is being read
	at    int    // where
	bad   bool   // the functions are not plain
	out   []byte // bodies, one after the other
	list  []packedTarget
	calls []span

	totals    totals
	functions []fileFunction
}

// isNotPlain reports whether a section has what a filePacker does not read.
func (s section) isNotPlain() bool {
	return (s.kind == metadataSection || s.kind == restSection) && s.size > 0 || s.kind == summarySection && s.flags&(flagContexts|flagVTables) != 0
}

// A fileFunction is a function of a file.
type fileFunction struct {
	name uint32 // its number in the table
	head uint64
	end  int // of its body
}

// A span is a callsite in the bodies.
type span struct {
	word, name uint64
	begin, end int
}

// readPlain reads a plain file. p is nil if it is none; else functions are those of p, in the
// order of the file.
func readPlain(data []byte, opt *ReaderOptions, table *nameTable, memory []byte) (p *Profile, f *filePacker) {
	format, _ := Detect(data)
	if format != FormatExtended && format != FormatBinary {
		return nil, nil
	}
	known, named := len(table.names), len(table.named)
	// Names of a file that is not plain after all are taken back: Read will number them.
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
	opt.mark(p, format)
	return p, r.packer
}

// setNames sets the names of the functions that follow. inOrder says that they are in their order,
// each once.
func (p *filePacker) setNames(names []Name, used []bool, inOrder bool) {
	p.numbers, p.used = p.table.numbersOf(names, inOrder), used
	p.seen = append(p.seen, make([]bool, len(p.table.names)-len(p.seen))...)
}

// readFunctions reads functions to the end of the section. It returns where they are in it if that
// is to be compared with the offsets of the file. expected is how many there are, unless the
// summary is wrong.
func (p *filePacker) readFunctions(c *cursor.Cursor, expected uint64, compare bool) (starts []functionOffset) {
	const least = 6 // bytes of a function
	p.in, p.at = c.Rest(), 0
	size := len(p.in)
	if room := size + size/8; cap(p.out)-len(p.out) < room {
		p.out = append(make([]byte, 0, len(p.out)+room), p.out...)
	}
	p.functions = slices.Grow(p.functions, int(min(expected, uint64(size/least))))
	known, last := uint64(math.MaxUint64), uint64(0)
	for first := true; p.at < size && !p.bad; first = false {
		start := p.at
		head, i := p.num(), p.num()
		if compare {
			starts = append(starts, functionOffset{i, uint64(start)})
		}
		p.totals.functions++
		p.totals.maxHead = max(p.totals.maxHead, head)
		name := p.number(i)
		if p.bad {
			break
		}
		if key := p.table.first(uint32(name)); p.seen[key] {
			p.bad = true
		} else {
			p.seen[key] = true
		}
		total := p.body(1)
		p.functions = append(p.functions, fileFunction{uint32(name), head, len(p.out)})
		p.bad = p.bad || total > known || total == known && i <= last && !first
		known, last = total, i
	}
	if p.bad {
		c.Fail(errNotPlain)
	}
	c.Skip(uint64(c.Len()), "functions")
	return starts
}

// function returns a function, whose body is a part of p.
func (p *filePacker) function(i int) packedFunction {
	begin := 0
	if i > 0 {
		begin = p.functions[i-1].end
	}
	f := &p.functions[i]
	return packedFunction{name: f.name, head: f.head, body: p.out[begin:f.end:f.end]}
}

// sorted yields the functions in the order in which files have them, each until the next one.
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

// num reads a number; most have one byte.
func (p *filePacker) num() uint64 {
	if i := uint(p.at); i < uint(len(p.in)) {
		if b := p.in[i]; b < 0x80 {
			p.at++
			return uint64(b)
		}
	}
	return p.longNum()
}

// longNum reads a number of more than one byte, of 64 bits at most.
func (p *filePacker) longNum() uint64 {
	b := p.in[p.at:]
	v := uint64(0)
	for i := 0; i < len(b) && i < 10; i++ {
		if i == 9 && b[i] > 1 {
			break
		}
		v |= uint64(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			p.at += i + 1
			return v
		}
	}
	p.fail()
	return 0
}

// fail ends the reading of functions, which are not plain.
func (p *filePacker) fail() { p.bad, p.at = true, len(p.in) }

// number returns the number in the table of a name of the file.
func (p *filePacker) number(i uint64) uint64 {
	if i >= uint64(len(p.numbers)) {
		p.fail()
		return 0
	}
	p.used[i] = true
	return uint64(p.numbers[i])
}

// word reads a location.
func (p *filePacker) word(limit uint64) uint64 {
	line, discriminator := p.num(), p.num()
	if line > limit || discriminator > math.MaxUint32 {
		p.bad = true
	}
	return line<<32 | discriminator
}

// body reads a body and returns its total.
func (p *filePacker) body(depth int) (total uint64) {
	if depth > maxDepth {
		p.fail()
	}
	total = p.num()
	out := append(cursor.AppendULEB(p.out, total), 0, 0) // no checksum, no attributes
	last := uint64(0)
	for i, n := uint64(0), p.num(); i < n && !p.bad; i++ {
		word, count, targets := p.word(p.lines), p.num(), p.num()
		if word <= last && i > 0 {
			p.bad = true
		}
		last = word
		p.totals.count(count)
		out = cursor.AppendULEB(appendPlace(out, word, targets > 0), count)
		if targets > 0 {
			out = p.targets(out, targets)
		}
	}
	p.out = appendEnd(out)
	p.callsites(depth)
	p.out = appendEnd(appendEnd(p.out)) // no virtual tables
	return total
}

// targets reads the targets of a call, which files have by descending count, into the order of names'
// numbers.
func (p *filePacker) targets(out []byte, n uint64) []byte {
	p.list = p.list[:0]
	known, last := uint64(0), uint64(0)
	for ; n > 0 && !p.bad; n-- {
		i, count := p.num(), p.num()
		if len(p.list) > 0 && (count > known || count == known && i <= last) {
			p.bad = true
		}
		known, last = count, i
		p.list = append(p.list, packedTarget{p.number(i), count})
	}
	sortList(p.list)
	for i := 1; i < len(p.list); i++ {
		p.bad = p.bad || p.list[i-1].name == p.list[i].name
	}
	return appendList(out, p.list)
}

// callsites reads what is inlined into a function. Files have it in the order of names, bodies in that
// of their numbers, which are those of the table of all files.
func (p *filePacker) callsites(depth int) {
	first := len(p.calls)
	sorted := true
	index := uint64(0) // of the name of the last one
	for n := p.num(); n > 0 && !p.bad; n-- {
		word, i := p.word(math.MaxUint32), p.num()
		c := span{word: word, name: p.number(i), begin: len(p.out)}
		var begin int
		p.out, begin = beginCall(p.out, c.word, c.name)
		p.body(depth + 1)
		endCall(p.out, begin)
		c.end = len(p.out)
		if len(p.calls) > first {
			last := p.calls[len(p.calls)-1]
			p.bad = p.bad || word < last.word || word == last.word && i <= index
			sorted = sorted && c.compare(last) > 0
		}
		index = i
		p.calls = append(p.calls, c)
	}
	calls := p.calls[first:]
	p.calls = p.calls[:first]
	if sorted || p.bad {
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

// compare orders callsites as bodies have them.
func (c span) compare(o span) int {
	return cmp.Or(cmp.Compare(c.word, o.word), cmp.Compare(c.name, o.name))
}

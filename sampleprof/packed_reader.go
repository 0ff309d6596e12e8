package sampleprof

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/llvmorder"
)

// errNotPlain ends the reading of a file that a filePacker does not read.
var errNotPlain = errors.New("not a plain profile")

// A filePacker reads the functions of binary files for a [Merger], without making a model of them.
// It reads plain files as LLVM writes them: line-based, functions, locations and targets in order,
// each once, without virtual tables. [Read] reads all others, and says what is wrong with bad ones.
type filePacker struct {
	table   *nameTable
	names   []Name
	numbers []uint32 // of names in the table plus 1, or 0
	lines   uint64   // the greatest line of a sample

	in    []byte // what is left to be read
	bad   bool   // the functions are not plain
	out   []byte // bodies, one after the other
	list  []packedTarget
	calls []span

	totals    totals
	functions []packedFunction
	ends      []int               // of bodies
	order     llvmorder.Unordered // of the functions
}

// A span is a callsite in the bodies.
type span struct {
	word, name uint64
	begin, end int
}

// readPlain reads a plain file. p is nil if it is none; else functions are those of p, in the
// order of the file.
func readPlain(data []byte, opt *ReadOptions, table *nameTable, memory []byte) (p *Profile, f *filePacker) {
	format, _ := Detect(data)
	if format != FormatExtended && format != FormatBinary {
		return nil, nil
	}
	known := len(table.names)
	defer func() {
		if p == nil {
			table.truncate(known)
		}
	}()
	r := newBinaryReader(data, format, opt)
	r.packer = &filePacker{table: table, lines: r.lines, out: memory[:0]}
	if p, err := r.read(format); err == nil {
		return p, r.packer
	}
	return nil, nil
}

// readFunctions reads functions to the end of the section, and returns where they are in it.
func (p *filePacker) readFunctions(c *cursor.Cursor, names []Name) (starts []functionOffset) {
	p.in, p.names = c.Rest(), names
	known, last, size := uint64(math.MaxUint64), uint64(0), len(p.in)
	p.numbers = make([]uint32, len(names))
	p.out = slices.Grow(p.out, len(p.in)+len(p.in)/8)
	for len(p.in) > 0 && !p.bad {
		start := uint64(size - len(p.in))
		head := p.num()
		i := p.num()
		starts = append(starts, functionOffset{i, start})
		p.totals.functions++
		p.totals.maxHead = max(p.totals.maxHead, head)
		if i >= uint64(len(names)) {
			p.bad = true
			break
		}
		_, added := p.order.Insert(names[i].id)
		p.bad = p.bad || !added
		p.functions = append(p.functions, packedFunction{name: p.table.names[p.number(i)], head: head})
		total := p.body(1)
		p.ends = append(p.ends, len(p.out))
		p.bad = p.bad || total > known || total == known && i <= last && len(starts) > 1
		known, last = total, i
	}
	if p.bad {
		c.Fail(errNotPlain)
	}
	c.Skip(uint64(c.Len()), "functions")
	return starts
}

// bodies gives the functions their bodies.
func (p *filePacker) bodies() []packedFunction {
	begin := 0
	for i, end := range p.ends {
		p.functions[i].body = p.out[begin:end:end]
		begin = end
	}
	return p.functions
}

func (p *filePacker) num() uint64 {
	if len(p.in) > 0 && p.in[0] < 0x80 {
		v := p.in[0]
		p.in = p.in[1:]
		return uint64(v)
	}
	return p.longNum()
}

func (p *filePacker) longNum() uint64 {
	v := uint64(0)
	for i, b := range p.in[:min(len(p.in), 10)] {
		if i == 9 && b > 1 {
			break
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			p.in = p.in[i+1:]
			return v
		}
	}
	p.bad, p.in = true, nil
	return 0
}

// number returns the number in the table of a name of the file.
func (p *filePacker) number(i uint64) uint64 {
	if i >= uint64(len(p.numbers)) {
		p.bad, p.in = true, nil
		return 0
	}
	if n := p.numbers[i]; n > 0 {
		return uint64(n - 1)
	}
	n := p.table.number(p.names[i])
	p.numbers[i] = uint32(n + 1)
	return n
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
		p.bad, p.in = true, nil
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

func (c span) compare(o span) int {
	return cmp.Or(cmp.Compare(c.word, o.word), cmp.Compare(c.name, o.name))
}

package dwarf

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// A row is the source position of the instructions from its address up to the next row's.
type row struct {
	addr          uint64
	file          uint32
	line          uint32
	column        uint32
	discriminator uint32
}

// A sequence is a run of rows of ascending addresses, for one function or section.
type sequence struct {
	low, high uint64
	first     int // index of the first row
	last      int // after the row that ends the sequence
}

// A lineTable is the matrix that a unit's line number program yields.
type lineTable struct {
	lineHeader
	rows      []row
	sequences []sequence // by high
}

func (t *lineTable) size() int { return 24*cap(t.rows) + 32*cap(t.sequences) + 32*cap(t.files) }

func (t *lineTable) find(addr uint64) *row {
	i := sort.Search(len(t.sequences), func(i int) bool { return t.sequences[i].high > addr })
	if i == len(t.sequences) || addr < t.sequences[i].low {
		return nil
	}
	s := t.sequences[i]
	// Find the last row at or below the address, excluding the row that ends the sequence. If the rows are out of
	// order the result depends on the search, so this loop is libstdc++'s std::upper_bound, which LLVM uses.
	rows := t.rows[s.first : s.last-1]
	lo, n := 1, len(rows)-1
	for n > 0 {
		half := n / 2
		if rows[lo+half].addr <= addr {
			lo, n = lo+half+1, n-half-1
		} else {
			n = half
		}
	}
	return &rows[lo-1]
}

// readLineTable executes the line number program of a unit. A unit without one has a nil table. Of a damaged
// program it returns the rows before the damage, and an error.
func (c *cu) readLineTable() (*lineTable, error) {
	if c.line.form == 0 {
		return nil, nil
	}
	t := new(lineTable)
	r, err := t.readHeader(c)
	if err != nil {
		return nil, err
	}
	if err := c.spend(partLines, "line", len(c.d.s.Line), len(r.b)-int(c.line.u)); err != nil {
		return nil, err
	}
	most := c.d.maxMemory() / bytesPerRow
	switch op, ok := t.run(&r, most); {
	case len(t.rows) > most:
		err = c.d.at("line", c.line.u).Field("rows of the line table").Got(len(t.rows)).
			Wantf("fewer in a file of %d bytes", c.d.FileSize).Unsupported()
	case !ok:
		err = c.d.cut("line", c.line.u, fmt.Sprintf("opcode %d of the line table", op))
	}
	c.done(partLines)
	return t, err
}

// run executes the program, until it has made more than most rows. ok is false if it is
// truncated; last is the last opcode.
func (t *lineTable) run(r *buf, most int) (last uint8, ok bool) {
	// A row takes about three bytes of program.
	t.rows = make([]row, 0, min((len(r.b)-r.off)/3, most+1))
	m := lineMachine{t: t}
	m.reset()
	for r.more() && len(t.rows) <= most {
		op := r.u8()
		last = op
		switch {
		// A special opcode advances address and line at once.
		case op >= t.opcodeBase:
			n := op - t.opcodeBase
			if t.lineRange == 0 {
				m.emit() // LLVM goes on like this
				continue
			}
			m.advance(uint64(n / t.lineRange))
			m.line += uint32(int32(t.lineBase) + int32(n%t.lineRange))
			m.emit()
		case op == lnsExtended:
			m.extended(r)
		default:
			m.standard(r, op)
		}
	}
	slices.SortStableFunc(t.sequences, func(a, b sequence) int { return cmp.Compare(a.high, b.high) })
	return last, !r.bad
}

// A lineMachine is the state machine of a line number program.
type lineMachine struct {
	t *lineTable
	row
	opIndex uint8
	seq     sequence
	open    bool // whether seq has rows
}

// reset sets the registers to their values at the beginning of a sequence (DWARF 5, 6.2.2).
func (m *lineMachine) reset() {
	m.row = row{file: 1, line: 1}
	m.opIndex = 0
	m.open = false
}

func (m *lineMachine) advance(n uint64) {
	h := &m.t.lineHeader
	if h.maxOps <= 1 {
		m.addr += n * uint64(h.minInstruction)
		return
	}
	// Bundles of several operations, of VLIW machines (DWARF 5, 6.2.5.1).
	n += uint64(m.opIndex)
	m.addr += n / uint64(h.maxOps) * uint64(h.minInstruction)
	m.opIndex = uint8(n % uint64(h.maxOps))
}

func (m *lineMachine) emit() {
	if !m.open {
		m.open = true
		m.seq = sequence{low: m.addr, first: len(m.t.rows)}
	}
	m.t.rows = append(m.t.rows, m.row)
	m.discriminator = 0
}

// extended executes an extended opcode, whose length lets unknown ones be skipped.
func (m *lineMachine) extended(r *buf) {
	length := r.uleb()
	start := r.off
	if length == 0 {
		return
	}
	if length > uint64(len(r.b)-start) {
		r.fail()
		return
	}
	end := start + int(length)
	switch r.u8() {
	case lneEndSequence:
		m.emit()
		m.seq.high, m.seq.last = m.addr, len(m.t.rows)
		if m.seq.low < m.seq.high {
			m.t.sequences = append(m.t.sequences, m.seq)
		} else {
			// Empty: usually of code that the linker dropped.
			m.t.rows = m.t.rows[:m.seq.first]
		}
		m.reset()
	case lneSetAddress:
		m.addr = r.uint(uint8(min(length-1, 8)))
		m.opIndex = 0
	case lneDefineFile:
		m.t.readFile(r)
	case lneSetDiscriminator:
		m.discriminator = uint32(r.uleb())
	}
	if !r.bad {
		r.off = end
	}
}

// standard executes a standard opcode; the header has the number of operands of unknown ones.
func (m *lineMachine) standard(r *buf, op uint8) {
	h := &m.t.lineHeader
	switch op {
	case lnsCopy:
		m.emit()
	case lnsAdvancePC:
		m.advance(r.uleb())
	case lnsAdvanceLine:
		m.line += uint32(r.sleb())
	case lnsSetFile:
		m.file = uint32(r.uleb())
	case lnsSetColumn:
		m.column = uint32(r.uleb())
	case lnsNegateStmt, lnsSetBasicBlock, lnsPrologueEnd, lnsEpilogueBegin:
	case lnsConstAddPC:
		if h.lineRange != 0 {
			m.advance(uint64((255 - h.opcodeBase) / h.lineRange))
		}
	case lnsFixedAdvancePC:
		m.addr += uint64(r.u16())
		m.opIndex = 0
	case lnsSetISA:
		r.skipULEB()
	default:
		for range h.operands[op] {
			r.skipULEB()
		}
	}
}

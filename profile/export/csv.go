package export

import (
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/profile"
)

// csv writes one table, a line of column names first. It omits columns for which the
// profile has no data. Each table that is not written is a loss.
func (e *exporter) csv() error {
	table := e.opt.Table
	if table == "" {
		table = profile.FunctionSet
		if sets := e.v.Stacks(); !e.features.Calls && !e.features.Blocks && len(sets) > 0 {
			table = sets[0].Name
		}
	}
	e.loseOmitted()
	// Options.Table chooses one of these instead.
	for _, t := range tables(e.v) {
		if t != table {
			e.lose(0, "table "+t, "a file has one table")
		}
	}
	c := csvTable{e: e, w: csv.NewWriter(e)}
	switch table {
	case profile.FunctionSet:
		c.functions()
	case edgeSet:
		c.edges()
	case traceSet:
		c.traces()
	default:
		set, err := e.setNamed(table)
		if err != nil {
			return err
		}
		c.stacks(set)
	}
	c.w.Flush()
	return c.w.Error()
}

type csvTable struct {
	e   *exporter
	w   *csv.Writer
	row []string
}

// words appends cells that this package has made: words, and numbers with their signs.
func (c *csvTable) words(s ...string) { c.row = append(c.row, s...) }
func (c *csvTable) uint(v uint64)     { c.words(strconv.FormatUint(v, 10)) }
func (c *csvTable) int(v int64)       { c.words(strconv.FormatInt(v, 10)) }
func (c *csvTable) hash(v uint64)     { c.words(fmt.Sprintf("0x%016x", v)) }
func (c *csvTable) float(v float64)   { c.words(strconv.FormatFloat(v, 'f', -1, 64)) }

// text appends cells that come from the profile. Spreadsheets compute a cell that begins
// with one of formulaStarts: an apostrophe makes it text.
func (c *csvTable) text(s ...string) {
	for _, cell := range s {
		if cell != "" && strings.IndexByte(formulaStarts, cell[0]) >= 0 && !c.e.opt.RawCells {
			cell = "'" + cell
		}
		c.row = append(c.row, cell)
	}
}

// formulaStarts are the first bytes by which spreadsheets take a cell for a formula,
// some after cutting off the white space.
const formulaStarts = "=+-@\t\r\n"

func (c *csvTable) id(v uint64) {
	if v == 0 {
		c.words("")
		return
	}
	c.hash(v)
}

func (c *csvTable) endLine() {
	c.w.Write(c.row) // the writer keeps the error
	c.row = c.row[:0]
}

func (c *csvTable) labels(labels []profile.Label) {
	cells := make([]string, len(labels))
	for i, l := range labels {
		cells[i] = l.Key + "=" + l.Value
	}
	c.text(strings.Join(cells, "; "))
}

var symbolColumns = []string{"name", "signature", "file", "start_line", "id"}

func (c *csvTable) symbol(s *profile.Symbol) {
	c.text(s.Name, s.Signature, s.File)
	c.int(int64(s.StartLine))
	c.id(s.ID)
}

func (c *csvTable) functions() {
	c.words(symbolColumns...)
	has := c.e.features
	columns := []struct {
		has   bool
		names []string
		cells func(f *profile.Function)
	}{
		{has.Hashes, []string{"hash"}, func(f *profile.Function) { c.hash(f.Hash) }},
		{true, []string{"covered"}, func(f *profile.Function) { c.words(strconv.FormatBool(f.Covered)) }},
		{has.Calls, []string{"calls"}, func(f *profile.Function) { c.uint(f.Calls) }},
		{has.Runs, []string{"runs"}, func(f *profile.Function) { c.uint(f.Runs) }},
		{has.FirstCalls, []string{"first_call"}, func(f *profile.Function) { c.float(f.FirstCall) }},
		{has.Sizes, []string{"address", "size"}, func(f *profile.Function) { c.int(f.Address); c.uint(f.Size) }},
		{has.Blocks, []string{"blocks", "covered_blocks"}, func(f *profile.Function) { c.int(int64(len(f.Blocks))); c.int(int64(f.CoveredBlocks())) }},
		{true, []string{"labels"}, func(f *profile.Function) { c.labels(f.Labels) }},
	}
	// Blocks with coverage alone have no counts to add up.
	counts := c.e.features.Blocks && !has.BlocksAreCoverage
	for _, col := range columns {
		if col.has {
			c.words(col.names...)
		}
	}
	if counts {
		c.words("block_counts", "max_block")
	}
	c.endLine()
	if c.e.features.Blocks {
		c.e.lose(0, "counts of single blocks", "a function is a line: their sum and the greatest are there")
	}
	for f := range profile.ReusedFunctions(c.e.v) {
		c.symbol(&f.Symbol)
		for _, col := range columns {
			if col.has {
				col.cells(f)
			}
		}
		if counts {
			var sum, greatest uint64
			if len(f.Blocks) > 0 {
				sum = f.Total()
			}
			for _, b := range f.Blocks {
				greatest = max(greatest, b.Count)
			}
			c.uint(sum)
			c.uint(greatest)
		}
		c.endLine()
	}
}

// stacks writes a line per stack: its values, its labels, and its frames in one column, outermost first.
func (c *csvTable) stacks(set profile.StackSet) {
	for _, v := range set.Values {
		c.text(v.Name)
	}
	c.words("labels", "stack")
	c.endLine()
	c.e.lose(0, "files, ids and columns of frames", "a stack is one cell: names and lines, the outermost first")
	names := foldedNames{e: c.e, clean: make(map[string]string)}
	var stack []byte
	for s := range set.ReusedStacks {
		for _, v := range s.Values {
			c.uint(v)
		}
		c.labels(s.Labels)
		stack = names.append(stack[:0], s.Frames, true)
		c.text(string(stack))
		c.endLine()
	}
	c.e.loseLines()
	c.e.loseSignatures()
}

func (c *csvTable) edges() {
	c.words("kind", "caller", "caller_signature", "caller_file", "hash", "site", "line", "target", "target_signature", "target_file", "target_id", "size", "count")
	c.endLine()
	for e := range profile.ReusedEdges(c.e.v) {
		c.words(e.Kind.String())
		c.text(e.Caller.Name, e.Caller.Signature, e.Caller.File)
		c.id(e.Hash)
		c.int(int64(e.Site))
		c.int(int64(e.Line))
		c.text(e.Target.Name, e.Target.Signature, e.Target.File)
		c.id(e.Target.ID)
		// Other edges have no size; 0 would be one.
		if e.Kind == profile.MemOpSize {
			c.uint(e.Size)
		} else {
			c.words("")
		}
		c.uint(e.Count)
		c.endLine()
	}
}

func (c *csvTable) traces() {
	c.words("trace", "weight", "mean", "rank")
	c.words(symbolColumns...)
	c.endLine()
	n := 0
	for t := range c.e.v.Traces() {
		n++
		for i := range t.Functions {
			c.int(int64(n))
			c.uint(t.Weight)
			c.words(strconv.FormatBool(t.Mean))
			c.int(int64(i + 1))
			c.symbol(&t.Functions[i])
			c.endLine()
		}
	}
}

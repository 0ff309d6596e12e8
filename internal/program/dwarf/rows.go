package dwarf

import "github.com/profuse-pgo/profuse/internal/flaw"

// RowsOf calls yield for the addresses of the rows in the line tables of a *symbolize.File, see
// [Data.Rows]. Package symbolize sets it, as [ProbesOf].
var RowsOf func(file any, yield func(addrs []uint64) bool) error

// Rows calls yield with the addresses at which the lines of each unit begin, until it returns false. The next call
// overwrites the slice. It skips units that it cannot read, and returns the first reason.
func (d *Data) Rows(yield func(addrs []uint64) bool) (err error) {
	defer flaw.OfProgram(&err)
	var first error
	var addrs []uint64
	for i := range d.units {
		if !d.units[i].isCompile() {
			continue
		}
		c, err := d.compileUnit(i)
		var t *lineTable
		if err == nil {
			t, err = c.readLineTable()
		}
		if err != nil && first == nil {
			first = err
		}
		if t == nil {
			continue
		}
		addrs = addrs[:0]
		for _, s := range t.sequences {
			for _, r := range t.rows[s.first : s.last-1] { // the last one ends the sequence
				addrs = append(addrs, r.addr)
			}
		}
		if len(addrs) > 0 && !yield(addrs) {
			break
		}
	}
	return first
}

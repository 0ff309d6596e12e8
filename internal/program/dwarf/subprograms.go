package dwarf

import "github.com/profuse-pgo/profuse/internal/flaw"

// A Subprogram is a function with code: a DW_TAG_subprogram with addresses.
type Subprogram struct {
	Name   string      // linkage name, or name without one
	Ranges [][2]uint64 // first address, and the address behind the last
}

// SubprogramsOf calls yield for the functions of a *symbolize.File in the order of LLVM's dies, see
// [Data.Subprograms]: of all units, then of all split units. lost is the number of split units that are missing.
// Package symbolize sets it, as [ProbesOf].
var SubprogramsOf func(file any, yield func(*Subprogram)) (lost int, err error)

// Units returns the number of units.
func (d *Data) Units() int { return len(d.units) }

// Subprograms returns the functions of a unit or, with split, of the split unit that belongs to it; none of type units.
// lost: the split unit is missing. Functions without a name are left out.
func (d *Data) Subprograms(index int, split bool) (found []Subprogram, lost bool, err error) {
	defer flaw.OfProgram(&err)
	if !d.units[index].isCompile() {
		return nil, false, nil
	}
	c, err := d.compileUnit(index)
	if err != nil {
		return nil, false, err
	}
	if split {
		if c.dwoName.form == 0 {
			return nil, false, nil
		}
		if c, err = d.splitUnit(c); c == nil {
			return nil, true, err
		}
	}
	u := Unit{c: c, text: c.maxText(), names: make(map[uint64]naming), foreign: make(map[int]*cu)}
	found, err = u.subprograms()
	return found, false, err
}

func (u *Unit) subprograms() (found []Subprogram, err error) {
	c := u.c
	var ranges []addrRange
	r := at(c.d.s.Info[:c.end], c.first, c.d.BigEndian)
	for r.more() {
		off := uint64(r.off)
		n := r.uleb()
		if n == 0 {
			continue
		}
		a := c.abbrevs.get(n)
		if a == nil {
			return found, c.d.badCode(off, n)
		}
		if a.tag != tagSubprogram {
			skipAttrs(&r, a, c.format)
		} else if ranges, err = c.functionRanges(&r, a, ranges[:0]); err != nil {
			return found, err
		}
		if r.bad {
			return found, c.d.cut("info", off, "entry")
		}
		if a.tag == tagSubprogram && len(ranges) > 0 {
			if name := u.name(off).name; name != "" {
				s := Subprogram{Name: name, Ranges: make([][2]uint64, len(ranges))}
				for i, x := range ranges {
					s.Ranges[i] = [2]uint64{x.low, x.high}
				}
				found = append(found, s)
			}
		}
	}
	c.done(partTree)
	return found, nil
}

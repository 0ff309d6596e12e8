package dwarf

import (
	"fmt"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

func (d *Data) splitUnit(skeleton *cu) (*cu, error) {
	name := string(skeleton.string(skeleton.dwoName))
	if d.OpenSplit == nil || name == "" {
		return nil, nil
	}
	id := skeleton.dwoID
	if skeleton.version < 5 {
		id = skeleton.gnuDWOID
	}
	file, err := d.OpenSplit(name, string(skeleton.string(skeleton.compDir)), id)
	if err != nil {
		return nil, err
	}
	index, ok := file.splits[id]
	if !ok {
		return nil, flaw.File(file.Name).Field("split unit").Got("missing").Wantf("DWO id %#016x", id).Mismatch()
	}
	return file.splitOrCompileUnit(int(index), skeleton)
}

// HasSplit reports whether a .dwo or .dwp file has the unit with that id.
func (d *Data) HasSplit(id uint64) bool {
	_, ok := d.splits[id]
	return ok
}

// indexDWOIDs indexes the units of a .dwo file by id. The id is in the unit header,
// before DWARF 5 in the root DIE.
func (d *Data) indexDWOIDs() {
	d.splits = make(map[uint64]int32)
	for i := range d.units {
		u := &d.units[i]
		if !u.isCompile() {
			continue
		}
		id := u.dwoID
		if u.version < 5 {
			c, err := d.compileUnit(i)
			if err != nil {
				d.note(err)
				continue
			}
			id = c.gnuDWOID
		}
		if _, ok := d.splits[id]; !ok {
			d.splits[id] = int32(i)
		}
	}
}

// readPackageIndex reads .debug_cu_index, which locates the contribution of each
// unit of a package file to its sections.
//
//	version 4 (version 5: 2, and 2 bytes of padding), number of columns 4,
//	number of units 4, number of slots 4,
//	ids 8 × slots, rows 4 × slots (0: none, else from 1 on),
//	kinds of section 4 × columns,
//	offsets 4 × columns × units, sizes 4 × columns × units
func (d *Data) readPackageIndex() {
	d.splits = make(map[uint64]int32)
	r := at(d.s.CUIndex, 0, d.BigEndian)
	version := r.u32()
	if version != 2 {
		r.off = 0
		version = uint32(r.u16())
		r.skip(2)
	}
	columns, units, slots := uint64(r.u32()), uint64(r.u32()), uint64(r.u32())
	if version != 2 && version != 5 {
		d.note(d.at("cu_index", 0).Field("version").Got(version).Want("2 or 5").Unsupported())
		return
	}
	left := uint64(len(r.b) - r.off)
	if r.bad || slots > left/12 || columns > left/4 || columns > 0 && units > left/(8*columns) ||
		12*slots+4*columns+8*columns*units > left {
		d.note(d.cut("cu_index", 0, "tables"))
		return
	}
	ids := r
	r.skip(8 * slots)
	rows := r
	r.skip(4 * slots)
	kinds := make([]uint32, columns)
	for i := range kinds {
		kinds[i] = r.u32()
	}
	offsets := uint64(r.off)
	for range slots {
		id, row := ids.u64(), uint64(rows.u32())
		if row == 0 || row > units {
			continue
		}
		share := at(r.b, offsets+4*columns*(row-1), d.BigEndian)
		d.addPackaged(id, version, kinds, &share)
	}
}

// addPackaged reads a unit's row of offsets from the index. The unit header's offset of abbreviations is relative
// to the unit's contribution; addPackaged makes it absolute.
func (d *Data) addPackaged(id uint64, version uint32, kinds []uint32, share *buf) {
	var info, abbrev uint64
	var base sectionBases
	for _, kind := range kinds {
		off := uint64(share.u32())
		switch {
		case kind == sectInfo:
			info = off
		case kind == sectAbbrev:
			abbrev = off
		case kind == sectStrOffsets:
			base.strOffsets = off
		case kind == sectRnglists && version == 5:
			base.rnglists = off
		}
	}
	i := d.unitStarting(info)
	if i < 0 || !d.units[i].isCompile() {
		d.note(d.at("cu_index", 0).Field(fmt.Sprintf("unit of DWO id %#016x", id)).
			Gotf("at %#x of .debug_info.dwo", info).Want("where a unit begins").Corrupt())
		return
	}
	if _, ok := d.splits[id]; !ok {
		u := &d.units[i]
		u.abbrev += abbrev
		u.base = base
		d.splits[id] = int32(i)
	}
}

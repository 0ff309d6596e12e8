package irpgo

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// raw checks the current profile of a raw file after its records.
func (c *checker) raw(r *rawReader) {
	p := r.cur
	if p.needsCorrelation() {
		return
	}
	size := p.counterSize()
	var counters, bitmaps []extent
	for i := range p.numRecords() {
		b := p.record(i)
		at := p.recordOffset(i)
		limit := uint64(len(p.counters.data))
		e := extent{start: r.counterStart(i, b), record: i}
		e.end = e.start + size*uint64(p.u32(b, p.layout.numCounters))
		if e.start < limit && e.end <= limit && e.start < e.end { // otherwise the reader has reported it
			counters = append(counters, e)
			// In COFF programs the section begins one byte after an aligned marker, so
			// all offsets are 7 above a multiple of 8.
			if phase := counters[0].start % size; e.start%size != phase {
				c.note(flaw.At("data", at+int64(p.layout.counterPtr)).InRecord(i).Field("counter offset").
					Got(e.start).Wantf("%d and a multiple of 8, as the offsets of the other functions", phase).Corrupt())
			}
		}
		if p.layout.bitmapBytes >= 0 {
			limit := uint64(len(p.bitmap.data))
			e := extent{start: r.bitmapStart(i, b), record: i}
			if e.end = e.start + uint64(p.u32(b, p.layout.bitmapBytes)); e.start < e.end && e.end <= limit {
				bitmaps = append(bitmaps, e)
			}
		}
		if hash := p.u64(b, p.layout.hash); p.variant.Has(IRLevel) && p.version >= 5 && !hashOfIR(hash) {
			c.note(flaw.At("data", at+int64(p.layout.hash)).InRecord(i).Field("function hash").
				Gotf("%#x", hash).Want("at most 60 bits and the mark of context-sensitive records").Corrupt())
		}
	}
	c.tiles("counters", p.counters, counters)
	c.tiles("bitmap", p.bitmap, bitmaps)
	c.padding(r.data, p)
	c.addresses(r)
	c.vtables(p)
	c.binaryIDs(p.binaryIDs)
	c.stamps(r)
	c.variant(p.variant, p.start+8)
}

// maxTrailingZeros is how many bytes of zeros after a profile are not remarkable: the
// largest page that a runtime maps.
const maxTrailingZeros = 64 << 10

// trailingZeros checks the bytes after a profile that ends at an offset in the file, which readers skip.
func (c *checker) trailingZeros(end int64, rest []byte) {
	if len(rest) > maxTrailingZeros && onlyZeros(rest) {
		c.remark(flaw.At("", end).Field("data after the profile").Gotf("%d bytes of zeros", len(rest)).
			Wantf("none, or up to a page of %d bytes", maxTrailingZeros).Corrupt())
	}
}

// variant checks the variant at an offset in the file: marks of IR instrumentation need the mark of the level.
func (c *checker) variant(v Variant, at int64) {
	if v&(ContextSens|EntryFirst|LoopEntries|EntryOnly) != 0 && !v.Has(IRLevel) {
		c.note(flaw.At("header", at).Field("profile variant").Got(v.String()).
			Want("what front-end instrumentation has, or ir as well").Corrupt())
	}
}

// extent is the part of a section, in bytes, that a record says is its own.
type extent struct {
	start, end uint64
	record     int
}

// tiles checks that records fill a section without overlap.
func (c *checker) tiles(section string, s rawSection, extents []extent) {
	slices.SortStableFunc(extents, func(a, b extent) int { return cmp.Compare(a.start, b.start) })
	end, phase := uint64(0), uint64(0)
	if len(extents) > 0 {
		phase = extents[0].start % 8
	}
	gap := func(to uint64) {
		if to <= end {
			return
		}
		zeros := onlyZeros(s.data[end:to])
		if zeros && to-end < 8 && (to%8 == phase || to == uint64(len(s.data))) {
			return // the linker aligned what follows
		}
		err := flaw.At(section, s.off+int64(end)).Field(section+" of no function").Gotf("%d bytes", to-end).
			Want("none").Corrupt()
		if zeros {
			c.remark(err) // a linker may leave gaps between object files
		} else {
			c.note(err)
		}
	}
	for _, e := range extents {
		gap(e.start)
		if e.start < end {
			c.note(flaw.At(section, s.off+int64(e.start)).InRecord(e.record).
				Field(section+" shared with another function").Gotf("%d bytes", min(end, e.end)-e.start).
				Want("none").Corrupt())
		}
		end = max(end, e.end)
	}
	gap(uint64(len(s.data)))
}

// padding looks for data where there should be none.
func (c *checker) padding(file []byte, p *rawProfile) {
	check := func(section string, from, to int64) {
		if from < to && !onlyZeros(file[from:to]) {
			c.remark(flaw.At(section+" padding", from).Field("padding").Got("not zero").
				Wantf("%d zero bytes", to-from).Corrupt())
		}
	}
	end := func(s rawSection) int64 { return s.off + int64(len(s.data)) }
	if p.correlation == nil {
		check("data", end(p.records), p.counters.off)
	}
	check("counters", end(p.counters), end(p.counters)+int64(p.fields[fPadAfterCnts]))
	check("bitmap", end(p.bitmap), end(p.bitmap)+int64(p.fields[fPadAfterBitmap]))
	check("uniform counters", end(p.uniform), end(p.uniform)+int64(p.fields[fPadAfterUniform]))
	check("names", end(p.names), end(p.names)+int64(cursor.PadTo(uint64(len(p.names.data)), 8)))
	check("vtable names", end(p.vnames), end(p.vnames)+int64(cursor.PadTo(uint64(len(p.vnames.data)), 8)))
}

// farAway is more than a program's code reaches in the usual code models.
const farAway = 1 << 32

// addresses looks for functions whose address is one bit away from the range of the other functions, and
// then checks the targets. Functions may be far away without damage: a program and its libraries share
// some C++ functions.
func (c *checker) addresses(r *rawReader) {
	p := r.cur
	if p.layout.funcPtr < 0 || p.ptr != 8 {
		return
	}
	var all []uint64
	for i := range p.numRecords() {
		if a := p.u64(p.record(i), p.layout.funcPtr); a != 0 {
			all = append(all, a)
		}
	}
	if len(all) < 3 {
		return
	}
	slices.Sort(all)
	middle := all[len(all)/2]
	far := func(a uint64) bool { return max(a, middle)-min(a, middle) > farAway }
	near := all[slices.IndexFunc(all, func(a uint64) bool { return !far(a) }):]
	for far(near[len(near)-1]) {
		near = near[:len(near)-1]
	}
	low, high := near[0], near[len(near)-1]
	for i := range p.numRecords() {
		a := p.u64(p.record(i), p.layout.funcPtr)
		if a == 0 || !far(a) {
			continue
		}
		for bit := range 64 {
			if b := a ^ 1<<bit; low <= b && b <= high {
				c.remark(flaw.At("data", p.recordOffset(i)+int64(p.layout.funcPtr)).InRecord(i).
					Field("address of the function").Gotf("%#x", a).Wantf("near %#x, where the others are", middle).
					Corrupt())
			}
		}
	}
	c.targets(r, near)
}

// outside is how far from its instrumented functions a program may have other functions. Functions of
// libraries are farther away.
const outside = 1 << 20

// leastCode is less than the bytes of any instrumented function.
const leastCode = 8

// targets looks for targets of indirect calls that no function has and that are one bit away from an instrumented
// function, or within its first instruction. functions are the addresses of the instrumented functions, ascending.
func (c *checker) targets(r *rawReader, functions []uint64) {
	p := r.cur
	low, high := functions[0], functions[len(functions)-1]
	dense := false // stubs that jump to the functions, or machine code of another kind
	for i, a := range functions[1:] {
		dense = dense || a != functions[i] && a-functions[i] < leastCode
	}
	var values valueBuffer
	off := p.valueData
	for i := range p.numRecords() {
		if !p.hasValueSites(p.record(i)) {
			continue
		}
		cur := cursor.New("value data", off, r.data[off:], p.order)
		var v valueSites
		if values.readValueData(cur, &v); cur.Err() != nil {
			return // the reader has reported it
		}
		for _, site := range v[IndirectCallTarget] {
			for _, t := range site {
				at, known := slices.BinarySearch(functions, t.Value)
				wrong := false
				switch {
				case known || t.Value == 0:
				case at > 0 && t.Value-functions[at-1] < leastCode:
					wrong = !dense
				case t.Value+outside < low || t.Value > high+outside:
					for bit := range 64 {
						_, near := slices.BinarySearch(functions, t.Value^1<<bit)
						wrong = wrong || near
					}
				}
				if wrong {
					c.remark(flaw.At("value data", off).InRecord(i).Field("target of an indirect call").
						Gotf("%#x", t.Value).Want("the address of a function").Corrupt())
				}
			}
		}
		off += int64(cur.Pos())
	}
}

func (c *checker) vtables(p *rawProfile) {
	var names Symtab
	// Damage there is reported by the reader.
	_ = decodeNames("vtable names", p.vnames.off, p.vnames.data, func(name string) { names.learn(name) })
	size := vtableRecordSize(p.ptr)
	for i := 0; i*size < len(p.vtables.data); i++ {
		if ref := p.u64(p.vtables.data, i*size); names.Name(ref) == "" {
			c.note(flaw.At("vtables", p.vtables.off+int64(i*size)).InRecord(i).Field("name reference").
				Gotf("%#x", ref).Want("the reference of a listed vtable").Corrupt())
		}
	}
}

// Build ids of linkers are hashes of 8 to 32 bytes.
const minBinaryID, maxBinaryID = 4, 64

func (c *checker) binaryIDs(ids [][]byte) {
	for i, id := range ids {
		if len(id) < minBinaryID || len(id) > maxBinaryID {
			c.remark(flaw.In("binary ids").InRecord(i).Field("length of the binary id").Got(len(id)).
				Wantf("%d to %d bytes, as linkers make them", minBinaryID, maxBinaryID).Corrupt())
		}
		if slices.ContainsFunc(ids[:i], func(o []byte) bool { return string(o) == string(id) }) {
			c.remark(flaw.In("binary ids").InRecord(i).Field("binary id").Gotf("%x again", id).
				Want("each once").Corrupt())
		}
	}
}

// stamps checks the time stamps of first calls, which a program counts from 1.
func (c *checker) stamps(r *rawReader) {
	for _, s := range r.stamps {
		if s.when > uint64(r.cur.numRecords()) && r.about.Profiles == 1 {
			c.remark(flaw.In("counters").Field("timestamp of "+r.syms.Name(s.nameRef)).Got(s.when).
				Wantf("1 to %d, the number of functions", r.cur.numRecords()).Corrupt())
		}
	}
}

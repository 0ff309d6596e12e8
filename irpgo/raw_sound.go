package irpgo

// sound checks the places of counters and bitmaps and the form of the value
// data. It has no word for what is wrong, and a file that holds several
// profiles is none of its business.
func (r *rawReader) sound(func([]byte, uint64) bool) bool {
	p, l := r.cur, &r.cur.layout
	if p.start != 0 || p.version < 3 || p.correlation != nil || p.isLightweight() || r.prepare() != nil {
		return false
	}
	size, counters, bitmap := p.counterSize(), uint64(len(p.counters.data)), uint64(len(p.bitmap.data))
	least := uint64(1)
	if p.variant.Has(HasTemporal) {
		least = 8 / size
	}
	rescue := r.opt.Rescue != RescueOff // what is to be rescued has to be counted first
	if rescue && size == 8 && orWords(p.order, p.counters.data) >= largeCounter {
		return false
	}
	r.at.list, r.at.name = 0, 0
	if p.modern() && r.relative {
		if end, ok := r.soundModern(rescue); ok {
			return onlyZeros(r.data[end:])
		}
		r.at.list, r.at.name = 0, 0
	}
	pos := int(p.valueData)
	for i := range p.numRecords() {
		b := p.record(i)
		n := uint64(p.u32(b, l.numCounters))
		start := r.counterStart(i, b)
		if n < least || start >= counters || n > (counters-start)/size {
			return false
		}
		if rescue && r.nameOf(p.nameRef(b)) == "" {
			return false
		}
		if l.bitmapBytes >= 0 {
			if n := uint64(p.u32(b, l.bitmapBytes)); n > 0 {
				start := r.bitmapStart(i, b)
				if start >= bitmap || n > bitmap-start {
					return false
				}
			}
		}
		if !p.hasValueSites(b) {
			continue
		}
		var f shapeFunction
		for k := range l.kinds {
			f.sites[k] = int32(p.sites(b, k))
		}
		length, ok := f.matchBlob(p.order, r.data[pos:])
		if !ok {
			return false
		}
		pos += length
	}
	return onlyZeros(r.data[pos:])
}

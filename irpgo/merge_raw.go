package irpgo

import "github.com/profuse-pgo/profuse/internal/saturate"

// Programs of one source tree have functions in common, mostly in one order,
// so most records of a raw profile find what they are to be added to where the
// last one did. Those that are nothing but counters are added from the bytes of
// the file, without a [Record] in between. All others go the general way.

// directly returns what adds records of the profile and reports whether it did;
// nil if the profile is not one for this. It is for profiles that are sound.
func (in *input) directly(d *rawReader) func(i int) bool {
	m, p := in.m, d.cur
	if m.plain || m.opt.Rename != nil || !p.modern() || orWords(p.order, p.counters.data) >= largeCounter {
		return nil
	}
	delta := p.fields[fCountersDelta]
	return func(i int) bool {
		b := (*[modernRecord]byte)(p.records.data[i*modernRecord:])
		if le.Uint32(b[modernBitmapBytes:]) != 0 || modernSites(b) != 0 {
			return false
		}
		ref := le.Uint64(b[0:])
		f := m.functions.expected()
		if f == nil || f.ref != ref || f.name == "" {
			return false
		}
		dst := f.find(le.Uint64(b[8:]))
		n := int(le.Uint32(b[modernNumCounters:]))
		if dst == nil || len(dst.Counts) != n || len(dst.Bitmap) != 0 || !dst.Values.empty() || dst.Pseudo() != 0 {
			return false
		}
		start := le.Uint64(b[modernCounterPtr:]) - delta + uint64(i*modernRecord)
		if start >= uint64(len(p.counters.data)) {
			return false // narrow pointers, see sectionOffset
		}
		at := d.at
		if d.nameOf(ref) != f.name {
			d.at = at // it is looked for once more
			return false
		}
		total, overflow := addRaw(dst.Counts, p.counters.data[start:start+uint64(8*n)], in.weight)
		if overflow {
			m.warn(in.reader.Name(), f.name, CodeCounterOverflow)
		}
		seq := in.seq()
		f.seq, dst.seq = min(f.seq, seq), min(dst.seq, seq)
		m.functions.follow(f)
		in.added.Records++
		in.added.Count = saturate.Add(in.added.Count, total)
		in.next++
		return true
	}
}

// addRaw is [addCounts] for little-endian counters. It also returns their
// unweighted sum.
func addRaw(dst []uint64, raw []byte, weight uint64) (total uint64, overflow bool) {
	for i := range dst {
		if len(raw) < 8 {
			break
		}
		c := le.Uint64(raw)
		raw = raw[8:]
		total = saturate.Add(total, c)
		overflow = addCount(&dst[i], c, weight) || overflow
	}
	return total, overflow
}

package memprof

import "bytes"

// rawBuild is a raw file in the making, by code that shares nothing with the reader.
type rawBuild struct{ dumps []dumpBuild }

type dumpBuild struct {
	version  uint64
	segments []Segment
	mibs     []mibBuild
	stacks   []stackBuild
	slack    int // further padding after each section
}

type mibBuild struct {
	id        uint64
	fields    [27]uint64 // in LLVM's order
	histogram []uint16   // of version 5; written as they are in version 4
}

type stackBuild struct {
	id  uint64
	pcs []uint64
}

var fieldWidths = [27]int{4, 8, 8, 8, 8, 4, 4, 4, 4, 8, 4, 4, 4, 4, 4, 4, 4, 4, 8, 8, 4, 4, 8, 4, 4, 4, 8}

func (b rawBuild) bytes() []byte {
	var out []byte
	for _, d := range b.dumps {
		out = append(out, d.bytes()...)
	}
	return out
}

func (d dumpBuild) bytes() []byte {
	u64 := le.AppendUint64
	pad := func(b []byte) []byte {
		for len(b)%8 != 0 {
			b = append(b, 0xaa)
		}
		return append(b, make([]byte, d.slack)...)
	}
	segments := u64(nil, uint64(len(d.segments)))
	for _, s := range d.segments {
		segments = u64(u64(u64(segments, s.Start), s.End), s.Offset)
		if d.version >= 3 {
			segments = u64(segments, uint64(len(s.BuildID)))
		}
		segments = append(segments, append(bytes.Clone(s.BuildID), make([]byte, 32-len(s.BuildID))...)...)
	}
	segments = pad(segments)

	fields := map[uint64]int{1: 19, 2: 25, 3: 25, 4: 27, 5: 27}[d.version]
	mibs := u64(nil, uint64(len(d.mibs)))
	for _, m := range d.mibs {
		mibs = u64(mibs, m.id)
		for i, v := range m.fields[:fields] {
			if i == 25 {
				v = uint64(len(m.histogram))
			}
			for range fieldWidths[i] {
				mibs = append(mibs, byte(v))
				v >>= 8
			}
		}
		for _, v := range m.histogram {
			switch d.version {
			case 4:
				mibs = u64(mibs, uint64(v))
			case 5:
				mibs = le.AppendUint16(mibs, v)
			}
		}
	}
	mibs = pad(mibs)

	stacks := u64(nil, uint64(len(d.stacks)))
	for _, s := range d.stacks {
		stacks = u64(u64(stacks, s.id), uint64(len(s.pcs)))
		for _, pc := range s.pcs {
			stacks = u64(stacks, pc)
		}
	}
	stacks = pad(stacks)

	out := []byte{0x81, 'r', 'f', 'o', 'r', 'p', 'm', 0xff}
	out = u64(out, d.version)
	out = u64(out, uint64(48+len(segments)+len(mibs)+len(stacks)))
	out = u64(out, 48)
	out = u64(out, uint64(48+len(segments)))
	out = u64(out, uint64(48+len(segments)+len(mibs)))
	out = append(out, segments...)
	out = append(out, mibs...)
	return append(out, stacks...)
}

func smallRaw(version uint64) rawBuild {
	d := dumpBuild{version: version, segments: []Segment{
		{Start: 0x555555000000, End: 0x555555010000, Offset: 0x554444000000, BuildID: []byte{1, 2, 3}},
		{Start: 0x7fff00000000, End: 0x7fff00001000, Offset: 0x7fff00000000},
	}}
	for id := range uint64(2) {
		m := mibBuild{id: 100 + id}
		for i := range m.fields {
			m.fields[i] = 10*uint64(i+1) + id
		}
		if version >= 4 {
			m.histogram = []uint16{0, 1, 4095, 0x1800, 0xffff}[:5-id]
		}
		d.mibs = append(d.mibs, m)
		d.stacks = append(d.stacks, stackBuild{100 + id, []uint64{0x555555000010 + id, 0x555555000020}})
	}
	if version < 3 {
		d.segments[0].BuildID = nil
	}
	return rawBuild{[]dumpBuild{d}}
}

package irpgo

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
)

// rawBuild makes raw profiles of every version from the documented layout, field by field and apart from the
// reader's tables, so that the two check each other. Where an installed llvm-profdata reads the version, a test has
// it read what rawBuild makes.
type rawBuild struct {
	version  uint32
	ptr      int // 4 or 8
	order    binary.AppendByteOrder
	variant  Variant
	kinds    int // ValueKindLast + 1; 0 for version 1
	compress bool
	ids      [][]byte
	funcs    []rawFunc
	dropped  []string // names of functions whose records the linker left out
	vtables  []rawVTable
	padCnts  int    // PaddingBytesBeforeCounters, v5+
	tight    bool   // binary ids without padding, as LLVM 13 writes them
	coff     bool   // counters as in Windows programs: bytes before and after them
	slide    uint64 // how far the program was loaded from where it was linked
}

type rawFunc struct {
	name   string
	hash   uint64
	stamp  uint64 // with HasTemporal
	counts []uint64
	// uniform counters, of programs for GPUs; none or as many as counts.
	uniform []uint64
	bits    []byte // uniformity bits of indexed profiles
	bitmap  []byte
	addr    uint64
	values  valueSites // kind 0 and 2 hold addresses
}

type rawVTable struct {
	name string
	addr uint64
	size uint32
}

// Addresses as if the sections were laid out in memory with gaps.
const (
	dataAddr     = 0x40_3000
	countersAddr = 0x40_1000 // below the data: distances are negative
	bitmapAddr   = 0x40_9000
	uniformAddr  = 0x40_c000
	namesAddr    = 0x40_7000
)

func (b *rawBuild) u16(d []byte, v uint16) []byte { return b.order.AppendUint16(d, v) }
func (b *rawBuild) u32(d []byte, v uint32) []byte { return b.order.AppendUint32(d, v) }
func (b *rawBuild) u64(d []byte, v uint64) []byte { return b.order.AppendUint64(d, v) }

func (b *rawBuild) addr(d []byte, v uint64) []byte {
	if b.ptr == 4 {
		return b.u32(d, uint32(v))
	}
	return b.u64(d, v)
}

// loaded is where an address is after loading; 0 stays 0.
func (b *rawBuild) loaded(addr uint64) uint64 {
	if addr == 0 {
		return 0
	}
	if b.ptr == 4 {
		return uint64(uint32(addr + b.slide))
	}
	return addr + b.slide
}

func align(d []byte, n int) []byte {
	for len(d)%n != 0 {
		d = append(d, 0)
	}
	return d
}

func (b *rawBuild) counters(f *rawFunc) []byte {
	var d []byte
	if b.variant.Has(HasTemporal) {
		d = b.u64(d, f.stamp)
	}
	for _, c := range f.counts {
		switch {
		case !b.variant.Has(SingleByte):
			d = b.u64(d, c)
		case c != 0:
			d = append(d, 0)
		default:
			d = append(d, 0xff)
		}
	}
	return d
}

func (b *rawBuild) counterEntries(f *rawFunc) int {
	n := len(b.counters(f))
	if b.variant.Has(SingleByte) {
		return n
	}
	return n / 8
}

func (b *rawBuild) record(i int, self uint64, counterOff, bitmapOff, nameOff int) []byte {
	f := &b.funcs[i]
	var d []byte
	counterPtr := countersAddr + uint64(counterOff)
	bitmapPtr := bitmapAddr + uint64(bitmapOff)
	if b.version >= 8 {
		counterPtr -= self
		bitmapPtr -= self
	}
	if b.version <= 2 {
		d = b.u32(d, uint32(len(f.name)))
		d = b.u32(d, uint32(b.counterEntries(f)))
		d = b.u64(d, f.hash)
		d = b.addr(d, namesAddr+uint64(nameOff))
		d = b.addr(d, counterPtr)
		if b.version == 2 {
			d = b.addr(d, f.addr)
			d = b.addr(d, 0xdead)
		}
	} else {
		d = b.u64(d, NameRef(f.name))
		d = b.u64(d, f.hash)
		d = b.addr(d, counterPtr)
		if b.version >= 11 {
			uniformPtr := uint64(0)
			if len(f.uniform) > 0 {
				before := 0
				for i := range b.funcs[:i] {
					before += 8 * len(b.funcs[i].uniform)
				}
				uniformPtr = uniformAddr + uint64(before) - self
			}
			d = b.addr(d, uniformPtr)
		}
		if b.version >= 9 {
			d = b.addr(d, bitmapPtr)
		}
		d = b.addr(d, b.loaded(f.addr))
		d = b.addr(d, 0xdead+b.slide)
		d = b.u32(d, uint32(b.counterEntries(f)))
	}
	if b.version >= 2 {
		for k := range b.kinds {
			d = b.u16(d, uint16(len(f.values[k])))
		}
	}
	if b.version >= 11 {
		d = b.u16(d, uint16(64*min(len(f.uniform), 1))) // OffloadDeviceWaveSize
	}
	if b.version >= 9 {
		d = align(d, 4)
		d = b.u32(d, uint32(len(f.bitmap)))
	}
	return align(d, 8)
}

func (b *rawBuild) valueData(f *rawFunc) []byte {
	var body []byte
	kinds := 0
	for k := range b.kinds {
		sites := f.values[k]
		if len(sites) == 0 {
			continue
		}
		kinds++
		body = b.u32(body, uint32(k))
		body = b.u32(body, uint32(len(sites)))
		for _, s := range sites {
			body = append(body, byte(len(s)))
		}
		body = align(body, 8)
		for _, s := range sites {
			for _, v := range s {
				if k == MemOPSize {
					body = b.u64(body, v.Value)
				} else {
					body = b.u64(body, b.loaded(v.Value))
				}
				body = b.u64(body, v.Count)
			}
		}
	}
	if kinds == 0 {
		return nil
	}
	d := b.u32(nil, uint32(len(body)+8))
	d = b.u32(d, uint32(kinds))
	return append(d, body...)
}

func (b *rawBuild) build() []byte {
	var counters, bitmap, records, names, values, vtables, vnames, ids []byte
	if b.coff {
		counters = make([]byte, 7)
	}
	var allNames, allVNames []string
	for i := range b.funcs {
		f := &b.funcs[i]
		size := len(b.record(i, 0, 0, 0, 0))
		self := dataAddr + uint64(i*size)
		nameOff := len(strings.Join(allNames, ""))
		records = append(records, b.record(i, self, len(counters), len(bitmap), nameOff)...)
		counters = append(counters, b.counters(f)...)
		bitmap = append(bitmap, f.bitmap...)
		allNames = append(allNames, f.name)
		values = append(values, b.valueData(f)...)
	}
	if b.version <= 2 {
		names = []byte(strings.Join(allNames, ""))
	} else {
		names = appendNames(nil, append(allNames, b.dropped...), b.compress)
	}
	for _, v := range b.vtables {
		vtables = b.u64(vtables, NameRef(v.name))
		vtables = b.addr(vtables, b.loaded(v.addr))
		vtables = align(b.u32(vtables, v.size), 8)
		allVNames = append(allVNames, v.name)
	}
	vnames = appendNames(nil, allVNames, b.compress)
	for _, id := range b.ids {
		if ids = append(b.u64(ids, uint64(len(id))), id...); !b.tight {
			ids = align(ids, 8)
		}
	}
	if b.coff {
		counters = append(counters, 0)
	}
	entries := len(counters)
	if !b.variant.Has(SingleByte) {
		entries /= 8
	}
	countersDelta, bitmapDelta := uint64(countersAddr), uint64(bitmapAddr)
	if b.version >= 8 {
		countersDelta -= dataAddr
		bitmapDelta -= dataAddr
		if b.ptr == 4 { // pointer width, zero-extended
			countersDelta, bitmapDelta = uint64(uint32(countersDelta)), uint64(uint32(bitmapDelta))
		}
	}
	if b.version >= 8 && len(bitmap) == 0 {
		// What real programs without bitmaps write: 0 − the address of the data.
		bitmapDelta = -(dataAddr + b.slide)
	}
	if b.version < 5 {
		b.padCnts = 0
	}
	padAfter := int(cursor.PadTo(uint64(len(counters)), 8))
	padBitmap := int(cursor.PadTo(uint64(len(bitmap)), 8))

	var uniform []byte
	for i := range b.funcs {
		for _, c := range b.funcs[i].uniform {
			uniform = b.u64(uniform, c)
		}
	}
	magic := uint64(rawMagic64)
	if b.ptr == 4 {
		magic = rawMagic32
	}
	header := []uint64{magic, uint64(b.version) | uint64(b.variant)}
	n := func(v int) uint64 { return uint64(v) }
	if b.version >= 7 {
		header = append(header, n(len(ids)))
	}
	header = append(header, n(len(b.funcs)))
	if b.version >= 5 {
		header = append(header, n(b.padCnts), n(entries), n(padAfter))
	} else {
		header = append(header, n(entries))
	}
	if b.version >= 9 {
		header = append(header, n(len(bitmap)), n(padBitmap))
	}
	if b.version >= 11 {
		header = append(header, n(len(uniform)/8), 0, uniformAddr-dataAddr)
	}
	header = append(header, n(len(names)), countersDelta)
	if b.version >= 9 {
		header = append(header, bitmapDelta)
	}
	header = append(header, namesAddr+b.slide)
	if b.version >= 10 {
		header = append(header, n(len(b.vtables)), n(len(vnames)))
	}
	if b.version >= 2 {
		header = append(header, n(b.kinds-1))
	}
	if b.version == 2 || b.version == 3 {
		header = append(header, n(len(values)), 0)
	}

	var d []byte
	for _, h := range header {
		d = b.u64(d, h)
	}
	d = append(d, ids...)
	d = append(d, records...)
	d = append(d, make([]byte, b.padCnts)...)
	d = append(d, counters...)
	if b.version >= 5 {
		d = append(d, make([]byte, padAfter)...)
	}
	d = append(d, bitmap...)
	if b.version >= 9 {
		d = append(d, make([]byte, padBitmap)...)
		d = append(d, uniform...)
	}
	d = append(d, names...)
	if b.version == 1 {
		d = append(d, make([]byte, 8-len(names)%8)...)
	} else {
		d = append(d, make([]byte, cursor.PadTo(uint64(len(names)), 8))...)
	}
	d = append(d, vtables...)
	d = append(d, vnames...)
	d = append(d, make([]byte, cursor.PadTo(uint64(len(vnames)), 8))...)
	return append(d, values...)
}

func (b *rawBuild) String() string {
	coff := ""
	if b.coff {
		coff = "-coff"
	}
	return fmt.Sprintf("v%d-%dbit-%v-%v%s", b.version, 8*b.ptr, b.order, b.variant, coff)
}

// want is the profile that reading the file must give.
func (b *rawBuild) want() []Record {
	var out []Record
	for _, f := range b.funcs {
		r := Record{Name: f.name, Hash: f.hash, Counts: f.counts}
		if b.version >= 9 {
			r.Bitmap = f.bitmap
		}
		if b.version >= 2 {
			for k := range b.kinds {
				for _, s := range f.values[k] {
					var site []ValueData
					for _, v := range s {
						site = append(site, ValueData{b.resolve(k, v.Value), v.Count})
					}
					r.Values[k] = append(r.Values[k], site)
				}
			}
		}
		out = append(out, r)
	}
	return out
}

func (b *rawBuild) resolve(k int, v uint64) uint64 {
	switch k {
	case IndirectCallTarget:
		for _, f := range b.funcs {
			if f.addr == v {
				return NameRef(f.name)
			}
		}
		return 0
	case VTableTarget:
		for _, t := range b.vtables {
			if t.addr <= v && v < t.addr+uint64(t.size) {
				return NameRef(t.name)
			}
		}
		return 0
	}
	return v
}

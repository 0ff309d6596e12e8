package mip

import (
	"bytes"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// Maps and raw profiles, which only linkers and programs write, and the files of generation A.

// mipOf returns p as a .mip.
func mipOf(t testing.TB, p *Profile, opt WriteOptions) []byte {
	t.Helper()
	b, err := oracle.Written(func(w io.Writer) error { return WriteMIP(w, p, opt) })
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// yamlOf returns p as YAML.
func yamlOf(t testing.TB, p *Profile, opt ...WriteOptions) string {
	t.Helper()
	b, err := oracle.Written(func(w io.Writer) error { return WriteYAML(w, p, append(opt, WriteOptions{})[0]) })
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// headerOf returns a header of generation B for another type of file and addresses of ptr bytes.
func headerOf(p *Profile, kind uint16, ptr int, rawSection int64) []byte {
	h := appendHeader(nil, p)
	if kind |= fileType64; ptr == 4 {
		kind ^= fileType64 | fileType32
		rawSection = int64(uint32(rawSection))
	}
	le.PutUint16(h[fileTypeAt:], kind)
	le.PutUint64(h[16:], uint64(rawSection))
	return h
}

// mapOf returns the functions of p as a .mipmap of generation B, for addresses of ptr bytes. rawSection is
// the address of the raw section minus the address of the map: any value describes the same functions.
func mapOf(p *Profile, ptr int, rawSection int64) []byte {
	b := headerOf(p, fileTypeBMap, ptr, rawSection)
	address := func(v int64) {
		if ptr == 4 {
			b = le.AppendUint32(b, uint32(v))
		} else {
			b = le.AppendUint64(b, uint64(v))
		}
	}
	for i := range p.Functions {
		f := &p.Functions[i]
		b = append(b, make([]byte, cursor.PadTo(uint64(len(b)), uint64(ptr)))...)
		section := rawSection - int64(len(b))
		address(int64(f.RawOffset) + section)
		address(f.Address + section)
		b = appendMapRecord(b, f)
	}
	return b
}

// appendMapRecord appends the fields of a map record that all generations have.
func appendMapRecord(b []byte, f *Function) []byte {
	b = le.AppendUint32(b, f.Size)
	b = le.AppendUint32(b, f.CFG)
	b = le.AppendUint32(b, uint32(len(f.Blocks)))
	for _, block := range f.Blocks {
		b = le.AppendUint32(b, block.Offset)
	}
	b = le.AppendUint32(b, uint32(len(f.Name)))
	return append(b, f.Name...)
}

// rawOf returns a .mipraw of generation B as one run leaves it whose profile is p, see isRun.
func rawOf(p *Profile, ptr int) []byte {
	raw := append(headerOf(p, fileTypeBRaw, ptr, 0), make([]byte, p.rawSize()-headerSizeB)...)
	for i := range p.Functions {
		putRawRecord(raw[p.Functions[i].RawOffset:], &p.Functions[i], p.Type)
	}
	if !p.Type.Has(ReturnAddress) {
		return raw
	}
	raw = append(raw, make([]byte, cursor.PadTo(uint64(len(raw)), retAlign))...)
	raw = append(raw, headerOf(p, fileTypeBRet, ptr, 0)...)
	for i := range p.Functions {
		for _, e := range p.Functions[i].CallEdges {
			raw = le.AppendUint32(raw, uint32(p.Functions[i].RawOffset))
			raw = le.AppendUint32(raw, uint32(e.Source))
			raw = le.AppendUint32(raw, uint32(e.Weight))
		}
	}
	return append(raw, make([]byte, retSize)...)
}

// putRawRecord writes the record of f at the start of raw.
func putRawRecord(raw []byte, f *Function, t ProfileType) {
	covers := map[bool]byte{true: rawCovered, false: rawUntouched}
	switch called := f.Covered(); {
	case t.Has(FunctionCoverage):
		raw[0] = covers[called]
	case called:
		le.PutUint32(raw, uint32(f.CallCount))
		le.PutUint32(raw[4:], uint32(f.TimestampSum))
	default:
		copy(raw, bytes.Repeat([]byte{0xff}, rawEntryCounts))
	}
	if t.Has(BlockCoverage) {
		for i, b := range f.Blocks {
			raw[int(t.rawEntrySize())+i] = covers[b.Covered]
		}
	}
}

// isRun reports whether a single run can have left p, with records that are not far apart.
func isRun(p *Profile) bool {
	most := uint64(rawNotCalled - 1)
	if p.Type.Has(FunctionCoverage) {
		most = 1
	}
	size := uint64(headerSizeB)
	for i := range p.Functions {
		f := &p.Functions[i]
		size += f.rawEnd(p.Type) - f.RawOffset
		runs := uint64(f.MergeCount)
		if f.RawOffset < headerSizeB || runs > 1 || f.CallCount < runs || f.CallCount > runs*most || f.TimestampSum > runs*most ||
			slices.ContainsFunc(f.CallEdges, func(e CallEdge) bool { return e.Weight > math.MaxUint32 }) {
			return false
		}
	}
	return p.rawSize() <= 64*size
}

// rawSize returns the size in bytes of the smallest raw file that holds the records of all functions.
func (p *Profile) rawSize() uint64 {
	end := uint64(headerSizeB)
	for i := range p.Functions {
		end = max(end, p.Functions[i].rawEnd(p.Type))
	}
	return end
}

func headerA(fileType uint16, p *Profile) []byte {
	b := le.AppendUint32(nil, magic)
	b = le.AppendUint16(b, versionMax)
	b = le.AppendUint16(b, fileType)
	b = le.AppendUint32(b, uint32(p.Type))
	b = le.AppendUint32(b, p.ModuleHash)
	b = le.AppendUint32(b, 0)
	return le.AppendUint32(b, headerSizeA)
}

func mapA(p *Profile) []byte {
	b := headerA(fileTypeAMap, p)
	for i := range p.Functions {
		f := &p.Functions[i]
		b = append(b, make([]byte, cursor.PadTo(uint64(len(b)), mapAlignA))...)
		section := uint32(0xfffff000) - uint32(len(b)) // any reference that all three share
		b = le.AppendUint32(b, section)
		b = le.AppendUint32(b, section+uint32(f.RawOffset))
		b = le.AppendUint32(b, section+uint32(f.Address))
		b = appendMapRecord(b, f)
	}
	return b
}

// rawA is a raw profile of generation A: the records begin 8 bytes lower, but are where the map says.
func rawA(p *Profile) []byte { return append(headerA(fileTypeARaw, p), rawOf(p, 8)[headerSizeA:]...) }

// mipIn writes a .mip with the given header and layout.
func mipIn(p *Profile, g generation, l mipLayout) []byte {
	b := appendHeader(nil, p)
	if g == generationA {
		b = headerA(fileTypeAMIP, p)
	}
	b = le.AppendUint64(b, uint64(len(p.Functions)))
	for i := range p.Functions {
		b = appendMIPRecord(b, &p.Functions[i], l)
	}
	return append(b, appendNames(nil, p, l)...)
}

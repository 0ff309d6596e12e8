package irpgo

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// le is the byte order of indexed profiles.
var le = binary.LittleEndian

// rawSection is one section of a raw profile: its bytes and where they begin in the file.
type rawSection struct {
	data []byte
	off  int64
}

// rawProfile is one profile of a raw file: a decoded header and its sections.
type rawProfile struct {
	start int64
	ptr   int // bytes of an address
	order binary.ByteOrder
	// bigEndian is what order says, quicker to ask.
	bigEndian bool
	version   uint32
	variant   Variant
	word      uint64 // version and variant as in the file
	fields    [numRawFields]uint64
	layout    recordLayout

	binaryIDs [][]byte
	records   rawSection
	counters  rawSection
	bitmap    rawSection
	uniform   rawSection
	names     rawSection
	vtables   rawSection
	vnames    rawSection
	valueData int64 // file offset where the value data begins

	correlation *Correlation // where records and names are from, if not from the file
}

// counterSize is the size of a counter in bytes.
func (p *rawProfile) counterSize() uint64 {
	if p.variant.Has(SingleByte) {
		return 1
	}
	return 8
}

// info returns what the profile says of itself. Readers count the profiles and collect the binary ids.
func (p *rawProfile) info() Info {
	return Info{
		Format: FormatRaw, Version: p.version, VersionWord: p.word, LastWord: p.word, Variant: p.variant,
		PointerSize: p.ptr, BigEndian: p.bigEndian, Profiles: 1, Kinds: []Variant{p.variant.Kind()}, BinaryIDs: p.binaryIDs,
	}
}

// needsCorrelation reports whether data and names were left out of the file,
// to be found in the debug info or the binary, and have not been found.
func (p *rawProfile) needsCorrelation() bool {
	return p.correlation == nil && p.isLightweight()
}

// isLightweight reports whether the file is without data and names.
func (p *rawProfile) isLightweight() bool {
	return p.variant.Has(DebugInfo) ||
		p.fields[fNumData] == 0 && p.fields[fNamesSize] == 0 && p.fields[fNumCounters] != 0
}

// parseRawProfile decodes the header at file[start:] and cuts the sections.
func parseRawProfile(file []byte, start int64, lenient bool) (*rawProfile, error) {
	p, pos, err := parseRawHeader(file, start, lenient)
	if err != nil {
		return nil, err
	}
	if err := p.cutSections(&sectionCutter{file: file, pos: uint64(pos)}); err != nil {
		return nil, err
	}
	return p, nil
}

// parseRawHeader decodes the header at file[start:] and returns where it ends.
func parseRawHeader(file []byte, start int64, lenient bool) (p *rawProfile, end int64, err error) {
	ptr, order, ok := rawMagic(file[start:])
	if !ok {
		return nil, 0, flaw.At("header", start).Field("magic").
			Gotf("% x", file[start:min(start+8, int64(len(file)))]).Want("the magic of a raw profile").
			Because(&llvmerr.Error{Code: llvmerr.BadMagic})
	}
	p = &rawProfile{start: start, ptr: ptr, order: order, bigEndian: order == binary.ByteOrder(binary.BigEndian)}
	c := cursor.New("header", start, file[start:], order)
	c.U64("magic")
	p.word = c.U64("version")
	if c.Err() != nil {
		return nil, 0, headerTooShort(start, len(file))
	}
	if err := p.setVersion(start+8, lenient); err != nil {
		return nil, 0, err
	}
	fields := rawHeaders[p.version]
	if c.Len() < 8*len(fields) {
		return nil, 0, headerTooShort(start, len(file))
	}
	for _, f := range fields {
		p.fields[f] = c.U64(rawFieldNames[f])
	}
	kinds, err := p.valueKinds(lenient)
	if err != nil {
		return nil, 0, err
	}
	p.layout = newRecordLayout(p.version, ptr, kinds)
	return p, start + int64(c.Pos()), nil
}

// valueKinds returns the number of value kinds in a data record. LLVM does not
// read it from the header but goes by the constant of its release.
func (p *rawProfile) valueKinds(lenient bool) (int, error) {
	switch last := p.fields[fValueKindLast]; {
	case p.version == 1:
		return 0, nil
	case lenient && p.version >= 10:
		return NumValueKinds, nil
	case lenient && p.version >= 5:
		return NumValueKinds - 1, nil
	case last >= NumValueKinds:
		return 0, p.badHeader(fValueKindLast, "at most 2")
	default:
		return int(last) + 1, nil
	}
}

func headerTooShort(start int64, size int) error {
	return flaw.At("header", start).Field("header").Gotf("cut off after %d bytes", int64(size)-start).
		Want("a whole one").Because(&llvmerr.Error{Code: llvmerr.BadHeader, Class: profile.ErrTruncated})
}

// setVersion splits the version word. LLVM up to 17 took the low 56 bits as the version; no version ever needed
// more than 32, and LLVM ignores unknown bits above them.
func (p *rawProfile) setVersion(off int64, lenient bool) error {
	p.version = uint32(p.word)
	p.variant = Variant(p.word) & variantBits
	unknown := p.word &^ (versionMask | uint64(variantBits))
	found := fmt.Sprint(p.version)
	switch {
	case rawHeaders[p.version] == nil:
	case unknown != 0 && !lenient:
		found = fmt.Sprintf("%d with unknown variant bits %#x", p.version, unknown)
	default:
		return nil
	}
	return flaw.At("header", off).Field("raw profile version").Got(found).WantVersions("1 to 5 or 7 to 11", uint64(p.version), RawVersionMax).
		Because(&llvmerr.Error{Code: llvmerr.RawVersionMismatch, Detail: fmt.Sprintf("Profile uses raw profile format version = %d; expected version = %d\nPLEASE update this tool to version in the raw profile, or regenerate raw profile with expected version.", p.version, rawVersionLLVM22)})
}

func (p *rawProfile) badHeader(f rawField, want string) error {
	off := p.start + 16
	for i, g := range rawHeaders[p.version] {
		if g == f {
			off += int64(8 * i)
		}
	}
	return flaw.At("header", off).Field(rawFieldNames[f]).Got(p.fields[f]).Want(want).
		Because(&llvmerr.Error{Code: llvmerr.BadHeader})
}

// sectionCutter hands out consecutive pieces of the file.
type sectionCutter struct {
	file []byte
	pos  uint64 // may run past the end; checked by take
	err  error
	// partial cuts what there is of sections that do not fit, and counts the bytes that are missing.
	partial bool
	missing uint64
}

// take returns the next n×size bytes. A section that does not fit the file is
// the mark of a writer that was stopped.
func (s *sectionCutter) take(section string, n, size uint64) rawSection {
	hi, lo := bits.Mul64(n, size)
	left := uint64(len(s.file)) - s.pos
	if s.partial && hi == 0 && lo > left {
		s.missing = saturate.Add(s.missing, lo-left)
		lo = left
	}
	if s.err == nil && (hi != 0 || lo > left) {
		found := fmt.Sprintf("%d bytes", lo)
		if hi != 0 {
			found = fmt.Sprintf("%d × %d bytes", n, size)
		}
		s.err = flaw.At(section, int64(s.pos)).Field("section size").Got(found).
			Wantf("at most the %d bytes left in the file", left).
			Because(&llvmerr.Error{Code: llvmerr.BadHeader, Class: profile.ErrTruncated})
	}
	if s.err != nil {
		return rawSection{off: int64(s.pos)}
	}
	sec := rawSection{s.file[s.pos : s.pos+lo : s.pos+lo], int64(s.pos)}
	s.pos += lo
	return sec
}

// pad passes over n bytes of padding. Bytes missing there at the very end of
// a file hurt nobody, but LLVM refuses them as it does a cut section.
func (s *sectionCutter) pad(section string, n uint64) { s.take(section+" padding", n, 1) }

func (p *rawProfile) cutSections(s *sectionCutter) error {
	f := &p.fields
	ids := s.take("binary ids", f[fBinaryIDsSize], 1)
	if s.err == nil {
		unpadded := p.version == 7 // LLVM 13 writes no padding
		if f[fBinaryIDsSize]%8 != 0 && !unpadded {
			return p.badHeader(fBinaryIDsSize, "a multiple of 8")
		}
		var err error
		p.binaryIDs, err = readBinaryIDs(ids.off, ids.data, p.order, 8)
		if err != nil && unpadded {
			p.binaryIDs, err = readBinaryIDs(ids.off, ids.data, p.order, 1)
		}
		if err != nil && s.missing == 0 {
			return err
		}
	}
	p.records = s.take("data", f[fNumData], uint64(p.layout.size))
	s.pad("data", f[fPadBeforeCnts])
	p.counters = s.take("counters", f[fNumCounters], p.counterSize())
	s.pad("counters", f[fPadAfterCnts])
	p.bitmap = s.take("bitmap", f[fNumBitmapBytes], 1)
	s.pad("bitmap", f[fPadAfterBitmap])
	p.uniform = s.take("uniform counters", f[fNumUniform], 8)
	s.pad("uniform counters", f[fPadAfterUniform])
	p.names = s.take("names", f[fNamesSize], 1)
	if p.version == 1 {
		s.pad("names", 8-f[fNamesSize]%8)
	} else {
		s.pad("names", cursor.PadTo(f[fNamesSize], 8))
	}
	p.vtables = s.take("vtables", f[fNumVTables], uint64(vtableRecordSize(p.ptr)))
	p.vnames = s.take("vtable names", f[fVNamesSize], 1)
	s.pad("vtable names", cursor.PadTo(f[fVNamesSize], 8))
	p.valueData = int64(s.pos)
	if len(p.uniform.data) > 0 {
		p.variant |= device
	}
	return s.err
}

// readBinaryIDs reads the list { u64 length > 0 | bytes | padding } that raw (v7+)
// and indexed (v9+) profiles share. Each id is padded to a multiple of align bytes.
func readBinaryIDs(off int64, data []byte, order binary.ByteOrder, align uint64) ([][]byte, error) {
	const section = "binary ids"
	var ids [][]byte
	c := cursor.New(section, off, data, order)
	for c.Len() > 0 {
		at := c.Offset()
		if c.Len() < 8 {
			return nil, flaw.At(section, at).InRecord(len(ids)).Field("binary id length").
				Gotf("cut off after %d bytes", c.Len()).Want("8 bytes").
				Because(malformed("not enough data to read binary id length"))
		}
		n := c.U64("binary id length")
		if n == 0 {
			return nil, flaw.At(section, at).InRecord(len(ids)).Field("binary id length").Got("0").
				Want("at least 1").Because(malformed("binary id length is 0"))
		}
		padding := cursor.PadTo(n, align)
		if n > uint64(c.Len()) || padding > uint64(c.Len())-n {
			return nil, flaw.At(section, at).InRecord(len(ids)).Field("binary id length").Got(n).
				Wantf("at most the %d bytes left in the section", c.Len()).
				Because(malformed("not enough data to read binary id data"))
		}
		ids = append(ids, append([]byte(nil), c.Bytes(n, "binary id")...))
		c.Skip(padding, "padding")
	}
	return ids, c.Err()
}

// appendBinaryIDs appends the little-endian list of ids.
func appendBinaryIDs(dst []byte, ids [][]byte) []byte {
	for _, id := range ids {
		dst = le.AppendUint64(dst, uint64(len(id)))
		dst = append(dst, id...)
		dst = append(dst, make([]byte, cursor.PadTo(uint64(len(id)), 8))...)
	}
	return dst
}

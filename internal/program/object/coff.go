package object

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// Places and sizes in COFF files. An image begins with a DOS program that says where the PE header is.
const (
	dosMagic       = "MZ"
	peOffsetAt     = 0x3c
	peMagic        = "PE\x00\x00"
	coffSymbolSize = 18
	bigSymbolSize  = 20 // of a /bigobj object

	coffLargeAddress = 0x20b // magic of the optional header of 64-bit images
)

// coffArchs has LLVM's names of the machines (Machine, IMAGE_FILE_MACHINE_…).
var coffArchs = map[uint16]string{
	pe.IMAGE_FILE_MACHINE_AMD64: "x86_64",
	pe.IMAGE_FILE_MACHINE_I386:  "i386",
	pe.IMAGE_FILE_MACHINE_ARM64: "arm64",
	pe.IMAGE_FILE_MACHINE_ARMNT: "armv7",
}

// isCOFF reports whether head begins an image (.exe, .dll) or an object (.obj).
func isCOFF(head []byte) bool {
	if len(head) < HeadSize {
		return false
	}
	// Text may begin with MZ, and objects have no magic number: only known machines count.
	isDOS := bytes.HasPrefix(head, []byte(dosMagic)) && bytes.IndexByte(head[:HeadSize], 0) > 0 // otherwise it is text
	return isDOS || coffArchs[binary.LittleEndian.Uint16(head)] != "" || isBigObject(head)
}

// isBigObject reports whether head begins an object of more than 65,279 sections.
func isBigObject(head []byte) bool {
	le := binary.LittleEndian
	return le.Uint16(head) == 0 && le.Uint16(head[2:]) == 0xffff && le.Uint16(head[4:]) == 2 && coffArchs[le.Uint16(head[6:])] != ""
}

// parseCOFF parses an image or an object. Addresses in section headers are relative to ImageBase, the
// address at which the file wants to be loaded; the loader may choose another one.
func parseCOFF(data []byte) (*Image, error) {
	im := &Image{Format: COFF, Kind: Object, Order: binary.LittleEndian, PtrSize: 4, data: data}
	c := cursor.New("COFF header", 0, data, im.Order)
	if bytes.HasPrefix(data, []byte(dosMagic)) {
		c.Skip(peOffsetAt, "DOS header")
		if at := int64(c.U32("offset of the PE header")); at > c.Offset() {
			c.Skip(uint64(at-c.Offset()), "DOS program")
		}
		at := c.Offset()
		if magic := c.Bytes(uint64(len(peMagic)), "magic"); c.Err() == nil && string(magic) != peMagic {
			return nil, c.At(at).Field("magic").Gotf("%q", magic).Wantf("%q", peMagic).Corrupt()
		}
		im.Kind, im.Movable = Executable, true
	}
	var symbols, numSymbols, sections uint64
	var optional uint64 // size of the optional header
	symbolSize := uint64(coffSymbolSize)
	if im.Kind == Object && isBigObject(data) {
		// ANON_OBJECT_HEADER_BIGOBJ: Sig1, Sig2 and Version, then Machine, TimeDateStamp, ClassID,
		// SizeOfData, Flags, MetaDataSize and MetaDataOffset.
		c.Skip(6, "signature")
		im.Arch = coffArchs[c.U16("machine")]
		c.Skip(36, "class")
		sections, symbols, numSymbols = uint64(c.U32("number of sections")), uint64(c.U32("offset of the symbols")), uint64(c.U32("number of symbols"))
		symbolSize = bigSymbolSize
	} else {
		machine := c.U16("machine")
		im.Arch = coffArchs[machine]
		if im.Arch == "" {
			im.Arch = "machine" + strconv.FormatUint(uint64(machine), 16)
		}
		sections = uint64(c.U16("number of sections"))
		c.U32("time")
		symbols, numSymbols = uint64(c.U32("offset of the symbols")), uint64(c.U32("number of symbols"))
		optional = uint64(c.U16("size of the optional header"))
		if c.U16("characteristics")&pe.IMAGE_FILE_DLL != 0 {
			im.Kind = Shared
		}
	}
	if im.Arch == "x86_64" || im.Arch == "arm64" {
		im.PtrSize = 8
	}
	// ImageBase is at 28 in an optional header of 32 bits, at 24 in one of 64 bits (PE32+).
	base := uint64(0) // where the image is linked to be
	if header := c.Bytes(optional, "optional header"); len(header) >= 32 {
		base = uint64(im.Order.Uint32(header[28:]))
		if im.Order.Uint16(header) == coffLargeAddress {
			base = im.Order.Uint64(header[24:])
		}
	}
	// sizeof(IMAGE_SECTION_HEADER)
	const headerSize = 40
	n := c.Count(sections, headerSize, "number of sections")
	im.Sections = make([]Section, n)
	var strings []byte // the long names, which follow the symbols
	if at := symbols + numSymbols*symbolSize; at > 0 && at < uint64(len(data)) {
		strings = data[at:]
	}
	for i := range im.Sections {
		im.coffSection(c, &im.Sections[i], base, strings)
	}
	return im, c.Err()
}

func (im *Image) coffSection(c *cursor.Cursor, s *Section, base uint64, names []byte) {
	s.Name = strings.TrimRight(string(c.Bytes(8, "name")), "\x00")
	// A name of more than eight bytes is "/" and its offset in the string table.
	if digits, ok := strings.CutPrefix(s.Name, "/"); ok {
		if at, err := strconv.ParseUint(digits, 10, 32); err == nil && at < uint64(len(names)) {
			s.Name = string(cstring(names, at))
		}
	}
	virtual, addr := uint64(c.U32("virtual size")), uint64(c.U32("virtual address"))
	at := c.Offset()
	s.FileSize, s.Offset = uint64(c.U32("size")), int64(c.U32("offset"))
	c.Skip(12, "relocations")
	flags := c.U32("characteristics")
	// IMAGE_SCN_CNT_UNINITIALIZED_DATA, IMAGE_SCN_MEM_DISCARDABLE
	const uninitialized, discardable = 0x80, 0x02000000
	if flags&uninitialized != 0 || s.Offset == 0 {
		s.FileSize = 0
	}
	s.Size = s.FileSize
	if im.Kind != Object {
		s.Addr, s.Loaded = base+addr, flags&discardable == 0
		s.Size = virtual
		s.FileSize = min(s.FileSize, virtual) // the file has whole blocks
	}
	if c.Err() == nil && uint64(s.Offset)+s.FileSize > uint64(len(im.data)) {
		c.Fail(flaw.At("section header", at).Field("size of "+s.Name).Gotf("%d bytes at %#x", s.FileSize, s.Offset).
			Wantf("at most the %d bytes of the file", len(im.data)).Truncated())
	}
}

package mip

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/profile"
)

// Package debug/elf inflates sections to whatever size they claim; here only
// the section table is needed. W is 8 in 64-bit files and 4 in others.
//
//	header   ident[16] | u16 type | u16 machine | u32 version | W entry | W program headers |
//	         W section headers | u32 flags | u16 × 3 sizes and number of program headers |
//	         u16 size of a section header | u16 number | u16 index of the names
//	section  u32 name | u32 type | W flags | W address | W offset | W size | u32 link |
//	         u32 info | W alignment | W entry size
//	compressed contents  u32 type | u32 reserved (64-bit) | W size | W alignment
//	note     u32 name size | u32 size | u32 type | name | contents, both padded
const (
	elfBuildID = 3 // NT_GNU_BUILD_ID

	// maxInflate bounds the size of an inflated map to this many times its
	// compressed size; real ones have about 5.
	maxInflate = 100
)

type elfFile struct {
	data    []byte
	order   binary.ByteOrder
	width   int
	kind    elf.Type
	machine elf.Machine
	names   []byte // of the sections
	table   []byte // the section headers
	at      int64  // offset of table
	entry   int    // size of a section header
}

type elfSection struct {
	name               string
	kind               elf.SectionType
	flags              uint64
	addr, offset, size uint64
	link               uint32
	align              uint64
}

func findMapELF(data []byte, _ BinaryOptions) ([]byte, BinaryInfo, error) {
	f, err := parseELF(data)
	if err != nil {
		return nil, BinaryInfo{}, err
	}
	info := BinaryInfo{Format: "ELF", Arch: elfArch(f.machine, f.width), PointerSize: f.width}
	var mapped *elfSection
	pie := false
	for i := range len(f.table) / max(1, f.entry) {
		s, err := f.section(i)
		if err != nil {
			return nil, info, err
		}
		switch {
		case s.name == mapSection:
			mapped = &s
		case s.name == rawSection:
			info.RawSection, info.HasRawSection = s.addr, true
		case s.kind == elf.SHT_NOTE && info.BuildID == nil:
			info.BuildID = f.buildID(s)
		case s.kind == elf.SHT_DYNAMIC:
			pie = f.saysPIE(s)
		}
	}
	switch f.kind {
	case elf.ET_REL:
		return nil, info, notLinked()
	case elf.ET_EXEC:
		info.Type = BinaryExecutable
	case elf.ET_DYN:
		info.Type = BinaryShared
		if pie {
			info.Type = BinaryPIE
		}
	}
	if mapped == nil {
		return nil, info, noMap("missing")
	}
	m, err := f.contents(mapped)
	return m, info, err
}

// parseELF reads the header and finds the section table.
func parseELF(data []byte) (*elfFile, error) {
	f := &elfFile{data: data, width: 4, order: binary.LittleEndian}
	if len(data) < elf.EI_NIDENT {
		return nil, elfError(0, profile.ErrTruncated, "header", fmt.Sprintf("cut off after %d bytes", len(data)), "a whole one")
	}
	switch elf.Class(data[elf.EI_CLASS]) {
	case elf.ELFCLASS32:
	case elf.ELFCLASS64:
		f.width = 8
	default:
		return nil, elfError(elf.EI_CLASS, profile.ErrCorrupt, "class", fmt.Sprint(data[elf.EI_CLASS]), "1 or 2")
	}
	switch elf.Data(data[elf.EI_DATA]) {
	case elf.ELFDATA2LSB:
	case elf.ELFDATA2MSB:
		f.order = binary.BigEndian
	default:
		return nil, elfError(elf.EI_DATA, profile.ErrCorrupt, "byte order", fmt.Sprint(data[elf.EI_DATA]), "1 or 2")
	}
	c := cursor.New("ELF header", 0, data, f.order)
	c.Skip(elf.EI_NIDENT, "ident")
	f.kind = elf.Type(c.U16("type"))
	f.machine = elf.Machine(c.U16("machine"))
	c.U32("version")
	c.Ptr(f.width, "entry")
	c.Ptr(f.width, "offset of the program headers")
	off := c.Ptr(f.width, "offset of the section headers")
	c.Skip(4+3*2, "program headers")
	f.entry = int(c.U16("size of a section header"))
	n := uint64(c.U16("number of sections"))
	names := uint32(c.U16("index of the section names"))
	if c.Err() != nil || off == 0 {
		return f, c.Err()
	}
	return f, f.sections(off, n, names)
}

func elfError(off int64, class error, field, found, want string) error {
	return &profile.FormatError{
		Section: "ELF header", Offset: off, Record: -1, Field: field, Found: found, Want: want, Err: class,
	}
}

// sectionSize is the size of a section header.
func (f *elfFile) sectionSize() int { return 4*4 + 6*f.width }

// sections finds the section table and the names. Where the numbers do not fit
// the header they are in the first section (SHN_LORESERVE).
func (f *elfFile) sections(off, n uint64, names uint32) error {
	if f.entry < f.sectionSize() {
		return elfError(-1, profile.ErrCorrupt, "size of a section header", fmt.Sprint(f.entry), fmt.Sprintf("at least %d", f.sectionSize()))
	}
	var err error
	f.at = int64(off)
	if f.table, err = part(f.data, off, uint64(f.entry), "section table"); err != nil {
		return err
	}
	first, err := f.section(0)
	if err != nil {
		return err
	}
	if n == 0 {
		n = first.size
	}
	if names == uint32(elf.SHN_XINDEX) {
		names = first.link
	}
	if n > uint64(len(f.data)) { // before it is multiplied
		return elfError(-1, profile.ErrTruncated, "number of sections", fmt.Sprint(n), "what fits the file")
	}
	if f.table, err = part(f.data, off, n*uint64(f.entry), "section table"); err != nil {
		return err
	}
	if uint64(names) >= n || names == 0 {
		return elfError(-1, profile.ErrCorrupt, "index of the section names", fmt.Sprint(names), fmt.Sprintf("1 to %d", n-min(n, 1)))
	}
	s, err := f.section(int(names))
	if err != nil {
		return err
	}
	if s.kind != elf.SHT_STRTAB || s.flags&uint64(elf.SHF_COMPRESSED) != 0 {
		return elfError(-1, profile.ErrCorrupt, "section of the names", s.kind.String(), "a plain string table")
	}
	f.names, err = part(f.data, s.offset, s.size, "section names")
	return err
}

// section decodes a header of the table.
func (f *elfFile) section(i int) (s elfSection, err error) {
	c := cursor.New("section table", f.at+int64(i*f.entry), f.table[i*f.entry:][:f.entry], f.order)
	c.Record = i
	name := c.U32("name")
	s.kind = elf.SectionType(c.U32("type"))
	s.flags = c.Ptr(f.width, "flags")
	s.addr = c.Ptr(f.width, "address")
	s.offset = c.Ptr(f.width, "offset")
	s.size = c.Ptr(f.width, "size")
	s.link = c.U32("link")
	c.U32("info")
	s.align = c.Ptr(f.width, "alignment")
	if int64(name) < int64(len(f.names)) {
		s.name = cString(f.names[name:][:min(len(f.names)-int(name), len(mapSection)+1)])
	}
	return s, c.Err()
}

// contents returns the bytes of a section, inflated if need be.
func (f *elfFile) contents(s *elfSection) ([]byte, error) {
	if s.kind == elf.SHT_NOBITS {
		return nil, noMap("without contents, as in a file of debug info")
	}
	b, err := part(f.data, s.offset, s.size, mapSection)
	if err != nil || s.flags&uint64(elf.SHF_COMPRESSED) == 0 {
		return b, err
	}
	c := cursor.New(mapSection, int64(s.offset), b, f.order)
	kind := elf.CompressionType(c.U32("compression"))
	if f.width == 8 {
		c.U32("reserved")
	}
	at := c.Offset()
	size := c.Ptr(f.width, "inflated size")
	c.Ptr(f.width, "alignment")
	packed := c.Bytes(uint64(c.Len()), "compressed map")
	if size > uint64(len(packed))*maxInflate || size > math.MaxInt32 {
		c.Corrupt(at, "inflated size", size, fmt.Sprintf("at most %d times the %d bytes compressed", maxInflate, len(packed)))
	}
	if c.Err() != nil {
		return nil, c.Err()
	}
	out, err := inflate(kind, packed, int(size))
	if err != nil {
		return nil, &profile.FormatError{
			Section: mapSection, Offset: int64(s.offset), Record: -1, Field: "compressed contents",
			Found: err.Error(), Want: fmt.Sprintf("%d bytes", size), Err: profile.ErrCorrupt,
		}
	}
	return out, nil
}

// inflate returns the size bytes that packed holds.
func inflate(kind elf.CompressionType, packed []byte, size int) (out []byte, err error) {
	switch kind {
	case elf.COMPRESS_ZLIB:
		var r io.Reader
		if r, err = zlib.NewReader(bytes.NewReader(packed)); err != nil {
			return nil, err
		}
		out, err = io.ReadAll(io.LimitReader(r, int64(size)+1)) // up to the checksum
	case elf.COMPRESS_ZSTD:
		// The limit is on the window, too, which may be larger than the contents.
		var r *zstd.Decoder
		if r, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(size, 8<<20)))); err != nil {
			return nil, err
		}
		defer r.Close()
		out, err = r.DecodeAll(packed, make([]byte, 0, size))
	default:
		return nil, fmt.Errorf("compression %d", kind)
	}
	if err == nil && len(out) != size {
		err = fmt.Errorf("%d bytes inflated", len(out))
	}
	return out, err
}

// buildID returns the GNU build id if the notes of s have it.
func (f *elfFile) buildID(s elfSection) []byte {
	b, err := part(f.data, s.offset, s.size, s.name)
	if err != nil {
		return nil
	}
	align := uint64(4)
	if s.align == 8 {
		align = 8
	}
	c := cursor.New("notes", int64(s.offset), b, f.order)
	for c.Len() > 0 && c.Err() == nil {
		nameSize, size := uint64(c.U32("name size")), uint64(c.U32("size"))
		kind := c.U32("type")
		name := c.Bytes(nameSize, "name")
		c.Skip(min(cursor.PadTo(12+nameSize, align), uint64(c.Len())), "padding")
		contents := c.Bytes(size, "contents")
		c.Skip(min(cursor.PadTo(size, align), uint64(c.Len())), "padding")
		if c.Err() == nil && kind == elfBuildID && cString(name) == "GNU" && size > 0 {
			return append([]byte(nil), contents...)
		}
	}
	return nil
}

// saysPIE reports whether the dynamic section has DF_1_PIE.
func (f *elfFile) saysPIE(s elfSection) bool {
	b, err := part(f.data, s.offset, s.size, s.name)
	if err != nil || s.kind == elf.SHT_NOBITS {
		return false
	}
	c := cursor.New("dynamic section", int64(s.offset), b, f.order)
	for c.Len() >= 2*f.width {
		tag, value := elf.DynTag(c.Ptr(f.width, "tag")), c.Ptr(f.width, "value")
		if tag == elf.DT_FLAGS_1 {
			return elf.DynFlag1(value)&elf.DF_1_PIE != 0
		}
	}
	return false
}

// elfArch names a machine as LLVM's triples do.
func elfArch(m elf.Machine, width int) string {
	switch m {
	case elf.EM_386:
		return "i386"
	case elf.EM_X86_64:
		return "x86_64"
	case elf.EM_ARM:
		return "arm"
	case elf.EM_AARCH64:
		return "aarch64"
	case elf.EM_RISCV:
		return fmt.Sprintf("riscv%d", 8*width)
	}
	return strings.ToLower(strings.TrimPrefix(m.String(), "EM_"))
}

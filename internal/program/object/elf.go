package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// This package does not use debug/elf, which copies a name for every section that claims it, inflates names to
// whatever size they claim, and reports most errors without an offset. W is 8 in 64-bit files and 4 in others.
//
//	header   e_ident[16] | u16 e_type | u16 e_machine | u32 e_version | W e_entry |
//	         W e_phoff | W e_shoff | u32 e_flags | u16 e_ehsize |
//	         u16 e_phentsize | u16 e_phnum | u16 e_shentsize | u16 e_shnum | u16 e_shstrndx
//	segment  u32 p_type | u32 p_flags (64-bit) | W p_offset | W p_vaddr | W p_paddr |
//	         W p_filesz | W p_memsz | u32 p_flags (32-bit) | W p_align
//	section  u32 sh_name | u32 sh_type | W sh_flags | W sh_addr | W sh_offset | W sh_size |
//	         u32 sh_link | u32 sh_info | W sh_addralign | W sh_entsize
//	note     u32 n_namesz | u32 n_descsz | u32 n_type | name | descriptor, both padded
const (
	ntGNUBuildID = 3 // NT_GNU_BUILD_ID

	// maxSectionName bounds a name in bytes. Without it, every name of a hostile
	// file could be as long as the file.
	maxSectionName = 1 << 16
)

type elfTable struct {
	what   string // "segment" or "section"
	offset uint64
	entry  int // size of a header
	number uint64
}

func (t *elfTable) bytes(data []byte, size int) ([]byte, error) {
	if t.entry < size {
		return nil, flaw.In("ELF header").Field("size of a "+t.what+" header").Got(t.entry).
			Wantf("at least %d", size).Corrupt()
	}
	if t.number > uint64(len(data)) { // before it is multiplied
		return nil, flaw.In("ELF header").Field("number of " + t.what + "s").Got(t.number).
			Want("what fits the file").Truncated()
	}
	return part(data, t.offset, t.number*uint64(t.entry), t.what+" table")
}

// parseELF parses a file whose magic number is known to be right.
func parseELF(data []byte) (*Image, error) {
	if len(data) < elf.EI_NIDENT {
		return nil, flaw.At("ELF header", 0).Field("header").Gotf("cut off after %d bytes", len(data)).
			Want("a whole one").Truncated()
	}
	im := &Image{Format: ELF, Order: binary.LittleEndian, PtrSize: 4, data: data}
	switch elf.Class(data[elf.EI_CLASS]) {
	case elf.ELFCLASS32:
	case elf.ELFCLASS64:
		im.PtrSize = 8
	default:
		return nil, flaw.At("ELF header", elf.EI_CLASS).Field("class").Got(data[elf.EI_CLASS]).Want("1 or 2").
			Corrupt()
	}
	switch elf.Data(data[elf.EI_DATA]) {
	case elf.ELFDATA2LSB:
	case elf.ELFDATA2MSB:
		im.Order = binary.BigEndian
	default:
		return nil, flaw.At("ELF header", elf.EI_DATA).Field("byte order").Got(data[elf.EI_DATA]).
			Want("1 or 2").Corrupt()
	}
	c := cursor.New("ELF header", 0, data, im.Order)
	c.Skip(elf.EI_NIDENT, "ident")
	kind := elf.Type(c.U16("type"))
	im.machine = elf.Machine(c.U16("machine"))
	c.U32("version")
	c.Ptr(im.PtrSize, "entry")
	segments, sections := elfTable{what: "segment"}, elfTable{what: "section"}
	segments.offset = c.Ptr(im.PtrSize, "offset of the segment headers")
	sections.offset = c.Ptr(im.PtrSize, "offset of the section headers")
	c.U32("flags")
	c.U16("size of the header")
	// e_phentsize and e_shentsize may be larger than this package's structures; what follows is skipped.
	segments.entry, segments.number = int(c.U16("size of a segment header")), uint64(c.U16("number of segments"))
	sections.entry, sections.number = int(c.U16("size of a section header")), uint64(c.U16("number of sections"))
	names := uint32(c.U16("index of the section names"))
	if c.Err() != nil {
		return nil, c.Err()
	}
	im.Arch = elfArch(im.machine, im.PtrSize, im.Order)
	notes, err := im.elfSegments(segments)
	if err == nil {
		err = im.elfSections(sections, names)
	}
	if err != nil {
		return nil, err
	}
	switch kind {
	case elf.ET_REL:
		im.Kind = Object
	case elf.ET_EXEC:
		im.Kind = Executable
	// Shared libraries and position-independent programs have the same type; a flag tells them apart.
	case elf.ET_DYN:
		im.Kind, im.Movable = Shared, true
		if im.saysPIE() {
			im.Kind = PIE
		}
	}
	im.BuildID = im.elfBuildID(notes)
	im.symtab = im.elfSymtab()
	return im, nil
}

// elfSegments reads the program headers into im.Segments and returns the PT_NOTE ones.
func (im *Image) elfSegments(t elfTable) (notes []Segment, err error) {
	if t.number == 0 {
		return nil, nil
	}
	size := 2*4 + 6*im.PtrSize
	table, err := t.bytes(im.data, size)
	if err != nil {
		return nil, err
	}
	c := cursor.New("segment table", int64(t.offset), table, im.Order)
	for c.Len() > 0 {
		var s Segment
		var flags elf.ProgFlag
		kind := elf.ProgType(c.U32("type"))
		if im.PtrSize == 8 {
			flags = elf.ProgFlag(c.U32("flags"))
		}
		s.Offset = c.Ptr(im.PtrSize, "offset")
		s.Addr = c.Ptr(im.PtrSize, "virtual address")
		c.Ptr(im.PtrSize, "physical address")
		s.FileSize = c.Ptr(im.PtrSize, "size in the file")
		s.MemSize = c.Ptr(im.PtrSize, "size in memory")
		if im.PtrSize == 4 {
			flags = elf.ProgFlag(c.U32("flags"))
		}
		s.Align = c.Ptr(im.PtrSize, "alignment")
		c.Skip(uint64(t.entry-size), "segment header")
		s.Executable = flags&elf.PF_X != 0
		switch kind {
		case elf.PT_LOAD:
			im.Segments = append(im.Segments, s)
		case elf.PT_NOTE:
			notes = append(notes, s)
		}
	}
	return notes, c.Err()
}

// elfSections reads the section headers and their names. Numbers too large for the ELF header are in the first
// section header (SHN_LORESERVE).
func (im *Image) elfSections(t elfTable, names uint32) error {
	if t.offset == 0 {
		return nil
	}
	first := t
	first.number = 1
	sections, _, err := im.sectionTable(first)
	if err != nil {
		return err
	}
	if t.number == 0 {
		t.number = sections[0].Size
	}
	if names == uint32(elf.SHN_XINDEX) {
		names = sections[0].link
	}
	sections, table, err := im.sectionTable(t)
	if err != nil {
		return err
	}
	im.Sections = sections
	if names == 0 && t.number == 1 {
		return nil // the first is always empty
	}
	if uint64(names) >= t.number || names == 0 {
		return flaw.In("ELF header").Field("index of the section names").Got(names).
			Wantf("1 to %d", t.number-min(t.number, 1)).Corrupt()
	}
	s := &sections[names]
	if s.kind != elf.SHT_STRTAB || s.compressed {
		return flaw.In("ELF header").Field("section of the names").Got(s.kind.String()).
			Want("a plain string table").Corrupt()
	}
	b, err := part(im.data, uint64(s.Offset), s.FileSize, "section names")
	if err != nil {
		return err
	}
	text := string(b) // which all names share
	for i := range sections {
		if at := uint64(im.Order.Uint32(table[i*t.entry:])); at < uint64(len(text)) {
			sections[i].Name, _, _ = strings.Cut(text[at:min(at+maxSectionName, uint64(len(text)))], "\x00")
		}
	}
	return nil
}

// sectionTable returns the sections, without names, and the bytes of their headers.
func (im *Image) sectionTable(t elfTable) ([]Section, []byte, error) {
	size := 4*4 + 6*im.PtrSize
	table, err := t.bytes(im.data, size)
	if err != nil {
		return nil, nil, err
	}
	sections := make([]Section, t.number)
	c := cursor.New("section table", int64(t.offset), table, im.Order)
	for i := range sections {
		c.Record = i
		s := &sections[i]
		c.U32("name")
		s.kind = elf.SectionType(c.U32("type"))
		flags := elf.SectionFlag(c.Ptr(im.PtrSize, "flags"))
		s.Addr = c.Ptr(im.PtrSize, "address")
		s.Offset = int64(c.Ptr(im.PtrSize, "offset"))
		s.Size = c.Ptr(im.PtrSize, "size")
		s.link = c.U32("link")
		c.U32("info")
		s.align = c.Ptr(im.PtrSize, "alignment")
		c.Ptr(im.PtrSize, "entry size")
		c.Skip(uint64(t.entry-size), "section header")
		s.Loaded = flags&elf.SHF_ALLOC != 0
		s.Code = flags&elf.SHF_EXECINSTR != 0
		s.compressed = flags&elf.SHF_COMPRESSED != 0
		if s.kind != elf.SHT_NOBITS {
			s.FileSize = s.Size
		}
		if s.compressed {
			// A section with a broken compression header keeps its size in the file; reading it fails.
			if b, err := im.raw(s); err == nil {
				if h, err := im.compression(s, b); err == nil {
					s.Size = h.size
				}
			}
		}
	}
	return sections, table, c.Err()
}

func elfArch(m elf.Machine, width int, order binary.ByteOrder) string {
	little := order == binary.ByteOrder(binary.LittleEndian)
	pick := func(yes bool, name, other string) string {
		if yes {
			return name
		}
		return other
	}
	// The names of Triple::getArchTypeName.
	switch m {
	case elf.EM_386:
		return "i386"
	case elf.EM_X86_64:
		return "x86_64"
	case elf.EM_ARM:
		return pick(little, "arm", "armeb")
	case elf.EM_AARCH64:
		return pick(little, "aarch64", "aarch64_be")
	case elf.EM_PPC:
		return pick(little, "powerpcle", "powerpc")
	case elf.EM_PPC64:
		return pick(little, "powerpc64le", "powerpc64")
	case elf.EM_S390:
		return pick(width == 8, "s390x", "s390")
	case elf.EM_RISCV:
		return pick(width == 8, "riscv64", "riscv32")
	case elf.EM_MIPS:
		return pick(width == 8, "mips64", "mips") + pick(little, "el", "")
	case elf.EM_LOONGARCH:
		return pick(width == 8, "loongarch64", "loongarch32")
	}
	return strings.ToLower(strings.TrimPrefix(m.String(), "EM_"))
}

func (im *Image) saysPIE() bool {
	i := slices.IndexFunc(im.Sections, func(s Section) bool { return s.kind == elf.SHT_DYNAMIC })
	if i < 0 {
		return false
	}
	b, err := im.raw(&im.Sections[i])
	if err != nil {
		return false
	}
	c := cursor.New("dynamic section", im.Sections[i].Offset, b, im.Order)
	for c.Len() >= 2*im.PtrSize {
		tag, value := elf.DynTag(c.Ptr(im.PtrSize, "tag")), c.Ptr(im.PtrSize, "value")
		if tag == elf.DT_FLAGS_1 {
			return elf.DynFlag1(value)&elf.DF_1_PIE != 0
		}
	}
	return false
}

func (im *Image) elfSymtab() symtabLocation {
	for _, want := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		for i := range im.Sections {
			s := &im.Sections[i]
			if s.kind == want && s.FileSize > 0 && s.link > 0 && uint64(s.link) < uint64(len(im.Sections)) {
				return symtabLocation{symbols: i, strings: int(s.link), shndx: slices.IndexFunc(im.Sections, func(x Section) bool {
					return x.kind == elf.SHT_SYMTAB_SHNDX && uint64(x.link) == uint64(i)
				}), ok: true}
			}
		}
	}
	return symtabLocation{}
}

// elfBuildID returns the build id from the notes. It searches sections before
// segments: in a separate debug file the segments have offsets but no bytes.
func (im *Image) elfBuildID(segments []Segment) []byte {
	left := len(im.data) // hostile headers may all claim the whole file
	look := func(off, size, align uint64) []byte {
		b, err := part(im.data, off, size, "notes")
		if err != nil || len(b) > left {
			return nil
		}
		left -= len(b)
		return im.buildIDNote(b, align)
	}
	for i := range im.Sections {
		if s := &im.Sections[i]; s.kind == elf.SHT_NOTE {
			if id := look(uint64(s.Offset), s.FileSize, s.align); id != nil {
				return id
			}
		}
	}
	for _, s := range segments {
		if id := look(s.Offset, s.FileSize, s.Align); id != nil {
			return id
		}
	}
	return nil
}

func (im *Image) buildIDNote(b []byte, align uint64) []byte {
	if align != 8 {
		align = 4
	}
	c := cursor.New("notes", 0, b, im.Order)
	for c.Len() > 0 && c.Err() == nil {
		nameLen, descLen, kind := c.U32("name size"), c.U32("descriptor size"), c.U32("type")
		name := c.Bytes(uint64(nameLen), "name")
		c.Align(int(align), "padding")
		desc := c.Bytes(uint64(descLen), "descriptor")
		if c.Err() == nil && kind == ntGNUBuildID && string(name) == "GNU\x00" && len(desc) > 0 {
			return bytes.Clone(desc)
		}
		// The last note need not be padded.
		if c.Len() < int(cursor.PadTo(uint64(c.Pos()), align)) {
			break
		}
		c.Align(int(align), "padding")
	}
	return nil
}

// DebugLink returns the contents of .gnu_debuglink: the name and the CRC-32 of the
// file with the debug information.
func (im *Image) DebugLink() (name string, crc uint32, ok bool) {
	s := im.Section(".gnu_debuglink")
	if s == nil {
		return "", 0, false
	}
	b, _ := im.raw(s)
	n := bytes.IndexByte(b, 0)
	end := (n + 4) &^ 3
	if n <= 0 || len(b) < end+4 {
		return "", 0, false
	}
	return string(b[:n]), im.Order.Uint32(b[end:]), true
}

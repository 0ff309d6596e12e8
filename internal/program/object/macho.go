package object

import (
	"bytes"
	"cmp"
	"debug/macho"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// This package does not use debug/macho, which reads all symbols when it opens a
// file, strips the underscore from some of their names only, and supports neither
// LC_UUID nor 64-bit fat files. W is 8 in 64-bit files and 4 in others.
//
//	header   u32 magic | u32 cputype | u32 cpusubtype | u32 filetype |
//	         u32 ncmds | u32 sizeofcmds | u32 flags | u32 reserved (64-bit)
//	command  u32 cmd | u32 cmdsize | …
//	segment  segname[16] | W vmaddr | W vmsize | W fileoff | W filesize |
//	         u32 maxprot | u32 initprot | u32 nsects | u32 flags
//	section  sectname[16] | segname[16] | W addr | W size | u32 offset | u32 align |
//	         u32 reloff | u32 nreloc | u32 flags | u32 × 2 (64-bit: 3) reserved
//	fat      u32 magic | u32 nfat_arch | nfat_arch × { u32 cputype | u32 cpusubtype |
//	         offset | size | u32 align | u32 reserved (64-bit) }, offset and size
//	         u32, or u64 in 64-bit ones
const (
	magic32  = 0xfeedface
	magic64  = 0xfeedfacf
	magicFat = 0xcafebabe // always big-endian, and a Java class's magic too
	magicF64 = 0xcafebabf

	cmdSegment   = 0x1  // LC_SEGMENT
	cmdSymtab    = 0x2  // LC_SYMTAB
	cmdSegment64 = 0x19 // LC_SEGMENT_64
	cmdUUID      = 0x1b // LC_UUID

	typeObject  = 1  // MH_OBJECT
	typeExecute = 2  // MH_EXECUTE
	typeDylib   = 6  // MH_DYLIB
	typeBundle  = 8  // MH_BUNDLE
	typeDSYM    = 10 // MH_DSYM

	flagPIE = 0x200000 // MH_PIE

	protExecute = 4 // VM_PROT_EXECUTE

	sectionType = 0xff // mask of the type in a section's flags
	zeroFill    = 0x1  // S_ZEROFILL
	gbZeroFill  = 0xc  // S_GB_ZEROFILL
	tlsZeroFill = 0x12 // S_THREAD_LOCAL_ZEROFILL

	// maxFatArchs bounds the slices of a fat file. Java's class files have the same magic, with the version of the
	// class format, 45 or more, where the number of slices would be.
	maxFatArchs = 43
)

// machOArch names a CPU as lipo does.
func machOArch(cpu, subtype uint32) string {
	const is64, is6432 = 0x01000000, 0x02000000
	subtype &= 0xffffff // the rest are capability bits
	switch cpu {
	case uint32(macho.Cpu386):
		return "i386"
	case uint32(macho.CpuAmd64):
		if subtype == 8 {
			return "x86_64h"
		}
		return "x86_64"
	case uint32(macho.CpuArm):
		return cmp.Or(map[uint32]string{6: "armv6", 9: "armv7", 11: "armv7s", 12: "armv7k"}[subtype], "arm")
	case uint32(macho.CpuArm64):
		if subtype == 2 {
			return "arm64e"
		}
		return "arm64"
	case uint32(macho.CpuArm) | is6432:
		return "arm64_32"
	case uint32(macho.CpuPpc):
		return "ppc"
	case uint32(macho.CpuPpc) | is64:
		return "ppc64"
	}
	return fmt.Sprintf("cpu%#x", cpu)
}

// isMachO reports whether data begins as a file for one architecture, of either byte order.
func isMachO(data []byte) bool {
	if len(data) < 4 {
		return false
	}
	le, be := binary.LittleEndian.Uint32(data), binary.BigEndian.Uint32(data)
	return le == magic32 || le == magic64 || be == magic32 || be == magic64
}

// isFat reports whether data begins as a universal file and not as a Java class.
func isFat(data []byte) bool {
	if len(data) < 8 {
		return false
	}
	magic, n := binary.BigEndian.Uint32(data), binary.BigEndian.Uint32(data[4:])
	return (magic == magicFat || magic == magicF64) && n <= maxFatArchs
}

// A fatEntry is the entry of a universal file for one architecture.
type fatEntry struct {
	arch      string
	off, size uint64
}

// fatEntries reads the header of a universal file.
func fatEntries(data []byte) ([]fatEntry, error) {
	c := cursor.New("fat header", 0, data, binary.BigEndian)
	// fat_arch, or fat_arch_64 with wider offsets and sizes.
	width, entry := 4, 20
	if c.U32("magic") == magicF64 {
		width, entry = 8, 32
	}
	entries := make([]fatEntry, c.Count(uint64(c.U32("number of architectures")), entry, "number of architectures"))
	for i := range entries {
		e := &entries[i]
		e.arch = machOArch(c.U32("CPU type"), c.U32("CPU subtype"))
		e.off, e.size = c.Ptr(width, "offset"), c.Ptr(width, "size")
		c.Skip(uint64(width), "alignment")
	}
	return entries, c.Err()
}

// Architectures returns the architectures of a universal Mach-O file in their order, nil for other files.
func Architectures(data []byte) (archs []string) {
	if !isFat(data) {
		return nil
	}
	entries, _ := fatEntries(data) // Slice reports the error
	for i := range entries {
		archs = append(archs, entries[i].arch)
	}
	return archs
}

// Slice returns the part of a universal Mach-O file for one architecture, a Mach-O file or a static archive. Other files
// are one slice. A file with one slice needs no choice.
func Slice(name string, data []byte, arch string) (slice []byte, err error) {
	defer flaw.OfProgram(&err)
	if !isFat(data) {
		return data, nil
	}
	_, slice, err = chooseSlice(data, arch)
	return slice, flaw.InFile(err, name)
}

func chooseSlice(data []byte, arch string) (chosen fatEntry, slice []byte, err error) {
	entries, err := fatEntries(data)
	if err != nil {
		return fatEntry{}, nil, err
	}
	i := slices.IndexFunc(entries, func(e fatEntry) bool { return e.arch == arch || len(entries) == 1 })
	if i < 0 {
		return fatEntry{}, nil, flaw.In("fat header").Field("architecture").Got(cmp.Or(arch, "not chosen")).
			Want("one of " + strings.Join(Architectures(data), ", ")).Mismatch()
	}
	chosen = entries[i]
	slice, err = part(data, chosen.off, chosen.size, chosen.arch)
	return chosen, slice, err
}

// parseFat parses the slice of a universal file for one architecture.
func parseFat(data []byte, arch string) (*Image, error) {
	chosen, slice, err := chooseSlice(data, arch)
	if err != nil {
		return nil, err
	}
	c := cursor.New(chosen.arch, int64(chosen.off), slice, binary.BigEndian)
	if magic := c.U32("magic"); !isMachO(slice) {
		c.Fail(c.At(int64(chosen.off)).Field("magic").Gotf("%#x", magic).Want("the magic of a Mach-O file").Unsupported())
		return nil, c.Err()
	}
	return parseMachO(slice, int64(chosen.off))
}

// parseMachO parses a file or slice for one architecture, which begins at offset base of the file.
func parseMachO(data []byte, base int64) (*Image, error) {
	im := &Image{Format: MachO, Order: binary.LittleEndian, PtrSize: 4, data: data, base: base}
	if m := binary.BigEndian.Uint32(data); m == magic32 || m == magic64 {
		im.Order = binary.BigEndian
	}
	c := cursor.New("Mach-O header", base, data, im.Order)
	if c.U32("magic") == magic64 {
		im.PtrSize = 8
	}
	im.Arch = machOArch(c.U32("CPU type"), c.U32("CPU subtype"))
	kind := c.U32("file type")
	count, size := c.U32("number of load commands"), c.U32("size of the load commands")
	pie := c.U32("flags")&flagPIE != 0
	if im.PtrSize == 8 {
		c.U32("reserved")
	}
	start := c.Offset()
	commands := c.Bytes(uint64(size), "load commands")
	if c.Err() != nil {
		return nil, c.Err()
	}
	im.Kind = machOKind(kind, pie)
	im.Movable = pie || im.Kind == Shared
	c = cursor.New("load commands", start, commands, im.Order)
	for i := range int(count) {
		c.Record = i
		if err := im.command(c); err != nil {
			return nil, err
		}
	}
	return im, nil
}

// machOKind returns what a file type stands for, 0 for one that has no code, such as a core dump.
func machOKind(kind uint32, pie bool) Kind {
	switch kind {
	case typeObject:
		return Object
	case typeExecute:
		if pie {
			return PIE
		}
		return Executable
	case typeDylib, typeBundle:
		return Shared
	case typeDSYM:
		return Debug
	}
	return 0
}

func (im *Image) command(c *cursor.Cursor) error {
	at := c.Offset()
	kind, size := c.U32("load command"), c.U32("size of the load command")
	if c.Err() == nil && size < 8 {
		c.Fail(c.At(at).Field("size of the load command").Got(size).Want("at least 8").Corrupt())
	}
	body := c.Bytes(uint64(size)-8, "load command")
	if c.Err() != nil {
		return c.Err()
	}
	b := cursor.New(c.Section, at+8, body, im.Order)
	b.Record = c.Record
	switch kind {
	case cmdSegment:
		im.segment(b, 4)
	case cmdSegment64:
		im.segment(b, 8)
	case cmdSymtab:
		im.symtab = symtabLocation{
			symOff: uint64(b.U32("offset of the symbols")), symCount: uint64(b.U32("number of symbols")),
			strOff: uint64(b.U32("offset of the strings")), strSize: uint64(b.U32("size of the strings")), ok: true,
		}
	case cmdUUID:
		im.BuildID = bytes.Clone(b.Bytes(16, "UUID"))
	}
	return b.Err()
}

// segment reads a segment with addresses of the given width, and its sections.
func (im *Image) segment(c *cursor.Cursor, width int) {
	s := Segment{Name: fixedName(c.Bytes(16, "segment name"))}
	s.Addr, s.MemSize = c.Ptr(width, "address"), c.Ptr(width, "size in memory")
	s.Offset, s.FileSize = c.Ptr(width, "offset"), c.Ptr(width, "size in the file")
	c.U32("maximum protection")
	s.Executable = c.U32("protection")&protExecute != 0
	// reserved1 and reserved2, and in section_64 reserved3.
	reserved := width - 4 + 2*4
	n := c.Count(uint64(c.U32("number of sections")), 2*16+2*width+5*4+reserved, "number of sections")
	c.U32("flags")
	if c.Err() == nil && s.Addr > math.MaxUint64-s.MemSize {
		c.Fail(c.At(c.Offset()).Field("size in memory").Gotf("%#x at %#x", s.MemSize, s.Addr).
			Want("a segment within the address space").Corrupt())
	}
	for range n {
		var x Section
		x.Name, x.Segment = fixedName(c.Bytes(16, "section name")), fixedName(c.Bytes(16, "segment name"))
		x.Addr, x.Size = c.Ptr(width, "section address"), c.Ptr(width, "section size")
		x.Offset = int64(c.U32("section offset"))
		c.Skip(3*4, "alignment and relocations")
		switch c.U32("section flags") & sectionType {
		case zeroFill, gbZeroFill, tlsZeroFill:
		default:
			if x.Offset != 0 { // 0 in a dSYM marks a section that only the program has
				x.FileSize = x.Size
			}
		}
		x.Loaded = x.Segment != "__DWARF"
		c.Skip(uint64(reserved), "reserved")
		im.Sections = append(im.Sections, x)
	}
	im.Segments = append(im.Segments, s)
}

func fixedName(b []byte) string {
	if n := bytes.IndexByte(b, 0); n >= 0 {
		b = b[:n]
	}
	return string(b)
}

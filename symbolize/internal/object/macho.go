package object

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/profile"
)

// Mach-O is read here and not by debug/macho, which reads all symbols when it
// opens a file, takes the underscore from some of their names but not from
// others, and knows neither LC_UUID nor 64-bit fat files.
//
//	header    magic, cputype, cpusubtype, filetype, ncmds, sizeofcmds, flags,
//	          and 4 reserved bytes if 64-bit; all 32 bits wide
//	commands  cmd, cmdsize, …
const (
	magic32  = 0xfeedface
	magic64  = 0xfeedfacf
	magicFat = 0xcafebabe // always big-endian, and a Java class's magic too
	magicF64 = 0xcafebabf

	cmdSegment   = 0x1  // LC_SEGMENT
	cmdSymtab    = 0x2  // LC_SYMTAB
	cmdSegment64 = 0x19 // LC_SEGMENT_64
	cmdUUID      = 0x1b // LC_UUID

	typeObject = 1 // MH_OBJECT
	typeDylib  = 6 // MH_DYLIB
	typeBundle = 8 // MH_BUNDLE

	flagPIE = 0x200000 // MH_PIE

	protExecute = 4 // VM_PROT_EXECUTE

	sectionType = 0xff // mask of the type in a section's flags
	zeroFill    = 0x1  // S_ZEROFILL
	gbZeroFill  = 0xc  // S_GB_ZEROFILL
	tlsZeroFill = 0x12 // S_THREAD_LOCAL_ZEROFILL

	// maxFatArchs bounds the slices of a fat file. Java's class files have the
	// same magic, with the version of the class format, 45 or more, where the
	// number of slices would be.
	maxFatArchs = 43
)

// machOArchs are the cputypes, without and then with their subtype (its
// capability bits masked off), by the names Apple's tools give them.
var machOArchs = map[[2]uint32]string{
	{7, 3}: "i386", {0x01000007, 3}: "x86_64", {0x01000007, 8}: "x86_64h",
	{12, 9}: "armv7", {12, 11}: "armv7s", {12, 12}: "armv7k",
	{0x0100000c, 0}: "arm64", {0x0100000c, 1}: "arm64", {0x0100000c, 2}: "arm64e",
	{0x0200000c, 1}: "arm64_32",
}

func machOArch(cpu, sub uint32) string {
	if name := machOArchs[[2]uint32{cpu, sub &^ 0xff000000}]; name != "" {
		return name
	}
	return fmt.Sprintf("cpu %#x/%d", cpu, sub&^0xff000000)
}

func isMachO(data []byte) bool {
	if len(data) < 4 {
		return false
	}
	le, be := binary.LittleEndian.Uint32(data), binary.BigEndian.Uint32(data)
	return le == magic32 || le == magic64 || be == magic32 || be == magic64
}

func isFat(data []byte) bool {
	if len(data) < 8 {
		return false
	}
	magic, n := binary.BigEndian.Uint32(data), binary.BigEndian.Uint32(data[4:])
	return (magic == magicFat || magic == magicF64) && n <= maxFatArchs
}

// parseFat parses the slice of a universal file for one architecture.
func parseFat(data []byte, arch string) (*Image, error) {
	c := cursor.New("fat header", 0, data, binary.BigEndian)
	wide := c.U32("magic") == magicF64
	n := c.U32("number of architectures")
	var names []string
	var found []byte
	var at int64
	for i := range int(n) {
		c.Record = i
		name := machOArch(c.U32("cputype"), c.U32("cpusubtype"))
		var off, size uint64
		if wide {
			off, size = c.U64("offset"), c.U64("size")
			c.Skip(8, "alignment")
		} else {
			off, size = uint64(c.U32("offset")), uint64(c.U32("size"))
			c.Skip(4, "alignment")
		}
		if c.Err() != nil {
			return nil, c.Err()
		}
		names = append(names, name)
		if found != nil || arch != "" && name != arch {
			continue
		}
		b, ok := slice(data, off, size)
		if !ok || !isMachO(b) {
			c.Fail(c.Offset(), profile.ErrCorrupt, "slice", fmt.Sprintf("%d bytes at %#x", size, off), "a Mach-O file")
			return nil, c.Err()
		}
		found, at = b, int64(off)
	}
	if found == nil || arch == "" && len(names) > 1 {
		err := &profile.FormatError{
			Section: "fat header", Offset: -1, Record: -1, Field: "architecture", Found: arch,
			Want: "one of " + strings.Join(names, ", "), Err: profile.ErrMismatch,
		}
		if arch == "" {
			err.Found = "not chosen"
		}
		return nil, err
	}
	im, err := parseMachO(found)
	if err != nil {
		if fe, ok := err.(*profile.FormatError); ok && fe.Offset >= 0 {
			fe.Offset += at
		}
		return nil, err
	}
	im.base = at
	return im, nil
}

// parseMachO parses a file or slice for one architecture.
func parseMachO(data []byte) (*Image, error) {
	im := &Image{Format: MachO, Order: binary.LittleEndian, PtrSize: 4, data: data}
	if m := binary.BigEndian.Uint32(data); m == magic32 || m == magic64 {
		im.Order = binary.BigEndian
	}
	c := cursor.New("Mach-O header", 0, data, im.Order)
	if c.U32("magic") == magic64 {
		im.PtrSize = 8
	}
	cpu, sub, kind := c.U32("cputype"), c.U32("cpusubtype"), c.U32("filetype")
	count, size, flags := c.U32("ncmds"), c.U32("sizeofcmds"), c.U32("flags")
	if im.PtrSize == 8 {
		c.Skip(4, "reserved")
	}
	commands := c.Bytes(uint64(size), "load commands")
	if c.Err() != nil {
		return nil, c.Err()
	}
	im.Arch = machOArch(cpu, sub)
	im.Movable = flags&flagPIE != 0 || kind == typeDylib || kind == typeBundle
	im.Object = kind == typeObject
	start := c.Offset() - int64(len(commands))
	c = cursor.New("load commands", start, commands, im.Order)
	for i := range int(count) {
		c.Record = i
		at := c.Offset()
		cmd, length := c.U32("cmd"), c.U32("cmdsize")
		if c.Err() == nil && length < 8 {
			c.Corrupt(at, "cmdsize", length, "at least 8")
		}
		body := c.Bytes(uint64(length)-8, "load command")
		if c.Err() != nil {
			return nil, c.Err()
		}
		b := cursor.New("load commands", at+8, body, im.Order)
		b.Record = i
		switch cmd {
		case cmdSegment, cmdSegment64:
			im.segment(b, cmd == cmdSegment64)
		case cmdSymtab:
			im.symtab = symtabPlace{
				symOff: uint64(b.U32("symoff")), symCount: uint64(b.U32("nsyms")),
				strOff: uint64(b.U32("stroff")), strSize: uint64(b.U32("strsize")), ok: true,
			}
		case cmdUUID:
			im.BuildID = bytes.Clone(b.Bytes(16, "uuid"))
		}
		if b.Err() != nil {
			return nil, b.Err()
		}
	}
	return im, nil
}

// segment reads LC_SEGMENT or LC_SEGMENT_64 and the sections in it.
func (im *Image) segment(c *cursor.Cursor, wide bool) {
	width := 4
	if wide {
		width = 8
	}
	s := Segment{Name: fixedName(c.Bytes(16, "segname"))}
	s.Addr, s.MemSize = c.Ptr(width, "vmaddr"), c.Ptr(width, "vmsize")
	s.Offset, s.FileSize = c.Ptr(width, "fileoff"), c.Ptr(width, "filesize")
	c.Skip(4, "maxprot")
	s.Executable = c.U32("initprot")&protExecute != 0
	count := c.U32("nsects")
	c.Skip(4, "flags")
	sectionSize := 2*16 + 2*width + 7*4
	if wide {
		sectionSize += 4
	}
	n := c.Count(uint64(count), sectionSize, "nsects")
	for range n {
		var x Section
		x.Name, x.Segment = fixedName(c.Bytes(16, "sectname")), fixedName(c.Bytes(16, "segname"))
		x.Addr, x.Size = c.Ptr(width, "addr"), c.Ptr(width, "size")
		x.Offset, x.FileSize = int64(c.U32("offset")), x.Size
		c.Skip(12, "align, reloff and nreloc")
		switch c.U32("flags") & sectionType {
		case zeroFill, gbZeroFill, tlsZeroFill:
			x.FileSize = 0
		}
		x.Loaded = x.Segment != "__DWARF"
		c.Skip(uint64(sectionSize-2*16-2*width-5*4), "reserved")
		im.Sections = append(im.Sections, x)
	}
	if c.Err() == nil && s.Addr > math.MaxUint64-s.MemSize {
		c.Corrupt(c.Offset(), "vmsize", fmt.Sprintf("%#x at %#x", s.MemSize, s.Addr), "a segment within the address space")
	}
	im.Segments = append(im.Segments, s)
}

// fixedName is a name in 16 bytes, which ends with a zero if it is shorter.
func fixedName(b []byte) string {
	if n := bytes.IndexByte(b, 0); n >= 0 {
		b = b[:n]
	}
	return string(b)
}

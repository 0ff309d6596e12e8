package mip

import (
	"debug/macho"
	"encoding/binary"
	"fmt"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/profile"
)

// Package debug/macho would read the whole symbol table, too; here only the
// load commands are needed. W is 8 in 64-bit files and 4 in others.
//
//	header   u32 magic | u32 CPU type | u32 subtype | u32 file type |
//	         u32 number of commands | u32 their size | u32 flags | u32 reserved (64-bit)
//	command  u32 kind | u32 size | …
//	segment  name[16] | W address | W size | W file offset | W file size |
//	         u32 × 2 protections | u32 number of sections | u32 flags
//	section  name[16] | segment[16] | W address | W size | u32 file offset |
//	         u32 alignment, relocations (offset, number) | u32 flags | u32 × 2 (64-bit: 3) reserved
const (
	machoBundle = 8
	machoDSYM   = 10

	machoUUID     = 0x1b
	machoUUIDSize = 16

	machoSectionType  = 0xff // part of a section's flags
	machoZeroFill     = 0x1
	machoZeroFillGB   = 0xc
	machoZeroFillTLS  = 0x12
	machoSectionSize  = 16 + 16 + 2*4 + 7*4
	machoSegmentFixed = 16 + 4*4 + 4*4
)

// machoFile is what the load commands say.
type machoFile struct {
	data  []byte
	order binary.ByteOrder
	width int
	info  BinaryInfo
	kind  uint32 // file type

	mapped machoSection
	found  bool
}

type machoSection struct {
	addr, size uint64
	offset     uint32
	flags      uint32
}

func findMapMachO(data []byte, _ BinaryOptions) ([]byte, BinaryInfo, error) {
	f := machoFile{data: data, order: binary.BigEndian, width: 4}
	if len(data) < 4 {
		return nil, f.info, machoNotThin(data)
	}
	switch binary.BigEndian.Uint32(data) {
	case machoMagic32:
	case machoMagic64:
		f.width = 8
	case machoCigam32:
		f.order = binary.LittleEndian
	case machoCigam64:
		f.order, f.width = binary.LittleEndian, 8
	default:
		return nil, f.info, machoNotThin(data)
	}
	if err := f.read(); err != nil {
		return nil, f.info, err
	}
	m, err := f.mapBytes()
	return m, f.info, err
}

func machoNotThin(data []byte) error {
	return errorIn("header", -1, profile.ErrUnsupported, "magic", fmt.Sprintf("% x", data[:min(4, len(data))]), "that of a Mach-O file")
}

// read walks over the load commands.
func (f *machoFile) read() error {
	c := cursor.New("Mach-O header", 0, f.data, f.order)
	c.U32("magic")
	f.info = BinaryInfo{Format: "Mach-O", PointerSize: f.width, Arch: machoArch(c.U32("CPU type"), c.U32("CPU subtype"))}
	f.kind = c.U32("file type")
	n := c.U32("number of load commands")
	size := c.U32("size of the load commands")
	flags := c.U32("flags")
	if f.width == 8 {
		c.U32("reserved")
	}
	at := c.Offset()
	commands := c.Bytes(uint64(size), "load commands")
	if c.Err() != nil {
		return c.Err()
	}
	f.info.Type = machoType(f.kind, macho.FlagPIE&flags != 0)
	c = cursor.New("load commands", at, commands, f.order)
	for i := uint32(0); i < n && c.Err() == nil; i++ {
		c.Record = int(i)
		f.command(c)
	}
	return c.Err()
}

func machoType(kind uint32, pie bool) BinaryType {
	switch macho.Type(kind) {
	case macho.TypeExec:
		if pie {
			return BinaryPIE
		}
		return BinaryExecutable
	case macho.TypeDylib, machoBundle:
		return BinaryShared
	case machoDSYM:
		return BinaryDebug
	}
	return BinaryUnknown
}

// command reads one load command.
func (f *machoFile) command(c *cursor.Cursor) {
	at := c.Offset()
	kind := c.U32("load command")
	size := c.U32("size of the load command")
	if c.Err() == nil && size < 8 {
		c.Corrupt(at, "size of the load command", size, "at least 8")
		return
	}
	body := c.Bytes(uint64(size)-8, "load command")
	if c.Err() != nil {
		return
	}
	switch {
	case kind == machoUUID && len(body) >= machoUUIDSize:
		f.info.BuildID = append([]byte(nil), body[:machoUUIDSize]...)
	case macho.LoadCmd(kind) == macho.LoadCmdSegment && f.width == 4,
		macho.LoadCmd(kind) == macho.LoadCmdSegment64 && f.width == 8:
		s := cursor.New("segment", at+8, body, f.order)
		s.Record = c.Record
		f.segment(s)
		if err := s.Err(); err != nil {
			fe := err.(*profile.FormatError)
			c.Fail(fe.Offset, fe.Err, fe.Field, fe.Found, fe.Want)
		}
	}
}

// segment reads the sections of a segment.
func (f *machoFile) segment(c *cursor.Cursor) {
	c.Skip(16, "segment name")
	c.Skip(uint64(4*f.width)+2*4, "segment")
	n := c.Count(uint64(c.U32("number of sections")), machoSectionSize, "number of sections")
	c.U32("flags")
	for range n {
		name := cString(c.Bytes(16, "section name"))
		c.Skip(16, "segment name")
		var s machoSection
		s.addr = c.Ptr(f.width, "section address")
		s.size = c.Ptr(f.width, "section size")
		s.offset = c.U32("section offset")
		c.Skip(3*4, "section")
		s.flags = c.U32("section flags")
		c.Skip(uint64(2*4+f.width&8/2), "section")
		switch {
		case c.Err() != nil:
			return
		case name == mapSection:
			f.mapped, f.found = s, true
		case name == rawSection:
			f.info.RawSection, f.info.HasRawSection = s.addr, true
		}
	}
}

// mapBytes returns the contents of the map's section.
func (f *machoFile) mapBytes() ([]byte, error) {
	s := f.mapped
	switch t := s.flags & machoSectionType; {
	case macho.Type(f.kind) == macho.TypeObj:
		return nil, notLinked()
	case !f.found:
		return nil, noMap("missing")
	case f.kind == machoDSYM || s.offset == 0 || t == machoZeroFill || t == machoZeroFillGB || t == machoZeroFillTLS:
		return nil, noMap("without contents, as in a dSYM")
	}
	return part(f.data, uint64(s.offset), s.size, mapSection)
}

// machoArch names a CPU as lipo does.
func machoArch(cpu, subtype uint32) string {
	const is64, is6432 = 0x01000000, 0x02000000
	subtype &= 0xffffff // the rest are flags
	switch cpu {
	case uint32(macho.Cpu386):
		return "i386"
	case uint32(macho.CpuAmd64):
		if subtype == 8 {
			return "x86_64h"
		}
		return "x86_64"
	case uint32(macho.CpuArm):
		switch subtype {
		case 6:
			return "armv6"
		case 9:
			return "armv7"
		case 11:
			return "armv7s"
		case 12:
			return "armv7k"
		}
		return "arm"
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

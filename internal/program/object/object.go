// Package object reads ELF, Mach-O and COFF files and WebAssembly modules: their kind, sections, segments, build id and
// symbols; of COFF files and WebAssembly only the sections. It also reads the members of static archives.
//
// An [Image] aliases the bytes it was parsed from. It copies only the names of sections, and
// decompresses a section on demand. Every size in the file is checked
// against the size of the file before memory is allocated for it.
package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// A Format is an object file format.
type Format uint8

// The formats that [Parse] reads.
const (
	ELF Format = iota + 1
	MachO
	COFF
	Wasm
)

// String returns the name of the format.
func (f Format) String() string {
	return [...]string{"", "ELF", "Mach-O", "COFF", "WebAssembly"}[f]
}

// A Kind is the purpose of an object file. The zero value stands for all others.
type Kind uint8

// Kinds of files.
const (
	Object     Kind = iota + 1 // a compiler's output, before it is linked
	Executable                 // a program for the addresses it was linked for
	PIE                        // a position-independent program
	Shared                     // a library or bundle, or an ELF program that does not say it is a PIE
	Debug                      // Mach-O's MH_DSYM: debug information only
)

// An Image is one program, library or object file; of a universal (fat)
// Mach-O file, the slice for one architecture.
type Image struct {
	Name    string // of the file, for errors
	Format  Format
	Kind    Kind
	Arch    string // "x86_64", "aarch64" (Mach-O: "arm64"), "i386" …
	PtrSize int    // bytes of an address: 4 or 8
	Order   binary.ByteOrder
	Movable bool // may be loaded elsewhere than it was linked for: PIE, shared library

	BuildID  []byte // GNU build id or LC_UUID; nil without one
	Sections []Section
	Segments []Segment

	data    []byte // of this image; offsets count from its start
	base    int64  // where in the file data starts: not 0 in a fat file
	symtab  symtabLocation
	machine elf.Machine
}

// A Section is a named part of an image.
type Section struct {
	Name     string // as the file has it: ".text", "__text"
	Segment  string // "__TEXT"; only in Mach-O
	Addr     uint64 // where it is linked to be; 0 if it is not loaded
	Size     uint64 // in memory, or when decompressed
	Offset   int64  // in the image; meaningless if FileSize is 0
	FileSize uint64 // the size of the section in the file: 0 for .bss, less than Size if compressed
	Loaded   bool   // part of the program's memory (SHF_ALLOC, a data segment of WebAssembly)
	Code     bool   // of an ELF file: SHF_EXECINSTR

	// ForLinker: the name is only for linkers. Data segments of WebAssembly have other names in linked modules.
	ForLinker bool

	// In ELF:
	kind       elf.SectionType
	link       uint32
	align      uint64
	compressed bool // SHF_COMPRESSED
}

// A Segment is a part of an image that is mapped into memory.
type Segment struct {
	Name       string // "__TEXT"; only in Mach-O
	Addr       uint64 // p_vaddr: where it is linked to be
	Offset     uint64 // in the file, or in the slice of a fat file
	FileSize   uint64
	MemSize    uint64
	Align      uint64
	Executable bool
}

// HeadSize is how many first bytes [IsImage] needs.
const HeadSize = 8

// IsImage reports whether a file that begins with head is one that [Parse] tries to read.
func IsImage(head []byte) bool {
	return isELF(head) || isMachO(head) || isFat(head) || isCOFF(head) || isWasm(head)
}

func isELF(head []byte) bool { return bytes.HasPrefix(head, []byte(elf.ELFMAG)) }

// Parse reads an ELF, Mach-O, COFF or WebAssembly image. arch, in lipo's spelling, selects the slice of a universal Mach-O file
// with several; for other files it is ignored. data must not change while the image is in use.
//
// Errors are *[profile.FormatError]; a file of another format is of class [profile.ErrUnrecognized].
func Parse(name string, data []byte, arch string) (im *Image, err error) {
	defer flaw.OfProgram(&err)
	if len(data) == 0 {
		return nil, flaw.File(name).Because(profile.ErrEmpty)
	}
	switch {
	case isELF(data):
		im, err = parseELF(data)
	case isMachO(data):
		im, err = parseMachO(data, 0)
	case isFat(data):
		im, err = parseFat(data, arch)
	case isCOFF(data):
		im, err = parseCOFF(data)
	case isWasm(data):
		im, err = parseWasm(data)
	default:
		err = flaw.At("", 0).Field("first bytes").Gotf("%x", data[:min(4, len(data))]).
			Want("the first bytes of ELF, Mach-O, COFF or WebAssembly").Unrecognized()
	}
	if err != nil {
		return nil, flaw.InFile(err, name)
	}
	im.Name = name
	return im, nil
}

// Section returns the first section with a name. In Mach-O the name of the segment and a comma may
// precede it: "__DATA,__llvm_mipraw".
func (im *Image) Section(name string) *Section {
	for i := range im.Sections {
		s := &im.Sections[i]
		if s.Name == name || s.Segment != "" && len(name) == len(s.Segment)+1+len(s.Name) &&
			name[:len(s.Segment)] == s.Segment && name[len(s.Segment)] == ',' && name[len(s.Segment)+1:] == s.Name {
			return s
		}
	}
	return nil
}

// Len returns the size of the image in the file, in bytes.
func (im *Image) Len() int { return len(im.data) }

// FileOffset returns where in the file the section's bytes begin.
func (im *Image) FileOffset(s *Section) int64 { return im.base + s.Offset }

func (im *Image) raw(s *Section) ([]byte, error) {
	b, err := part(im.data, uint64(s.Offset), s.FileSize, s.Name)
	return b, flaw.InFile(err, im.Name)
}

func (im *Image) at(section string, offset int64) flaw.Position {
	return flaw.At(section, im.base+offset).InFile(im.Name)
}

// part returns the n bytes of b at off, the range that a header gives for a section.
func part(b []byte, off, n uint64, section string) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	if off > uint64(len(b)) || n > uint64(len(b))-off {
		return nil, flaw.In(section).Field("place in the file").Gotf("%d bytes at %#x", n, off).
			Wantf("within the %d bytes of the file", len(b)).Truncated()
	}
	return b[off : off+n : off+n], nil
}

// cstring returns the string at off of a string table, without its zero.
func cstring(table []byte, off uint64) []byte {
	if off >= uint64(len(table)) {
		return nil
	}
	b := table[off:]
	if n := bytes.IndexByte(b, 0); n >= 0 {
		return b[:n]
	}
	return nil
}

// IsObjectFile reports whether a file that begins with head is a compiler's output, not linked. It needs the first 20 bytes.
func IsObjectFile(head []byte) bool {
	const elfType, machoType, enough = 16, 12, 20
	switch {
	case len(head) < enough:
		return false
	case isELF(head):
		var order binary.ByteOrder = binary.LittleEndian
		if head[elf.EI_DATA] == byte(elf.ELFDATA2MSB) {
			order = binary.BigEndian
		}
		return elf.Type(order.Uint16(head[elfType:])) == elf.ET_REL
	case isMachO(head):
		return head[machoType]|head[machoType+3] == typeObject && head[machoType+1]|head[machoType+2] == 0
	}
	return isCOFF(head) && !bytes.HasPrefix(head, []byte(dosMagic))
}

package object

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/profile"
)

// elfArch returns LLVM's name of the machine.
func elfArch(f *elf.File) string {
	wide := f.Class == elf.ELFCLASS64
	little := f.Data == elf.ELFDATA2LSB
	pick := func(yes bool, name, other string) string {
		if yes {
			return name
		}
		return other
	}
	switch f.Machine {
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
		return pick(wide, "s390x", "s390")
	case elf.EM_RISCV:
		return pick(wide, "riscv64", "riscv32")
	case elf.EM_MIPS:
		return pick(wide, "mips64", "mips") + pick(little, "el", "")
	case elf.EM_LOONGARCH:
		return pick(wide, "loongarch64", "loongarch32")
	}
	return f.Machine.String()
}

// parseELF takes headers from debug/elf, which checks them, and all else from
// the bytes themselves.
func parseELF(data []byte) (im *Image, err error) {
	// debug/elf does not promise to be safe on hostile files.
	defer func() {
		if cause := recover(); cause != nil {
			im, err = nil, elfError(fmt.Sprint(cause), profile.ErrCorrupt)
		}
	}()
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		class := profile.ErrCorrupt
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			class = profile.ErrTruncated
		}
		return nil, elfError(err.Error(), class)
	}
	im = &Image{
		Format: ELF, Order: f.ByteOrder, PtrSize: 8, data: data,
		Movable: f.Type == elf.ET_DYN, Object: f.Type == elf.ET_REL, machine: f.Machine,
	}
	if f.Class == elf.ELFCLASS32 {
		im.PtrSize = 4
	}
	im.Arch = elfArch(f)
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			im.Segments = append(im.Segments, Segment{
				Addr: p.Vaddr, Offset: p.Off, FileSize: p.Filesz, MemSize: p.Memsz,
				Align: p.Align, Executable: p.Flags&elf.PF_X != 0,
			})
		}
	}
	im.Sections = make([]Section, len(f.Sections))
	for i, s := range f.Sections {
		im.Sections[i] = Section{
			Name: s.Name, Addr: s.Addr, Size: s.Size, Offset: int64(s.Offset), FileSize: s.FileSize,
			Loaded:     s.Flags&elf.SHF_ALLOC != 0,
			compressed: s.Flags&elf.SHF_COMPRESSED != 0,
		}
		if s.Type == elf.SHT_NOBITS {
			im.Sections[i].FileSize = 0
		}
	}
	im.BuildID = elfBuildID(f, im)
	im.symtab = elfSymtab(f)
	return im, nil
}

func elfError(what string, class error) error {
	return &profile.FormatError{
		Section: "ELF headers", Offset: -1, Record: -1, Field: what, Err: class,
	}
}

// elfSymtab finds .symtab, or .dynsym in a stripped program.
func elfSymtab(f *elf.File) symtabPlace {
	for _, want := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		for i, s := range f.Sections {
			if s.Type == want && s.FileSize > 0 && s.Link > 0 && int(s.Link) < len(f.Sections) {
				place := symtabPlace{symbols: i, strings: int(s.Link), shndx: -1, ok: true}
				for j, x := range f.Sections {
					if x.Type == elf.SHT_SYMTAB_SHNDX && int(x.Link) == i {
						place.shndx = j
					}
				}
				return place
			}
		}
	}
	return symtabPlace{}
}

const ntGNUBuildID = 3

// elfBuildID looks through the notes. Those of sections come first: in a
// separate debug file the segments have offsets, but no longer the bytes.
func elfBuildID(f *elf.File, im *Image) []byte {
	for i, s := range f.Sections {
		if s.Type == elf.SHT_NOTE {
			if b, err := im.raw(&im.Sections[i]); err == nil {
				if id := buildIDNote(b, im, s.Addralign); id != nil {
					return id
				}
			}
		}
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_NOTE {
			if b, ok := slice(im.data, p.Off, p.Filesz); ok {
				if id := buildIDNote(b, im, p.Align); id != nil {
					return id
				}
			}
		}
	}
	return nil
}

// buildIDNote returns the build id among the notes in b.
func buildIDNote(b []byte, im *Image, align uint64) []byte {
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

// DebugLink returns the contents of .gnu_debuglink: the name of the file with
// the debug information, and its CRC-32.
func (im *Image) DebugLink() (name string, crc uint32, ok bool) {
	s := im.Section(".gnu_debuglink")
	if s == nil {
		return "", 0, false
	}
	b, err := im.raw(s)
	if err != nil {
		return "", 0, false
	}
	n := bytes.IndexByte(b, 0)
	end := (n + 4) &^ 3
	if n <= 0 || len(b) < end+4 {
		return "", 0, false
	}
	return string(b[:n]), im.Order.Uint32(b[end:]), true
}

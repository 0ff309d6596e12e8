package mip

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"debug/elf"
	"debug/macho"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/profuse-pgo/profuse/profile"
)

// damage is what is wrong with a binary, and what has to be said of it.
type damage struct {
	what    string
	data    []byte
	class   error
	section string
	offset  int64
	record  int
	field   string
	found   string // the beginning of it
}

func checkDamage(t *testing.T, arch string, all []damage) {
	t.Helper()
	for _, d := range all {
		m, _, err := FindMap("file", d.data, arch)
		var fe *profile.FormatError
		if m != nil || !errors.As(err, &fe) || profile.ClassOf(fe) != d.class || fe.File != "file" || fe.Section != d.section ||
			fe.Offset != d.offset || fe.Record != d.record || fe.Field != d.field || !strings.HasPrefix(fe.Got, d.found) || fe.Want == "" {
			t.Errorf("%s: %+v", d.what, err)
		}
	}
}

// sectionHeader returns where a 64-bit little-endian program has the header of a section.
func sectionHeader(t *testing.T, data []byte, name string) int64 {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(f.Sections, func(s *elf.Section) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("section %s is missing", name)
	}
	return int64(le.Uint64(data[0x28:])) + int64(i*0x40)
}

// TestDamagedELF damages one field of a program at a time.
func TestDamagedELF(t *testing.T) {
	whole := fixture(t, "all.elf")
	names, mapped := sectionHeader(t, whole, ".shstrtab"), sectionHeader(t, whole, mapSection)
	// put returns the program with a value of so many bytes at an offset.
	put := func(at int64, size int, v uint64) []byte {
		data := bytes.Clone(whole)
		b := binary.LittleEndian.AppendUint64(nil, v)
		copy(data[at:], b[:size])
		return data
	}
	const tableAt, entrySize, count, namesIndex = 0x28, 0x3a, 0x3c, 0x3e // of ELFCLASS64
	const typeAt, offsetAt, sizeAt = 4, 24, 32                           // in a section header
	manySections := put(count, 2, 0)
	copy(manySections[le.Uint64(whole[tableAt:])+sizeAt:], "\xff\xff\xff\xff\xff\xff\xff\x0f")
	checkDamage(t, "", []damage{
		{"ident cut", whole[:10], profile.ErrTruncated, "ELF header", 0, -1, "header", "cut off after 10 bytes"},
		{"header cut", whole[:0x30], profile.ErrTruncated, "ELF header", 0x30, -1, "flags", "cut off after 0 bytes"},
		{"class", put(elf.EI_CLASS, 1, 7), profile.ErrCorrupt, "ELF header", elf.EI_CLASS, -1, "class", "7"},
		{"byte order", put(elf.EI_DATA, 1, 3), profile.ErrCorrupt, "ELF header", elf.EI_DATA, -1, "byte order", "3"},
		{"object", put(16, 2, uint64(elf.ET_REL)), profile.ErrUnsupported, "header", -1, -1, "type", "an object file"},
		{"small headers", put(entrySize, 2, 63), profile.ErrCorrupt, "ELF header", -1, -1, "size of a section header", "63"},
		{"table beyond", put(tableAt, 8, 1<<40), profile.ErrTruncated, "section table", -1, -1, "place in the file", "64 bytes at 0x10000000000"},
		{"table too long", put(count, 2, 0x1000), profile.ErrTruncated, "section table", -1, -1, "place in the file", "262144 bytes"},
		{"absurd number", manySections, profile.ErrTruncated, "ELF header", -1, -1, "number of sections", "1152921504606846975"},
		{"no names", put(namesIndex, 2, 0), profile.ErrCorrupt, "ELF header", -1, -1, "index of the section names", "0"},
		{"names beyond", put(namesIndex, 2, 0xff), profile.ErrCorrupt, "ELF header", -1, -1, "index of the section names", "255"},
		{"names of another type", put(names+typeAt, 4, uint64(elf.SHT_PROGBITS)), profile.ErrCorrupt, "ELF header", -1, -1, "section of the names", "SHT_PROGBITS"},
		{"names cut", put(names+sizeAt, 8, 1<<40), profile.ErrTruncated, "section names", -1, -1, "place in the file", "1099511627776 bytes"},
		{"no sections", put(tableAt, 8, 0), profile.ErrMismatch, mapSection, -1, -1, "section", "missing"},
		{"map stripped", put(mapped+typeAt, 4, uint64(elf.SHT_NOBITS)), profile.ErrMismatch, mapSection, -1, -1, "section", "without contents"},
		{"map beyond", put(mapped+offsetAt, 8, 1<<40), profile.ErrTruncated, mapSection, -1, -1, "place in the file", ""},
	})
}

// TestCompressedMap inflates maps, and says what is wrong with those that are not what they claim.
func TestCompressedMap(t *testing.T) {
	whole := fixture(t, "all.elf")
	header := sectionHeader(t, whole, mapSection)
	text := bytes.Repeat([]byte("map "), 100)
	var z bytes.Buffer
	zw := zlib.NewWriter(&z)
	zw.Write(text)
	zw.Close()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	zs := enc.EncodeAll(text, nil)
	for _, tc := range []struct {
		what   string
		kind   elf.CompressionType
		packed []byte
		size   int64
		class  error
		field  string
		found  string
	}{
		{"zlib", elf.COMPRESS_ZLIB, z.Bytes(), int64(len(text)), nil, "", ""},
		{"zstd", elf.COMPRESS_ZSTD, zs, int64(len(text)), nil, "", ""},
		{"zlib cut", elf.COMPRESS_ZLIB, z.Bytes()[:z.Len()-8], int64(len(text)), profile.ErrCorrupt, "compressed contents", "unexpected EOF"},
		{"zlib of another size", elf.COMPRESS_ZLIB, z.Bytes(), int64(len(text)) - 1, profile.ErrCorrupt, "compressed contents", "400 bytes inflated"},
		{"no zlib", elf.COMPRESS_ZLIB, zs, int64(len(text)), profile.ErrCorrupt, "compressed contents", "zlib: invalid header"},
		{"zstd cut", elf.COMPRESS_ZSTD, zs[:len(zs)-8], int64(len(text)), profile.ErrCorrupt, "compressed contents", ""},
		{"zstd of another size", elf.COMPRESS_ZSTD, zs, int64(len(text)) + 1, profile.ErrCorrupt, "compressed contents", "400 bytes inflated"},
		{"unknown", 9, zs, int64(len(text)), profile.ErrUnsupported, "compression", "9"},
		{"bomb", elf.COMPRESS_ZLIB, z.Bytes(), 1 << 30, profile.ErrCorrupt, "inflated size", "1073741824"},
		{"bomb of 4 GiB", elf.COMPRESS_ZLIB, []byte{1, 2, 3}, 1 << 32, profile.ErrCorrupt, "inflated size", "4294967296"},
		{"nothing", 0, nil, -1, profile.ErrTruncated, "compression", "cut off after 1 bytes"},
	} {
		contents := []byte{0}
		if tc.size >= 0 {
			contents = le.AppendUint64(nil, uint64(tc.kind)) // and 32 reserved bits
			contents = le.AppendUint64(le.AppendUint64(contents, uint64(tc.size)), 1)
			contents = append(contents, tc.packed...)
		}
		data := append(bytes.Clone(whole), contents...)
		le.PutUint64(data[header+8:], uint64(elf.SHF_COMPRESSED))
		le.PutUint64(data[header+24:], uint64(len(whole)))
		le.PutUint64(data[header+32:], uint64(len(contents)))
		got, _, err := FindMap("file", data, "")
		var fe *profile.FormatError
		switch {
		case tc.class == nil:
			if err != nil || !bytes.Equal(got, text) {
				t.Errorf("%s: %q, %v", tc.what, got, err)
			}
		case !errors.As(err, &fe) || profile.ClassOf(fe) != tc.class || fe.File != "file" || fe.Section != mapSection || fe.Field != tc.field ||
			!strings.HasPrefix(fe.Got, tc.found) || fe.Want == "" || fe.Offset != int64(len(whole)):
			t.Errorf("%s: %+v", tc.what, err)
		}
	}
}

// TestDamagedMachO damages one field of a library at a time.
func TestDamagedMachO(t *testing.T) {
	whole := smallMachO(t)
	put := func(at int, v uint32) []byte {
		data := bytes.Clone(whole)
		le.PutUint32(data[at:], v)
		return data
	}
	const header, segment = 32, 72 + 80
	section := header + 72
	checkDamage(t, "", []damage{
		{"header cut", whole[:18], profile.ErrTruncated, "Mach-O header", 16, -1, "number of load commands", "cut off after 2 bytes"},
		{"commands cut", whole[:40], profile.ErrTruncated, "Mach-O header", header, -1, "length of the load commands", "176 bytes"},
		{"object", put(12, 1), profile.ErrUnsupported, "header", -1, -1, "type", "an object file"},
		{"small command", put(header+4, 7), profile.ErrCorrupt, "load commands", header, 0, "size of the load command", "7"},
		{"large command", put(header+segment+4, 99), profile.ErrTruncated, "load commands", header + segment + 8, 1, "length of the load command", "91 bytes"},
		{"many sections", put(header+64, 2), profile.ErrTruncated, "load commands", header + 68, 0, "number of sections", "2"},
		{"map of another name", put(section+8, 0x20202020), profile.ErrMismatch, mapSection, -1, -1, "section", "missing"},
		{"map of zeros", put(section+16+16+8+8+4+12, 1), profile.ErrMismatch, mapSection, -1, -1, "section", "without contents"},
		{"dSYM", put(12, 10), profile.ErrMismatch, mapSection, -1, -1, "section", "without contents"},
		{"map beyond", put(section+16+16+8+8, 1<<30), profile.ErrTruncated, mapSection, -1, -1, "place in the file", ""},
		{"more commands than there are", put(16, 3), profile.ErrTruncated, "load commands", header + segment + 24, 2, "load command", "cut off after 0 bytes"},
	})
	fat := smallFat(t)
	nothing := append(bytes.Clone(fat[:28]), make([]byte, len(fat)-28)...)
	checkDamage(t, "", []damage{
		{"fat header cut", fat[:20], profile.ErrTruncated, "fat header", 8, -1, "number of architectures", "1"},
		{"fat without files", append(bytes.Clone(fat[:7]), 0), profile.ErrMismatch, "fat header", -1, -1, "architecture", "not chosen"},
		{"file of another kind", nothing, profile.ErrUnsupported, "arm64", 28, -1, "magic", "0x0"},
		{"file cut", fat[:len(fat)-1], profile.ErrTruncated, "arm64", -1, -1, "place in the file", ""},
	})
}

func TestArchitectures(t *testing.T) {
	for cpu, want := range map[[2]uint32]string{
		{7, 3}: "i386", {0x01000007, 3}: "x86_64", {0x01000007, 0x80000008}: "x86_64h",
		{12, 0}: "arm", {12, 6}: "armv6", {12, 9}: "armv7", {12, 11}: "armv7s", {12, 12}: "armv7k",
		{0x0100000c, 0}: "arm64", {0x0100000c, 2}: "arm64e", {0x0200000c, 1}: "arm64_32", {18, 0}: "ppc", {0x01000012, 0}: "ppc64", {99, 1}: "cpu0x63",
	} {
		data := smallMachO(t)
		le.PutUint32(data[4:], cpu[0])
		le.PutUint32(data[8:], cpu[1])
		if _, info, err := FindMap("file", data, ""); info.Arch != want || err != nil {
			t.Errorf("CPU type %#x, subtype %#x: %s, %v, want %s", cpu[0], cpu[1], info.Arch, err, want)
		}
	}
	for machine, want := range map[elf.Machine]string{
		elf.EM_386: "i386", elf.EM_X86_64: "x86_64", elf.EM_ARM: "arm", elf.EM_AARCH64: "aarch64", elf.EM_RISCV: "riscv64", elf.EM_S390: "s390x",
		elf.EM_XTENSA: "xtensa",
	} {
		data := bytes.Clone(fixture(t, "all.elf"))
		le.PutUint16(data[18:], uint16(machine))
		if _, info, err := FindMap("file", data, ""); info.Arch != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", machine, info.Arch, err, want)
		}
	}
	for _, tc := range []struct {
		kind uint32
		pie  bool
		want string
	}{{2, true, "PIE"}, {2, false, "executable"}, {6, false, "shared"}, {8, false, "shared"}, {10, false, "debug"}, {4, false, "unknown"}} {
		data := smallMachO(t)
		le.PutUint32(data[12:], tc.kind)
		if tc.pie {
			le.PutUint32(data[24:], macho.FlagPIE)
		}
		if _, info, err := FindMap("file", data, ""); cmp.Or(info.Type, "unknown") != tc.want || (err != nil) != (tc.want == "debug") {
			t.Errorf("file type %d: %s, %v, want %s", tc.kind, info.Type, err, tc.want)
		}
	}
}

// TestNoMap: a file of MIP that is no map, and one that is nothing, say so.
func TestNoMap(t *testing.T) {
	checkDamage(t, "", []damage{
		{"raw profile", unhex(t, goldenRaw), profile.ErrMismatch, "header", fileTypeAt, -1, "FileType", ".mipraw"},
		{"text", []byte("text"), profile.ErrUnrecognized, "header", 0, -1, "magic", "74 65 78 74"},
	})
}

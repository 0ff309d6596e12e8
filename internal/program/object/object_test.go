package object

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/profuse-pgo/profuse/profile"
)

// An elfBuild makes ELF files of sections.
type elfBuild struct {
	wide     bool
	order    binary.AppendByteOrder
	machine  elf.Machine
	sections []elfSection
}

type elfSection struct {
	name  string
	typ   elf.SectionType
	flags elf.SectionFlag
	link  int
	data  []byte
}

func (e *elfBuild) word(b []byte, v uint64) []byte {
	if e.wide {
		return e.order.AppendUint64(b, v)
	}
	return e.order.AppendUint32(b, uint32(v))
}

// build lays the sections out one after the other, behind the header; the
// first is the empty one that every file has, the last the names.
func (e *elfBuild) build() []byte {
	o := e.order
	sections := slices.Concat([]elfSection{{}}, e.sections, []elfSection{{name: ".shstrtab", typ: elf.SHT_STRTAB}})
	names := []byte{0}
	var nameAt []int
	for i := range sections {
		nameAt = append(nameAt, len(names))
		names = append(append(names, sections[i].name...), 0)
	}
	sections[len(sections)-1].data = names

	headerSize, entrySize := 52, 40
	if e.wide {
		headerSize, entrySize = 64, 64
	}
	var body, table []byte
	for i, s := range sections {
		b := o.AppendUint32(nil, uint32(nameAt[i]))
		b = o.AppendUint32(b, uint32(s.typ))
		b = e.word(b, uint64(s.flags))
		b = e.word(b, 0)
		b = e.word(b, uint64(headerSize+len(body)))
		b = e.word(b, uint64(len(s.data)))
		b = o.AppendUint32(b, uint32(s.link))
		b = o.AppendUint32(b, 0)
		b = e.word(b, 1)
		b = e.word(b, 0)
		table = append(table, b...)
		body = append(body, s.data...)
	}
	h := []byte("\x7fELF\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	if e.wide {
		h[4] = 2
	}
	if o.String() == binary.BigEndian.String() {
		h[5] = 2
	}
	h = o.AppendUint16(h, uint16(elf.ET_EXEC))
	h = o.AppendUint16(h, uint16(e.machine))
	h = o.AppendUint32(h, 1)
	h = e.word(h, 0)
	h = e.word(h, 0)
	h = e.word(h, uint64(headerSize+len(body)))
	h = o.AppendUint32(h, 0)
	for _, v := range []int{headerSize, 0, 0, entrySize, len(sections), len(sections) - 1} {
		h = o.AppendUint16(h, uint16(v))
	}
	return slices.Concat(h, body, table)
}

// everyELF calls fn for each word size and byte order.
func everyELF(fn func(name string, e *elfBuild)) {
	for _, wide := range []bool{false, true} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			fn(fmt.Sprintf("wide %t, %v", wide, order), &elfBuild{wide: wide, order: order, machine: elf.EM_AARCH64})
		}
	}
}

func (e *elfBuild) symbol(name int, info elf.SymType, bind elf.SymBind, section int, value, size uint64) []byte {
	b := e.order.AppendUint32(nil, uint32(name))
	if !e.wide {
		b = e.word(e.word(b, value), size)
	}
	b = append(b, byte(bind)<<4|byte(info), 0)
	b = e.order.AppendUint16(b, uint16(section))
	if e.wide {
		b = e.word(e.word(b, value), size)
	}
	return b
}

func TestELFSymbols(t *testing.T) {
	everyELF(func(name string, e *elfBuild) {
		strs := []byte{0}
		str := func(s string) int {
			at := len(strs)
			strs = append(append(strs, s...), 0)
			return at
		}
		const text, debug = 1, 2
		table := slices.Concat(
			e.symbol(0, 0, 0, 0, 0, 0),
			e.symbol(str("a.c"), elf.STT_FILE, elf.STB_LOCAL, int(elf.SHN_ABS), 0, 0),
			e.symbol(str("local_a"), elf.STT_FUNC, elf.STB_LOCAL, text, 0x100, 0x10),
			e.symbol(str("b.c"), elf.STT_FILE, elf.STB_LOCAL, int(elf.SHN_ABS), 0, 0),
			e.symbol(str("local_b"), elf.STT_NOTYPE, elf.STB_LOCAL, text, 0x110, 0),
			e.symbol(str("$x.1"), elf.STT_NOTYPE, elf.STB_LOCAL, text, 0x120, 0),
			e.symbol(str("section"), elf.STT_SECTION, elf.STB_LOCAL, text, 0x130, 0),
			e.symbol(str("undefined"), elf.STT_FUNC, elf.STB_GLOBAL, 0, 0x140, 1),
			e.symbol(str("absolute"), elf.STT_FUNC, elf.STB_GLOBAL, int(elf.SHN_ABS), 0x150, 1),
			e.symbol(str("not_loaded"), elf.STT_FUNC, elf.STB_GLOBAL, debug, 0x160, 1),
			e.symbol(str("small"), elf.STT_FUNC, elf.STB_GLOBAL, text, 0x200, 4),
			e.symbol(str("large"), elf.STT_FUNC, elf.STB_GLOBAL, text, 0x200, 8),
			e.symbol(str("large_too"), elf.STT_FUNC, elf.STB_WEAK, text, 0x200, 8),
			e.symbol(str("unsized"), elf.STT_FUNC, elf.STB_GLOBAL, text, 0x200, 0),
			e.symbol(str("data"), elf.STT_OBJECT, elf.STB_GLOBAL, text, 0x300, 8),
			e.symbol(str("no_such_section"), elf.STT_FUNC, elf.STB_GLOBAL, 77, 0x310, 8),
			e.symbol(str("tail"), elf.STT_FUNC, elf.STB_GLOBAL, text, 0x400, 0),
			e.symbol(1<<20, elf.STT_FUNC, elf.STB_GLOBAL, text, 0x500, 0), // no such name
		)
		e.sections = []elfSection{
			{name: ".text", typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, data: []byte{1}},
			{name: ".debug", typ: elf.SHT_PROGBITS, data: []byte{1}},
			{name: ".symtab", typ: elf.SHT_SYMTAB, link: 4, data: table},
			{name: ".strtab", typ: elf.SHT_STRTAB, data: strs},
		}
		im, err := Parse(name, e.build(), "")
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := im.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		for addr, want := range map[uint64]string{
			0xff: "", 0x100: "local_a a.c", 0x10f: "local_a a.c", 0x110: "local_b b.c", 0x1ff: "local_b b.c",
			0x200: "large_too", 0x207: "large_too", 0x208: "", 0x300: "data", 0x308: "", 0x400: "tail", 0x4ff: "tail",
			0x500: "", 1 << 40: "",
		} {
			s, _ := symbols.Find(addr)
			if got := strings.TrimSpace(s.Name + " " + s.File); got != want {
				t.Errorf("%s: at %#x %q, want %q", name, addr, got, want)
			}
		}
		if symbols.Len() != 9 {
			t.Errorf("%s: %d symbols", name, symbols.Len())
		}
		if s := symbols.Symbol(2); s.Name != "unsized" || s.Addr != 0x200 {
			t.Errorf("%s: the third by address and size is %+v", name, s)
		}
	})
}

func compress(t *testing.T, method uint32, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	switch method {
	case chZlib:
		w := zlib.NewWriter(&b)
		w.Write(data)
		w.Close()
	case chZstd:
		w, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(data)
		w.Close()
	}
	return b.Bytes()
}

func TestCompressedSections(t *testing.T) {
	data := bytes.Repeat([]byte("debug information "), 1000)
	everyELF(func(name string, e *elfBuild) {
		section := func(method uint32, size uint64, packed []byte) elfSection {
			h := e.order.AppendUint32(nil, method)
			if e.wide {
				h = e.order.AppendUint32(h, 0)
			}
			h = e.word(e.word(h, size), 1)
			return elfSection{name: ".debug_x", typ: elf.SHT_PROGBITS, flags: elf.SHF_COMPRESSED, data: append(h, packed...)}
		}
		zdebug := func(size uint64, packed []byte) elfSection {
			h := binary.BigEndian.AppendUint64([]byte("ZLIB"), size)
			return elfSection{name: ".zdebug_x", typ: elf.SHT_PROGBITS, data: append(h, packed...)}
		}
		size := uint64(len(data))
		z, zs := compress(t, chZlib, data), compress(t, chZstd, data)
		for _, c := range []struct {
			name    string
			section elfSection
			class   error
		}{
			{"plain", elfSection{name: ".debug_x", typ: elf.SHT_PROGBITS, data: data}, nil},
			{"zlib", section(chZlib, size, z), nil},
			{"zstd", section(chZstd, size, zs), nil},
			{"zdebug", zdebug(size, z), nil},
			{"too small", section(chZlib, size-1, z), profile.ErrCorrupt},
			{"too large", section(chZlib, size+1, z), profile.ErrCorrupt},
			{"zstd too small", section(chZstd, size-1, zs), profile.ErrCorrupt},
			{"zdebug too large", zdebug(size+1, z), profile.ErrCorrupt},
			{"absurd", section(chZlib, 1<<31, z), profile.ErrCorrupt},
			{"more than deflate can", section(chZstd, uint64(len(zs))*1033, zs), profile.ErrCorrupt},
			{"cut", section(chZlib, size, z[:len(z)-9]), profile.ErrCorrupt},
			{"zstd cut", section(chZstd, size, zs[:len(zs)-9]), profile.ErrCorrupt},
			{"nothing", section(chZlib, size, nil), profile.ErrCorrupt},
			{"unknown method", section(9, size, z), profile.ErrUnsupported},
		} {
			e.sections = []elfSection{c.section}
			im, err := Parse("x", e.build(), "")
			if err != nil {
				t.Fatalf("%s, %s: %v", name, c.name, err)
			}
			got, err := im.Data(im.Section(c.section.name))
			fe := (*profile.FormatError)(nil)
			switch {
			case c.class == nil && (err != nil || !bytes.Equal(got, data)):
				t.Errorf("%s, %s: %d bytes, %v", name, c.name, len(got), err)
			case c.class != nil && (!errors.Is(err, c.class) || !errors.As(err, &fe) || fe.Section != c.section.name || fe.Offset < 0):
				t.Errorf("%s, %s: error %v, want %v", name, c.name, err, c.class)
			}
		}
	})
}

// TestSegments: program headers are read, and what is wrong with them is told with its place.
func TestSegments(t *testing.T) {
	const at, entry, number = 0x20, 0x36, 0x38 // e_phoff, e_phentsize, e_phnum of ELFCLASS64
	le := binary.LittleEndian
	e := &elfBuild{wide: true, order: le, machine: elf.EM_X86_64}
	whole := e.build()
	id := "\x04\x00\x00\x00\x04\x00\x00\x00\x03\x00\x00\x00GNU\x00abcd"
	notes := len(whole)
	whole = append(whole, id...)
	le.PutUint64(whole[at:], uint64(len(whole)))
	le.PutUint16(whole[entry:], 56+8) // with something that nobody knows
	le.PutUint16(whole[number:], 2)
	for _, s := range []struct {
		kind, flags uint32
		words       [6]uint64
	}{
		{uint32(elf.PT_LOAD), uint32(elf.PF_X), [6]uint64{0x40, 0x1000, 9, 0x20, 0x30, 0x4000}},
		{uint32(elf.PT_NOTE), 0, [6]uint64{uint64(notes), 0, 0, uint64(len(id)), uint64(len(id)), 4}},
	} {
		whole = le.AppendUint32(le.AppendUint32(whole, s.kind), s.flags)
		for _, w := range s.words {
			whole = le.AppendUint64(whole, w)
		}
		whole = append(whole, "unknown."...)
	}
	im, err := Parse("x", whole, "")
	if err != nil {
		t.Fatal(err)
	}
	want := []Segment{{Addr: 0x1000, Offset: 0x40, FileSize: 0x20, MemSize: 0x30, Align: 0x4000, Executable: true}}
	if !slices.Equal(im.Segments, want) || string(im.BuildID) != "abcd" {
		t.Errorf("segments %+v, build id %q", im.Segments, im.BuildID)
	}
	for _, tc := range []struct {
		what    string
		at      int
		value   uint16
		class   error
		section string
		field   string
		found   string
	}{
		{"small headers", entry, 55, profile.ErrCorrupt, "ELF header", "size of a segment header", "55"},
		{"too many", number, 3, profile.ErrTruncated, "segment table", "place in the file", "192 bytes at 0x"},
		{"more than bytes", number, 0xffff, profile.ErrTruncated, "ELF header", "number of segments", "65535"},
		{"elsewhere", at + 4, 1, profile.ErrTruncated, "segment table", "place in the file", "128 bytes at 0x1"},
	} {
		data := bytes.Clone(whole)
		le.PutUint16(data[tc.at:], tc.value)
		_, err := Parse("x", data, "")
		var fe *profile.FormatError
		if !errors.As(err, &fe) || profile.ClassOf(fe) != tc.class || fe.File != "x" || fe.Section != tc.section || fe.Field != tc.field ||
			!strings.HasPrefix(fe.Got, tc.found) || fe.Want == "" {
			t.Errorf("%s: %+v", tc.what, err)
		}
	}
}

// TestSectionNames: one section alone needs no names; a name elsewhere than in
// the table is none, and the table ends the last one.
func TestSectionNames(t *testing.T) {
	le := binary.LittleEndian
	e := &elfBuild{wide: true, order: le, machine: elf.EM_X86_64}
	e.sections = []elfSection{{name: ".text", typ: elf.SHT_PROGBITS}}
	whole := e.build()
	table := int(le.Uint64(whole[0x28:]))
	const number, names = 0x3c, 0x3e // e_shnum, e_shstrndx

	one := bytes.Clone(whole)
	le.PutUint16(one[number:], 1)
	le.PutUint16(one[names:], 0)
	if im, err := Parse("x", one, ""); err != nil || len(im.Sections) != 1 || im.Sections[0].Name != "" {
		t.Errorf("one section: %+v, %v", im, err)
	}
	last := bytes.Clone(whole)
	le.PutUint32(last[table+64:], 1<<20)
	le.PutUint64(last[table+2*64+32:], 10) // cuts ".shstrtab" after two letters
	im, err := Parse("x", last, "")
	if err != nil || im.Sections[1].Name != "" || im.Sections[2].Name != ".s" {
		t.Errorf("names of %+v, %v", im, err)
	}
}

func TestBuildIDNotes(t *testing.T) {
	e := &elfBuild{wide: true, order: binary.LittleEndian, machine: elf.EM_X86_64}
	note := func(kind uint32, name, desc string) []byte {
		b := e.order.AppendUint32(nil, uint32(len(name)))
		b = e.order.AppendUint32(b, uint32(len(desc)))
		b = e.order.AppendUint32(b, kind)
		for _, s := range []string{name, desc} {
			b = append(b, s...)
			for len(b)%4 != 0 {
				b = append(b, 0)
			}
		}
		return b
	}
	other := note(1, "GNU\x00", "abi")
	id := note(3, "GNU\x00", "\x01\x02\x03\x04\x05")
	for _, c := range []struct {
		name  string
		notes []byte
		want  string
	}{
		{"alone", id, "0102030405"},
		{"second", slices.Concat(other, id), "0102030405"},
		{"without padding", id[:len(id)-3], "0102030405"},
		{"of another owner", note(3, "GO\x00\x00", "x"), ""},
		{"cut", id[:len(id)-4], ""},
		{"header cut", id[:7], ""},
		{"empty", note(3, "GNU\x00", ""), ""},
		{"absurd", []byte("\xff\xff\xff\xff\xff\xff\xff\xff\x03\x00\x00\x00GNU\x00"), ""},
	} {
		e.sections = []elfSection{{name: ".note", typ: elf.SHT_NOTE, data: c.notes}}
		im, err := Parse("x", e.build(), "")
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", im.BuildID); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestDebugLink(t *testing.T) {
	e := &elfBuild{wide: true, order: binary.BigEndian, machine: elf.EM_S390}
	for link, want := range map[string]string{
		"a.debug\x00\x01\x02\x03\x04":      "a.debug 1020304",
		"ab\x00\x00\x01\x02\x03\x04":       "ab 1020304",
		"abc\x00\x01\x02\x03":              " 0",
		"\x00\x00\x00\x00\x01\x02\x03\x04": " 0",
		"endless":                          " 0",
		"":                                 " 0",
	} {
		e.sections = []elfSection{{name: ".gnu_debuglink", typ: elf.SHT_PROGBITS, data: []byte(link)}}
		im, err := Parse("x", e.build(), "")
		if err != nil {
			t.Fatal(err)
		}
		name, crc, ok := im.DebugLink()
		if got := fmt.Sprintf("%s %x", name, crc); got != want || ok != (name != "") {
			t.Errorf("%q: %q, %t; want %q", link, got, ok, want)
		}
	}
}

// TestMembers: archives in the forms of GNU and BSD, and those that are damaged.
func TestMembers(t *testing.T) {
	member := func(name, data string) string {
		return fmt.Sprintf("%-16s%-12d%-6d%-6d%-8o%-10d`\n%s%s", name, 0, 0, 0, 0o644, len(data), data, strings.Repeat("\n", len(data)%2))
	}
	long := member("//", "a-very-long-name.o/\nother.o/\n")
	for _, c := range []struct{ archive, want string }{
		{"!<arch>\n", ""},
		{"!<arch>\n" + member("/", "index") + member("a.o/", "one") + member("b.o/", "two2"), "a.o=one b.o=two2 "},
		{"!<arch>\n" + member("/SYM64/", "index") + long + member("/0", "one") + member("/20", "two"), "a-very-long-name.o=one other.o=two "},
		{"!<arch>\n" + member("__.SYMDEF", "index") + member("#1/8", "a b.o\x00\x00\x00one") + member("#1/20", "__.SYMDEF SORTED\x00\x00\x00\x00index"), "a b.o=one "},
		{"!<arch>\n" + member("#1/80", "a.o"), `name of a member is "#1/80", want a length of at most 3`},
		{"!<arch>\n" + member("#1/x", "a.o"), `name of a member is "#1/x"`},
		{"!<arch>\n" + long + member("/99", "one"), `name of a member is "/99", want an offset in the 29 bytes of names`},
		{"!<arch>\n" + strings.Replace(member("a.o/", "one"), "`\n", "..", 1), `end of the header of a member is "..", want "` + "`\\n" + `"`},
		{"!<arch>\n" + member("a.o/", "one")[:50], "header of a member is 50 bytes, want 60 bytes"},
		{"!<arch>\n" + member("a.o/", "one")[:62], `size of a member is "3", want at most the 2 bytes left`},
		{"!<thin>\n" + member("no-such-file.o/", "one"), "no such file"},
		{"!<thin>\n" + member("./", "one"), "member of the thin archive is "},
	} {
		got := ""
		err := Members(t.TempDir()+"/lib.a", []byte(c.archive), func(name string, data []byte) error {
			got += name + "=" + string(data) + " "
			return nil
		})
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != c.want || err != nil && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%q: %q, want %q", c.archive, got, c.want)
		}
	}
	stop := errors.New("stop")
	if err := Members("", []byte("!<arch>\n"+member("a.o/", "one")), func(string, []byte) error { return stop }); err != stop {
		t.Errorf("error %v", err)
	}
}

// TestCOFF: what the headers of images and objects say.
func TestCOFF(t *testing.T) {
	le := binary.LittleEndian
	header := func(machine uint16, sections, optional, characteristics uint16) []byte {
		b := le.AppendUint16(nil, machine)
		b = append(le.AppendUint16(b, sections), make([]byte, 12)...)
		return le.AppendUint16(le.AppendUint16(b, optional), characteristics)
	}
	section := func(name string, virtual, addr, size, offset, flags uint32) []byte {
		b := append([]byte(name), make([]byte, 8-len(name))...)
		for _, v := range []uint32{virtual, addr, size, offset, 0, 0, 0, flags} {
			b = le.AppendUint32(b, v)
		}
		return b
	}
	image := func(magic string, rest ...[]byte) []byte {
		dos := append([]byte("MZ"), make([]byte, 0x3e)...)
		le.PutUint32(dos[0x3c:], 0x48)
		return append(append(append(dos, make([]byte, 8)...), magic...), bytes.Join(rest, nil)...)
	}
	optional := make([]byte, 32)
	le.PutUint16(optional, coffLargeAddress)
	le.PutUint64(optional[24:], 0x140000000)
	small := make([]byte, 32)
	le.PutUint32(small[28:], 0x400000)
	text, bss := section(".text", 0x10, 0x1000, 0x200, 0x40, 0x60000020), section(".bss", 0x300, 0x2000, 0x200, 0x40, 0x80)
	debug := section(".debug", 8, 0x3000, 8, 0x40, 0x02000000)
	big := append([]byte{0, 0, 0xff, 0xff, 2, 0, 0x64, 0x86}, make([]byte, 36+12)...)
	le.PutUint32(big[44:], 1)
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"program", image("PE\x00\x00", header(0x8664, 3, 32, 2), optional, text, bss, debug), "x86_64 8 program .text@0x140001000+16/16 .bss@0x140002000+768/0 .debug@0x140003000+8/8 not loaded"},
		{"library", image("PE\x00\x00", header(0x14c, 1, 32, 0x2002), small, text), "i386 4 library .text@0x401000+16/16"},
		{"unknown machine", image("PE\x00\x00", header(0x1f2, 0, 0, 2)), "machine1f2 4 program"},
		{"object", append(append(header(0xaa64, 1, 0, 0), text...), make([]byte, 0x204)...), "arm64 8 object .text@0x0+512/512 not loaded"},
		{"large object", append(append(big, text...), make([]byte, 0x204)...), "x86_64 8 object .text@0x0+512/512 not loaded"},
		{"no PE header", image("NE\x00\x00", header(0x8664, 0, 0, 0)), `magic is "NE\x00\x00", want "PE\x00\x00"`},
		{"sections cut off", image("PE\x00\x00", header(0x8664, 2, 32, 2), optional, text), "number of sections"},
		{"contents cut off", append(header(0x8664, 1, 0, 0), text...), "size of .text is 512 bytes at 0x40"},
	} {
		im, err := Parse("", c.data, "")
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
			continue
		}
		got := fmt.Sprint(im.Arch, " ", im.PtrSize, " ", map[Kind]string{Executable: "program", Shared: "library", Object: "object"}[im.Kind])
		for _, s := range im.Sections {
			got += fmt.Sprintf(" %s@%#x+%d/%d", s.Name, s.Addr, s.Size, s.FileSize)
			if !s.Loaded {
				got += " not loaded"
			}
		}
		if got != c.want || im.Format != COFF {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

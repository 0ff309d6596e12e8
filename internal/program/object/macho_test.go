package object

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// A machOBuild makes Mach-O files of load commands.
type machOBuild struct {
	wide     bool
	order    binary.AppendByteOrder
	cpu, sub uint32
	kind     uint32
	flags    uint32
	commands [][]byte // with their kind and size
	rest     []byte   // what follows the commands
}

func (m *machOBuild) word(b []byte, v uint64) []byte {
	if m.wide {
		return m.order.AppendUint64(b, v)
	}
	return m.order.AppendUint32(b, uint32(v))
}

// command returns a load command.
func (m *machOBuild) command(kind uint32, body []byte) []byte {
	b := m.order.AppendUint32(m.order.AppendUint32(nil, kind), uint32(8+len(body)))
	return append(b, body...)
}

type machOSection struct {
	segment, name string
	addr, size    uint64
	offset, flags uint32
}

// segment returns LC_SEGMENT or LC_SEGMENT_64.
func (m *machOBuild) segment(name string, addr, size, protection uint64, sections ...machOSection) []byte {
	fixed := func(b []byte, s string) []byte { return append(append(b, s...), make([]byte, 16-len(s))...) }
	u32 := func(b []byte, all ...uint32) []byte {
		for _, v := range all {
			b = m.order.AppendUint32(b, v)
		}
		return b
	}
	b := fixed(nil, name)
	for _, v := range []uint64{addr, size, 0, size} {
		b = m.word(b, v)
	}
	b = u32(b, 7, uint32(protection), uint32(len(sections)), 0)
	for _, s := range sections {
		b = fixed(fixed(b, s.name), s.segment)
		b = m.word(m.word(b, s.addr), s.size)
		b = u32(b, s.offset, 0, 0, 0, s.flags, 0, 0)
		if m.wide {
			b = u32(b, 0)
		}
	}
	if m.wide {
		return m.command(cmdSegment64, b)
	}
	return m.command(cmdSegment, b)
}

func (m *machOBuild) headerSize() int {
	if m.wide {
		return 32
	}
	return 28
}

func (m *machOBuild) build() []byte {
	commands := bytes.Join(m.commands, nil)
	b := m.order.AppendUint32(nil, magic32)
	if m.wide {
		b = m.order.AppendUint32(nil, magic64)
	}
	for _, v := range []uint32{m.cpu, m.sub, m.kind, uint32(len(m.commands)), uint32(len(commands)), m.flags} {
		b = m.order.AppendUint32(b, v)
	}
	if m.wide {
		b = m.order.AppendUint32(b, 0)
	}
	return append(append(b, commands...), m.rest...)
}

// everyMachO calls fn with a library of one segment, two sections and two
// symbols, for each word size and byte order.
func everyMachO(fn func(name string, m *machOBuild)) {
	for _, wide := range []bool{false, true} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			m := &machOBuild{wide: wide, order: order, cpu: 7, sub: 3, kind: typeDylib}
			if wide {
				m.cpu = 0x01000007
			}
			m.commands = [][]byte{
				m.segment("__TEXT", 0x1000, 0x100, protExecute,
					machOSection{"__TEXT", "__text", 0x1000, 4, 0, 0}, machOSection{"__TEXT", "__zeros", 0x1010, 0x20, 0, zeroFill}),
				m.command(cmdUUID, []byte("0123456789abcdef")),
				make([]byte, 24), // the symbol table, when it is known where it is
			}
			at := m.headerSize() + len(bytes.Join(m.commands, nil))
			names := "\x00_low\x00high\x00_undefined\x00"
			symbol := func(b []byte, name uint32, kind, section byte, value uint64) []byte {
				b = append(m.order.AppendUint32(b, name), kind, section, 0, 0)
				return m.word(b, value)
			}
			table := symbol(nil, 1, nSection, 1, 0x1000)
			table = symbol(table, 6, nSection, 1, 0x1002)
			table = symbol(table, 11, 0, 0, 0)       // undefined
			table = symbol(table, 1, 0x24, 1, 0x999) // debug information
			place := m.order.AppendUint32(nil, uint32(at))
			for _, v := range []int{4, at + len(table), len(names)} {
				place = m.order.AppendUint32(place, uint32(v))
			}
			m.commands[2] = m.command(cmdSymtab, place)
			m.rest = append(table, names...)
			name := "big-endian"
			if order.String() == binary.LittleEndian.String() {
				name = "little-endian"
			}
			fn(name, m)
		}
	}
}

func TestMachO(t *testing.T) {
	everyMachO(func(name string, m *machOBuild) {
		im := oracle.Must(Parse(name, m.build(), ""))(t)
		arch := "i386"
		if m.wide {
			arch = "x86_64"
		}
		if im.Format != MachO || im.Arch != arch || !im.Movable || im.Kind != Shared || string(im.BuildID) != "0123456789abcdef" || len(im.Sections) != 2 {
			t.Errorf("%s: %+v", name, im)
		}
		if s := im.Segments[0]; s.Name != "__TEXT" || s.Addr != 0x1000 || s.MemSize != 0x100 || !s.Executable {
			t.Errorf("%s: segment %+v", name, s)
		}
		if s := im.Section("__TEXT,__zeros"); s == nil || s.FileSize != 0 || s.Size != 0x20 || im.Section("__DATA,__zeros") != nil {
			t.Errorf("%s: section %+v", name, s)
		}
		symbols := oracle.Must(im.Symbols())(t)
		// The underscore that all names have is taken off; sizes reach to the
		// next symbol, or to the end of the section.
		want := []Symbol{{"low", 0x1000, 2, ""}, {"high", 0x1002, 2, ""}}
		if symbols.Len() != 2 || symbols.Symbol(0) != want[0] || symbols.Symbol(1) != want[1] {
			t.Errorf("%s: %d symbols, %+v, %+v", name, symbols.Len(), symbols.Symbol(0), symbols.Symbol(1))
		}
		m.kind = typeObject
		if im, err := Parse(name, m.build(), arch); err != nil || im.Kind != Object {
			t.Errorf("%s: an object: %+v, %v", name, im, err)
		}
	})
}

// TestMachODamaged: what is wrong is told with its place.
func TestMachODamaged(t *testing.T) {
	everyMachO(func(name string, m *machOBuild) {
		whole := m.build()
		commands := int64(m.headerSize())
		for _, tc := range []struct {
			what    string
			damage  func() []byte
			class   error
			section string
			field   string
			offset  int64
			record  int
		}{
			{"header cut", func() []byte { return whole[:20] }, profile.ErrTruncated, "Mach-O header", "size of the load commands", 20, -1},
			{"commands cut", func() []byte { return whole[:commands+10] }, profile.ErrTruncated, "Mach-O header", "length of the load commands", commands, -1},
			{"small command", func() []byte {
				m.commands[0] = m.order.AppendUint32(m.order.AppendUint32(nil, 1), 7)
				return m.build()
			}, profile.ErrCorrupt, "load commands", "size of the load command", commands, 0},
			{"command beyond", func() []byte {
				m.commands[0] = m.order.AppendUint32(m.order.AppendUint32(nil, 1), 1<<20)
				return m.build()
			}, profile.ErrTruncated, "load commands", "length of the load command", commands + 8, 0},
			{"short uuid", func() []byte {
				m.commands[0] = m.command(cmdUUID, []byte("short"))
				return m.build()
			}, profile.ErrTruncated, "load commands", "length of the UUID", commands + 8, 0},
			{"sections beyond", func() []byte {
				b := m.segment("__TEXT", 0, 0, 0)
				b[len(b)-8], b[len(b)-5] = 9, 9
				m.commands[0] = b
				return m.build()
			}, profile.ErrTruncated, "load commands", "number of sections", commands + int64(len(m.segment("", 0, 0, 0))) - 4, 0},
			{"address space", func() []byte {
				m.commands[0] = m.segment("__TEXT", 1<<64-8, 1<<32-1, 0)
				return m.build()
			}, profile.ErrCorrupt, "load commands", "size in memory", commands + int64(len(m.segment("", 0, 0, 0))), 0},
		} {
			if tc.what == "address space" && !m.wide {
				continue // 32-bit addresses fit
			}
			was := append([][]byte(nil), m.commands...)
			_, err := Parse("x", tc.damage(), "")
			m.commands = was
			var fe *profile.FormatError
			if !errors.As(err, &fe) || profile.ClassOf(fe) != tc.class || fe.File != "x" || fe.Section != tc.section || fe.Field != tc.field || fe.Offset != tc.offset || fe.Record != tc.record {
				t.Errorf("%s, wide %t, %s: %+v", name, m.wide, tc.what, err)
			}
		}
		// A symbol table beyond the file is found when it is asked for.
		m.rest = m.rest[:8]
		im := oracle.Must(Parse("x", m.build(), ""))(t)
		var fe *profile.FormatError
		if _, err := im.Symbols(); !errors.As(err, &fe) || profile.ClassOf(fe) != profile.ErrTruncated || fe.Section != "symbol table" || fe.File != "x" || fe.Want == "" {
			t.Errorf("%s: symbols %v", name, err)
		}
	})
}

// fat joins files into a universal one.
func fat(wide bool, files ...[]byte) []byte {
	o := binary.BigEndian
	entry, magic := 20, uint32(magicFat)
	if wide {
		entry, magic = 32, magicF64
	}
	b := o.AppendUint32(o.AppendUint32(nil, magic), uint32(len(files)))
	at := 8 + entry*len(files)
	for _, f := range files {
		b = append(b, 0, 0, 0, 0, 0, 0, 0, 0) // cputype and subtype, of no architecture
		if len(f) > 12 {
			cpu, sub := binary.LittleEndian.Uint32(f[4:]), binary.LittleEndian.Uint32(f[8:])
			o.PutUint32(b[len(b)-8:], cpu)
			o.PutUint32(b[len(b)-4:], sub)
		}
		if wide {
			b = o.AppendUint64(o.AppendUint64(b, uint64(at)), uint64(len(f)))
			b = append(b, make([]byte, 8)...)
		} else {
			b = o.AppendUint32(o.AppendUint32(b, uint32(at)), uint32(len(f)))
			b = append(b, make([]byte, 4)...)
		}
		at += len(f)
	}
	return append(b, bytes.Join(files, nil)...)
}

func TestFat(t *testing.T) {
	var files [][]byte
	everyMachO(func(name string, m *machOBuild) {
		if name == "little-endian" {
			files = append(files, m.build())
		}
	})
	for _, wide := range []bool{false, true} {
		both := fat(wide, files...)
		for i, arch := range []string{"i386", "x86_64"} {
			im := oracle.Must(Parse("x", both, arch))(t)
			if want := int64(bytes.Index(both, files[i])); im.Arch != arch || im.FileOffset(&im.Sections[0]) != want {
				t.Errorf("%s at %#x, want %#x", im.Arch, im.FileOffset(&im.Sections[0]), want)
			}
		}
		if im, err := Parse("x", fat(wide, files[1]), ""); err != nil || im.Arch != "x86_64" {
			t.Errorf("the only one: %+v, %v", im, err)
		}
		at := int64(bytes.Index(both, files[1]))
		for _, tc := range []struct {
			what, arch string
			data       []byte
			class      error
			field      string
			found      string
			offset     int64
		}{
			{"none chosen", "", both, profile.ErrMismatch, "architecture", "not chosen", -1},
			{"another", "arm64", both, profile.ErrMismatch, "architecture", "arm64", -1},
			{"header cut", "i386", both[:14], profile.ErrTruncated, "number of architectures", "2", 8},
			{"no Mach-O file", "", fat(wide, []byte("text, and more of it")), profile.ErrUnsupported, "magic", "0x74657874", -2},
			{"slice cut", "x86_64", both[:at+2], profile.ErrTruncated, "place in the file", "", -1},
			{"slice damaged", "x86_64", fat(wide, files[0], files[1][:40]), profile.ErrTruncated, "length of the load commands", "", at + 32},
		} {
			_, err := Parse("x", tc.data, tc.arch)
			var fe *profile.FormatError
			if !errors.As(err, &fe) || profile.ClassOf(fe) != tc.class || fe.File != "x" || fe.Field != tc.field ||
				tc.found != "" && fe.Got != tc.found || tc.offset != -2 && fe.Offset != tc.offset {
				t.Errorf("wide %t, %s: %+v", wide, tc.what, err)
			}
		}
	}
}

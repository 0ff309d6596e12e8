//go:build amd64 || arm64

package command

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/flate"

	"github.com/profuse-pgo/profuse/formats/irpgo"
)

// The fixtures that bombs of programs and tables are made from; see oracle.Root.
const (
	bombProgram = "memprof/raw/clang22-pie.debug"
	bombHeap    = "memprof/raw/clang22-pie.memprofraw"
	bombMapped  = "covmap/shapes-22.o"
	bombIndexed = "irpgo/llvm14/merged.profdata" // version 7: header, summary, table
	bombMIP     = "mip/all.mip"
	bombMipmap  = "mip/all.mipmap"
	bombMipraw  = "mip/all-1.mipraw"
)

// Command lines that read what is beside a profile. BOMB stands for the bomb, OUT for an
// output; words with a slash are fixtures.
var (
	debugCommands = []string{
		"merge -o OUT --program BOMB " + bombHeap, "export --to folded --lines -o OUT --program BOMB " + bombHeap,
		"show --by all --program BOMB " + bombHeap, "order eval --trace " + bombMIP + " BOMB",
	}
	coverageCommands = []string{
		"coverage --program BOMB covmap/shapes-22.proftext", "report -o OUT --program BOMB covmap/shapes-22.proftext",
		"export --to lcov -o OUT --program BOMB covmap/shapes-22.proftext",
	}
	classCommands = []string{
		"check --classes BOMB iprof/app.iprof", "export --to callgrind -o OUT --classes BOMB iprof/app.iprof",
		"coverage --classes BOMB iprof/app.iprof",
	}
	mipCommands    = []string{"show BOMB", "check BOMB", "top BOMB", "report -o OUT BOMB", "merge -o OUT.mip BOMB"}
	mipmapCommands = []string{"show BOMB", "check BOMB", "merge -o OUT.mip BOMB " + bombMipraw, "mip create -o OUT.mip BOMB"}
)

// fixture returns the bytes of a file of testdata. The working folder is that of the test.
func fixture(name string) []byte {
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", filepath.FromSlash(name)))
	if err != nil {
		panic(err)
	}
	return data
}

func programBombs() []bomb {
	const nothing = "\x00"
	// Abbreviations: 1 unit, 2 function without attributes, 3 block with children, 4 function
	// with addresses and a name, 5 function with a list of ranges, 6 inlined function.
	abbrevs := []byte("\x01\x11\x01\x11\x01\x12\x07\x10\x17\x00\x00" +
		"\x02\x2e\x00\x00\x00" + "\x03\x0b\x01\x00\x00" + "\x04\x2e\x00\x11\x01\x12\x0b\x03\x08\x00\x00" +
		"\x05\x2e\x00\x55\x17\x03\x08\x00\x00" + "\x06\x1d\x01\x31\x13\x11\x01\x12\x07\x00\x00\x00")
	// code is where the program has its text.
	const code, codeSize = 0x282e0, 0x6285e
	unit := func(dies []byte) []byte {
		b := binary.LittleEndian.AppendUint32(nil, uint32(7+1+20+len(dies)))
		b = append(b, 4, 0, 0, 0, 0, 0, 8, 1)
		b = binary.LittleEndian.AppendUint64(b, code)
		b = binary.LittleEndian.AppendUint64(b, codeSize)
		return append(append(b, 0, 0, 0, 0), dies...)
	}
	repeat := func(size int, each func(i int) []byte) []byte {
		b := make([]byte, 0, size+64)
		for i := 0; len(b) < size; i++ {
			b = append(b, each(i)...)
		}
		return b
	}
	same := func(size int, piece string) []byte { return bytes.Repeat([]byte(piece), size/len(piece)) }
	le := binary.LittleEndian
	program := func(sections map[string][]byte) []byte { return elfWith(fixture(bombProgram), sections, nil) }
	dwarf := func(info []byte) []byte {
		return program(map[string][]byte{".debug_info": info, ".debug_abbrev": abbrevs, ".debug_line": lineTable(nil)})
	}
	// packed has the section of so many bytes compressed as much as readers allow.
	packed := func(name string, contents []byte, rest map[string][]byte) []byte {
		return elfWith(fixture(bombProgram), rest, map[string][]byte{name: compressedSection(contents, 24)})
	}
	functions := func(size int) []byte {
		return repeat(size, func(i int) []byte {
			return fmt.Appendf(le.AppendUint64([]byte{4}, uint64(code+i%codeSize)), "\x08f%x\x00", i)
		})
	}
	inflated := func(b bomb) bomb {
		b.inflates = true
		return b
	}
	dwarfBomb := func(name string, contents func() []byte) bomb {
		return bomb{name: name, contents: contents, commands: debugCommands}
	}
	all := []bomb{
		dwarfBomb("dwarf units", func() []byte { return dwarf(repeat(7<<20, func(int) []byte { return unit([]byte(nothing)) })) }),
		dwarfBomb("dwarf empty functions", func() []byte { return dwarf(unit(same(7<<20, "\x02"))) }),
		dwarfBomb("dwarf nested blocks", func() []byte { return dwarf(unit(same(7<<20, "\x03"))) }),
		dwarfBomb("dwarf functions", func() []byte { return dwarf(unit(functions(7 << 20))) }),
		dwarfBomb("dwarf inlined functions", func() []byte {
			return dwarf(unit(append([]byte("\x04\xe0\x82\x02\x00\x00\x00\x00\x00\xfff\x00"), repeat(7<<20, func(i int) []byte {
				return le.AppendUint64(le.AppendUint64([]byte{6, 28, 0, 0, 0}, code), codeSize)
			})...)))
		}),
		dwarfBomb("dwarf shared ranges", func() []byte {
			ranges := append(repeat(3<<20, func(i int) []byte {
				return le.AppendUint64(le.AppendUint64(nil, uint64(2*i)), uint64(2*i+1))
			}), make([]byte, 16)...)
			return elfRenamed(program(map[string][]byte{
				".debug_info":     unit(repeat(3<<20, func(int) []byte { return []byte("\x05\x00\x00\x00\x00f\x00") })),
				".debug_abbrev":   abbrevs,
				".debug_rnglists": ranges, ".debug_line": lineTable(nil),
			}), ".debug_rnglists", ".debug_ranges\x00\x00")
		}),
		dwarfBomb("dwarf rows", func() []byte {
			return program(map[string][]byte{".debug_line": lineTable(same(7<<20, "\x83")), ".debug_info": unit(functions(1000)), ".debug_abbrev": abbrevs})
		}),
		dwarfBomb("dwarf rows shared by units", func() []byte {
			return program(map[string][]byte{
				".debug_line": lineTable(same(3<<20, "\x83")), ".debug_abbrev": abbrevs,
				".debug_info": repeat(3<<20, func(int) []byte { return unit([]byte(nothing)) }),
			})
		}),
		dwarfBomb("dwarf abbreviations", func() []byte {
			return program(map[string][]byte{
				".debug_abbrev": append(bytes.TrimSuffix(abbrevs, []byte(nothing)), repeat(3<<20, func(i int) []byte {
					return append(binary.AppendUvarint(nil, uint64(i+7)), 0x2e, 0, 0, 0)
				})...),
				".debug_info": repeat(3<<20, func(int) []byte { return unit([]byte(nothing)) }), ".debug_line": lineTable(nil),
			})
		}),
		inflated(dwarfBomb("dwarf compressed rows", func() []byte {
			return packed(".debug_line", lineTable(same(340<<20, "\x83")), map[string][]byte{".debug_info": unit(functions(1000)), ".debug_abbrev": abbrevs})
		})),
		inflated(dwarfBomb("dwarf compressed functions", func() []byte {
			return packed(".debug_info", unit(same(340<<20, "\x04\xe0\x82\x02\x00\x00\x00\x00\x00\x08f\x00")),
				map[string][]byte{".debug_abbrev": abbrevs, ".debug_line": lineTable(nil)})
		})),
		inflated(dwarfBomb("dwarf compressed blocks", func() []byte {
			return packed(".debug_info", unit(same(340<<20, "\x03")), map[string][]byte{".debug_abbrev": abbrevs, ".debug_line": lineTable(nil)})
		})),
		dwarfBomb("symbols of one name", func() []byte {
			symbols := repeat(4<<20, func(i int) []byte {
				s := le.AppendUint32(nil, uint32(i))
				s = append(s, 2, 0, 15, 0) // a function, in .text
				return le.AppendUint64(le.AppendUint64(s, uint64(code+i%codeSize)), 4)
			})
			return elfSymbols(program(map[string][]byte{
				".comment": symbols, ".debug_str": append(same(3<<20, "a"), 0), ".debug_info": nil,
			}))
		}),
		{name: "sections", commands: debugCommands, contents: func() []byte { return manySections(65000) }},
	}
	mapped := func(name string, contents func() []byte) bomb {
		return bomb{name: name, contents: contents, commands: coverageCommands}
	}
	all = append(all,
		mapped("mapping headers", func() []byte {
			return elfWith(fixture(bombMapped), map[string][]byte{"__llvm_covmap": same(7<<20, "\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00\x01\x00\x01a\x00\x00\x00\x00")}, nil)
		}),
		inflated(mapped("mapping headers compressed", func() []byte {
			return elfWith(fixture(bombMapped), nil, map[string][]byte{
				"__llvm_covmap": compressedSection(same(300<<20, "\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00\x01\x00\x01a\x00\x00\x00\x00"), 24),
			})
		})),
		mapped("mapped functions", func() []byte {
			return elfWith(fixture(bombMapped), map[string][]byte{"__llvm_covfun": mappedFunctions(7<<20, 0)}, nil)
		}),
		mapped("mapped regions", func() []byte {
			return elfWith(fixture(bombMapped), map[string][]byte{"__llvm_covfun": mappedFunctions(7<<20, 2<<20)}, nil)
		}),
		inflated(mapped("mapped regions compressed", func() []byte {
			return elfWith(fixture(bombMapped), nil, map[string][]byte{"__llvm_covfun": compressedSection(mappedFunctions(300<<20, 2<<20), 24)})
		})),
	)
	class := func(name string, contents func() []byte) bomb {
		return bomb{name: name, contents: contents, commands: classCommands}
	}
	return append(all,
		class("jar of zeros", func() []byte {
			z := zeros(256 << 20)
			return jar(10, false, func(int) []byte { return z })
		}),
		class("jar of classes", func() []byte { return jar(45_000, false, func(i int) []byte { return classOf(i, 1) }) }),
		class("jar of methods", func() []byte { return jar(1900, false, func(i int) []byte { return classOf(i, 65_000) }) }),
		class("jar of overlapping classes", func() []byte { return jar(130_000, true, func(i int) []byte { return classOf(i, 65_000) }) }),
		class("jar of jars", func() []byte {
			inner := jar(200, false, func(i int) []byte { return classOf(i, 65_000) })
			return jarOf(800, false, "BOOT-INF/lib/%d.jar", func(int) []byte { return inner })
		}),
	)
}

// elfWith returns an ELF file of 64 bits with other contents of some sections; those in
// packed are marked as compressed.
func elfWith(file []byte, plain, packed map[string][]byte) []byte {
	file = bytes.Clone(file)
	f, err := elf.NewFile(bytes.NewReader(file))
	if err != nil {
		panic(err)
	}
	le := binary.LittleEndian
	headers := le.Uint64(file[0x28:])
	done := make(map[string]bool)
	for i, s := range f.Sections {
		contents, ok := plain[s.Name]
		if p := packed[s.Name]; p != nil {
			contents, ok = p, true
		}
		if !ok || done[s.Name] {
			continue
		}
		done[s.Name] = true
		h := file[headers+64*uint64(i):]
		if packed[s.Name] != nil {
			le.PutUint64(h[8:], le.Uint64(h[8:])|uint64(elf.SHF_COMPRESSED))
		}
		for len(file)%8 != 0 {
			file = append(file, 0)
		}
		h = file[headers+64*uint64(i):]
		le.PutUint64(h[24:], uint64(len(file)))
		le.PutUint64(h[32:], uint64(len(contents)))
		file = append(file, contents...)
	}
	return file
}

// elfRenamed renames a section; the names are of the same length.
func elfRenamed(file []byte, from, to string) []byte {
	return bytes.Replace(file, []byte(from), []byte(to), 1)
}

// elfSymbols makes .comment a symbol table whose names are in .debug_str.
func elfSymbols(file []byte) []byte {
	f, err := elf.NewFile(bytes.NewReader(file))
	if err != nil {
		panic(err)
	}
	le := binary.LittleEndian
	strings := 0
	for i, s := range f.Sections {
		if s.Name == ".debug_str" {
			strings = i
		}
	}
	for i, s := range f.Sections {
		h := file[le.Uint64(file[0x28:])+64*uint64(i):]
		switch s.Name {
		case ".comment":
			le.PutUint32(h[4:], uint32(elf.SHT_SYMTAB))
			le.PutUint64(h[8:], 0)
			le.PutUint32(h[40:], uint32(strings))
			le.PutUint64(h[56:], 24)
		case ".debug_str":
			le.PutUint32(h[4:], uint32(elf.SHT_STRTAB))
			le.PutUint64(h[8:], 0)
		}
	}
	return file
}

// manySections returns an ELF file with n sections, all of which are the whole file.
func manySections(n int) []byte {
	file := fixture(bombProgram)
	le := binary.LittleEndian
	headers, count := le.Uint64(file[0x28:]), le.Uint16(file[0x3c:])
	table := bytes.Clone(file[headers:][:64*int(count)])
	for i := int(count); i < n; i++ {
		h := bytes.Clone(table[64*31:][:64]) // .debug_info
		le.PutUint64(h[24:], 0)
		le.PutUint64(h[32:], uint64(len(file)))
		table = append(table, h...)
	}
	le.PutUint64(file[0x28:], uint64(len(file)))
	le.PutUint16(file[0x3c:], uint16(n))
	return append(file, table...)
}

// compressedSection returns the contents of a section of ELF that inflate to contents, at most ratio times as many.
func compressedSection(contents []byte, ratio int) []byte {
	le := binary.LittleEndian
	b := le.AppendUint64(le.AppendUint32(le.AppendUint32(nil, uint32(elf.COMPRESS_ZSTD)), 0), uint64(len(contents)))
	b = append(le.AppendUint64(b, 1), zstdOf(contents)...)
	// A frame to be skipped.
	pad := max(0, len(contents)/ratio+1024-len(b))
	b = le.AppendUint32(le.AppendUint32(b, 0x184d2a50), uint32(pad))
	return append(b, make([]byte, pad)...)
}

// lineTable returns a line table of version 4 whose program has one sequence.
func lineTable(opcodes []byte) []byte {
	le := binary.LittleEndian
	// min_inst_length, max_ops, default_is_stmt, line_base -5, line_range 14, opcode_base 13,
	// lengths of the standard opcodes, no folder, one file
	header := []byte("\x01\x01\x01\xfb\x0e\x0d\x00\x01\x01\x01\x01\x00\x00\x00\x01\x00\x00\x01" + "\x00" + "a.c\x00\x00\x00\x00" + "\x00")
	program := append([]byte{0, 9, 2}, le.AppendUint64(nil, 0x282e0)...)
	program = append(append(program, opcodes...), 0, 1, 1)
	b := le.AppendUint32(nil, uint32(2+4+len(header)+len(program)))
	b = le.AppendUint32(le.AppendUint16(b, 4), uint32(len(header)))
	return append(append(b, header...), program...)
}

// mappedFunctions returns records of functions of shapes-22.o, each with so many bytes of regions.
func mappedFunctions(size, regions int) []byte {
	f, err := elf.NewFile(bytes.NewReader(fixture(bombMapped)))
	if err != nil {
		panic(err)
	}
	var first []byte // u64 name | u32 length | u64 hash | u64 files | mapping
	for _, s := range f.Sections {
		if s.Name == "__llvm_covfun" {
			if first, err = s.Data(); err != nil {
				panic(err)
			}
			break
		}
	}
	// One file, no expressions, regions of count 1 from column 1 to 2 of the next line.
	n := max(1, regions/5)
	mapping := binary.AppendUvarint([]byte{1, 0, 0}, uint64(n))
	mapping = append(mapping, bytes.Repeat([]byte("\x01\x01\x01\x00\x02"), n)...)
	le := binary.LittleEndian
	b := make([]byte, 0, size+len(mapping)+64)
	for i := 0; len(b) < size; i++ {
		b = le.AppendUint64(b, irpgo.NameRef(fmt.Sprint(i)))
		if i == 0 {
			copy(b, first[:8])
		}
		b = append(le.AppendUint32(b, uint32(len(mapping))), first[12:28]...)
		b = append(b, mapping...)
		for len(b)%8 != 0 {
			b = append(b, 0)
		}
	}
	return b[:size/8*8]
}

// jar returns a jar of n classes; see jarOf.
func jar(n int, overlap bool, class func(i int) []byte) []byte {
	return jarOf(n, overlap, "c%d.class", class)
}

// jarOf returns a zip archive of n files. If they overlap, all are the first one.
func jarOf(n int, overlap bool, name string, contents func(i int) []byte) []byte {
	if !overlap {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		z, _ := flate.NewWriter(nil, bombLevel)
		w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
			z.Reset(out)
			return z, nil
		})
		for i := range n {
			if f, err := w.Create(fmt.Sprintf(name, i)); err != nil {
				panic(err)
			} else if _, err := f.Write(contents(i)); err != nil {
				panic(err)
			}
		}
		if err := w.Close(); err != nil {
			panic(err)
		}
		return b.Bytes()
	}
	le := binary.LittleEndian
	data := contents(0)
	z := chunkOf(data)
	_, a := binary.Uvarint(z)
	_, c := binary.Uvarint(z[a:])
	z = z[a+c:]
	z = z[2 : len(z)-4] // deflate alone
	sum := crc32.ChecksumIEEE(data)
	fields := func(b []byte) []byte {
		b = append(b, 20, 0, 0, 0, 8, 0, 0, 0, 0, 0)
		return le.AppendUint32(le.AppendUint32(le.AppendUint32(b, sum), uint32(len(z))), uint32(len(data)))
	}
	local := fmt.Sprintf(name, 100_000)
	b := append(fields([]byte("PK\x03\x04")), byte(len(local)), 0, 0, 0)
	b = append(append(b, local...), z...)
	start := len(b)
	for i := range n {
		entry := fmt.Sprintf(name, 100_000+i)
		b = append(fields(append(b, "PK\x01\x02\x14\x00"...)), byte(len(entry)), 0)
		b = append(b, make([]byte, 16)...) // no comment; all at the beginning
		b = append(b, entry...)
	}
	size := len(b) - start
	b = append(b, "PK\x05\x06\x00\x00\x00\x00"...)
	b = le.AppendUint16(le.AppendUint16(b, uint16(n)), uint16(n))
	return append(le.AppendUint32(le.AppendUint32(b, uint32(size)), uint32(start)), 0, 0)
}

// classOf returns a class with so many methods of one name.
func classOf(i, methods int) []byte {
	be := binary.BigEndian
	utf8 := func(b []byte, s string) []byte { return append(be.AppendUint16(append(b, 1), uint16(len(s))), s...) }
	// Constants: 1 the name, 2 the class, 3 "m", 4 "()V".
	b := []byte("\xca\xfe\xba\xbe\x00\x00\x00\x34\x00\x05")
	b = append(utf8(b, fmt.Sprintf("c%d", i)), 7, 0, 1)
	b = utf8(utf8(b, "m"), "()V")
	b = append(b, 0, 0x21, 0, 2, 0, 0, 0, 0, 0, 0)
	b = be.AppendUint16(b, uint16(methods))
	b = append(b, bytes.Repeat([]byte("\x00\x01\x00\x03\x00\x04\x00\x00"), methods)...)
	return append(b, 0, 0)
}

package covmap

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/llvm/zlibtext"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// A build makes an object with mappings of any version from the documented layout.
type build struct {
	version int
	ptr     int // bytes of an address: 4 or 8
	order   binary.AppendByteOrder
	plain   bool // do not compress the file names
	apart   bool // a section for every function, as in COMDAT groups
	records []Record
}

// elf returns the object.
func (b *build) elf() []byte {
	var names []byte
	at := make(map[string]int) // of names, in the section
	joined := ""
	for _, r := range b.records {
		if _, ok := at[r.Name]; !ok {
			at[r.Name] = len(joined)
			joined += r.Name + "\x01"
		}
	}
	joined = strings.TrimSuffix(joined, "\x01")
	if b.version == 1 { // characters alone
		names = []byte(joined)
	} else {
		names = append(cursor.AppendULEB(cursor.AppendULEB(nil, uint64(len(joined))), 0), joined...)
	}
	const namesAddr = 0x1000
	lists := make(map[*fileList][]*Record)
	var order []*fileList
	for i := range b.records {
		r := &b.records[i]
		if lists[r.list] == nil {
			order = append(order, r.list)
		}
		lists[r.list] = append(lists[r.list], r)
	}
	var files []byte
	var functions [][]byte
	for _, list := range order {
		blob := b.filenames(list)
		var table, mappings []byte
		for _, r := range lists[list] {
			switch {
			case b.version == 1:
				table = b.address(table, uint64(namesAddr+at[r.Name]))
				table = b.order.AppendUint32(table, uint32(len(r.Name)))
			case b.version < 4:
				table = b.order.AppendUint64(table, r.Ref)
			default:
				f := b.order.AppendUint64(nil, r.Ref)
				f = b.order.AppendUint32(f, uint32(len(r.mapping)))
				f = b.order.AppendUint64(b.order.AppendUint64(f, r.Hash), irpgo.NameRef(string(blob)))
				functions = append(functions, append(f, r.mapping...))
				continue
			}
			table = b.order.AppendUint64(b.order.AppendUint32(table, uint32(len(r.mapping))), r.Hash)
			mappings = append(mappings, r.mapping...)
		}
		count := 0
		if b.version < 4 {
			count = len(lists[list])
		}
		for _, n := range []int{count, len(blob), len(mappings), b.version - 1} {
			files = b.order.AppendUint32(files, uint32(n))
		}
		files = append(append(append(files, table...), blob...), mappings...)
		files = pad(files)
	}
	sections := []elfSection{{name: "__llvm_prf_names", addr: namesAddr, data: names}, {name: "__llvm_covmap", data: files}}
	all := []byte{}
	for _, f := range functions {
		if b.apart {
			sections = append(sections, elfSection{name: "__llvm_covfun", data: f})
		}
		all = append(pad(all), f...)
	}
	if !b.apart && len(functions) > 0 {
		sections = append(sections, elfSection{name: "__llvm_covfun", data: all})
	}
	return b.object(sections)
}

func pad(b []byte) []byte { return append(b, make([]byte, cursor.PadTo(uint64(len(b)), 8))...) }

func (b *build) address(dst []byte, addr uint64) []byte {
	if b.ptr == 4 {
		return b.order.AppendUint32(dst, uint32(addr))
	}
	return b.order.AppendUint64(dst, addr)
}

func (b *build) filenames(l *fileList) []byte {
	blob := cursor.AppendULEB(nil, uint64(len(l.names)))
	var text []byte
	for _, n := range l.names {
		text = append(cursor.AppendULEB(text, uint64(len(n))), n...)
	}
	switch {
	case b.version < 4:
		return append(blob, text...)
	case b.plain:
		return append(cursor.AppendULEB(cursor.AppendULEB(blob, uint64(len(text))), 0), text...)
	}
	z := zlibtext.Deflate(string(text))
	return append(cursor.AppendULEB(cursor.AppendULEB(blob, uint64(len(text))), uint64(len(z))), z...)
}

type elfSection struct {
	name string
	addr uint64
	data []byte
}

// object returns a relocatable ELF file with sections.
func (b *build) object(sections []elfSection) []byte {
	header, entry, class := 52, 40, elf.ELFCLASS32
	if b.ptr == 8 {
		header, entry, class = 64, 64, elf.ELFCLASS64
	}
	data := elf.ELFDATA2LSB
	if b.order.String() == binary.BigEndian.String() {
		data = elf.ELFDATA2MSB
	}
	names := "\x00"
	body := make([]byte, header)
	table := make([]byte, entry)
	add := func(name string, kind elf.SectionType, addr uint64, contents []byte) {
		body = pad(body)
		table = b.order.AppendUint32(b.order.AppendUint32(table, uint32(len(names))), uint32(kind))
		names += name + "\x00"
		table = b.address(b.address(table, 0), addr)
		table = b.address(b.address(table, uint64(len(body))), uint64(len(contents)))
		table = b.order.AppendUint64(table, 0)
		table = b.address(b.address(table, 1), 0)
		body = append(body, contents...)
	}
	for _, s := range sections {
		add(s.name, elf.SHT_PROGBITS, s.addr, s.data)
	}
	names += ".shstrtab\x00"
	text := names
	names = strings.TrimSuffix(names, ".shstrtab\x00")
	add(".shstrtab", elf.SHT_STRTAB, 0, []byte(text))
	body = pad(body)
	h := append([]byte(elf.ELFMAG), byte(class), byte(data), 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	h = b.order.AppendUint16(b.order.AppendUint16(h, uint16(elf.ET_REL)), uint16(elf.EM_X86_64))
	h = b.order.AppendUint32(h, 1)
	h = b.address(b.address(b.address(h, 0), 0), uint64(len(body)))
	h = b.order.AppendUint32(h, 0)
	for _, n := range []int{header, 0, 0, entry, len(sections) + 2, len(sections) + 1} {
		h = b.order.AppendUint16(h, uint16(n))
	}
	copy(body, h)
	return append(body, table...)
}

// TestVersions: the same functions have the same coverage in every version of the
// mapping, word size and byte order.
func TestVersions(t *testing.T) {
	data := oracle.ReadFile(t, testdata+"/shapes-22.o")
	maps, err := Read("shapes-22.o", data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	profile := readProfile(t, testdata+"/shapes-22.proftext")
	wantLCOV, wantJSON := exports(t, evaluate(t, profile, testdata+"/shapes-22.o"))
	for version := 1; version <= VersionMax; version++ {
		for _, ptr := range []int{4, 8} {
			for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
				for _, variant := range []build{{}, {plain: true}, {apart: true}} {
					b := variant
					b.version, b.ptr, b.order, b.records = version, ptr, order, maps[0].Records
					what := fmt.Sprintf("version %d, %d bits, %s, plain %v, apart %v", version, 8*ptr, order, b.plain, b.apart)
					read, err := Read("built.o", b.elf(), Options{})
					if err != nil {
						t.Errorf("%s: %v", what, err)
						continue
					}
					c, err := Evaluate(read, profile, EvaluateOptions{FirstWins: true})
					if err != nil {
						t.Errorf("%s: %v", what, err)
						continue
					}
					lcov, json := exports(t, c)
					compare(t, what+", lcov", lcov, wantLCOV)
					compare(t, what+", JSON", json, wantJSON)
				}
			}
		}
	}
}

// TestArchive: the members of an archive count as objects by themselves.
func TestArchive(t *testing.T) {
	object := oracle.ReadFile(t, testdata+"/shapes-22.o")
	var ar bytes.Buffer
	ar.WriteString("!<arch>\n")
	member := func(name string, data []byte) {
		fmt.Fprintf(&ar, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", name, 0, 0, 0, "644", len(data))
		ar.Write(data)
		if len(data)%2 == 1 {
			ar.WriteByte('\n')
		}
	}
	member("/", []byte("index"))
	member("//", []byte("a_name_longer_than_sixteen.o/\n"))
	member("readme.txt/", []byte("no object"))
	member("/0", object)
	maps, err := Read("lib.a", ar.Bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(maps) != 1 || maps[0].Name != "lib.a(a_name_longer_than_sixteen.o)" || len(maps[0].Records) < 8 {
		t.Errorf("%d mappings, %+v", len(maps), maps[0].Name)
	}
	for n := range ar.Len() {
		_, _ = Read("cut.a", ar.Bytes()[:n], Options{})
	}
	// The members of a thin archive are files beside it.
	var thin bytes.Buffer
	thin.WriteString("!<thin>\n")
	for _, name := range []string{"shapes-22.o/", "shapes-22.o/"} {
		fmt.Fprintf(&thin, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", name, 0, 0, 0, "644", len(object))
	}
	maps, err = Read(filepath.Join(testdata, "thin.a"), thin.Bytes(), Options{})
	if err != nil || len(maps) != 1 || len(maps[0].Records) < 8 {
		t.Errorf("thin archive: %d mappings, %v", len(maps), err)
	}
	if _, err := Read(filepath.Join(t.TempDir(), "thin.a"), thin.Bytes(), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("thin archive without its members: %v", err)
	}
	folder := strings.ReplaceAll(thin.String(), "shapes-22.o/", "../covmap/  ")
	if _, err := Read(filepath.Join(testdata, "thin.a"), []byte(folder), Options{}); !errors.Is(err, profile.ErrCorrupt) {
		t.Errorf("thin archive with a folder: %v", err)
	}
	if _, err := Read("no.a", []byte("!<arch>\n"), Options{}); err == nil || !strings.Contains(err.Error(), "-fcoverage-mapping") {
		t.Error(err)
	}
}

// FuzzRead: whatever an object holds, there is an error or a coverage, the same every time.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"shapes-14", "conditions-22", "conditions-mips-linux-gnu", "conditions-x86_64-pc-windows-msvc"} {
		f.Add(oracle.ReadFile(f, testdata+"/"+name+".o"))
	}
	for _, name := range []string{"all-22.wasm", "stripped-22.wasm", "pie-16.wasm", "program-22.o"} {
		f.Add(oracle.ReadFile(f, wasmdata+"/"+name))
	}
	for _, version := range []string{testingFirst, testingV2} {
		f.Add(testingFile(f, oracle.ReadFile(f, testdata+"/conditions-22.o"), version))
	}
	profile := readProfile(f, testdata+"/conditions-22.proftext")
	f.Fuzz(func(t *testing.T, data []byte) {
		maps, err := Read("fuzz.o", data, Options{})
		if err != nil {
			return
		}
		c, err := Evaluate(maps, profile, EvaluateOptions{})
		if err != nil {
			return
		}
		lines := uint64(0)
		for _, f := range c.Functions {
			for _, r := range f.Regions() {
				lines += uint64(r.End.Line-r.Start.Line) + 1
			}
		}
		if lines > 1<<16 {
			return // only slow
		}
		lcov, json := exports(t, c)
		again, err := Evaluate(maps, profile, EvaluateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		lcov2, json2 := exports(t, again)
		compare(t, "lcov", lcov2, lcov)
		compare(t, "JSON", json2, json)
	})
}

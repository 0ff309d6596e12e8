package object

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/test/alike"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// fixtureFiles are programs of many compilers, by name.
func fixtureFiles(t testing.TB) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	for _, pattern := range []string{"symbolize/fixtures/*", "mip/*.elf", "correlate/*.elf"} {
		paths := oracle.Must(filepath.Glob(filepath.Join(oracle.Root(t), "testdata", pattern)))(t)
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err == nil && IsImage(data) {
				files[filepath.Base(path)] = data
			}
		}
	}
	return files
}

// outline is what package debug/elf or debug/macho says, too.
type outline struct {
	Order    string
	Kind     Kind
	Sections []Section
	Segments []Segment
}

func (im *Image) outline() outline {
	o := outline{Order: im.Order.String(), Kind: im.Kind, Segments: im.Segments}
	if o.Kind == PIE {
		o.Kind = Shared // debug/elf does not tell them apart
	}
	for _, s := range im.Sections {
		o.Sections = append(o.Sections, Section{
			Name: s.Name, Segment: s.Segment, Addr: s.Addr, Size: s.Size, Offset: s.Offset, FileSize: s.FileSize, Loaded: s.Loaded,
		})
	}
	return o
}

// elfOutline is for a file of size bytes.
func elfOutline(f *elf.File, size int) outline {
	o := outline{Order: f.ByteOrder.String(), Kind: map[elf.Type]Kind{elf.ET_REL: Object, elf.ET_EXEC: Executable, elf.ET_DYN: Shared}[f.Type]}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			o.Segments = append(o.Segments, Segment{
				Addr: p.Vaddr, Offset: p.Off, FileSize: p.Filesz, MemSize: p.Memsz, Align: p.Align, Executable: p.Flags&elf.PF_X != 0,
			})
		}
	}
	for _, s := range f.Sections {
		x := Section{Name: s.Name, Addr: s.Addr, Size: s.Size, Offset: int64(s.Offset), FileSize: s.FileSize, Loaded: s.Flags&elf.SHF_ALLOC != 0}
		if s.Flags&elf.SHF_COMPRESSED != 0 && (s.Type == elf.SHT_NOBITS || s.Offset+s.FileSize > uint64(size)) {
			x.Size = s.FileSize // what it is inflated is known only of a whole section
		}
		if s.Type == elf.SHT_NOBITS {
			x.FileSize = 0
		}
		o.Sections = append(o.Sections, x)
	}
	return o
}

func machOOutline(f *macho.File) outline {
	o := outline{Order: f.ByteOrder.String(), Kind: machOKind(uint32(f.Type), false)}
	for _, l := range f.Loads {
		if s, ok := l.(*macho.Segment); ok {
			o.Segments = append(o.Segments, Segment{
				Name: s.Name, Addr: s.Addr, Offset: s.Offset, FileSize: s.Filesz, MemSize: s.Memsz, Executable: s.Prot&protExecute != 0,
			})
		}
	}
	for _, s := range f.Sections {
		x := Section{Name: s.Name, Segment: s.Seg, Addr: s.Addr, Size: s.Size, Offset: int64(s.Offset), FileSize: s.Size, Loaded: s.Seg != "__DWARF"}
		if kind := s.Flags & sectionType; kind == zeroFill || kind == gbZeroFill || kind == tlsZeroFill || s.Offset == 0 {
			x.FileSize = 0
		}
		o.Sections = append(o.Sections, x)
	}
	return o
}

// TestAgainstStandard compares with packages debug/elf and debug/macho.
func TestAgainstStandard(t *testing.T) {
	kinds := make(map[Kind]int)
	for name, data := range fixtureFiles(t) {
		archs := []string{""}
		if isFat(data) {
			archs = []string{"x86_64", "arm64"}
		}
		for _, arch := range archs {
			im := oracle.Must(Parse(name, data, arch))(t)
			var want outline
			if im.Format == ELF {
				f := oracle.Must(elf.NewFile(bytes.NewReader(im.data)))(t)
				want = elfOutline(f, len(im.data))
			} else {
				f := oracle.Must(macho.NewFile(bytes.NewReader(im.data)))(t)
				want = machOOutline(f)
			}
			kinds[im.Kind]++
			got := im.outline()
			if im.Format == MachO && got.Kind == Shared && want.Kind == Executable {
				want.Kind = Shared // a PIE
			}
			alike.Values(t, fmt.Sprintf("%s %s: (-want +got)", name, arch), want, got, cmp.AllowUnexported(Section{}))
		}
	}
	if kinds[Object] == 0 || kinds[Executable] == 0 || kinds[PIE] == 0 || kinds[Shared] == 0 {
		t.Errorf("compared only %v", kinds)
	}
}

// FuzzELF: what package debug/elf reads is read, and as the same.
func FuzzELF(f *testing.F) {
	everyELF(func(_ string, e *elfBuild) {
		e.sections = []elfSection{
			{name: ".text", typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, data: []byte{1}},
			{name: ".note", typ: elf.SHT_NOTE, data: []byte("\x04\x00\x00\x00\x04\x00\x00\x00\x03\x00\x00\x00GNU\x00abcd")},
			{name: ".bss", typ: elf.SHT_NOBITS, data: []byte{1}},
			{name: ".debug_x", typ: elf.SHT_PROGBITS, flags: elf.SHF_COMPRESSED, data: make([]byte, 24)},
		}
		f.Add(e.build())
	})
	for _, data := range fixtureFiles(f) {
		if isELF(data) && len(data) < 16<<10 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		want, err := elf.NewFile(bytes.NewReader(data))
		im, ourErr := Parse("fuzz", data, "")
		if err != nil || nameless(data, want) {
			return
		}
		if ourErr != nil {
			t.Fatal(ourErr)
		}
		if diff := cmp.Diff(elfOutline(want, len(data)), im.outline(), cmp.AllowUnexported(Section{})); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	})
}

// nameless reports whether a file has sections but no names for them, or not
// plain ones, which package debug/elf allows.
func nameless(data []byte, f *elf.File) bool {
	at := 0x32
	if f.Class == elf.ELFCLASS64 {
		at = 0x3e
	}
	i := int(f.ByteOrder.Uint16(data[at:]))
	return len(f.Sections) > 1 && i == 0 || i > 0 && i < len(f.Sections) && f.Sections[i].Flags&elf.SHF_COMPRESSED != 0
}

// TestLongNames: sections that all claim the whole string table for their name,
// and all notes, cost memory and time in proportion to the file.
func TestLongNames(t *testing.T) {
	const n = 1 << 12
	e := &elfBuild{wide: true, order: binary.LittleEndian, machine: elf.EM_X86_64}
	for range n {
		e.sections = append(e.sections, elfSection{typ: elf.SHT_NOTE})
	}
	e.sections = append(e.sections, elfSection{name: strings.Repeat("x", 1<<20), typ: elf.SHT_PROGBITS})
	data := e.build()
	table := int(binary.LittleEndian.Uint64(data[0x28:]))
	for i := range n {
		h := data[table+(i+1)*64:]
		binary.LittleEndian.PutUint32(h, uint32(n+1+i)) // within the long name
		binary.LittleEndian.PutUint64(h[24:], 0)
		binary.LittleEndian.PutUint64(h[32:], uint64(len(data)))
	}
	im := oracle.Must(Parse("x", data, ""))(t)
	if got := len(im.Sections[n].Name); got != maxSectionName {
		t.Errorf("a name of %d bytes", got)
	}
	if used := testing.AllocsPerRun(1, func() { Parse("x", data, "") }); used > n/4 {
		t.Errorf("%v allocations for %d sections", used, n)
	}
}

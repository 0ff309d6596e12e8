package symbolize

import (
	"encoding/binary"
	"io"
	"sync"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/program/object"
)

// Options modify how files are opened and what frames contain. The zero value is right for MemProf.
type Options struct {
	// Arch selects a slice of a universal Mach-O file: "arm64", "x86_64". Opening
	// a file of another architecture fails; "" accepts any.
	Arch string
	// Inputs says how files are opened, such as how large compressed ones may be. Its Recognize has no effect.
	Inputs inputs.Options

	// Skip reports whether [OpenPrograms] leaves out a named file that cannot be opened, by the
	// error; nil leaves out none.
	Skip func(err error) bool

	// SymbolTable takes names from the symbol table as llvm-symbolizer does:
	// the outermost frame gets the name of the symbol at the address, and an
	// address without debug information gets a frame with the name alone.
	//
	// Without it frames come from DWARF alone, as in llvm-profdata; [File.Symbol] looks in the symbol table.
	SymbolTable bool

	DebugDirs []string // the folders with separate debug files, by build id; nil means /usr/lib/debug
	// NoDebugFiles looks for debug information only in the file itself and,
	// for split DWARF, in the files that it names.
	NoDebugFiles bool
	// DWP is the package file with the units of split DWARF, instead of the file's name with ".dwp" appended.
	DWP string

	Workers int // how many compilation units [File.Batch] reads at a time; 0 means one per processor
	// CacheSize bounds in bytes the units that [File.Frames] keeps in memory; 0
	// means 64 MiB. It always keeps the last one.
	CacheSize int
}

// A File is a program, library or .dSYM bundle. Its methods may be called by several goroutines at once.
type File struct {
	Name string // the path or name that the file was opened by; of a .dSYM bundle the path of the file in it
	// Arch is the architecture: "x86_64", "aarch64" in ELF and "arm64" in Mach-O, "i386" …
	Arch        string
	MachO       bool // the file is Mach-O; otherwise it is ELF
	BigEndian   bool
	PointerSize int // of an address in bytes, 4 or 8
	// PositionIndependent: the file may be loaded at another address than it was
	// linked for, as shared libraries and PIEs are.
	PositionIndependent bool
	BuildID             []byte    // the GNU build id or the LC_UUID; nil without one
	Segments            []Segment // in the order of the file, as Sections; do not modify them
	Sections            []*Section

	path  string // empty if not from the file system
	opt   Options
	image *object.Image

	mu    sync.Mutex
	open  []*object.File // everything that is open
	units unitCache

	// These read the debug information and the symbol table at the first call.
	debugData   func() (*debugInfo, error)
	symbolTable func() (*object.SymbolTable, error)
}

// maxImage is the largest size in bytes of a program from a pipe or a compressed file.
const maxImage = 16 << 30

func (o *Options) imageFile(path string, extract func(name string, src io.Reader) error) inputs.Input {
	in := o.Inputs
	in.Extract = extract
	in.Recognize = func(name string, head []byte) (int64, error) {
		if object.IsImage(head) {
			return maxImage, nil
		}
		return 0, flaw.File(name).Field("format").Got("data of another kind").Want("a program").Unrecognized()
	}
	return inputs.File(path, in)
}

// Open opens an ELF or Mach-O file, or a .dSYM bundle with one file. It maps large
// files into memory. The first lookup reads the debug information.
func Open(path string, opt Options) (*File, error) {
	if isBundle(path) {
		var err error
		if path, err = object.BundledFile(path); err != nil {
			return nil, err
		}
	}
	return openAs(path, path, opt)
}

// openAs opens a file under a name: the path of the file, or the name of the member of an archive that was unpacked there.
func openAs(name, path string, opt Options) (*File, error) {
	data, err := object.Open(opt.imageFile(path, nil))
	if err != nil {
		return nil, err
	}
	f := &File{opt: opt, open: []*object.File{data}}
	if name == path {
		f.path = path
	}
	err = f.guard(func() error {
		m, err := parse(name, data.Bytes(), opt.Arch)
		if err == nil {
			f.setImage(m)
		}
		return err
	})
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// New opens a file held in data, which must not change until Close. name is for
// errors: New looks for no files beside it.
func New(name string, data []byte, opt Options) (*File, error) {
	m, err := parse(name, data, opt.Arch)
	if err != nil {
		return nil, err
	}
	f := &File{opt: opt}
	f.setImage(m)
	return f, nil
}

// parse reads an image. It fails if arch is not "" and not the image's.
func parse(name string, data []byte, arch string) (*object.Image, error) {
	image, err := object.Parse(name, data, arch)
	if err == nil && arch != "" && arch != image.Arch {
		return nil, flaw.File(name).Field("architecture").Got(image.Arch).Want(arch).Mismatch()
	}
	return image, err
}

func (f *File) setImage(m *object.Image) {
	f.image = m
	f.Name, f.Arch, f.MachO, f.PointerSize, f.BuildID = m.Name, m.Arch, m.Format == object.MachO, m.PtrSize, m.BuildID
	f.BigEndian, f.PositionIndependent = m.Order == binary.ByteOrder(binary.BigEndian), m.Movable
	f.Segments = make([]Segment, len(m.Segments))
	for i, s := range m.Segments {
		f.Segments[i] = Segment(s)
	}
	f.Sections = make([]*Section, len(m.Sections))
	for i := range m.Sections {
		s := &m.Sections[i]
		f.Sections[i] = &Section{
			Name: s.Name, Segment: s.Segment, Addr: s.Addr, Size: s.Size, Offset: m.FileOffset(s),
			file: f, section: s,
		}
	}
	f.debugData, f.symbolTable = sync.OnceValues(f.openDebugInfo), sync.OnceValues(f.readSymbols)
}

// guard runs fn, which reads the file's bytes, under [object.Guard].
func (f *File) guard(fn func() error) error {
	f.mu.Lock()
	open := f.open
	f.mu.Unlock()
	return object.Guard(fn, open...)
}

// Close closes the file and its debug files. Frames and symbols stay valid; the File and its sections do not.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	for _, d := range f.open {
		if closeErr := d.Close(); err == nil {
			err = closeErr
		}
	}
	f.open = nil
	f.units = unitCache{}
	return err
}

// A Segment is a part of the file that the system maps into memory (PT_LOAD, LC_SEGMENT).
type Segment struct {
	Name string // "__TEXT"; empty in ELF
	Addr uint64 // where it was linked to be (p_vaddr, vmaddr)
	// Offset is where in the file its bytes are; in a universal file, from the start of the architecture's slice.
	Offset     uint64
	FileSize   uint64 // bytes in the file
	MemSize    uint64 // bytes in memory, at least as many
	Align      uint64 // in bytes; 0 in Mach-O
	Executable bool
}

// A Section is a named part of the file.
type Section struct {
	Name    string // ".text", "__text"
	Segment string // "__TEXT"; empty in ELF
	Addr    uint64 // where it was linked to be; 0 if it is not loaded
	Size    uint64 // in memory, and of its data when decompressed
	Offset  int64  // of its bytes in the file

	file    *File
	section *object.Section
}

// Section returns the first section of that name, or nil. In Mach-O the name
// of the segment may precede it: "__DATA,__data".
func (f *File) Section(name string) *Section {
	found := f.image.Section(name)
	for _, s := range f.Sections {
		if s.section == found {
			return s
		}
	}
	return nil
}

// Data returns a copy of the section's decompressed bytes; none for a section
// without bytes in the file, such as .bss.
func (s *Section) Data() ([]byte, error) {
	var out []byte
	err := s.file.guard(func() error {
		b, err := s.file.image.Data(s.section)
		out = append(out, b...)
		return err
	})
	return out, err
}

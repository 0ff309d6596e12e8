package covmap

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/program/object"
)

// wasmHint says which option of the linker leaves out parts of the mapping.
const wasmHint = "with --gc-sections, which is the default, wasm-ld leaves out names of functions, and up to LLVM 16 the mapping: link with --no-gc-sections"

// VersionMax is the newest version of the mapping that [Read] reads. LLVM 18 and later write it.
const VersionMax = 7

// Options modify [Read]. The zero value is right for most uses.
type Options struct {
	// Arch selects the architecture of a universal Mach-O file. With LeaveOut, "" selects all.
	Arch string
	// LeaveOut leaves out damaged records, which Mapping.LeftOut then has, instead of failing.
	LeaveOut bool
	// LLVM reads programs without names of functions as programs without a mapping, and of WebAssembly no more than
	// llvm-cov does: mappings in custom sections, and names of functions in a data segment that "name" names.
	LLVM bool
	// UnixPaths joins file names as llvm-cov on Unix does, for which Windows paths are relative.
	UnixPaths bool
	// CompilationDir stands in for the folder in which the compiler ran, if not
	// empty: relative file names of mappings since version 6 are joined to it.
	CompilationDir string
}

// Read returns the mappings in a program, library or object file held in data: one, or one for every member of a
// static archive that has any. name is for errors. The mappings do not refer to data.
//
// A file without a mapping is an error of class [profile.ErrEmpty].
func Read(name string, data []byte, opt Options) (maps []*Mapping, err error) {
	defer flaw.OfProgram(&err)
	archs := []string{opt.Arch}
	if all := object.Architectures(data); opt.LeaveOut && opt.Arch == "" && len(all) > 1 {
		archs = all
	}
	for _, opt.Arch = range archs {
		own, err := readArch(name, data, opt)
		if err != nil {
			return nil, flaw.InFile(err, name)
		}
		for _, m := range own {
			if len(archs) > 1 {
				m.Arch, m.Name = opt.Arch, fmt.Sprintf("%s (%s)", m.Name, opt.Arch)
			}
		}
		maps = append(maps, own...)
	}
	if len(maps) == 0 {
		none := flaw.File(name).Field("coverage mapping").Got("none").
			Want("a program compiled with -fprofile-instr-generate -fcoverage-mapping, or by rustc with -C instrument-coverage")
		if im, err := object.Parse(name, data, ""); err == nil && im.Format == object.Wasm && im.Kind != object.Object {
			none = none.Hint(wasmHint)
		}
		return nil, none.Empty()
	}
	return maps, nil
}

// readArch returns the mappings of a file, of one architecture if the file is universal.
func readArch(name string, data []byte, opt Options) (maps []*Mapping, err error) {
	if IsTesting(data) {
		m, err := readTesting(name, data, opt)
		if m != nil {
			maps = append(maps, m)
		}
		return maps, err
	}
	err = object.Images(name, data, opt.Arch, func(name string, data []byte) error {
		m, err := readObject(name, data, opt)
		if m != nil {
			maps = append(maps, m)
		}
		return err
	})
	return maps, err
}

// The sections of a mapping. COFF has other names, which end before a "$".
var (
	filesSection     = sectionNames{"__llvm_covmap", ".lcovmap", false}
	functionsSection = sectionNames{"__llvm_covfun", ".lcovfun", false}
	namesSection     = sectionNames{"__llvm_prf_names", ".lprfn", true}
	namesFarSection  = sectionNames{"__llvm_covnames", ".lcovn", true} // of programs for binary correlation
)

type sectionNames struct {
	usual, coff string
	loaded      bool // in WebAssembly, since LLVM 20: a data segment, not a custom section
}

// A section is the contents of one section, or of several of one name.
type section struct {
	name string
	at   int64 // file offset; 0 for several sections, whose offsets count from the first one
	addr uint64
	data []byte
	// absent: the file lacks the contents, as a debug file does (objcopy --only-keep-debug).
	absent bool
}

// find returns a copy of the contents of all sections of a name, each padded to a
// multiple of 8 bytes: an ELF object has one for every function in a COMDAT group.
func (r *objectReader) find(n sectionNames) (*section, error) {
	im := r.im
	var parts [][]byte
	var found *section
	size, inFile := 0, uint64(0)
	for i := range im.Sections {
		s := &im.Sections[i]
		name, _, _ := strings.Cut(s.Name, "$")
		if s.Name != n.usual && name != n.coff || r.opt.LLVM && im.Format == object.Wasm && (s.Loaded != n.loaded || s.ForLinker) {
			continue
		}
		inFile += s.FileSize
		if inFile > uint64(im.Len()) {
			return nil, flaw.At(s.Name, im.FileOffset(s)).Field("size of all sections of this name").Gotf("%d bytes", inFile).
				Wantf("at most the %d bytes of the file", im.Len()).Corrupt()
		}
		data, err := im.Data(s)
		if err != nil {
			return nil, err
		}
		if found == nil {
			found = &section{name: s.Name, at: im.FileOffset(s), addr: s.Addr, absent: s.Size > 0 && s.FileSize == 0}
		} else {
			found.at = 0
		}
		parts = append(parts, data)
		size += len(data) + 7
	}
	if found != nil {
		found.data = make([]byte, 0, size)
		for _, part := range parts {
			found.append(part)
		}
	}
	return found, nil
}

type objectReader struct {
	opt     Options
	im      *object.Image
	m       *Mapping
	symbols irpgo.Symtab
	names   *section
	lists   map[uint64]*fileList // by the hash of the bytes of a list; nil if several lists have the hash
	last    map[uint64]int32     // index of the last record, by name reference
}

// readObject returns nil if the object has no mapping.
func readObject(name string, data []byte, opt Options) (*Mapping, error) {
	im, err := object.Parse(name, data, opt.Arch)
	if err != nil {
		return nil, err
	}
	r := newObjectReader(name, im, opt)
	files, functions, err := r.sections()
	if err != nil || files == nil || r.names == nil {
		return nil, err
	}
	return r.read(files, functions)
}

func newObjectReader(name string, im *object.Image, opt Options) *objectReader {
	return &objectReader{opt: opt, im: im, m: &Mapping{Name: name, BuildID: im.BuildID}, lists: make(map[uint64]*fileList), last: make(map[uint64]int32)}
}

// read reads the sections with the files and, since version 4, with the functions. It returns nil if the functions are missing.
func (r *objectReader) read(files, functions *section) (*Mapping, error) {
	version, err := r.readFiles(files)
	if err != nil {
		return nil, err
	}
	if version >= 4 {
		if functions == nil {
			return nil, nil
		}
		if err := r.readFunctions(functions); err != nil {
			return nil, err
		}
	}
	return r.m, nil
}

// sections finds the lists of files, the records of functions, and in r.names the names. files is nil without a mapping.
func (r *objectReader) sections() (files, functions *section, err error) {
	if files, err = r.find(filesSection); err == nil {
		functions, err = r.find(functionsSection)
	}
	search := r.im.Format == object.Wasm && !r.opt.LLVM
	if err == nil && files == nil && search {
		files, functions, err = r.findMapping()
	}
	if err != nil || files == nil || len(files.data) == 0 {
		return nil, nil, err
	}
	if r.names, err = r.find(namesSection); err == nil && r.names == nil {
		r.names, err = r.find(namesFarSection)
	}
	if err == nil && r.names == nil && functions != nil && search {
		r.names, err = r.findNames(functions)
	}
	if err == nil && r.names == nil && !r.opt.LLVM {
		names := flaw.In(namesSection.usual).Field("section").Got("none").Want("the names of the functions")
		if search {
			return nil, nil, names.Hint(wasmHint).Empty()
		}
		err = names.Corrupt()
	}
	if err == nil && r.names != nil && r.names.absent && !r.opt.LLVM {
		err = flaw.In(r.names.name).Field("section").Got("without contents").Want("the names of the functions: this is a debug file, give the program itself").Unsupported()
	}
	return files, functions, err
}

// readFiles reads the blocks of a __llvm_covmap section, each at a multiple of 8:
//
//	u32 NRecords | u32 FilenamesSize | u32 CoverageSize | u32 Version
//	[versions 1–3: NRecords × record] | file names | [versions 1–3: mappings]
//
// It returns the version of the first block.
func (r *objectReader) readFiles(s *section) (version int, err error) {
	c := cursor.New(s.name, s.at, s.data, r.im.Order)
	for c.Len() > 0 && c.Err() == nil {
		at := c.Offset()
		records, namesSize := c.U32("NRecords"), c.U32("FilenamesSize")
		mappingsSize, v := c.U32("CoverageSize"), c.U32("Version")
		if c.Err() == nil && v >= VersionMax {
			return 0, c.At(at).Field("version").Got(uint64(v)+1).Wantf("1 to %d", VersionMax).Unsupported()
		}
		own := int(v) + 1
		if version == 0 {
			version = own
			if err := r.learnNames(own); err != nil {
				return 0, err
			}
		}
		if own >= 4 && mappingsSize != 0 {
			return 0, c.At(at).Field("CoverageSize").Got(mappingsSize).Wantf("0 in version %d", own).Corrupt()
		}
		old := oldRecord{version: own, ptr: r.im.PtrSize}
		table := c.Bytes(uint64(records)*uint64(old.size()), "records")
		if own >= 4 && records != 0 {
			return 0, c.At(at).Field("NRecords").Got(records).Wantf("0 in version %d", own).Corrupt()
		}
		namesAt := c.Offset()
		blob := c.Bytes(uint64(namesSize), "file names")
		mappingsAt := c.Offset()
		mappings := c.Bytes(uint64(mappingsSize), "mappings")
		if c.Err() != nil {
			break
		}
		list, err := readFilenames(blob, namesAt, own, &r.opt)
		if err != nil {
			return 0, err
		}
		if own >= 4 {
			r.addList(blob, list)
		} else if err := r.readOldRecords(oldBlock{old, s.name, at + 16, table, list, mappingsAt, mappings}); err != nil {
			return 0, err
		}
		if c.Len() > 0 {
			c.Skip(min(cursor.PadTo(uint64(c.Pos()), 8), uint64(c.Len())), "padding")
		}
	}
	return version, c.Err()
}

// learnNames reads the names of functions. Version 1 stores only their characters, without a header.
func (r *objectReader) learnNames(version int) error {
	if version == 1 {
		return nil
	}
	// A linked COFF image has a zero byte before the names.
	blob := bytes.TrimLeft(r.names.data, "\x00")
	return r.symbols.Read(r.names.name, r.names.at+int64(len(r.names.data)-len(blob)), blob)
}

// addList records a list of files under the hash of its bytes.
func (r *objectReader) addList(blob []byte, l *fileList) {
	ref := irpgo.NameRef(string(blob))
	if have, ok := r.lists[ref]; ok && (have == nil || !equalLists(have, l)) {
		l = nil
	}
	r.lists[ref] = l
}

func equalLists(a, b *fileList) bool { return a.version == b.version && slices.Equal(a.names, b.names) }

// oldRecord is the layout of a function record in versions 1 to 3:
//
//	version 1: ptr name address | u32 name size | u32 mapping size | u64 hash
//	2 and 3:   u64 name hash | u32 mapping size | u64 hash
type oldRecord struct{ version, ptr int }

func (o oldRecord) size() int {
	switch {
	case o.version >= 4:
		return 0
	case o.version == 1:
		return o.ptr + 16
	}
	return 20
}

// An oldBlock is a block of versions 1 to 3: its records, their files, and their mappings.
type oldBlock struct {
	oldRecord
	section    string
	tableAt    int64
	table      []byte
	list       *fileList
	mappingsAt int64
	mappings   []byte
}

func (r *objectReader) readOldRecords(b oldBlock) error {
	c := cursor.New(b.section, b.tableAt, b.table, r.im.Order)
	for i := 0; c.Len() > 0; i++ {
		c.Record = i
		rec := Record{list: b.list, at: b.mappingsAt}
		place := c.At(c.Offset())
		if b.version == 1 {
			addr, size := c.Ptr(b.ptr, "name address"), c.U32("name size")
			start := addr - r.names.addr
			if addr < r.names.addr || start > uint64(len(r.names.data)) || uint64(size) > uint64(len(r.names.data))-start {
				return place.Field("name address").Gotf("%#x, %d bytes", addr, size).Wantf("a place in %s", r.names.name).Corrupt()
			}
			rec.Name = string(r.names.data[start : start+uint64(size)])
			rec.Ref = irpgo.NameRef(rec.Name)
		} else {
			rec.Ref = c.U64("name hash")
		}
		size := uint64(c.U32("mapping size"))
		rec.Hash = c.U64("hash")
		if size > uint64(len(b.mappings)) {
			return place.Field("mapping size").Got(size).Wantf("at most the %d bytes left", len(b.mappings)).Truncated()
		}
		rec.mapping, b.mappings, b.mappingsAt = b.mappings[:size:size], b.mappings[size:], b.mappingsAt+int64(size)
		if err := r.add(rec, place); err != nil {
			return err
		}
	}
	return nil
}

// readFunctions reads a __llvm_covfun section, which has the records of version 4 and later.
func (r *objectReader) readFunctions(s *section) error {
	const usual = 256 // bytes of a record
	r.m.Records = make([]Record, 0, len(s.data)/usual)
	r.last = make(map[uint64]int32, len(s.data)/usual)
	return eachFunction(s, r.im.Order, func(rec Record, files uint64, place flaw.Position) error {
		list, ok := r.lists[files]
		if rec.list = list; list != nil { // nil: several lists have the hash
			return r.add(rec, place)
		}
		if !ok {
			return r.leaveOut(rec, place.Field("hash of the list of files").Gotf("%#x", files).Wantf("one of the %d lists", len(r.lists)).
				Because(&llvmerr.Error{Code: llvmerr.MalformedCoverage, Detail: fmt.Sprintf("no filename found for function with hash=%#x", files)}))
		}
		return nil
	})
}

// eachFunction calls fn for each record of version 4 and later, each at a multiple of 8, with the hash of its list of files:
//
//	u64 name hash | u32 mapping size | u64 hash | u64 hash of the list of files | mapping
func eachFunction(s *section, order binary.ByteOrder, fn func(rec Record, files uint64, place flaw.Position) error) error {
	c := cursor.New(s.name, s.at, s.data, order)
	for i := 0; c.Len() > 0; i++ {
		c.Record = i
		place := c.At(c.Offset())
		rec := Record{Ref: c.U64("name hash")}
		size := uint64(c.U32("mapping size"))
		rec.Hash = c.U64("hash")
		files := c.U64("hash of the list of files")
		rec.at = c.Offset()
		rec.mapping = c.Bytes(size, "mapping")
		if c.Err() != nil {
			return c.Err()
		}
		if err := fn(rec, files, place); err != nil {
			return err
		}
		if c.Len() > 0 {
			c.Skip(min(cursor.PadTo(uint64(c.Pos()), 8), uint64(c.Len())), "padding")
		}
	}
	return nil
}

// add adds a record unless the last one of its name is the same.
func (r *objectReader) add(rec Record, place flaw.Position) error {
	if rec.Name == "" {
		if rec.Name = r.symbols.Name(rec.Ref); rec.Name == "" {
			if r.im.Format == object.Wasm && r.opt.LeaveOut {
				r.m.LeftOut = append(r.m.LeftOut, rec.leftOut(r.m.Name, "the program does not have its name: "+wasmHint))
				return nil
			}
			return r.leaveOut(rec, place.Field("name hash").Gotf("%#x", rec.Ref).Wantf("the hash of a name in %s", r.names.name).
				Because(&llvmerr.Error{Code: llvmerr.Malformed, Detail: "function name is empty"}))
		}
	}
	if i, ok := r.last[rec.Ref]; ok {
		if m := &r.m.Records[i]; m.Hash == rec.Hash && m.list == rec.list && len(m.mapping) == len(rec.mapping) {
			return nil
		}
	}
	r.last[rec.Ref] = int32(len(r.m.Records))
	r.m.Records = append(r.m.Records, rec)
	return nil
}

// leaveOut returns the error of a damaged record, or leaves the record out.
func (r *objectReader) leaveOut(rec Record, err error) error {
	if r.opt.LeaveOut {
		r.m.LeftOut = append(r.m.LeftOut, rec.damaged(r.m.Name, err))
		err = nil
	}
	return err
}

// damaged returns the mismatch for a damaged record of an object.
func (r *Record) damaged(object string, err error) Mismatch {
	flaw.OfProgram(&err)
	return r.leftOut(object, "its record in the object is damaged: "+err.Error())
}

func (r *Record) leftOut(object, cause string) Mismatch {
	name := r.Name
	if name == "" {
		name = fmt.Sprintf("function with name hash %#x", r.Ref)
	}
	return Mismatch{Object: object, Name: name, Hash: r.Hash, Cause: cause}
}

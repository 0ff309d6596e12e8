package object

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
)

// WebAssembly modules, and components, which hold modules. Numbers without a width are LEB128.
//
//	file       "\0asm" | u16 version | u16 layer | sections
//	section    u8 id | size | contents
//	custom     length | name | bytes
//	imports    n | n × { length | module | length | name | u8 kind | type }
//	memories   n | n × limits
//	limits     u8 flags | least size | [1: greatest size] | [8: size of a page]
//	data       n | n × { mode | [2: memory] | [0 and 2: address, an expression] | size | bytes }
//	"name"     { u8 id | size | contents } …; id 9: n | n × { index of a data segment | length | name }
//	"linking"  version | { u8 type | size | contents } …; type 5: n | n × { length | name | alignment | flags }
const (
	wasmMagic = "\x00asm"

	// Versions; a component has a 1 in the layer.
	wasmModule    = 1
	wasmComponent = 13 | 1<<16

	// Ids of the sections of modules.
	wasmCustom   = 0 // also of components
	wasmImports  = 2
	wasmMemories = 5
	wasmData     = 11

	// Ids of the sections of components that hold a module or a component.
	wasmModuleIn    = 1
	wasmComponentIn = 4

	// Ids of what names data segments.
	wasmNameSegments    = 9
	wasmLinkingSegments = 5

	// Flags of limits.
	wasmHasMax   = 1
	wasmMemory64 = 4 // the memory has addresses of 64 bits
	wasmHasPage  = 8

	// Modes of data segments.
	wasmPassive  = 1
	wasmInMemory = 2

	wasmObjectMemory = "__linear_memory" // the memory that objects import
	maxWasmLevels    = 16                // of components in components
)

// wasmSections has LLVM's names of the sections of modules, by id.
var wasmSections = []string{
	"", "TYPE", "IMPORT", "FUNCTION", "TABLE", "MEMORY", "GLOBAL", "EXPORT", "START", "ELEM", "CODE", "DATA", "DATACOUNT", "TAG",
}

func isWasm(head []byte) bool { return bytes.HasPrefix(head, []byte(wasmMagic)) }

// parseWasm parses a module, or a component, whose image has the sections of all its modules. Data segments are
// sections, too, by the names that compilers and linkers give them; only they are loaded. The build id of a module is
// not read, because its profiles do not have it.
func parseWasm(data []byte) (*Image, error) {
	im := &Image{Format: Wasm, Kind: Executable, Arch: "wasm32", Order: binary.LittleEndian, PtrSize: 4, data: data}
	return im, im.wasmFile(0, data, maxWasmLevels)
}

// WasmVersion returns the version of a WebAssembly file: 1 for modules.
func WasmVersion(data []byte) (version uint32, ok bool) {
	if len(data) < HeadSize || !isWasm(data) {
		return 0, false
	}
	return binary.LittleEndian.Uint32(data[len(wasmMagic):]), true
}

// wasmFile reads a module or component that begins at an offset of the file.
func (im *Image) wasmFile(base int64, data []byte, levels int) error {
	c := cursor.New("WebAssembly header", base, data, im.Order)
	magic, version := c.Bytes(uint64(len(wasmMagic)), "magic"), c.U32("version")
	switch {
	case c.Err() != nil:
		return c.Err()
	case !isWasm(magic):
		return c.At(base).Field("magic").Gotf("%q", magic).Wantf("%q", wasmMagic).Corrupt()
	case version != wasmModule && version != wasmComponent:
		return c.At(base+4).Field("version").Gotf("%#x", version).
			Wantf("%#x of a module, or %#x of a component", wasmModule, wasmComponent).Unsupported()
	case levels == 0:
		return c.At(base).Field("components in components").Gotf("more than %d", maxWasmLevels).Wantf("at most %d", maxWasmLevels).Unsupported()
	}
	m := wasmReader{Image: im, first: len(im.Sections)}
	c = cursor.New("WebAssembly sections", c.Offset(), c.Rest(), im.Order)
	for i := 0; c.Len() > 0; i++ {
		c.Record = i
		id, size := c.U8("id"), c.ULEB("size")
		body := cursor.New(fmt.Sprintf("WebAssembly section %d", id), c.Offset(), c.Bytes(size, "contents"), im.Order)
		switch {
		case c.Err() != nil:
			return c.Err()
		case id == wasmCustom:
			m.custom(body)
		case version == wasmModule:
			m.section(id, body)
		case id == wasmModuleIn || id == wasmComponentIn:
			body.Fail(im.wasmFile(body.Offset(), body.Rest(), levels-1))
		}
		if body.Err() != nil {
			return body.Err()
		}
	}
	return nil
}

// A wasmReader reads the sections of one module.
type wasmReader struct {
	*Image
	first, segments int  // index of the section of the first data segment; the number of data segments
	object          bool // imports the memory as objects do
}

// add adds the bytes that are left to the sections.
func (m *wasmReader) add(name string, c *cursor.Cursor) *Section {
	n := uint64(c.Len())
	m.Sections = append(m.Sections, Section{Name: name, Offset: c.Offset(), Size: n, FileSize: n})
	return &m.Sections[len(m.Sections)-1]
}

func (m *wasmReader) section(id uint8, c *cursor.Cursor) {
	if int(id) < len(wasmSections) {
		c.Section = wasmSections[id]
	}
	m.add(c.Section, c)
	switch id {
	case wasmImports:
		m.imports(*c)
	case wasmMemories:
		for range c.Count(c.ULEB("number of memories"), 2, "number of memories") {
			m.memory(c)
		}
	case wasmData:
		m.data(c)
	}
}

// imports looks for an imported memory. It stops at types that it does not know.
func (m *wasmReader) imports(c cursor.Cursor) {
	for n := c.ULEB("number of imports"); n > 0 && c.Err() == nil; n-- {
		c.Skip(c.ULEB("length of the module"), "module")
		name := c.Bytes(c.ULEB("length of the name"), "name")
		m.object = m.object || string(name) == wasmObjectMemory
		switch c.U8("kind") {
		case 0: // function
			c.ULEB("type")
		case 1: // table
			skipWasmType(&c)
			wasmLimits(&c)
		case 2:
			m.memory(&c)
		case 3: // global
			skipWasmType(&c)
			c.U8("mutable")
		case 4: // tag
			c.U8("attribute")
			c.ULEB("type")
		default:
			return
		}
	}
}

// skipWasmType skips the type of a value. A reference to a type of the module has more than one byte.
func skipWasmType(c *cursor.Cursor) {
	const reference, nullReference = 0x64, 0x63
	if t := c.U8("type"); t == reference || t == nullReference {
		c.SLEB("type of the object")
	}
}

func wasmLimits(c *cursor.Cursor) (flags uint8) {
	flags = c.U8("flags")
	c.ULEB("least size")
	if flags&wasmHasMax != 0 {
		c.ULEB("greatest size")
	}
	if flags&wasmHasPage != 0 {
		c.ULEB("size of a page")
	}
	return flags
}

func (m *wasmReader) memory(c *cursor.Cursor) {
	if wasmLimits(c)&wasmMemory64 != 0 {
		m.Arch, m.PtrSize = "wasm64", 8
	}
}

func (m *wasmReader) data(c *cursor.Cursor) {
	m.first, m.segments = len(m.Sections), c.Count(c.ULEB("number of data segments"), 2, "number of data segments")
	m.Sections = slices.Grow(m.Sections, m.segments)
	for i := range m.segments {
		c.Record = i
		mode, addr := c.ULEB("mode"), uint64(0)
		if mode == wasmInMemory {
			c.ULEB("memory")
		}
		if mode != wasmPassive {
			addr = wasmAddress(c)
		}
		size, at := c.ULEB("size"), c.Offset()
		c.Skip(size, "contents")
		if c.Err() != nil {
			m.segments = i
			return
		}
		m.Sections = append(m.Sections, Section{Addr: addr, Offset: at, Size: size, FileSize: size, Loaded: true})
	}
}

// wasmAddress reads the expression of an address, and returns the constant at its end; 0 if there is none.
func wasmAddress(c *cursor.Cursor) (addr uint64) {
	const (
		end, globalGet     = 0x0b, 0x23
		i32Const, i64Const = 0x41, 0x42
		i32Add, i32Mul     = 0x6a, 0x6c
		i64Add, i64Mul     = 0x7c, 0x7e
	)
	for {
		at := c.Offset()
		switch op := c.U8("instruction"); {
		case c.Err() != nil || op == end:
			return addr
		case op == globalGet:
			c.ULEB("global")
		case op == i32Const:
			addr = uint64(uint32(c.SLEB("constant")))
		case op == i64Const:
			addr = uint64(c.SLEB("constant"))
		case i32Add <= op && op <= i32Mul || i64Add <= op && op <= i64Mul:
		default:
			c.Fail(c.At(at).Field("instruction of an address").Gotf("%#x", op).Want("a constant, a global, or arithmetic").Unsupported())
		}
	}
}

// custom reads a custom section. Engines ignore a damaged "name", so it only leaves data segments without names.
func (m *wasmReader) custom(c *cursor.Cursor) {
	name := string(c.Bytes(c.ULEB("length of the name"), "name of a custom section"))
	if c.Err() != nil {
		return
	}
	c.Section = name
	m.add(name, c)
	switch name {
	case "name":
		names := *c
		wasmParts(&names, wasmNameSegments, func(c *cursor.Cursor) {
			i := c.ULEB("index of a data segment")
			m.name(i, c, false)
		})
	case "linking":
		// Linkers keep the section in modules that they made with --emit-relocs.
		if m.object {
			m.Kind = Object
		}
		c.ULEB("version")
		i := uint64(0)
		wasmParts(c, wasmLinkingSegments, func(c *cursor.Cursor) {
			m.name(i, c, true)
			c.ULEB("alignment")
			c.ULEB("flags")
			i++
		})
	case "dylink.0", "dylink":
		m.Kind, m.Movable = Shared, true
	}
}

// wasmParts calls read for each entry of the parts with an id.
func wasmParts(c *cursor.Cursor, id uint8, read func(c *cursor.Cursor)) {
	for c.Len() > 0 && c.Err() == nil {
		found, size := c.U8("kind of the part"), c.ULEB("size of the part")
		part := cursor.New(c.Section, c.Offset(), c.Bytes(size, "part"), c.Order())
		if found != id || c.Err() != nil {
			continue
		}
		for n := part.ULEB("number of data segments"); n > 0 && part.Err() == nil; n-- {
			read(part)
		}
		if part.Err() != nil {
			c.Fail(part.Err())
		}
	}
}

// name reads the name of a data segment.
func (m *wasmReader) name(i uint64, c *cursor.Cursor, forLinker bool) {
	name := c.Bytes(c.ULEB("length of the name"), "name of a data segment")
	if i < uint64(m.segments) {
		s := &m.Sections[m.first+int(i)]
		s.Name, s.ForLinker = string(name), forLinker
	}
}

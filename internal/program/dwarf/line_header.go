package dwarf

import (
	"strings"
)

// A lineHeader is the beginning of a line table.
//
//	unit_length 4 or 12, version 2,
//	address_size 1, segment_selector_size 1     DWARF 5
//	header_length 4 or 8, minimum_instruction_length 1,
//	maximum_operations_per_instruction 1        DWARF 4 and 5
//	default_is_stmt 1, line_base 1, line_range 1, opcode_base 1,
//	standard_opcode_lengths, directories, files
type lineHeader struct {
	version        uint16
	minInstruction uint8
	maxOps         uint8
	lineBase       int8
	lineRange      uint8
	opcodeBase     uint8
	operands       [256]uint8 // of standard opcodes
	dirs           [][]byte   // DWARF 5: 0 is the compilation directory; before: from 1 on
	files          []lineFile // DWARF 5: from 0 on; before: from 1 on
}

// A lineFile is a source file. Its name aliases a section.
type lineFile struct {
	name []byte
	dir  uint64
}

// readHeader reads the header of a unit's line table and returns a reader of the program.
func (h *lineHeader) readHeader(c *cu) (r buf, err error) {
	off := c.line.u
	section := at(c.d.s.Line, off, c.d.BigEndian)
	r, offSize := section.unit()
	if r.bad {
		return r, c.d.cut("line", off, "line table")
	}
	h.version = r.u16()
	if !r.bad && (h.version < 2 || h.version > 5) {
		return r, c.d.at("line", off).Field("version of the line table").Got(h.version).Want("2 to 5").Unsupported()
	}
	f := format{version: h.version, addrSize: c.addrSize, offSize: offSize}
	if h.version >= 5 {
		f.addrSize = r.u8()
		r.skip(1) // segment_selector_size
	}
	header := r.part(r.uint(offSize))
	if r.bad {
		return r, c.d.cut("line", off, "header of the line table")
	}
	h.minInstruction = header.u8()
	h.maxOps = 1
	if h.version >= 4 {
		h.maxOps = header.u8()
	}
	header.skip(1) // default_is_stmt
	h.lineBase, h.lineRange = int8(header.u8()), header.u8()
	h.opcodeBase = header.u8()
	for i := 1; i < int(h.opcodeBase); i++ {
		h.operands[i] = header.u8()
	}
	if h.version >= 5 {
		h.readTables(&header, c, f)
	} else {
		h.readOldTables(&header)
	}
	if header.bad {
		return r, c.d.at("line", off).Field("header of the line table").Got("cut off or damaged").Corrupt()
	}
	return r, nil
}

func (h *lineHeader) readOldTables(r *buf) {
	for {
		dir := r.cstring()
		if len(dir) == 0 {
			break
		}
		h.dirs = append(h.dirs, dir)
	}
	for h.readFile(r) {
	}
}

// readFile reads a file: name, directory, time and length; an empty name ends the list.
func (h *lineHeader) readFile(r *buf) bool {
	name := r.cstring()
	if len(name) == 0 {
		return false
	}
	f := lineFile{name: name, dir: r.uleb()}
	r.skipULEB()
	r.skipULEB()
	if !r.bad {
		h.files = append(h.files, f)
	}
	return !r.bad
}

// readTables reads the directories and files of DWARF 5, each list preceded by the description of its entries.
func (h *lineHeader) readTables(r *buf, c *cu, f format) {
	table := func(yield func(lineFile)) {
		specs := make([]attrSpec, r.u8())
		for i := range specs {
			specs[i] = attrSpec{attr: narrow(r.uleb()), form: narrow(r.uleb())}
		}
		n := r.uleb()
		if n > uint64(len(r.b)-r.off) || len(specs) == 0 && n > 0 {
			r.fail() // an entry has a byte at least
		}
		for i := uint64(0); i < n && !r.bad; i++ {
			var e lineFile
			for _, s := range specs {
				switch v := readValue(r, s, f); s.attr {
				case lnctPath:
					e.name = c.lineString(r, v)
				case lnctDirectoryIndex:
					e.dir = v.u
				}
			}
			yield(e)
		}
	}
	table(func(e lineFile) { h.dirs = append(h.dirs, e.name) })
	table(func(e lineFile) { h.files = append(h.files, e) })
}

func (c *cu) lineString(r *buf, v value) []byte {
	if v.form == formString {
		inline := at(r.b, v.u, r.big)
		return inline.cstring()
	}
	return c.string(v)
}

// path returns the path of a file as llvm-symbolizer prints it: joined with its directory and the compilation
// directory, but not otherwise cleaned up. It is empty if there is no such file.
func (h *lineHeader) path(file uint32, compDir []byte) string {
	i := uint64(file)
	if h.version < 5 {
		i-- // 0 wraps around, and is no file
	}
	if i >= uint64(len(h.files)) {
		return ""
	}
	f := &h.files[i]
	if isAbs(f.name) {
		return string(f.name)
	}
	var dir []byte
	d := f.dir
	if h.version < 5 {
		d--
	}
	if d < uint64(len(h.dirs)) {
		dir = h.dirs[d]
	}
	var b strings.Builder
	// In DWARF 5 directory 0 is the compilation directory.
	if (h.version < 5 || f.dir != 0) && !isAbs(dir) {
		appendPath(&b, compDir)
	}
	appendPath(&b, dir)
	appendPath(&b, f.name)
	return b.String()
}

// relativePath returns the path of a file without the compilation directory.
func (h *lineHeader) relativePath(file uint32) string {
	if h.version >= 5 && uint64(file) < uint64(len(h.files)) && h.files[file].dir == 0 {
		return string(h.files[file].name)
	}
	return h.path(file, nil)
}

func appendPath(b *strings.Builder, component []byte) {
	if len(component) == 0 {
		return
	}
	if s := b.String(); s != "" {
		if s[len(s)-1] == '/' {
			for len(component) > 0 && component[0] == '/' {
				component = component[1:]
			}
		} else if component[0] != '/' {
			b.WriteByte('/')
		}
	}
	b.Write(component)
}

func isAbs(p []byte) bool {
	switch {
	case len(p) == 0:
		return false
	case p[0] == '/':
		return true
	case len(p) > 2 && p[0] == '\\' && p[1] == '\\':
		return true
	}
	return len(p) > 2 && p[1] == ':' && (p[2] == '/' || p[2] == '\\') && 'a' <= p[0]|0x20 && p[0]|0x20 <= 'z'
}

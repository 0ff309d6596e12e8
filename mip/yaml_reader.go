package mip

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/profile"
)

// yamlReader reads a profile that WriteYAML or "llvm-mipdata mip2yaml" wrote,
// or that was edited by hand: keys may stand in any order, but the header
// comes before the profiles.
type yamlReader struct {
	about  Info
	start  yamlScanner // at the value of "Profiles"
	narrow bool        // addresses have 32 bits, as in generation A
	buf    Function
}

// looksLikeYAML reports whether the first line with content is the key Header.
func looksLikeYAML(data []byte) bool {
	if i := bytes.IndexAny(data[:min(len(data), 8)], "\x00\xfb"); i >= 0 {
		return false
	}
	s := newYAMLScanner(data[:min(len(data), 1<<12)])
	return s.err == nil && !s.eof && s.col == 0 && bytes.HasPrefix(bytes.Trim(s.text, `"'`), []byte(keyHeader)) &&
		bytes.IndexByte(s.text, ':') > 0
}

func newYAMLReader(data []byte, warn func(error)) (decoder, error) {
	r := &yamlReader{about: Info{FileType: FileYAML, Functions: -1}}
	s := newYAMLScanner(data)
	parts := 0
	s.mapping(func(key []byte) {
		switch {
		case parts == 0 && string(key) == keyHeader:
			r.header(&s, warn)
		case parts == 1 && string(key) == keyProfiles:
			r.start = s
			s.text, s.eof = nil, true // the rest is read by records
		default:
			s.fail(s.line, profile.ErrCorrupt, "key", quoteShort(key), "Header, then Profiles")
		}
		parts++
	})
	if s.err == nil && parts < 2 {
		s.fail(s.line, profile.ErrTruncated, "document", "ended", "the keys Header and Profiles")
	}
	return r, s.err
}

func (r *yamlReader) info() *Info { return &r.about }

// yamlFields checks that a mapping has each of its keys once.
type yamlFields struct {
	keys []string
	seen uint
	line int // of the mapping's first key
}

func newYAMLFields(s *yamlScanner, keys ...string) yamlFields {
	return yamlFields{keys: keys, line: s.line}
}

// take notes a key; anything unexpected is a failure.
func (f *yamlFields) take(s *yamlScanner, key []byte) {
	for i, k := range f.keys {
		if k != string(key) {
			continue
		}
		if f.seen&(1<<i) != 0 {
			s.fail(s.line, profile.ErrCorrupt, "key", quoteShort(key), "each key once")
		}
		f.seen |= 1 << i
		return
	}
	s.fail(s.line, profile.ErrCorrupt, "key", quoteShort(key), "a key of the format")
}

// finish sees that no key is missing, but for those of optional.
func (f *yamlFields) finish(s *yamlScanner, optional string) {
	for i, k := range f.keys {
		if f.seen&(1<<i) == 0 && k != optional {
			s.fail(f.line, profile.ErrCorrupt, "key "+k, "missing", "a value")
		}
	}
}

func (r *yamlReader) header(s *yamlScanner, warn func(error)) {
	s.block(0, keyHeader)
	fields := newYAMLFields(s, keyFileType, keyProfileType, keyModuleHash)
	col := s.col
	s.mapping(func(key []byte) {
		fields.take(s, key)
		switch string(key) {
		case keyFileType:
			r.fileType(s, col, warn)
		case keyProfileType:
			line := s.line
			s.sequence(col, keyProfileType, func(flow bool) { r.about.Type |= yamlProfileType(s, flow) })
			if want, class := r.about.Type.check(); s.err == nil && class != nil {
				s.fail(line, class, keyProfileType, r.about.Type.String(), want)
			}
		case keyModuleHash:
			r.about.ModuleHash = uint32(s.number(keyModuleHash, 32))
		}
	})
	fields.finish(s, "")
}

// fileType reads the type. As in the reference it is taken to be that of a
// profile whatever it says. Generation A has a scalar there.
func (r *yamlReader) fileType(s *yamlScanner, col int, warn func(error)) {
	line, bits := s.line, uint16(0)
	add := func(v []byte) {
		for _, t := range yamlFileTypes {
			if t.name == string(v) {
				bits |= t.bit
				return
			}
		}
		s.fail(s.line, profile.ErrCorrupt, keyFileType, quoteShort(v), "[ .mip ]")
	}
	if s.err == nil && !isYAMLEnd(s.text) && s.text[0] != '[' {
		r.narrow = true
		add(s.scalar(""))
		s.endLine()
	} else {
		s.sequence(col, keyFileType, func(flow bool) { add(s.item(flow)) })
	}
	if s.err == nil && bits&fileTypeKindBits != fileTypeBMIP {
		warn(&profile.FormatError{
			Section: "YAML", Offset: -1, Line: line, Record: -1, Field: keyFileType,
			Found: fmt.Sprintf("%#x", bits), Want: "[ .mip ]", Err: profile.ErrCorrupt,
		})
	}
}

// item reads a scalar of a sequence.
func (s *yamlScanner) item(flow bool) []byte {
	if flow {
		return s.scalar(",]")
	}
	return s.scalarLine()
}

func yamlProfileType(s *yamlScanner, flow bool) ProfileType {
	line := s.line
	v := s.item(flow)
	for _, n := range profileTypeNames {
		if n.name == string(v) {
			return n.bit
		}
	}
	s.fail(line, profile.ErrCorrupt, keyProfileType, quoteShort(v), "a type of profile, as Function Coverage")
	return 0
}

func (r *yamlReader) records(yield func(*Function, error) bool) {
	s, stopped := r.start, false
	next := 0
	s.sequence(0, keyProfiles, func(flow bool) {
		s.record = next
		next++
		if flow {
			s.fail(s.line, profile.ErrUnsupported, keyProfiles, quoteShort(s.text), "[] or a mapping for each in the lines below")
			return
		}
		r.function(&s)
		if s.err == nil && !yield(&r.buf, nil) {
			stopped, s.eof = true, true
		}
	})
	if stopped {
		return
	}
	s.record = -1
	if s.err == nil && !s.eof {
		s.fail(s.line, profile.ErrCorrupt, "key", quoteShort(s.text), "nothing after Profiles")
	}
	if s.err != nil {
		yield(nil, s.err)
	}
}

// function reads one item of Profiles into r.buf.
func (r *yamlReader) function(s *yamlScanner) {
	fields := newYAMLFields(s, keyFunctionName, keySignature, keyRawOffset, keyAddress, keySize, keyCFG,
		keyMergeCount, keyCallCount, keyTimestampSum, keyBlocks, keyCallEdges, keySourceInfo)
	f, line, col := &r.buf, s.line, s.col
	*f = Function{Blocks: f.Blocks[:0], CallEdges: f.CallEdges[:0]}
	var signature uint64
	entry := false
	s.mapping(func(key []byte) {
		fields.take(s, key)
		switch string(key) {
		case keyFunctionName:
			f.Name = s.name()
		case keySignature:
			signature = s.number(keySignature, 64)
		case keyRawOffset:
			f.RawOffset = s.number(keyRawOffset, 64)
		case keyAddress:
			f.Address = int64(s.number(keyAddress, 64))
			if r.narrow {
				f.Address = int64(int32(f.Address))
			}
		case keySize:
			f.Size = uint32(s.number(keySize, 32))
		case keyCFG:
			f.CFG = uint32(s.number(keyCFG, 32))
		case keyMergeCount:
			f.MergeCount = uint32(s.number(keyMergeCount, 32))
		case keyCallCount:
			f.CallCount = s.number(keyCallCount, 64)
		case keyTimestampSum:
			f.TimestampSum = s.number(keyTimestampSum, 64)
		case keyBlocks:
			entry = r.blocks(s, col)
		case keyCallEdges:
			r.edges(s, col)
		case keySourceInfo:
			skipSourceInfo(s, col)
		}
	})
	fields.finish(s, keySourceInfo)
	if s.err != nil {
		return
	}
	switch {
	case signature != f.Signature():
		s.fail(line, profile.ErrCorrupt, keySignature, fmt.Sprintf("%#x", signature),
			fmt.Sprintf("%#x, that of %s", f.Signature(), quoteShort([]byte(f.Name))))
	case f.RawOffset < headerSizeA || f.RawOffset >= rawOffsetLimit:
		s.fail(line, profile.ErrCorrupt, keyRawOffset, fmt.Sprintf("%#x", f.RawOffset), rawOffsetWant(headerSizeA))
	case entry != f.EntryCovered():
		s.fail(line, profile.ErrCorrupt, "Covered of the entry block", fmt.Sprint(entry), fmt.Sprintf("%t, as the counts have it", f.EntryCovered()))
	}
}

// blocks reads the blocks of r.buf. The first is the entry block, of which it
// returns whether it is covered.
func (r *yamlReader) blocks(s *yamlScanner, col int) (entry bool) {
	line, n := s.line, 0
	s.sequence(col, keyBlocks, func(flow bool) {
		if flow {
			s.fail(s.line, profile.ErrUnsupported, keyBlocks, quoteShort(s.text), "a mapping for each in the lines below")
			return
		}
		b := readYAMLBlock(s)
		switch {
		case n > 0:
			r.buf.Blocks = append(r.buf.Blocks, b)
		case b.Offset != 0:
			s.fail(line, profile.ErrCorrupt, "Offset of the first block", fmt.Sprintf("%#x", b.Offset), "0x0, the entry block's")
		default:
			entry = b.Covered
		}
		n++
	})
	if n == 0 {
		s.fail(line, profile.ErrCorrupt, keyBlocks, "empty", "at least the entry block")
	}
	return entry
}

func readYAMLBlock(s *yamlScanner) (b Block) {
	fields := newYAMLFields(s, keyOffset, keyCovered)
	s.mapping(func(key []byte) {
		fields.take(s, key)
		switch string(key) {
		case keyOffset:
			b.Offset = uint32(s.number(keyOffset, 32))
		case keyCovered:
			b.Covered = s.bool(keyCovered)
		}
	})
	fields.finish(s, "")
	return b
}

// edges reads the call edges of r.buf.
func (r *yamlReader) edges(s *yamlScanner, col int) {
	s.sequence(col, keyCallEdges, func(flow bool) {
		if flow {
			s.fail(s.line, profile.ErrUnsupported, keyCallEdges, quoteShort(s.text), "[] or a mapping for each in the lines below")
			return
		}
		line, fields := s.line, newYAMLFields(s, keySource, keyWeight)
		var e CallEdge
		s.mapping(func(key []byte) {
			fields.take(s, key)
			switch string(key) {
			case keySource:
				e.Source = int32(s.number(keySource, 32))
			case keyWeight:
				e.Weight = s.number(keyWeight, 64)
			}
		})
		fields.finish(s, "")
		if n := len(r.buf.CallEdges); n > 0 && r.buf.CallEdges[n-1].Source >= e.Source {
			s.fail(line, profile.ErrCorrupt, keySource, fmt.Sprintf("%#x", uint32(e.Source)), "ascending addresses")
		}
		r.buf.CallEdges = append(r.buf.CallEdges, e)
	})
}

func skipSourceInfo(s *yamlScanner, col int) {
	s.block(col, keySourceInfo)
	fields := newYAMLFields(s, keyFileName, keyFunctionName, keyLine)
	s.mapping(func(key []byte) {
		fields.take(s, key)
		if string(key) == keyLine {
			s.number(keyLine, 32)
		} else {
			s.scalarLine()
		}
	})
	fields.finish(s, "")
}

// name reads a function name.
func (s *yamlScanner) name() string {
	line := s.line
	v := s.scalarLine()
	if s.err == nil && (!utf8.Valid(v) || bytes.IndexByte(v, 0) >= 0) {
		s.fail(line, profile.ErrCorrupt, keyFunctionName, quoteShort(v), "UTF-8 without a zero byte")
	}
	return string(v)
}

func (s *yamlScanner) bool(field string) bool {
	line := s.line
	switch v := s.scalarLine(); string(v) {
	case "true":
		return true
	case "false":
	default:
		s.fail(line, profile.ErrCorrupt, field, quoteShort(v), "true or false")
	}
	return false
}

// number reads a decimal or 0x number of at most the given bits.
func (s *yamlScanner) number(field string, bits int) uint64 {
	line := s.line
	text := s.scalarLine()
	if s.err != nil {
		return 0
	}
	v, err := uint64(0), strconv.ErrSyntax
	switch {
	case len(text) > 2 && text[0] == '0' && text[1]|0x20 == 'x':
		v, err = parseHex(text[2:], bits)
	case len(text) == 1 || len(text) > 1 && text[0] != '0': // what begins with 0 is octal to LLVM
		v, err = strconv.ParseUint(string(text), 10, bits)
	}
	if errors.Is(err, strconv.ErrRange) {
		s.fail(line, profile.ErrCorrupt, field, quoteShort(text), fmt.Sprintf("%d bits", bits))
	} else if err != nil {
		s.fail(line, profile.ErrCorrupt, field, quoteShort(text), "a decimal number or 0x and hexadecimal digits")
	}
	return v
}

func parseHex(digits []byte, bits int) (uint64, error) {
	return strconv.ParseUint(string(digits), 16, bits)
}

package mip

import (
	"bytes"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmyaml"
)

// A yamlReader reads a profile that WriteYAML or "llvm-mipdata mip2yaml" wrote, or that
// was edited by hand: keys may be in any order, but the header precedes the profiles.
type yamlReader struct {
	Info
	start  *llvmyaml.Scanner // at the value of "Profiles"
	narrow bool              // addresses have 32 bits, as in generation A
	buf    Function
}

// looksLikeYAML reports whether the first line with content is the key Header.
func looksLikeYAML(data []byte) bool {
	data = data[:min(len(data), 1<<12)]
	if bytes.ContainsAny(data[:min(len(data), 8)], "\x00\xfb") {
		return false
	}
	for line := range bytes.Lines(data) {
		text := bytes.TrimLeft(line, " \t\r\n")
		switch {
		case len(text) == 0, text[0] == '#', bytes.HasPrefix(line, []byte("---")):
		case len(text) < len(line):
			return false // Header begins in the first column
		default:
			return bytes.HasPrefix(bytes.TrimLeft(text, `"'`), []byte(keyHeader)) && bytes.IndexByte(text, ':') > 0
		}
	}
	return false
}

func newYAMLReader(data []byte, warn func(error)) (decoder, error) {
	r := &yamlReader{Info: Info{Format: FormatYAML, Functions: -1}}
	s := llvmyaml.NewScanner(data)
	parts := 0
	s.Mapping(func(key string) {
		switch {
		case parts == 0 && key == keyHeader:
			r.header(s, warn)
		case parts == 1 && key == keyProfiles:
			r.start = s.Rest() // read by records
		default:
			s.Fail(s.At(s.Line()).Field("key").Got(flaw.Quote(key)).Want("Header, then Profiles").Corrupt())
		}
		parts++
	})
	if parts < 2 {
		s.Fail(s.At(s.Line()).Field("document").Got("ended").Want("the keys Header and Profiles").Truncated())
	}
	return r, s.Err()
}

var yamlHeaderKeys = []string{keyFileType, keyProfileType, keyModuleHash}

func (r *yamlReader) header(s *llvmyaml.Scanner, warn func(error)) {
	s.Fields(yamlHeaderKeys, func(key string) {
		switch key {
		case keyFileType:
			r.fileType(s, warn)
		case keyProfileType:
			line := s.Line()
			s.Sequence(func() { r.Type |= yamlProfileType(s) })
			if want, class := r.Type.check(); class != nil {
				s.Fail(s.At(line).Field(keyProfileType).Got(r.Type.String()).Want(want).Because(class))
			}
		case keyModuleHash:
			r.ModuleHash = uint32(s.Unsigned(key, 32))
		}
	})
}

// fileType reads the file type. Like the reference it treats all types as the type of a
// profile. In generation A the type is a scalar.
func (r *yamlReader) fileType(s *llvmyaml.Scanner, warn func(error)) {
	line, bits := s.Line(), uint16(0)
	add := func() {
		line := s.Line()
		v := s.Scalar()
		for _, t := range yamlFileTypes {
			if t.name == v {
				bits |= t.bit
				return
			}
		}
		s.Fail(s.At(line).Field(keyFileType).Got(flaw.Quote(v)).Want("[ .mip ]").Corrupt())
	}
	if r.narrow = s.AtScalar(); r.narrow {
		add()
	} else {
		s.Sequence(add)
	}
	if s.Err() == nil && bits&fileTypeKindBits != fileTypeBMIP {
		warn(flaw.In("YAML").OnLine(line).Field(keyFileType).Gotf("%#x", bits).Want("[ .mip ]").Corrupt())
	}
}

func yamlProfileType(s *llvmyaml.Scanner) ProfileType {
	line := s.Line()
	v := s.Scalar()
	for _, n := range profileTypeNames {
		if n.name == v {
			return n.bit
		}
	}
	s.Fail(s.At(line).Field(keyProfileType).Got(flaw.Quote(v)).Want("a type of profile, as Function Coverage").Corrupt())
	return 0
}

func (r *yamlReader) records(yield func(*Function, error) bool) {
	again := *r.start
	s, stopped, next := &again, false, 0
	s.Sequence(func() {
		s.Record = next
		next++
		r.function(s)
		if s.Err() == nil && !yield(&r.buf, nil) {
			stopped = true
			s.Rest()
		}
	})
	if stopped {
		return
	}
	s.Finish()
	if err := s.Err(); err != nil {
		yield(nil, err)
	}
}

var yamlFunctionKeys = []string{
	keyFunctionName, keySignature, keyRawOffset, keyAddress, keySize, keyCFG,
	keyMergeCount, keyCallCount, keyTimestampSum, keyBlocks, keyCallEdges, keySourceInfo,
}

// function reads one item of Profiles into r.buf.
func (r *yamlReader) function(s *llvmyaml.Scanner) {
	f, line := &r.buf, s.Line()
	*f = Function{Blocks: f.Blocks[:0], CallEdges: f.CallEdges[:0]}
	var signature uint64
	entry := false
	s.Fields(yamlFunctionKeys, func(key string) {
		switch key {
		case keyFunctionName:
			f.Name = yamlName(s)
		case keySignature:
			signature = s.Unsigned(key, 64)
		case keyRawOffset:
			f.RawOffset = s.Unsigned(key, 64)
		case keyAddress:
			f.Address = int64(s.Unsigned(key, 64))
			if r.narrow {
				f.Address = int64(int32(f.Address))
			}
		case keySize:
			f.Size = uint32(s.Unsigned(key, 32))
		case keyCFG:
			f.CFG = uint32(s.Unsigned(key, 32))
		case keyMergeCount:
			f.MergeCount = uint32(s.Unsigned(key, 32))
		case keyCallCount:
			f.CallCount = s.Unsigned(key, 64)
		case keyTimestampSum:
			f.TimestampSum = s.Unsigned(key, 64)
		case keyBlocks:
			entry = r.blocks(s)
		case keyCallEdges:
			r.edges(s)
		case keySourceInfo:
			skipSourceInfo(s)
		}
	}, keySourceInfo)
	if s.Err() != nil {
		return
	}
	switch {
	case signature != f.signature():
		s.Fail(s.At(line).Field(keySignature).Gotf("%#x", signature).
			Wantf("%#x, the signature of %s", f.signature(), flaw.Quote(f.Name)).Corrupt())
	case f.RawOffset < headerSizeA || f.RawOffset >= rawOffsetLimit:
		s.Fail(s.At(line).Field(keyRawOffset).Gotf("%#x", f.RawOffset).Want(rawOffsetWant(headerSizeA)).Corrupt())
	case entry != f.EntryCovered():
		s.Fail(s.At(line).Field("Covered of the entry block").Got(entry).
			Wantf("%t, as the counts have it", f.EntryCovered()).Corrupt())
	}
}

var yamlBlockKeys = []string{keyOffset, keyCovered}

// blocks reads the blocks of r.buf. The first one is the entry block; entry reports
// whether it is covered.
func (r *yamlReader) blocks(s *llvmyaml.Scanner) (entry bool) {
	line, n := s.Line(), 0
	s.Sequence(func() {
		var b Block
		s.Fields(yamlBlockKeys, func(key string) {
			if key == keyOffset {
				b.Offset = uint32(s.Unsigned(key, 32))
			} else {
				b.Covered = s.Bool(key)
			}
		})
		switch {
		case n > 0:
			r.buf.Blocks = append(r.buf.Blocks, b)
		case b.Offset != 0:
			s.Fail(s.At(line).Field("Offset of the first block").Gotf("%#x", b.Offset).
				Want("0x0, the entry block's").Corrupt())
		default:
			entry = b.Covered
		}
		n++
	})
	if n == 0 {
		s.Fail(s.At(line).Field(keyBlocks).Got("empty").Want("at least the entry block").Corrupt())
	}
	return entry
}

var yamlEdgeKeys = []string{keySource, keyWeight}

func (r *yamlReader) edges(s *llvmyaml.Scanner) {
	s.Sequence(func() {
		line := s.Line()
		var e CallEdge
		s.Fields(yamlEdgeKeys, func(key string) {
			if key == keySource {
				e.Source = int32(s.Unsigned(key, 32))
			} else {
				e.Weight = s.Unsigned(key, 64)
			}
		})
		if n := len(r.buf.CallEdges); n > 0 && r.buf.CallEdges[n-1].Source >= e.Source {
			s.Fail(s.At(line).Field(keySource).Gotf("%#x", uint32(e.Source)).Want("ascending addresses").Corrupt())
		}
		r.buf.CallEdges = append(r.buf.CallEdges, e)
	})
}

var yamlSourceKeys = []string{keyFileName, keyFunctionName, keyLine}

func skipSourceInfo(s *llvmyaml.Scanner) {
	s.Fields(yamlSourceKeys, func(key string) {
		if key == keyLine {
			s.Unsigned(key, 32)
		} else {
			s.Scalar()
		}
	})
}

func yamlName(s *llvmyaml.Scanner) string {
	line := s.Line()
	name := s.Scalar()
	if strings.IndexByte(name, 0) >= 0 {
		s.Fail(s.At(line).Field(keyFunctionName).Got(flaw.Quote(name)).Want("no zero byte").Corrupt())
	}
	return name
}

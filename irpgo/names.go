package irpgo

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/zlibtext"
)

// A names blob is one chunk per translation unit:
//
//	ULEB128 size of the names | ULEB128 compressed size, 0 = stored | payload
//
// The payload, a zlib stream unless stored, is the names joined by 0x01.
// Linkers may leave any number of zero bytes between chunks.

const nameSeparator = "\x01"

// decodeNames calls yield for every name in the blob, which begins at file
// offset base. The strings do not alias the blob.
func decodeNames(section string, base int64, blob []byte, yield func(name string)) error {
	c := cursor.New(section, base, blob, binary.LittleEndian)
	for c.Len() > 0 {
		start := c.Offset()
		size := c.ULEB("uncompressed size")
		packed := c.ULEB("compressed size")
		if c.Err() != nil {
			return c.Err()
		}
		var text string
		if packed == 0 {
			text = string(c.Bytes(size, "names"))
		} else {
			z := c.Bytes(packed, "compressed names")
			if c.Err() == nil {
				var err error
				if text, err = zlibtext.Inflate(z, size); err != nil {
					return fail(section, start, -1, CodeUncompressFailed, "", "compressed names", err.Error(), fmt.Sprintf("a zlib stream of %d bytes", size))
				}
			}
		}
		if c.Err() != nil {
			return c.Err()
		}
		for name := range strings.SplitSeq(text, nameSeparator) {
			if name == "" {
				return fail(section, start, -1, CodeMalformed, "symbol name is empty", "symbol name", "empty", "at least one byte")
			}
			yield(name)
		}
		for c.Len() > 0 && blob[c.Pos()] == 0 {
			c.Skip(1, "padding")
		}
	}
	return c.Err()
}

// appendNames appends one names chunk. Compression is zlib at the best level,
// as LLVM has it; the bytes differ from C zlib's, the content does not.
func appendNames(dst []byte, names []string, compress bool) []byte {
	if len(names) == 0 {
		return dst
	}
	joined := strings.Join(names, nameSeparator)
	dst = cursor.AppendULEB(dst, uint64(len(joined)))
	if !compress {
		dst = append(dst, 0)
		return append(dst, joined...)
	}
	z := zlibtext.Deflate(joined)
	dst = cursor.AppendULEB(dst, uint64(len(z)))
	return append(dst, z...)
}

// Symtab maps name references to names (InstrProfSymtab).
type Symtab struct {
	names map[uint64]string
}

// Add makes name known and returns its reference.
func (s *Symtab) Add(name string) uint64 {
	ref := NameRef(name)
	s.add(ref, name)
	return ref
}

func (s *Symtab) add(ref uint64, name string) {
	if s.names == nil {
		s.names = make(map[uint64]string)
	}
	if _, ok := s.names[ref]; !ok {
		s.names[ref] = name
	}
}

func (s *Symtab) clone() *Symtab { return &Symtab{maps.Clone(s.names)} }

// Name returns the name with the given reference, or "" when it is unknown.
func (s *Symtab) Name(ref uint64) string {
	if s == nil {
		return ""
	}
	return s.names[ref]
}

// Len returns the number of names known.
func (s *Symtab) Len() int {
	if s == nil {
		return 0
	}
	return len(s.names)
}

// Sorted returns all names in bytewise order.
func (s *Symtab) Sorted() []string {
	if s == nil {
		return nil
	}
	out := make([]string, 0, len(s.names))
	for _, n := range s.names {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// SplitName separates the source file prefix that names of local linkage
// carry: "dir/file.c;static_fn" since LLVM 18, "dir/file.c:static_fn" before
// and for front-end profiles. file is empty for external names.
func SplitName(name string) (file, symbol string) {
	if i := strings.IndexByte(name, ';'); i >= 0 {
		return name[:i], name[i+1:]
	}
	// Objective-C names ("-[Class method:]") contain colons themselves.
	if i := strings.IndexByte(name, ':'); i > 0 && !strings.HasPrefix(name, "-[") && !strings.HasPrefix(name, "+[") {
		if !strings.HasPrefix(name[i:], "::") {
			return name[:i], name[i+1:]
		}
	}
	return "", name
}

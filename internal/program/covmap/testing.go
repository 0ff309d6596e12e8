package covmap

import (
	"encoding/binary"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/program/object"
)

// Files of "llvm-cov convert-for-testing" (.covmapping) hold the mapping of a program without the program,
// which is little-endian and has pointers of 8 bytes:
//
//	testing = "llvmcovm" u64:version
//	          namesSize namesAddress names
//	          [ mappingSize ] padding mapping  unless the version is testingFirst; the padding is up to a multiple of 8 in the file
//	          [ padding functions ]            since version 4 of the mapping
//
// Numbers without a type are ULEB128.
const (
	testingMagic = "llvmcovm"
	testingFirst = "testdata" // the first version, as text
	testingV2    = "\x01\x00\x00\x00\x00\x00\x00\x00"
	mapHeader    = 16 // bytes of the header of a block of the mapping
)

// IsTesting reports whether data begins like a file of "llvm-cov convert-for-testing".
func IsTesting(data []byte) bool {
	return len(data) > len(testingMagic) && string(data[:len(testingMagic)]) == testingMagic
}

func readTesting(name string, data []byte, opt Options) (*Mapping, error) {
	order := binary.LittleEndian
	c := cursor.New("header", 0, data, order)
	c.Skip(uint64(len(testingMagic)), "magic")
	at := c.Offset()
	version := string(c.Bytes(8, "version"))
	if c.Err() == nil && version != testingFirst && version != testingV2 {
		return nil, c.At(at).Field("version").Got(order.Uint64([]byte(version))).Wantf("%q or 1", testingFirst).Corrupt()
	}
	names := &section{name: namesSection.usual}
	size := c.ULEB("size of the names")
	names.addr = c.ULEB("address of the names")
	names.at, names.data = c.Offset(), c.Bytes(size, "names")
	mapping := uint64(0)
	if version == testingV2 {
		mapping = c.ULEB("size of the mapping")
	}
	skipPadding(c)
	files := &section{name: filesSection.usual, at: c.Offset()}
	head := c.Rest()
	if c.Err() == nil && len(head) < mapHeader {
		return nil, c.At(c.Offset()).Field("mapping").Gotf("%d bytes", len(head)).Wantf("at least %d", mapHeader).Truncated()
	}
	if c.Err() != nil {
		return nil, c.Err()
	}
	own := order.Uint32(head[12:]) + 1
	if version == testingFirst {
		if mapping = uint64(len(head)); own >= 4 {
			mapping = mapHeader + uint64(order.Uint32(head[4:]))
		}
	}
	files.data = c.Bytes(mapping, "mapping")
	r := newObjectReader(name, &object.Image{Order: order, PtrSize: 8}, opt)
	r.names = names
	var functions *section
	if own >= 4 {
		skipPadding(c)
		functions = &section{name: functionsSection.usual, at: c.Offset(), data: c.Rest()}
	}
	if c.Err() != nil {
		return nil, c.Err()
	}
	return r.read(files, functions)
}

// skipPadding skips to the next multiple of 8, or to the end of the file.
func skipPadding(c *cursor.Cursor) {
	c.Skip(min(cursor.PadTo(uint64(c.Pos()), 8), uint64(c.Len())), "padding")
}

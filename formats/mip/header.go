package mip

import (
	"fmt"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
)

// A Format is a kind of MIP file (FileType of the header), by the usual suffix of the file's name.
type Format string

const (
	FormatRaw     Format = ".mipraw" // as an instrumented process writes it
	FormatRet     Format = ".mipret" // samples of return addresses; alone or at the end of a .mipraw
	FormatMap     Format = ".mipmap" // the functions of a linked binary
	FormatProfile Format = ".mip"    // merged
	FormatYAML    Format = ".yaml"   // a merged profile as YAML
)

// A generation is one of the two forms of the format with version number 8: A or B.
type generation = string

const (
	generationA generation = "A" // 24 bytes of header, 32-bit map records
	generationB generation = "B" // 32 bytes of header, the final form and the document's
)

type header struct {
	generation generation
	version    uint16
	fileType   Format
	typeWord   uint16 // FileType as in the file
	ptr        int    // bytes of an address: 4, 8, or 0 if the file does not say
	typ        ProfileType
	moduleHash uint32
	rawSection int64  // RawSectionOffset; 0 in generation A
	reserved   uint64 // bits that should be 0: Reserved, and RawSectionOffset in files other than maps
	noise      noise  // of private coverage, which these bits hold then
}

// size is the size of the header, after which the records start.
func (h *header) size() int {
	if h.generation == generationA {
		return headerSizeA
	}
	return headerSizeB
}

// hasMagic reports whether data begins like a MIP file.
func hasMagic(data []byte) bool { return len(data) >= 4 && le.Uint32(data) == magic }

// generationOf determines the generation from OffsetToData, which the generations have at
// different offsets, and from the width bits, which generation A lacks.
func generationOf(data []byte) generation {
	if len(data) >= headerSizeA && le.Uint32(data[offsetToDataA:]) == headerSizeA &&
		le.Uint16(data[fileTypeAt:])&^fileTypeKindBits == 0 {
		return generationA
	}
	return generationB
}

var fileTypes = map[generation][fileTypeKindBits + 1]Format{
	generationA: {fileTypeARaw: FormatRaw, fileTypeAMap: FormatMap, fileTypeAMIP: FormatProfile, fileTypeARet: FormatRet},
	generationB: {fileTypeBRaw: FormatRaw, fileTypeBRet: FormatRet, fileTypeBMap: FormatMap, fileTypeBMIP: FormatProfile},
}

func parseHeader(data []byte) (h header, err error) {
	switch {
	case len(data) == 0:
		return h, tooSmall(data, profile.ErrEmpty, "0 bytes")
	case !hasMagic(data) && !(len(data) < 4 && hasMagic(append(data[:len(data):len(data)], "\xfbMIP"[len(data):]...))):
		return h, flaw.At("header", 0).Field("magic").Gotf("% x", data[:min(4, len(data))]).Want("fb 4d 49 50").
			Because(&llvmerr.MIPError{Code: llvmerr.MIPBadMagic, Found: toolHex(uint64(firstWord(data))), Expected: toolHex(magic)})
	}
	h.generation = generationOf(data)
	if len(data) < h.size() {
		return h, tooSmall(data, profile.ErrTruncated, fmt.Sprintf("cut off after %d bytes", len(data)))
	}
	c := cursor.New("header", 0, data[:h.size()], le)
	c.U32("magic")
	h.version = c.U16("version")
	h.typeWord = c.U16("FileType")
	h.typ = ProfileType(c.U32("ProfileType"))
	h.moduleHash = c.U32("ModuleHash")
	if h.generation == generationB {
		v := c.U64("RawSectionOffset")
		h.rawSection = int64(v)
		switch {
		case h.typeWord&fileTypeKindBits != fileTypeBMap:
			h.reserved = v
		case h.typeWord&fileType32 != 0:
			h.rawSection, h.reserved = int64(int32(v)), v>>32
		}
	}
	flip, files := c.U32("Reserved"), h.reserved
	h.reserved |= uint64(flip)
	at := c.Offset()
	toData := c.U32("OffsetToData")
	if c.Err() != nil {
		return h, c.Err()
	}
	if err := h.check(); err != nil {
		return h, err
	}
	raw, merged := h.fileType == FormatRaw && files == 0, h.fileType == FormatProfile && files > 0
	if flip > 0 && flip < flipOne/2 && h.typ == FunctionCoverage && (raw || merged) {
		h.noise, h.reserved = noise{flip, files}, 0
	}
	if toData != uint32(h.size()) {
		return h, flaw.At("header", at).Field("OffsetToData").Gotf("%#x", toData).Wantf("%#x", h.size()).Corrupt()
	}
	return h, nil
}

// check checks the fields of the header, in the order of the reference, and sets the
// fields derived from them.
func (h *header) check() error {
	if h.version > versionMax {
		return flaw.At("header", 4).Field("version").Got(h.version).Wantf("at most %d", versionMax).
			Because(&llvmerr.MIPError{Code: llvmerr.MIPBadVersion, Found: fmt.Sprint(h.version), Expected: fmt.Sprint(versionMax)})
	}
	word := h.typeWord
	h.fileType = fileTypes[h.generation][word&fileTypeKindBits]
	if h.fileType == "" || word&^(fileTypeKindBits|fileType32|fileType64) != 0 {
		return flaw.At("header", fileTypeAt).Field("FileType").Gotf("%#x", word).Want("a raw profile, map or profile").
			Because(&llvmerr.MIPError{Code: llvmerr.MIPBadFileType, Found: toolHex(uint64(word)), Class: profile.ErrUnsupported})
	}
	switch word & (fileType32 | fileType64) {
	case fileType32:
		h.ptr = 4
	case fileType64:
		h.ptr = 8
	case fileType32 | fileType64:
		return flaw.At("header", fileTypeAt).Field("FileType").Gotf("%#x", word).Want("either 64 bit or 32 bit").
			Because(&llvmerr.MIPError{Code: llvmerr.MIPBothWidths, Found: toolHex(uint64(word))})
	}
	if want, class := h.typ.check(); class != nil {
		return flaw.At("header", 8).Field("ProfileType").Gotf("%#x", uint32(h.typ)).Want(want).
			Because(&llvmerr.MIPError{Code: llvmerr.MIPBadProfileType, Found: toolHex(uint64(h.typ)), Class: class})
	}
	return nil
}

// checkType returns an error for a header, at offset base of its file, of another type than want.
func (h *header) checkType(base int64, want Format) error {
	if h.fileType == want {
		return nil
	}
	types := fileTypes[generationB]
	return flaw.At("header", base+fileTypeAt).Field("FileType").Got(h.fileType).Want(string(want)).Because(&llvmerr.MIPError{
		Code: llvmerr.MIPBadFileType, Found: toolHex(uint64(h.typeWord)), Expected: toolHex(uint64(slices.Index(types[:], want))),
	})
}

// suspicious returns a warning about a header that is valid but unusual.
func (h *header) suspicious() error {
	if h.reserved == 0 {
		return nil
	}
	return flaw.At("header", int64(h.size())-8).Field("reserved bits").Gotf("%#x", h.reserved).Want("0").Corrupt()
}

func tooSmall(data []byte, class error, found string) error {
	return flaw.At("header", 0).Field("header").Got(found).Want("a whole one").
		Because(&llvmerr.MIPError{Code: llvmerr.MIPTooSmall, Found: fmt.Sprint(len(data)), Expected: fmt.Sprint(headerSizeB), Class: class})
}

// firstWord returns the first four bytes of data, padded with zeros.
func firstWord(data []byte) uint32 {
	var b [4]byte
	copy(b[:], data)
	return le.Uint32(b[:])
}

func appendHeader(dst []byte, p *Profile) []byte {
	dst = le.AppendUint32(dst, magic)
	dst = le.AppendUint16(dst, versionMax)
	dst = le.AppendUint16(dst, fileTypeBMIP)
	dst = le.AppendUint32(dst, uint32(p.Type))
	dst = le.AppendUint32(dst, p.ModuleHash)
	dst = le.AppendUint64(dst, p.noise().files) // RawSectionOffset
	dst = le.AppendUint32(dst, p.noise().flip)  // Reserved
	return le.AppendUint32(dst, headerSizeB)
}

// toolHex formats v like llvm-mipdata: upper case without prefix.
func toolHex(v uint64) string { return fmt.Sprintf("%X", v) }

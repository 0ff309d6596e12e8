package gcov

import (
	"encoding/binary"
	"fmt"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// Both kinds of files (gcc/gcov-io.h). A word is a u32 in the byte order of the file. A counter is two words, the
// low word first in either byte order. Lengths count words before GCC 12, and in all files of clang; bytes from GCC 12 on.
//
//	file      magic | version | stamp | header … | record* | 0
//	record    tag | length | body
//	string    length | text, zero bytes         before 12: up to a word; from 12: one zero byte
//
//	notes     … 7     (nothing)
//	notes     8       unexecuted
//	notes     9–11    working folder: string | unexecuted
//	notes     12–     checksum, 0 | working folder: string | unexecuted
//	counts    … 11    (nothing)
//	counts    12–     checksum
const (
	magicNotes  = 0x67636e6f // GCOV_NOTE_MAGIC
	magicCounts = 0x67636461 // GCOV_DATA_MAGIC
)

// The tags of records. Of counters of kind k the tag is tagCounters + k<<kindShift.
//
//	function   ident | lineno checksum | cfg checksum (4.7 on)
//	           in notes also: name: string | artificial (8 on) | source: string | start line
//	                          | start column, end line (8 on) | end column (9 on)
//	           in counts of length 0: the function is in an object that the program does not have
//	blocks     number (8 on); before: one word of flags for each block
//	arcs       block | (destination | flags)*
//	lines      block | (line, or 0 and a source: string)*; 0 and no string end it
//	conditions (block | number of terms)*
//	paths      number of prime paths
//	counters   counter*; a negative length: so many, all zero, without bytes
//	object     runs | sum of the greatest counters of each run (9 on)
//	program    checksum | number | runs | sum: counter | … (before 9)
const (
	tagFunction   = 0x01000000 // GCOV_TAG_FUNCTION
	tagBlocks     = 0x01410000 // GCOV_TAG_BLOCKS
	tagArcs       = 0x01430000 // GCOV_TAG_ARCS
	tagLines      = 0x01450000 // GCOV_TAG_LINES
	tagConditions = 0x01470000 // GCOV_TAG_CONDS
	tagPaths      = 0x01490000 // GCOV_TAG_PATHS
	tagCounters   = 0x01a10000 // GCOV_TAG_COUNTER_BASE
	tagObject     = 0xa1000000 // GCOV_TAG_OBJECT_SUMMARY
	tagProgram    = 0xa3000000 // GCOV_TAG_PROGRAM_SUMMARY
	kindShift     = 17
	maxKinds      = 16 // more than any release has
)

// The flags of arcs.
const (
	arcOnTree      = 1 // on the spanning tree: not counted
	arcFake        = 2 // from a call that may not return
	arcFallthrough = 4
)

// The releases at which the layout changes, as 100·major + minor.
const (
	releaseFlow   = 407  // two checksums of functions
	releaseExit   = 408  // the exit block has number 1; before, it is the last block
	releaseSpans  = 800  // artificial functions, columns, ends of functions, the number of blocks
	releaseFolder = 900  // the working folder; a summary of the object
	releaseLists  = 1100 // lists of values, negative lengths
	releaseBytes  = 1200 // lengths in bytes, a checksum of the file
)

// maxListed is the most values of a list (GCOV_TOPN_MAXIMUM_TRACKED_VALUES).
const maxListed = 32

// A Version is the word that names the release of the compiler: "B22*" is GCC 12.2.
type Version uint32

// String returns the four characters of the version.
func (v Version) String() string {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(v))
	return string(b[:])
}

// release returns 100·major + minor; 0 for words that are no version. A letter begins the versions from GCC 7 on.
func (v Version) release() int {
	text := v.String()
	digit := func(i int) int {
		if text[i] < '0' || text[i] > '9' {
			return -1
		}
		return int(text[i] - '0')
	}
	major, minor := digit(1), digit(2)
	switch {
	case major < 0 || minor < 0:
		return 0
	case text[0] >= 'A' && text[0] <= 'Z':
		return (10*int(text[0]-'A')+major)*100 + minor
	case digit(0) >= 0:
		return digit(0)*100 + 10*major + minor
	}
	return 0
}

// The first release that is not read.
const releaseUnknown = 1700

// Release returns the release in words: "GCC 12.2".
func (v Version) Release() string {
	r := v.release()
	return fmt.Sprintf("GCC %d.%d", r/100, r%100)
}

// Header is what notes and counts have in common.
type Header struct {
	Version Version
	Order   binary.ByteOrder
	// Stamp is a random word of the compilation. Notes and counts of one object have the same.
	Stamp uint32
	// Checksum is over the idents and checksums of all functions, in counts from GCC 12 on; otherwise 0.
	Checksum uint32

	release int
	unit    uint64 // bytes of the unit of lengths
}

// isBytes reports whether lengths count bytes.
func (h *Header) isBytes() bool { return h.unit == 1 }

// magicOf returns the magic number and byte order of a file; nil for another file.
func magicOf(data []byte) (magic uint32, order binary.ByteOrder) {
	if len(data) >= 4 {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			if magic := order.Uint32(data); magic == magicNotes || magic == magicCounts {
				return magic, order
			}
		}
	}
	return 0, nil
}

// Detect reports whether data, which may be the beginning of a file, is of this family, and whether it is notes.
// AutoFDO's sample profiles begin like counts of GCC 4.7; their first record differs.
func Detect(data []byte) (notes, ok bool) {
	magic, order := magicOf(data)
	if order == nil || len(data) < 8 {
		return magic == magicNotes, order != nil
	}
	release := Version(order.Uint32(data[4:])).release()
	if magic == magicCounts && release == releaseFlow {
		if len(data) < 16 {
			return false, false
		}
		tag := order.Uint32(data[12:])
		return false, tag == tagFunction || tag == tagObject || tag == tagProgram
	}
	return release != 0 && magic == magicNotes, release != 0
}

// StampOf returns the stamp of notes that begin with head; ok is false if these are not the first 12 bytes of notes.
func StampOf(head []byte) (stamp uint32, ok bool) {
	if notes, _ := Detect(head); !notes || len(head) < 12 {
		return 0, false
	}
	_, order := magicOf(head)
	return order.Uint32(head[8:]), true
}

// readHeader reads the words that all files begin with.
func readHeader(data []byte, wanted uint32, what string) (*Header, *cursor.Cursor, error) {
	magic, order := magicOf(data)
	if order == nil || magic != wanted {
		if len(data) == 0 {
			return nil, nil, flaw.Field("file").Got("0 bytes").Want(what).Empty()
		}
		return nil, nil, flaw.At("header", 0).Field("magic").Gotf("% x", data[:min(len(data), 4)]).Want(what).Unrecognized()
	}
	c := cursor.New("header", 0, data, order)
	c.U32("magic")
	h := &Header{Version: Version(c.U32("version")), Order: order, unit: 4}
	h.Stamp = c.U32("stamp")
	if c.Err() != nil {
		return nil, nil, c.Err()
	}
	if h.release = h.Version.release(); h.release < 304 || h.release >= releaseUnknown {
		return nil, nil, flaw.At("header", 4).Field("version").Got(flaw.Quote(h.Version.String())).Want("a release of GCC, 3.4 to 16").Unsupported()
	}
	if h.release >= releaseBytes && !inWords(data, order, magic) {
		h.unit = 1
	}
	return h, c, nil
}

// inWords reports whether a file has the layout of GCC 11 although its version is newer: clang writes no other, whatever
// version it is told to write.
func inWords(data []byte, order binary.ByteOrder, magic uint32) bool {
	word := func(at uint64) uint32 {
		if at+4 > uint64(len(data)) {
			return 0
		}
		return order.Uint32(data[at:])
	}
	isRecord := func(tag uint32) bool { return tag == tagFunction || tag == tagObject }
	if magic == magicCounts {
		return isRecord(word(12)) && !isRecord(word(16)) || len(data) > 12 && len(data) <= 20 && word(12) == 0 && word(16) == 0
	}
	// The record behind the first function has the blocks.
	follows := func(at, unit uint64) bool {
		at += 4 + unit*uint64(word(at)) + 4
		return word(at) == tagFunction && word(at+8+unit*uint64(word(at+4))) == tagBlocks
	}
	return follows(12, 4) && !follows(16, 1) || len(data) >= 16 && !follows(16, 1) && isEmptyInWords(data, order)
}

// isEmptyInWords reports whether data is clang's notes without a function.
func isEmptyInWords(data []byte, order binary.ByteOrder) bool {
	folder := 4 * uint64(order.Uint32(data[12:]))
	return folder > 0 && 12+4+folder+4+8 == uint64(len(data))
}

// readString reads a string. isNull is set for the length 0, which differs from an empty string.
func (h *Header) readString(c *cursor.Cursor, field string) (text string, isNull bool) {
	n := h.unit * uint64(c.U32("length of the "+field))
	b := c.Bytes(n, field)
	for i, char := range b {
		if char == 0 {
			b = b[:i]
			break
		}
	}
	return string(b), n == 0
}

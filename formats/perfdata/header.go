package perfdata

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// Detect returns the form of a recording, judged by its first bytes.
func Detect(data []byte) (Format, bool) {
	swapped := bytes.HasPrefix(data, []byte(magicSwapped))
	if !swapped && !bytes.HasPrefix(data, []byte(magic)) {
		return FormatScript, isScript(data)
	}
	order := byteOrder(swapped)
	if len(data) >= headerSizePipe && order.Uint64(data[len(magic):]) == headerSizePipe {
		return FormatPipe, true
	}
	return FormatFile, true
}

func byteOrder(swapped bool) binary.ByteOrder {
	if swapped {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// A section is a part of the file.
type section struct{ offset, size uint64 }

// cut returns the bytes of a section; less than all if the file ends before.
func (s section) cut(data []byte) (part []byte, whole bool) {
	size := uint64(len(data))
	if s.offset > size {
		return nil, s.size == 0
	}
	part = data[s.offset:]
	if s.size <= uint64(len(part)) {
		return part[:s.size], true
	}
	return part, false
}

// readHeader reads the header, the attributes and the features of a file, and returns where its records are.
// whole reports whether the recording says where they end.
func (r *reader) readHeader() (records []byte, offset int64, whole bool, err error) {
	c := cursor.New("header", 0, r.data, r.order)
	c.Skip(uint64(len(magic)), "magic")
	size, attrSize := c.U64("size"), c.U64("size of an attribute")
	attrs, data := readSection(c), readSection(c)
	c.Skip(sectionSize, "event types")
	switch {
	case c.Err() != nil:
		return nil, 0, false, c.Err()
	case size != headerSize && size != headerSizeNoBits:
		return nil, 0, false, flaw.At("header", int64(len(magic))).Field("size").Got(size).
			Wantf("%d, %d or, from a pipe, %d", headerSize, headerSizeNoBits, headerSizePipe).Corrupt()
	case attrSize == 0:
		return nil, 0, false, flaw.At("header", attrSizeAt).Field("size of an attribute").Got(0).Wantf("at least %d", attrSizeMin+sectionSize).
			Hint("perf record did not end properly").Truncated()
	}
	if err := r.readAttrs(attrs, attrSize); err != nil {
		return nil, 0, false, err
	}
	if data.offset > uint64(len(r.data)) {
		return nil, 0, false, flaw.At("header", dataAt).Field("offset of the data").Gotf("%#x", data.offset).
			Wantf("at most the file's size %#x", len(r.data)).Truncated()
	}
	if data.size == 0 { // features are written at the end, too
		return r.data[data.offset:], int64(data.offset), false, nil
	}
	if size == headerSize {
		if err := r.readFeatures(data); err != nil {
			r.warn(err)
		}
	}
	records, whole = data.cut(r.data)
	return records, int64(data.offset), whole, nil
}

func readSection(c *cursor.Cursor) section { return section{c.U64("offset"), c.U64("size")} }

// readAttrs reads the table of attributes.
func (r *reader) readAttrs(table section, each uint64) error {
	all, whole := table.cut(r.data)
	at := flaw.At("header", attrsAt)
	switch {
	case !whole:
		return at.Field("table of attributes").Gotf("%d bytes at %#x", table.size, table.offset).
			Wantf("at most the file's size %#x", len(r.data)).Truncated()
	case each < attrSizeMin+sectionSize || each > 1<<16 || each%8 != 0:
		return flaw.At("header", attrSizeAt).Field("size of an attribute").Got(each).
			Wantf("a multiple of 8, at least %d", attrSizeMin+sectionSize).Corrupt()
	}
	for i := 0; len(all) >= int(each); i, all = i+1, all[each:] {
		entry := all[:each-sectionSize]
		here := flaw.At("attributes", int64(table.offset)+int64(i)*int64(each)).InRecord(i)
		n := r.attrLen(entry)
		if n == 0 {
			return here.Field("size of the attribute").Got(r.u32(entry[attrLenAt:])).Wantf("%d to %d", attrSizeMin, len(entry)).Corrupt()
		}
		where := section{r.u64(all[each-sectionSize:]), r.u64(all[each-8:])}
		ids, whole := where.cut(r.data)
		if !whole {
			return here.Field("ids").Gotf("%d bytes at %#x", where.size, where.offset).
				Wantf("at most the file's size %#x", len(r.data)).Truncated()
		}
		r.addEvent(entry[:n], ids)
	}
	return nil
}

// readFeatures reads the features, whose table is behind the data. The recording is readable without them.
func (r *reader) readFeatures(data section) error {
	table, whole := section{data.offset, data.size}.cut(r.data)
	if !whole {
		return nil // Cut says so
	}
	base := int64(data.offset) + int64(len(table))
	c := cursor.New("features", base, r.data[base:], r.order)
	for _, feature := range r.featureBits() {
		where := readSection(c)
		if c.Err() != nil {
			return c.Err()
		}
		contents, whole := where.cut(r.data)
		if !whole {
			return c.At(c.Offset()-sectionSize).Field(fmt.Sprintf("feature %d", feature)).
				Gotf("%d bytes at %#x", where.size, where.offset).Wantf("at most the file's size %#x", len(r.data)).Truncated()
		}
		if err := r.readFeature(feature, contents, int64(where.offset)); err != nil {
			r.warn(err)
		}
	}
	return nil
}

// featureBits returns the features of the file, in ascending order.
func (r *reader) featureBits() (list []int) {
	var words [featureBits / 64]uint64
	for i := range words {
		words[i] = r.u64(r.data[featuresAt+8*i:])
	}
	if r.facts.BigEndian && words[0]>>featureHostname&1 == 0 {
		for i := range words { // the words of the host had 32 bits
			words[i] = bits.RotateLeft64(words[i], 32)
		}
	}
	for i, w := range words {
		for ; w != 0; w &= w - 1 {
			list = append(list, 64*i+bits.TrailingZeros64(w))
		}
	}
	return list
}

// readFeature reads the contents of one feature, which are at an offset in the file.
func (r *reader) readFeature(feature int, contents []byte, offset int64) error {
	if len(contents) == 0 {
		return nil // perf writes an empty section for what it could not find out
	}
	f := &r.facts
	c := cursor.New("features", offset, contents, r.order)
	switch feature {
	case featureHostname:
		f.Host = readString(c)
	case featureRelease:
		f.Release = readString(c)
	case featureVersion:
		f.PerfVersion = readString(c)
	case featureArch:
		f.Arch = readString(c)
	case featureCPU:
		f.CPU = readString(c)
	case featureCmdline:
		f.CommandLine = nil
		for range c.Count(uint64(c.U32("number of arguments")), 4, "number of arguments") {
			f.CommandLine = append(f.CommandLine, readString(c))
		}
	case featureEvents:
		r.readEventNames(c)
	case featureBuildID:
		r.readBuildIDs(c)
	case featureDirectory:
		f.Directory = true
	}
	return c.Err()
}

// readString reads { length u32, text }: the text ends at the first zero.
func readString(c *cursor.Cursor) string {
	text, _, _ := bytes.Cut(c.Bytes(uint64(c.U32("length of a text")), "text"), []byte{0})
	return string(text)
}

// readBuildIDs reads the build ids, which have the form of records.
func (r *reader) readBuildIDs(c *cursor.Cursor) {
	for c.Len() >= recordHeader && c.Err() == nil {
		c.Skip(miscAt, "type")
		misc, size := c.U16("misc"), c.U16("size")
		if size < recordHeader {
			c.Fail(c.At(c.Offset()-recordHeader).Field("size of a build id").Got(size).Wantf("at least %d", recordHeader+buildIDNameAt).Corrupt())
			return
		}
		body := c.Bytes(uint64(size-recordHeader), "build id")
		if c.Err() == nil && !r.addBuildID(body, misc) {
			c.Fail(c.At(c.Offset()-int64(size)).Field("size of a build id").Got(size).Wantf("at least %d", recordHeader+buildIDNameAt).Corrupt())
		}
	}
}

// addBuildID reads the body of a build id; false if it is too short.
func (r *reader) addBuildID(body []byte, misc uint16) bool {
	if len(body) < buildIDNameAt {
		return false
	}
	n := maxBuildID
	if misc&miscBuildIDSize != 0 {
		n = min(int(body[buildIDLenAt]), maxBuildID)
	}
	r.facts.BuildIDs = append(r.facts.BuildIDs, BuildID{
		PID: int32(r.u32(body)), ID: bytes.Clone(body[buildIDAt : buildIDAt+n]),
		File: untilZero(body[buildIDNameAt:]),
	})
	return true
}

func untilZero(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	return string(text)
}

func (r *reader) warn(err error) {
	if r.opt.Warn != nil {
		r.opt.Warn(profile.Warning{File: r.name, Err: flaw.InFile(err, r.name)})
	}
}

package mip

import (
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/guid"
)

// A mipLayout is one of the layouts of a .mip, which its header does not distinguish.
type mipLayout struct {
	// wide means that raw offsets and addresses have 64 bits, as in the code of
	// generation B, and not 32, as in generation A and the document.
	wide bool
	// namesByLength means that the names are preceded by their length in bytes and
	// separated by zero bytes, as in the document; otherwise they are preceded by
	// their number and each ends with a zero byte, as in both generations' code.
	namesByLength bool
}

var (
	layoutCode     = mipLayout{wide: true}
	layoutA        = mipLayout{}
	layoutDocument = mipLayout{namesByLength: true}
)

// layoutsOf lists the layouts to try, most likely first.
func layoutsOf(g generation) []mipLayout {
	if g == generationA {
		return []mipLayout{layoutA, layoutDocument}
	}
	return []mipLayout{layoutCode, layoutA, layoutDocument, {wide: true, namesByLength: true}}
}

// fixed is the size of a record without blocks and CallEdgeCount.
func (l mipLayout) fixed() int {
	if l.wide {
		return mipFixedWide
	}
	return mipFixedNarrow
}

type mipReader struct {
	Info
	data  []byte
	start int               // offset of the first record
	names map[uint64]string // by signature
	buf   Function
}

// newMIPReader determines the layout, in which the file has no bytes left over and a name
// for every record. In a wrong layout the signatures match no names.
func newMIPReader(h header, data []byte) (decoder, error) {
	var first error
	for _, l := range layoutsOf(h.generation) {
		r := &mipReader{Info: h.info(), data: data, start: h.size()}
		r.layout, r.DocumentLayout = l, l.namesByLength
		err := r.checkLayout()
		if err == nil {
			return r, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

func (r *mipReader) cursor() (*cursor.Cursor, int) {
	c := cursor.New("functions", int64(r.start), r.data[r.start:], le)
	return c, c.Count(c.U64("ProfileCount"), r.layout.fixed()+mipEdgeCount, "ProfileCount")
}

// checkLayout checks the whole file in the layout and reads the names.
func (r *mipReader) checkLayout() error {
	c, n := r.cursor()
	seen := make(map[uint64]struct{}, n)
	for c.Record = 0; c.Record < n && c.Err() == nil; c.Record++ {
		seen[r.record(c)] = struct{}{}
	}
	if c.Err() != nil {
		return c.Err()
	}
	names, err := r.readNames(r.start + c.Pos())
	if err != nil {
		return err
	}
	r.Functions = n
	r.names = make(map[uint64]string, len(names))
	for i, name := range names {
		sig := guid.Of(name)
		if _, ok := seen[sig]; !ok {
			return nameError(i, name, "the name of a function in the file")
		}
		if _, ok := r.names[sig]; ok {
			return nameError(i, name, "each name once")
		}
		r.names[sig] = name
	}
	if len(r.names) < len(seen) {
		return r.nameless()
	}
	return nil
}

// nameless returns the error for a file with a record without a name.
func (r *mipReader) nameless() error {
	c, n := r.cursor()
	for c.Record = 0; c.Record < n; c.Record++ {
		at := c.Offset()
		sig := r.record(c)
		if _, ok := r.names[sig]; !ok {
			c.Fail(c.At(at).Field("FunctionSignature").Gotf("%#x", sig).Want("the signature of a name in the file").Corrupt())
			break
		}
	}
	return c.Err()
}

func nameError(i int, name, want string) error {
	return flaw.In("names").InRecord(i).Field("function name").Got(strconv.QuoteToASCII(name)).Want(want).Corrupt()
}

// readNames reads the names, from their number or length at offset start up to the end of the file.
func (r *mipReader) readNames(start int) ([]string, error) {
	c := cursor.New("names", int64(start), r.data[start:], le)
	if r.layout.namesByLength {
		at := c.Offset()
		n := c.U64("FunctionNamesLength")
		if n != uint64(c.Len()) {
			c.Fail(c.At(at).Field("FunctionNamesLength").Got(n).Wantf("the %d bytes left", c.Len()).Corrupt())
		}
		if c.Err() != nil || n == 0 {
			return nil, c.Err()
		}
		text := string(c.Bytes(n, "names"))
		return strings.Split(strings.TrimSuffix(text, "\x00"), "\x00"), nil
	}
	names := make([]string, c.Count(c.U64("number of names"), 1, "number of names"))
	at := c.Offset()
	text := string(c.Bytes(uint64(c.Len()), "names")) // one copy, which all names share
	for i := range names {
		name, rest, ok := strings.Cut(text, "\x00")
		if !ok {
			c.Record = i
			c.Fail(c.At(at).Field("function name").Got("without an end").Want("a zero byte after it").Truncated())
			return nil, c.Err()
		}
		names[i], text = name, rest
		at += int64(len(name)) + 1
	}
	if text != "" {
		c.Fail(c.At(at).Field("end of the file").Gotf("%d bytes later", len(text)).Want("after the last name").Corrupt())
	}
	return names, c.Err()
}

func (r *mipReader) records(yield func(*Function, error) bool) {
	c, n := r.cursor()
	for c.Record = 0; c.Record < n; c.Record++ {
		r.buf.Name = r.names[r.record(c)]
		if c.Err() != nil {
			yield(nil, c.Err())
			return
		}
		if !yield(&r.buf, nil) {
			return
		}
	}
}

// record decodes the next record into r.buf, without the name, and returns its signature.
func (r *mipReader) record(c *cursor.Cursor) uint64 {
	f := &r.buf
	sig := c.U64("FunctionSignature")
	at := c.Offset()
	if r.layout.wide {
		f.RawOffset = c.U64("RawProfileDataOffset")
		f.Address = int64(c.U64("FunctionStartOffset"))
	} else {
		f.RawOffset = uint64(c.U32("RawProfileDataOffset"))
		f.Address = int64(int32(c.U32("FunctionStartOffset")))
	}
	if f.RawOffset < headerSizeA || f.RawOffset >= rawOffsetLimit {
		c.Fail(c.At(at).Field("RawProfileDataOffset").Gotf("%#x", f.RawOffset).Want(rawOffsetWant(headerSizeA)).Corrupt())
	}
	f.Size = c.U32("FunctionSize")
	f.CFG = c.U32("ControlFlowGraphSignature")
	n := c.U32("NonEntryBlockCount")
	f.MergeCount = c.U32("MergeCount")
	f.CallCount = c.U64("CallCount")
	f.TimestampSum = c.U64("TimestampSum")
	f.Blocks = f.Blocks[:0]
	for range c.Count(uint64(n), mipBlockSize, "NonEntryBlockCount") {
		b := Block{Offset: c.U32("block offset")}
		at := c.Offset()
		covered := c.U8("IsCovered")
		if covered > 1 {
			c.Fail(c.At(at).Field("IsCovered").Got(covered).Want("0 or 1").Corrupt())
		}
		b.Covered = covered == 1
		f.Blocks = append(f.Blocks, b)
	}
	f.CallEdges = f.CallEdges[:0]
	for range c.Count(uint64(c.U32("CallEdgeCount")), mipEdgeSize, "CallEdgeCount") {
		at := c.Offset()
		e := CallEdge{Source: int32(c.U32("SectionRelativeSourceAddress"))}
		if n := len(f.CallEdges); n > 0 && f.CallEdges[n-1].Source >= e.Source {
			c.Fail(c.At(at).Field("SectionRelativeSourceAddress").Gotf("%#x", uint32(e.Source)).
				Want("ascending addresses").Corrupt())
		}
		e.Weight = c.U64("Weight")
		f.CallEdges = append(f.CallEdges, e)
	}
	return sig
}

package memprof

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
)

// RawOptions adjust [ReadRaw]. The zero value is right for most uses.
type RawOptions struct {
	// LLVMCompat merges the dumps of a file as llvm-profdata does: it loses the
	// counts of coincidences (NumMigratedCpu, NumLifetimeOverlaps, NumSame…) of
	// later dumps, and all dumps must have the same segments.
	LLVMCompat bool
	// Overflow, if not nil, is called for each context with a sum that saturated.
	Overflow func(stackID uint64)
}

// A RawProfile is a raw profile: the measurements of one process, not symbolized.
type RawProfile struct {
	Name        string
	Version     int // of the last dump
	NumDumps    int
	NumContexts int
	Segments    []Segment // of all dumps, each once
	// BuildIDs are the distinct build ids of the process's program, which is the first,
	// and libraries. nil stands for programs and libraries without a build id.
	BuildIDs [][]byte

	data     []byte
	dumps    []rawDump    // in the order of the file
	contexts []rawContext // by first appearance of their MIB
	merged   []MIB        // of contexts that have several
	stackIDs []uint64     // see noteStacks; nil without LLVMCompat
}

// A rawDump is the extent of a dump.
type rawDump struct {
	offset  int64 // in the file, in bytes
	version int
	size    uint64 // in bytes (TotalSize)
	numMIBs int
}

// A Segment is a mapping of code in the process.
type Segment struct {
	Start, End uint64 // addresses in the process; End is exclusive
	// Offset is, since raw version 3, the load bias of the program or library: 0 if it is not
	// position-independent. Before version 3 it is the offset of the segment in its file, in bytes.
	Offset uint64
	// BuildID is the GNU build id; nil if there is none, and before raw version 3.
	BuildID []byte
}

// A rawContext locates a context's parts in the file.
type rawContext struct {
	id     uint64
	mib    int64 // offset of the first MIB
	stack  int64 // offset of the PCs
	depth  uint32
	layout uint8 // version of the first MIB
	merged int32 // index in merged, or -1
}

// IsRaw reports whether data begins like a raw MemProf profile, or like a raw profile of
// data accesses, which ReadRaw refuses.
func IsRaw(data []byte) bool {
	return len(data) >= 8 && slices.Contains([]uint64{rawMagic, rawMagicSwapped, accessMagic}, le.Uint64(data))
}

// maxRawFile bounds the bytes of a raw file, so that 31 bits number its contents.
const maxRawFile = 8 << 30

// ReadRaw reads a raw profile of any number of dumps from data, which must not change
// while the profile is in use: contexts are decoded on demand. name is for errors.
//
// ReadRaw validates the whole file, and checks sizes against the size of the file before it
// allocates memory. Errors are *[profile.FormatError].
func ReadRaw(name string, data []byte, opt RawOptions) (*RawProfile, error) {
	if len(data) == 0 {
		return nil, flaw.File(name).Because(&llvmerr.HeapError{Text: llvmerr.HeapMagic.Text, Class: profile.ErrEmpty})
	}
	if int64(len(data)) > maxRawFile {
		return nil, flaw.File(name).Field("size of the file").Got(len(data)).Wantf("at most %d", int64(maxRawFile)).
			Because(&llvmerr.HeapError{Text: llvmerr.HeapMalformed.Text, Class: profile.ErrUnsupported})
	}
	r := rawReader{p: &RawProfile{Name: name, data: data}, opt: opt}
	for off := int64(0); off < int64(len(data)); {
		d, err := r.dump(off)
		if err != nil {
			return nil, flaw.InFile(inDump(err, len(r.p.dumps)), name)
		}
		r.p.dumps = append(r.p.dumps, d)
		r.p.Version = d.version
		off += int64(d.size)
	}
	r.p.NumDumps, r.p.NumContexts = len(r.p.dumps), len(r.p.contexts)
	r.p.collectBuildIDs()
	return r.p, nil
}

// MIBs iterates over the measurements of the contexts, in the order of the file. Each is valid until the next.
func (p *RawProfile) MIBs() iter.Seq[*MIB] {
	return func(yield func(*MIB) bool) {
		var m MIB
		for i := range p.contexts {
			p.readMIB(&p.contexts[i], &m)
			if !yield(&m) {
				return
			}
		}
	}
}

func (p *RawProfile) pcs(c *rawContext) []byte {
	return p.data[c.stack : c.stack+8*int64(c.depth)]
}

func (p *RawProfile) readMIB(c *rawContext, m *MIB) {
	if c.merged >= 0 {
		*m = p.merged[c.merged]
		m.Histogram = slices.Clone(m.Histogram)
		return
	}
	decodeRawMIB(m, p.data[c.mib:], int(c.layout))
}

type rawReader struct {
	p       *RawProfile
	opt     RawOptions
	byStart []int32          // the segments by their addresses
	index   map[uint64]int32 // by StackId: index of the context of an earlier dump

	stacksSeen map[uint64]bool // see noteStacks
}

func (r *rawReader) dump(start int64) (rawDump, error) {
	d := rawDump{offset: start}
	h, err := readRawHeader(r.p.data, start)
	if err != nil {
		return d, err
	}
	d.version, d.size = h.version, h.size
	l := &rawLayouts[h.version]
	segments, err := readSegments(h.section(r.p.data, "segments", h.segments, h.mibs), l)
	if err != nil {
		return d, err
	}
	if err := r.addSegments(segments, start+int64(h.segments)); err != nil {
		return d, err
	}
	stacks, err := readStacks(h.section(r.p.data, "stacks", h.stacks, h.size))
	if err != nil {
		return d, err
	}
	if r.opt.LLVMCompat {
		r.noteStacks(stacks)
	}
	d.numMIBs, err = r.readMIBs(h.section(r.p.data, "MIBs", h.mibs, h.stacks), h.version, stacks)
	return d, err
}

// rawHeader is the header of a dump; offsets count from the dump's start.
type rawHeader struct {
	start                  int64
	version                int
	size                   uint64
	segments, mibs, stacks uint64
}

// readRawHeader reads the header of the dump at start. Its sections are in order and within its TotalSize.
func readRawHeader(data []byte, start int64) (*rawHeader, error) {
	const section = "header"
	rest := data[start:]
	if len(rest) < 8 || le.Uint64(rest) != rawMagic {
		return nil, badRawMagic(rest, start)
	}
	c := cursor.New(section, start, rest, binary.LittleEndian)
	c.U64("Magic")
	h := &rawHeader{start: start}
	version := c.U64("Version")
	h.size = c.U64("TotalSize")
	h.segments, h.mibs, h.stacks = c.U64("SegmentOffset"), c.U64("MIBOffset"), c.U64("StackOffset")
	if c.Err() != nil {
		return nil, flaw.At(section, start).Field("header").Gotf("cut off after %d bytes", len(rest)).
			Wantf("%d bytes", rawHeaderSize).Because(llvmerr.HeapTruncated)
	}
	if version < rawVersionMin || version > RawVersionMax {
		return nil, flaw.At(section, start+8).Field("Version").Got(version).
			Wantf("%d to %d", rawVersionMin, RawVersionMax).Because(llvmerr.HeapVersion)
	}
	h.version = int(version)
	switch left := uint64(len(rest)); {
	case h.size < rawHeaderSize || h.size%8 != 0:
		return nil, flaw.At(section, start+16).Field("TotalSize").Got(h.size).
			Wantf("a multiple of 8, at least %d", rawHeaderSize).Because(llvmerr.HeapMalformed)
	case h.size > left:
		return nil, flaw.At(section, start+16).Field("TotalSize").Got(h.size).
			Wantf("at most the %d bytes left in the file", left).Because(llvmerr.HeapCutShort)
	}
	// Each section has at least its count.
	low := uint64(rawHeaderSize)
	for i, s := range []struct {
		name string
		at   uint64
	}{{"SegmentOffset", h.segments}, {"MIBOffset", h.mibs}, {"StackOffset", h.stacks}} {
		if s.at < low || s.at > h.size-rawCountSize || s.at%8 != 0 {
			return nil, flaw.At(section, start+24+8*int64(i)).Field(s.name).Got(s.at).
				Wantf("a multiple of 8 from %d to %d", low, h.size-rawCountSize).Because(llvmerr.HeapMalformed)
		}
		low = s.at + rawCountSize
	}
	return h, nil
}

// badRawMagic returns the error for bytes that begin no dump.
func badRawMagic(rest []byte, start int64) error {
	found, want, cause := fmt.Sprintf("% x", rest[:min(8, len(rest))]), "the magic of a raw MemProf profile", error(llvmerr.HeapMagic)
	if len(rest) >= 8 {
		switch le.Uint64(rest) {
		case rawMagicSwapped:
			found, want = "the magic of a big-endian profile", "the magic of a little-endian one, as all of MemProf's targets are"
			cause = &llvmerr.HeapError{Text: llvmerr.HeapMagic.Text, Class: profile.ErrUnsupported}
		case accessMagic:
			found = "the magic of a raw profile of accesses to data"
			cause = &llvmerr.HeapError{Text: llvmerr.HeapMagic.Text, Class: profile.ErrUnsupported}
		}
	}
	if start > 0 {
		cause = llvmerr.HeapMalformed
		want += ", or the end of the file"
	}
	return flaw.At("header", start).Field("Magic").Got(found).Want(want).Because(cause)
}

func (h *rawHeader) section(data []byte, name string, from, to uint64) *cursor.Cursor {
	base := h.start + int64(from)
	return cursor.New(name, base, data[base:h.start+int64(to)], binary.LittleEndian)
}

// endSection checks that nothing but padding is left of a section.
func endSection(c *cursor.Cursor) error {
	c.Record = -1
	if c.Err() == nil && c.Len() >= 8 {
		c.Fail(c.At(c.Offset()).Field("end of the section").Gotf("%d bytes before the next", c.Len()).
			Want("less than 8").Because(llvmerr.HeapMalformed))
	}
	return c.Err()
}

func readSegments(c *cursor.Cursor, l *rawLayout) ([]Segment, error) {
	n := c.Count(c.U64("number of segments"), l.segment, "number of segments")
	out := make([]Segment, 0, n)
	for c.Record = 0; c.Record < n && c.Err() == nil; c.Record++ {
		at := c.Offset()
		s := Segment{Start: c.U64("Start"), End: c.U64("End"), Offset: c.U64("Offset")}
		size := uint64(0)
		if l.buildIDSize {
			if size = c.U64("BuildIdSize"); size > maxBuildID {
				c.Fail(c.At(at+24).Field("BuildIdSize").Got(size).Wantf("at most %d", maxBuildID).
					Because(llvmerr.HeapMalformed))
			}
		}
		id := c.Bytes(maxBuildID, "BuildId")
		if c.Err() != nil {
			break
		}
		if s.End < s.Start {
			c.Fail(c.At(at+8).Field("End").Gotf("%#x", s.End).Wantf("at least Start, %#x", s.Start).
				Because(llvmerr.HeapMalformed))
		}
		if size > 0 {
			s.BuildID = bytes.Clone(id[:size])
		}
		out = append(out, s)
	}
	return out, endSection(c)
}

// maxSegments bounds the segments of a process, by the default limit of Linux for mappings (vm.max_map_count).
const maxSegments = 1 << 16

// addSegments adds the segments of a dump. Libraries may be loaded or unloaded between dumps.
func (r *rawReader) addSegments(list []Segment, off int64) error {
	p := r.p
	if r.opt.LLVMCompat && len(p.dumps) > 0 && !slices.EqualFunc(list, p.Segments, Segment.equal) {
		return flaw.At("segments", off).Field("segments").Got("others than in the dump before").
			Want("the same").Because(llvmerr.HeapSegments)
	}
	before := int32(len(p.Segments))
	for _, s := range list {
		at, found := slices.BinarySearchFunc(r.byStart, s, func(i int32, s Segment) int {
			return cmp.Or(cmp.Compare(p.Segments[i].Start, s.Start), cmp.Compare(p.Segments[i].End, s.End))
		})
		if found && p.Segments[r.byStart[at]].equal(s) {
			continue
		}
		if len(p.Segments) == maxSegments {
			return flaw.At("segments", off).Field("number of segments").Got("more").
				Wantf("at most %d", maxSegments).Because(llvmerr.HeapMalformed)
		}
		for _, other := range r.byStart[max(at-1, 0):min(at+1, len(r.byStart))] {
			o := p.Segments[other]
			if o.End <= s.Start || s.End <= o.Start {
				continue
			}
			// Segments of one dump overlap in damaged files only, of several also with other processes or libraries.
			cause, want := llvmerr.HeapSegments, "the same, or apart: dumps of one process"
			if other >= before {
				cause, want = llvmerr.HeapMalformed, "apart"
			}
			return flaw.At("segments", off).Field("segment").
				Gotf("%#x to %#x beside %#x to %#x", s.Start, s.End, o.Start, o.End).Want(want).Because(cause)
		}
		r.byStart = slices.Insert(r.byStart, at, int32(len(p.Segments)))
		p.Segments = append(p.Segments, s)
	}
	return nil
}

func (s Segment) equal(o Segment) bool {
	return s.Start == o.Start && s.End == o.End && s.Offset == o.Offset && bytes.Equal(s.BuildID, o.BuildID)
}

// inDump adds the number of the dump to an error, if there are several.
func inDump(err error, dump int) error {
	if fe, ok := err.(*profile.FormatError); ok && dump > 0 {
		c := *fe
		c.Section = fmt.Sprintf("dump %d, %s", dump+1, c.Section)
		return &c
	}
	return err
}

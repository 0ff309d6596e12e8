package sampleprof

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/slab"
	"github.com/profuse-pgo/profuse/profile"
)

var le = binary.LittleEndian

// binaryReader reads the three binary formats.
type binaryReader struct {
	builder
	data []byte
	opt  *ReaderOptions
	mask uint32
	// lines is the greatest allowed line of samples and frames, for LLVM maxLine.
	lines uint64

	inflated  uint64 // bytes of all sections so far
	inPartial bool   // the profile comes from a partialSection

	names    []Name
	contexts [][]Frame
	ids      bool // a name table had GUIDs; names in later tables become bare GUIDs
	vtables  bool // each body ends with virtual tables

	version   uint64
	heaps     bool // the indexes of names do not tell their order
	nested    int  // with heaps, how many names are in the first one, and in the second one
	flat      int
	composite bool // bodies have blocks
	blocks    map[uint64]blockSum

	functions slab.Slab[Function]
	samples   slab.Slab[Sample]
	targets   slab.Slab[Target]

	packer *filePacker // reads the functions for a merge; nil otherwise

	skipped bool // a section of an unknown type has contents
	doubts  doubts
	used    []bool           // by index of a name, whether the file uses it
	index   uint64           // of the last name or context read
	offsets []functionOffset // recorded offsets of the next profile section
	starts  []functionOffset // actual offsets in the current profile section
}

// newBinaryReader returns a reader of one of the binary formats.
func newBinaryReader(data []byte, format Format, opt *ReaderOptions) *binaryReader {
	r := &binaryReader{builder: newBuilder(), data: data, opt: opt, mask: math.MaxUint32, lines: math.MaxUint32}
	if format != FormatExtended { // FormatExtended records the kind of its discriminators
		r.mask = opt.mask()
	}
	if opt.Lenient {
		r.lines = maxLine
	}
	return r
}

// read reads the file. It compares redundant data, in place of a checksum: see doubts.
func (r *binaryReader) read(format Format) (*Profile, error) {
	c := r.cursor("header", 0, r.data)
	c.ULEB("magic")
	at := c.Offset()
	r.version = c.ULEB("version")
	if newest := r.newestVersion(format); c.Err() == nil && (r.version < version || r.version > newest) {
		versions := strconv.Itoa(version)
		if newest > version {
			versions += fmt.Sprintf(" to %d", newest)
		}
		return nil, c.At(at).Field("version").Got(r.version).WantVersions(versions, r.version, newest).Because(llvmerr.SampleVersion)
	}
	r.p.version = r.version
	switch format {
	case FormatExtended:
		r.readSections(c)
	case FormatCompact:
		r.readCompact(c)
	default:
		r.readSummary(c)
		r.readNames(c)
		c.Section = profileSection.String()
		r.readFunctions(c)
	}
	r.compareFunctions(c)
	r.finish()
	if i := slices.Index(r.used, false); i >= 0 && c.Err() == nil {
		r.addDoubt(otherDoubt, c, c.At(-1).Field("name "+r.names[i].String()).Got("in the table alone").Want("used by a function"))
	}
	r.p.odd = append(r.doubts.errors(), r.finishBlocks()...)
	return r.p, c.Err()
}

// newestVersion returns the newest version to accept.
func (r *binaryReader) newestVersion(format Format) uint64 {
	switch {
	case format == FormatCompact: // LLVM wrote it before version 104
		return version
	case r.opt.NewestVersion > 0:
		return uint64(r.opt.NewestVersion)
	}
	return version105
}

// cursor returns a cursor over data, which begins at offset base of the file or inflated section.
func (r *binaryReader) cursor(section string, base int64, data []byte) *cursor.Cursor {
	return cursor.New(section, base, data, le)
}

// readSummary reads a summary, which is not recomputed, because compilers trust it to find hot code.
func (r *binaryReader) readSummary(c *cursor.Cursor) {
	c.Section = summarySection.String()
	s := &Summary{
		Total: c.ULEB("total samples"), MaxCount: c.ULEB("greatest count"), MaxHead: c.ULEB("greatest head samples"),
		NumCounts: c.ULEB("number of counts"), NumFunctions: c.ULEB("number of functions"),
	}
	s.Cutoffs = make(profile.Cutoffs, c.Count(c.ULEB("number of cutoffs"), 3, "number of cutoffs"))
	for i := range s.Cutoffs {
		s.Cutoffs[i] = profile.Cutoff{Share: c.ULEB("cutoff"), Min: c.ULEB("least count"), Values: c.ULEB("number of counts")}
	}
	r.p.Summary = s
}

func (r *binaryReader) readNames(c *cursor.Cursor) {
	c.Section = nameSection.String()
	n := c.Count(c.ULEB("number of names"), 1, "number of names")
	if c.Err() != nil {
		return
	}
	rest, size := c.Rest(), 0
	for range n {
		end := bytes.IndexByte(rest[size:], 0)
		if end < 0 {
			c.Fail(c.At(c.Offset() + int64(size)).Field("name").Got("no zero byte").Want("one after the name").Truncated())
			return
		}
		size += end + 1
	}
	text := string(rest[:size]) // one copy for all names
	inOrder, before := !r.ids, ""
	r.names, r.used = make([]Name, 0, n), make([]bool, n)
	for len(r.names) < n {
		own, after, _ := strings.Cut(text, "\x00")
		name := nameIn(own, r.opt.Lenient)
		// LLVM sorts tables of strings (stablizeNameTable), and tables of GUIDs by the original strings.
		if len(r.names) > 0 && !r.ids && before >= own {
			r.addDoubt(nameOrder, c, c.At(c.Offset()).Field("name").Got(name).Want("names in order, each once"))
			inOrder = false
		}
		switch {
		case r.ids:
			name = Name{ID: guid.Of(own)}
		case name.isID():
			r.p.numbered, inOrder = true, false
		}
		r.names, text, before = append(r.names, name), after, own
		c.Skip(uint64(len(own)+1), "name")
	}
	r.nameFunctions(c, inOrder)
}

// nameFunctions passes r.names to the packer, if any. inOrder says that they are sorted, each once.
func (r *binaryReader) nameFunctions(c *cursor.Cursor, inOrder bool) {
	if r.packer != nil && c.Err() == nil {
		r.packer.setNames(r.names, r.used, inOrder)
	}
}

// readIDs reads a table of GUIDs: u64 if fixed is set, ULEB128 otherwise.
func (r *binaryReader) readIDs(c *cursor.Cursor, fixed bool) {
	c.Section = nameSection.String()
	least := 1
	if fixed {
		least = 8
	}
	n := c.Count(c.ULEB("number of names"), least, "number of names")
	r.names, r.used = make([]Name, n), make([]bool, n)
	for i := range r.names {
		if fixed {
			r.names[i].ID = c.U64("name")
		} else {
			r.names[i].ID = c.ULEB("name")
		}
	}
	r.nameFunctions(c, false)
}

func (r *binaryReader) readContexts(c *cursor.Cursor) {
	n := c.Count(c.ULEB("number of contexts"), 1, "number of contexts")
	r.contexts = make([][]Frame, n)
	for i := range r.contexts {
		c.Record = i
		frames := make([]Frame, c.Count(r.upTo(c, math.MaxUint32, "number of frames"), 3, "number of frames"))
		if len(frames) > maxDepth {
			c.Fail(c.At(c.Offset()).Field("number of frames").Got(len(frames)).Wantf("at most %d", maxDepth).Unsupported())
		}
		for j := range frames {
			frames[j] = Frame{r.name(c), r.location(c, r.lines)}
		}
		if c.Err() != nil {
			return
		}
		if i > 0 && len(frames) > 0 && !r.ids && !r.p.numbered && compareSubjects(Name{}, r.contexts[i-1], Name{}, frames) >= 0 {
			r.addDoubt(nameOrder, c, c.At(c.Offset()).Field("context").Got(i).Want("contexts in order, each once"))
		}
		r.contexts[i] = frames
	}
	c.Record = -1
}

// count reads the number of elements that follow. Only a strict reader checks that they fit the file.
func (r *binaryReader) count(c *cursor.Cursor, least int, field string) int {
	n := r.upTo(c, math.MaxUint32, field)
	if r.opt.Lenient {
		return int(n)
	}
	return c.Count(n, least, field)
}

// upTo reads a number, at most limit.
func (r *binaryReader) upTo(c *cursor.Cursor, limit uint64, field string) uint64 {
	at := c.Offset()
	n := c.ULEB(field)
	if n > limit {
		c.Fail(c.At(at).Field(field).Got(n).Wantf("at most %d", limit).Because(llvmerr.SampleNumber))
		return 0
	}
	return n
}

// location reads a line, at most limit, and a discriminator.
func (r *binaryReader) location(c *cursor.Cursor, limit uint64) Location {
	line := r.upTo(c, limit, "line")
	at, discriminator := c.Offset(), c.ULEB("discriminator")
	if discriminator > math.MaxUint32 { // LLVM takes the low half
		r.addDoubt(otherDoubt, c, c.At(at).Field("discriminator").Got(discriminator).Want("at most 32 bits"))
	}
	return Location{uint32(line), uint32(discriminator)}
}

// sampleLocation reads the location of a sample. last is the word of the greatest location so far in
// this body, or -1; locations should ascend. The result has the discriminator bits that the options
// ask for.
func (r *binaryReader) sampleLocation(c *cursor.Cursor, limit uint64, last *int64) Location {
	offset := c.Offset()
	at := r.location(c, limit)
	if word := int64(at.word()); word <= *last {
		r.addDoubt(locationOrder, c, c.At(offset).Field("location").Got(at).Want("locations in order, each once"))
	} else {
		*last = word
	}
	at.Discriminator &= r.mask
	return at
}

func (r *binaryReader) name(c *cursor.Cursor) Name {
	at := c.Offset()
	i := c.ULEB("name")
	if i < uint64(len(r.names)) {
		r.used[i], r.index = true, i
		return r.names[i]
	}
	if c.Err() == nil {
		c.Fail(c.At(at).Field("name").Got(i).Wantf("less than %d, the number of names", len(r.names)).
			Because(llvmerr.SampleNames))
	}
	return Name{}
}

// subject reads the name of a function or, in a context-sensitive profile, its context.
func (r *binaryReader) subject(c *cursor.Cursor) (Name, []Frame) {
	if !r.p.Kind.ContextSensitive {
		return r.name(c), nil
	}
	at := c.Offset()
	i := c.ULEB("context")
	if i >= uint64(len(r.contexts)) {
		if c.Err() == nil {
			c.Fail(c.At(at).Field("context").Got(i).Wantf("less than %d, the number of contexts", len(r.contexts)).
				Because(llvmerr.SampleNames))
		}
		return Name{}, nil
	}
	r.index = i
	context := r.contexts[i]
	if len(context) == 0 {
		c.Fail(c.At(at).Field("context").Got("no frames").Want("one and more").Corrupt())
		return Name{}, nil
	}
	return context[len(context)-1].Name, context
}

func (r *binaryReader) readFunctions(c *cursor.Cursor) {
	if r.packer != nil {
		if c.Err() != nil {
			return
		}
		if r.mask != math.MaxUint32 {
			c.Fail(errNotPlain)
		}
		expected := uint64(0)
		if r.p.Summary != nil {
			expected = r.p.Summary.NumFunctions
		}
		r.starts = r.packer.readFunctions(c, expected, r.offsets != nil)
		r.compareOffsets(c)
		return
	}
	known, last := uint64(math.MaxUint64), uint64(0) // total and index of the previous function
	for i := 0; c.Len() > 0 && c.Err() == nil; i++ {
		c.Record = i
		at := c.Offset()
		start := uint64(c.Pos())
		var head uint64
		if !r.composite {
			head = c.ULEB("head samples")
		}
		name, context := r.subject(c)
		if c.Err() != nil {
			return
		}
		subject, before := r.index, len(r.p.Functions)
		r.starts = append(r.starts, functionOffset{subject, start})
		f := r.function(name, context)
		// If the file has a function twice, its samples are added up, as in LLVM.
		addCount(&f.Head, head, 1)
		r.readBody(c, f, 1)
		if before == len(r.p.Functions) || f.Total > known || f.Total == known && i > 0 && !r.ascend(last, subject) {
			r.addDoubt(functionOrder, c, c.At(at).Field("function").Got(f.Label()).Want("functions in the order of their totals, each once"))
		}
		known, last = f.Total, subject
	}
	c.Record = -1
	r.compareOffsets(c)
}

func failDepth(c *cursor.Cursor) {
	c.Fail(c.At(c.Offset()).Field("depth").Gotf("more than %d", maxDepth).
		Wantf("at most %d functions inlined into each other", maxDepth).Unsupported())
}

func (r *binaryReader) readBody(c *cursor.Cursor, f *Function, depth int) {
	if depth > maxDepth {
		failDepth(c)
		return
	}
	if r.composite {
		r.readBlocks(c, f, depth == 1)
	} else {
		r.readSamples(c, f)
	}
	const least = 5 // bytes of a callsite: of a composite one
	n := r.count(c, least, "number of callsites")
	last := int64(-1)
	index := uint64(0)
	if f.Callsites == nil && n > 0 {
		f.Callsites = make([]Callsite, 0, min(n, c.Len()/least))
	}
	for ; n > 0 && c.Err() == nil; n-- {
		offset := c.Offset()
		at, callee := r.location(c, math.MaxUint32), &r.functions.Make(1)[0]
		word := int64(at.word())
		at.Discriminator &= r.mask
		callee.Name = r.name(c)
		if word < last || word == last && !r.ascend(index, r.index) {
			r.addDoubt(locationOrder, c, c.At(offset).Field("callsite").Got(callee.Name).Want("callsites in order, each once"))
		}
		last, index = word, r.index
		f.Callsites = append(f.Callsites, Callsite{at, callee})
		r.readBody(c, callee, depth+1)
	}
	if !r.vtables {
		return
	}
	n = r.count(c, 3, "number of virtual calls")
	for last = -1; n > 0 && c.Err() == nil; n-- {
		f.VTables = append(f.VTables, Sample{Location: r.sampleLocation(c, r.lines, &last), Targets: r.readTargets(c, false)})
	}
}

// readSamples reads the total and the samples of a function.
func (r *binaryReader) readSamples(c *cursor.Cursor, f *Function) {
	addCount(&f.Total, c.ULEB("total samples"), 1)
	n := r.count(c, 4, "number of samples")
	if f.Body == nil {
		f.Body = r.samples.Make(min(n, c.Len()/4))[:0]
	}
	last := int64(-1)
	for ; n > 0 && c.Err() == nil; n-- {
		f.Body = append(f.Body, Sample{Location: r.sampleLocation(c, r.lines, &last), Count: c.ULEB("samples"), Targets: r.readTargets(c, true)})
	}
}

// ascend reports whether the names with indexes i and j may be in order, each once.
func (r *binaryReader) ascend(i, j uint64) bool { return i < j || r.heaps && i != j }

// readTargets reads names and counts, which should be sorted by descending count or, without byCount, by name.
func (r *binaryReader) readTargets(c *cursor.Cursor, byCount bool) []Target {
	n := r.count(c, 2, "number of targets")
	if n == 0 {
		return nil
	}
	targets := r.targets.Make(min(n, c.Len()/2))[:0]
	known, last := uint64(0), uint64(0)
	for ; n > 0 && c.Err() == nil; n-- {
		at := c.Offset()
		targets = append(targets, Target{r.name(c), c.ULEB("samples of a target")})
		count := targets[len(targets)-1].Count
		if !byCount {
			count = 0
		}
		if len(targets) > 1 && (count > known || count == known && !r.ascend(last, r.index)) {
			r.addDoubt(targetOrder, c, c.At(at).Field("target").Got(targets[len(targets)-1].Name).Want("targets in order, each once"))
		}
		known, last = count, r.index
	}
	return targets
}

// readCompact reads what follows the version of a compact binary file.
func (r *binaryReader) readCompact(c *cursor.Cursor) {
	r.readSummary(c)
	r.readIDs(c, false)
	c.Section = "header"
	at := c.Offset()
	end := c.U64("offset of the function offsets")
	if c.Err() == nil && (end < uint64(c.Offset()) || end > uint64(len(r.data))) {
		c.Fail(c.At(at).Field("offset of the function offsets").Got(end).Wantf("%d to %d", c.Offset(), len(r.data)).Corrupt())
	}
	if c.Err() != nil {
		return
	}
	functions := r.cursor(profileSection.String(), c.Offset(), r.data[c.Offset():end])
	r.readFunctions(functions)
	c.Fail(functions.Err())
}

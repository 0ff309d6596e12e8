package sampleprof

import (
	"math"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
)

// readSections reads what follows the version of an extensible binary file.
func (r *binaryReader) readSections(c *cursor.Cursor) {
	c.Section = "section table"
	sections := readSectionTable(c)
	if n := len(sections); n > maxSections {
		c.Fail(c.At(int64(c.Pos())).Field("number of sections").Got(n).Wantf("at most %d", maxSections).Unsupported())
	}
	if r.packer != nil && slices.ContainsFunc(sections, section.isNotPlain) {
		c.Fail(errNotPlain)
	}
	for i, s := range sections {
		// Empty sections are not read at all; their flags do not count (readImpl).
		if s.size == 0 || c.Err() != nil {
			continue
		}
		if s.offset > uint64(len(r.data)) || s.size > uint64(len(r.data))-s.offset {
			at := c.Offset() - int64(sectionEntry*(len(sections)-i))
			c.Fail(c.At(at).Field(s.kind.String()).Gotf("%d bytes at offset %d", s.size, s.offset).
				Wantf("a section within the file of %d bytes", len(r.data)).Because(llvmerr.SampleCutShort))
			return
		}
		from := r.cursor(s.kind.String(), int64(s.offset), r.data[s.offset:s.offset+s.size])
		// Offsets within a compressed section, also in errors, count inflated bytes.
		if s.flags&flagCompressed != 0 {
			from = r.inflate(from)
		}
		if _, unknown := s.flagWords(); unknown != 0 && s.kind.isKnown(r.version) && !r.opt.Lenient {
			at := c.Offset() - int64(sectionEntry*(len(sections)-i)) + 8
			c.Fail(c.At(at).Field("flags of section "+s.kind.String()).Gotf("%#x", s.flags).
				Wantf("none but known ones: this release of profuse does not know %#x", unknown).Unsupported())
			return
		}
		r.readSection(from, &s)
		// LLVM also refuses bytes after the end of the contents.
		if from.Err() == nil && from.Len() > 0 {
			from.Fail(from.At(from.Offset()).Field(s.kind.String()).Gotf("%d bytes more", from.Len()).
				Want("the end of the section").Corrupt())
		}
		c.Fail(from.Err())
	}
	r.compareSections(c, sections)
}

// readSectionTable reads the section table, in reading order (readSecHdrTable).
func readSectionTable(c *cursor.Cursor) []section {
	sections := make([]section, c.Count(c.U64("number of sections"), sectionEntry, "number of sections"))
	for i := range sections {
		kind, ignored := sectionTypeOf(c.U64("type"))
		sections[i] = section{kind: kind, ignored: ignored, flags: c.U64("flags"), offset: c.U64("offset"), size: c.U64("size")}
	}
	return sections
}

// sectionTypeOf returns the type that a word of the section table stands for, and the bits of the word that
// do not count: LLVM's SecType has 32 bits.
func sectionTypeOf(word uint64) (t sectionType, ignored uint64) {
	if t = sectionType(word); t == partialSection {
		return t, 0
	}
	return t & math.MaxUint32, word &^ math.MaxUint32
}

// readSection reads a section. It skips sections of unknown types.
func (r *binaryReader) readSection(c *cursor.Cursor, s *section) {
	p := r.p
	has := func(flag uint64) bool { return s.flags&flag != 0 }
	set := func(kind *bool, flag uint64) { *kind = *kind || has(flag) }
	if !s.kind.isKnown(r.version) {
		c.Skip(uint64(c.Len()), "section")
		return
	}
	switch s.kind {
	case summarySection:
		r.readSummary(c)
		set(&p.Kind.Partial, flagPartial)
		set(&p.Kind.ContextSensitive, flagContexts)
		set(&p.Kind.PreInlined, flagPreInlined)
		set(&p.Kind.FlowDiscriminators, flagFlowSensitive)
		set(&r.vtables, flagVTables)
		// Fewer bits select the discriminators of an earlier compiler pass (--fs-discriminator-pass).
		if p.Kind.FlowDiscriminators && r.opt.DiscriminatorBits > 0 {
			r.mask = 1<<r.opt.DiscriminatorBits - 1
		}
	case nameSection:
		set(&r.ids, flagMD5)
		r.heaps, r.nested, r.flat = false, 0, 0
		switch {
		case has(flagNameHeaps) && !r.opt.Lenient:
			r.readNameHeaps(c)
		case has(flagMD5) || has(flagFixed):
			r.readIDs(c, has(flagFixed))
		default:
			r.readNames(c)
		}
	case contextSection:
		r.readContexts(c)
	case profileSection, compositeSection:
		r.composite = s.kind == compositeSection
		r.readFunctions(c)
	case metadataSection:
		set(&p.Kind.ProbeBased, flagProbes)
		r.readAllMetadata(c, s.flags)
	case symbolSection:
		if has(flagSymbolHeap) && !r.opt.Lenient {
			r.readSymbolHeap(c)
		} else {
			r.readSymbols(c)
		}
	case partialSection:
		r.readPartial(c)
	case offsetSection, compositeOffsetSection: // for readers of single functions
		switch {
		case r.opt.Lenient:
			c.Skip(uint64(c.Len()), "section")
		case has(flagOffsetArray):
			r.readOffsetArray(c, has(flagFlat))
		default:
			r.readOffsets(c)
		}
	}
}

func (r *binaryReader) readAllMetadata(c *cursor.Cursor, flags uint64) {
	// Metadata refer to callsites, which can be found only if they are sorted.
	r.tidy()
	n := 0
	for ; c.Len() > 0 && c.Err() == nil; n++ {
		name, context := r.subject(c)
		f := r.known.find(keyOf(name, context))
		if f == nil {
			r.addDoubt(otherDoubt, c, c.At(c.Offset()).Field("function").Got(name).Want("one that the profile has"))
		}
		r.readMetadata(c, f, flags, 1)
	}
	if n != len(r.p.Functions) {
		r.addDoubt(otherDoubt, c, c.At(c.Offset()).Field("number of functions").Got(n).Wantf("%d, as the profile has", len(r.p.Functions)))
	}
}

// readMetadata reads the metadata of a function, nil if missing, and of everything inlined into it.
func (r *binaryReader) readMetadata(c *cursor.Cursor, f *Function, flags uint64, depth int) {
	if depth > maxDepth || c.Err() != nil || c.Len() == 0 { // the last may be cut short, as in LLVM
		return
	}
	if f == nil {
		f = new(Function)
	}
	if flags&flagProbes != 0 {
		f.Checksum = c.ULEB("checksum")
	}
	if flags&flagAttributes != 0 {
		at := c.Offset()
		f.Attributes = uint32(r.upTo(c, math.MaxUint32, "attributes"))
		if f.Attributes > wasInlined|shouldBeInlined|duplicated {
			r.addDoubt(otherDoubt, c, c.At(at).Field("attributes").Got(f.Attributes).Want("known ones"))
		}
	}
	if r.p.Kind.ContextSensitive {
		return
	}
	n := r.count(c, 3, "number of callsites")
	for ; n > 0 && c.Err() == nil; n-- {
		offset := c.Offset()
		at, name := r.location(c, math.MaxUint32), r.name(c)
		callee := f.callee(at, name)
		if callee == nil && c.Err() == nil && !r.opt.Lenient && f.Name != (Name{}) {
			c.Fail(c.At(offset).Field("callsite").Gotf("%s at %s", name, at).Wantf("one that %s has", f.Name).Corrupt())
		}
		if callee == nil {
			callee = &Function{Name: name}
			f.Callsites = append(f.Callsites, Callsite{at, callee}) // as LLVM does
		}
		r.readMetadata(c, callee, flags, depth+1)
	}
}

// readSymbols reads the list of all functions of the program, to the end of the section.
func (r *binaryReader) readSymbols(c *cursor.Cursor) {
	text := string(c.Bytes(uint64(c.Len()), "symbol list"))
	text, ok := strings.CutSuffix(text, "\x00")
	if c.Err() != nil || !ok && text == "" {
		return
	}
	if !ok {
		c.Fail(c.At(c.Offset()).Field("symbol").Got("no zero byte").Want("one after the name").Corrupt())
		return
	}
	symbols := strings.Split(text, "\x00")
	for i := range symbols[1:] {
		if symbols[i] >= symbols[i+1] {
			r.addDoubt(symbolOrder, c, c.At(-1).Field("symbol").Got(symbols[i+1]).Want("symbols in order, each once"))
		}
	}
	r.p.addSymbols(symbols...)
}

package sampleprof

import (
	"io"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
)

// extendedWriter collects the sections of an extensible binary file.
type extendedWriter struct {
	*binaryWriter
	opt *WriteOptions
}

// A content is a section to be written. Contents are in file order; index is the index in the section table.
type content struct {
	section
	index int
	bytes chunks
	later []int // functions after bytes, encoded again when written
}

// keptBytes bounds the encoded functions kept until they are written; others are encoded again.
const keptBytes = 32 << 20

// writeExtended writes an extensible binary file. It encodes everything first, for the offsets in the header.
func (p *packedProfile) writeExtended(out io.Writer, opt *WriteOptions) error {
	w := &extendedWriter{binaryWriter: newBinaryWriter(p, opt.VTables), opt: opt}
	contents := w.contents()
	if opt.partialData != nil {
		contents = append(contents, content{section: section{kind: partialSection}, index: len(contents), bytes: whole(opt.partialData)})
	}
	table := make([]section, len(contents))
	head := le.AppendUint64(appendMagic(nil, magicExtended), uint64(len(contents)))
	offset := uint64(len(head) + sectionEntry*len(contents))
	for i := range contents {
		c := &contents[i]
		if opt.Compress {
			// An empty section keeps the flag and stays empty.
			c.flags |= flagCompressed
			c.bytes = c.bytes.deflate()
		}
		c.offset, c.size = offset, uint64(c.bytes.size)
		offset += c.size
		table[c.index] = c.section
	}
	for _, s := range table {
		for _, n := range []uint64{uint64(s.kind), s.flags, s.offset, s.size} {
			head = le.AppendUint64(head, n)
		}
	}
	_, err := out.Write(head)
	for _, c := range contents {
		err = c.bytes.writeTo(out, err)
		var b []byte
		for n, i := range c.later {
			if b = w.appendFunction(b, i); err == nil && (len(b) >= chunk || n == len(c.later)-1) {
				_, err = out.Write(b)
				b = b[:0]
			}
		}
	}
	return err
}

// contents returns all sections in file order:
//
//	table   summary, names, contexts, offsets, profiles, symbols, metadata
//	file    summary, names, contexts, profiles, symbols, offsets, metadata
//
// The split layout has no contexts. It has offsets and profiles twice, for functions with and without
// callsites; in the file, offsets follow their profiles.
func (w *extendedWriter) contents() []content {
	all := []content{
		{section: section{kind: summarySection, flags: w.summaryFlags()}, bytes: whole(appendSummary(nil, w.summarize()))},
		{section: section{kind: nameSection, flags: w.nameFlags()}, index: 1, bytes: whole(w.appendNames(nil, w.opt.MD5))},
	}
	if w.opt.Split {
		inlines := func(i int) bool { return w.functions[i].inlines() }
		profiles, offsets := w.profiles(slices.DeleteFunc(slices.Clone(w.sorted), func(i int) bool { return !inlines(i) }), 2, 0)
		all = append(all, profiles, offsets)
		profiles, offsets = w.profiles(slices.DeleteFunc(w.sorted, inlines), 4, flagFlat)
		return append(all, profiles, offsets, w.symbolList(6), w.metadata(7))
	}
	all = append(all, w.contextTable(2))
	profiles, offsets := w.profiles(w.sorted, 3, 0)
	return append(all, profiles, w.symbolList(5), offsets, w.metadata(6))
}

// summaryFlags returns the flags of the summary section: the kind of the profile (SecProfSummaryFlags).
func (w *extendedWriter) summaryFlags() (flags uint64) {
	for flag, set := range map[uint64]bool{
		flagPartial: w.kind.Partial, flagContexts: w.kind.ContextSensitive, flagPreInlined: w.kind.PreInlined,
		flagFlowSensitive: w.kind.FlowDiscriminators, flagVTables: w.opt.VTables,
	} {
		if set {
			flags |= flag
		}
	}
	return flags
}

// nameFlags returns SecNameTableFlags. GUIDs have a fixed length, so that readers find one by its index.
func (w *extendedWriter) nameFlags() uint64 {
	switch {
	case w.opt.MD5:
		return flagMD5 | flagFixed
	case w.opt.unique || w.hasUniqueSuffix():
		return flagUnique
	}
	return 0
}

// contextTable sets w.contexts and returns the section with the sorted contexts.
func (w *extendedWriter) contextTable(index int) content {
	var functions []int
	if w.kind.ContextSensitive {
		functions = slices.Clone(w.sorted)
		slices.SortFunc(functions, w.compare)
		w.contexts = make([]uint32, len(w.functions))
	}
	dst := cursor.AppendULEB(nil, uint64(len(functions)))
	for n, i := range functions {
		w.contexts[i] = uint32(n)
		context := w.functions[i].context
		dst = cursor.AppendULEB(dst, uint64(len(context)))
		for _, frame := range context {
			dst = appendLocationWord(cursor.AppendULEB(dst, uint64(w.ranks[w.names.numberOf(frame.Name)])), frame.word())
		}
	}
	return content{section: section{kind: contextSection}, index: index, bytes: whole(dst)}
}

// profiles returns the sections with functions and with their offsets, which come first, at index in the table.
func (w *extendedWriter) profiles(functions []int, index int, flags uint64) (profiles, offsets content) {
	at := make([]uint64, len(w.functions))
	profiles = content{section: section{kind: profileSection, flags: flags}, index: index + 1}
	dst := &profiles.bytes
	var again []byte
	for n, i := range functions {
		at[i] = uint64(dst.size)
		if dst.size < keptBytes || w.opt.Compress {
			dst.end(w.appendFunction(dst.begin(), i))
			continue
		}
		if profiles.later == nil {
			profiles.later = functions[n:]
		}
		again = w.appendFunction(again[:0], i)
		dst.size += len(again)
	}
	if w.kind.ContextSensitive {
		flags |= flagOrdered
		functions = slices.Clone(functions)
		slices.SortFunc(functions, w.compare)
	}
	// Offsets are relative to the section of the functions.
	table := cursor.AppendULEB(nil, uint64(len(functions)))
	for _, i := range functions {
		table = cursor.AppendULEB(cursor.AppendULEB(table, w.subject(i)), at[i])
	}
	return profiles, content{section: section{kind: offsetSection, flags: flags}, index: index, bytes: whole(table)}
}

// symbolList returns the section with the symbols: as GUIDs if the names of some are not known.
func (w *extendedWriter) symbolList(index int) content {
	if len(w.symbolIDs) > 0 {
		return content{section: section{kind: symbolSection, flags: flagSymbolHeap}, index: index, bytes: whole(w.symbolHeap())}
	}
	var dst []byte
	for _, name := range w.symbols {
		dst = append(append(dst, name...), 0)
	}
	return content{section: section{kind: symbolSection}, index: index, bytes: whole(dst)}
}

// metadata returns the section with checksums and attributes.
func (w *extendedWriter) metadata(index int) content {
	c := content{section: section{kind: metadataSection}, index: index}
	if w.kind.ProbeBased {
		c.flags |= flagProbes
	}
	if w.kind.hasAttributes() || w.opt.Partial && w.survey().attributes {
		c.flags |= flagAttributes
	}
	if c.flags == 0 {
		return c
	}
	var dst []byte
	for i := range w.inMapOrder() {
		dst = w.appendMetadata(cursor.AppendULEB(dst, w.subject(i)), w.functions[i].body, c.flags)
	}
	c.bytes = whole(dst)
	return c
}

// appendMetadata appends the metadata of a function and, without contexts, of what it inlines (writeFuncMetadata).
func (w *extendedWriter) appendMetadata(dst, body []byte, flags uint64) []byte {
	u := unpacker{b: body}
	u.skip()
	checksum, attributes := u.num(), u.num()
	if flags&flagProbes != 0 {
		dst = cursor.AppendULEB(dst, checksum)
	}
	if flags&flagAttributes != 0 {
		dst = cursor.AppendULEB(dst, attributes)
	}
	if w.kind.ContextSensitive {
		return dst
	}
	u.skipSamples()
	first := len(w.calls)
	dst = cursor.AppendULEB(dst, uint64(w.gatherCalls(&u)))
	for i := first; i < len(w.calls); i++ {
		c := &w.calls[i]
		dst = w.appendMetadata(cursor.AppendULEB(appendLocationWord(dst, c.word), c.name), c.body, flags)
	}
	w.calls = w.calls[:first]
	return dst
}

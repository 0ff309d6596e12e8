package sampleprof

import (
	"io"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
)

// extendedWriter collects the sections of an extensible binary file.
type extendedWriter struct {
	p    *Profile
	opt  *WriteOptions
	body *binaryWriter
}

// A content is a section to be written. The order of contents is that of the file; place is
// that in the section table.
type content struct {
	section
	place int
	bytes []byte
}

func (p *Profile) writeExtended(out io.Writer, opt *WriteOptions) error {
	w := &extendedWriter{p: p, opt: opt, body: newBinaryWriter(p.Functions, opt.VTables)}
	contents := w.contents()
	table := make([]section, len(contents))
	head := le.AppendUint64(appendMagic(nil, magicExtended), uint64(len(contents)))
	offset := uint64(len(head) + sectionEntry*len(contents))
	for i := range contents {
		c := &contents[i]
		if opt.Compress {
			c.flags |= flagCompressed
			c.bytes = deflate(nil, c.bytes)
		}
		c.offset, c.size = offset, uint64(len(c.bytes))
		offset += c.size
		table[c.place] = c.section
	}
	for _, s := range table {
		for _, n := range []uint64{uint64(s.kind), s.flags, s.offset, s.size} {
			head = le.AppendUint64(head, n)
		}
	}
	if _, err := out.Write(head); err != nil {
		return err
	}
	for _, c := range contents {
		if _, err := out.Write(c.bytes); err != nil {
			return err
		}
	}
	return nil
}

// contents returns all sections, with their places in the table:
//
//	read      summary, names, contexts, offsets, profiles, symbols, metadata
//	written   summary, names, contexts, profiles, symbols, offsets, metadata
//
// The split layout has no contexts, and offsets and profiles twice: of the functions with
// callsites, then of those without. There, the offsets are written next to the profiles.
func (w *extendedWriter) contents() []content {
	p := w.p
	functions := p.Sorted()
	all := []content{
		{section: section{kind: summarySection, flags: w.summaryFlags()}, bytes: appendSummary(nil, p.Summarize())},
		{section: section{kind: nameSection, flags: w.nameFlags()}, place: 1, bytes: w.body.appendNames(nil, w.opt.MD5)},
	}
	if w.opt.Split {
		inlines := func(f *Function) bool { return len(f.Callsites) > 0 }
		profiles, offsets := w.profiles(slices.DeleteFunc(slices.Clone(functions), func(f *Function) bool { return !inlines(f) }), 2, 0)
		all = append(all, profiles, offsets)
		profiles, offsets = w.profiles(slices.DeleteFunc(functions, inlines), 4, flagFlat)
		return append(all, profiles, offsets, w.symbols(6), w.metadata(7))
	}
	all = append(all, w.contextTable(2))
	profiles, offsets := w.profiles(functions, 3, 0)
	return append(all, profiles, w.symbols(5), offsets, w.metadata(6))
}

func (w *extendedWriter) summaryFlags() (flags uint64) {
	for kind, flag := range map[Kind]uint64{
		Partial: flagPartial, ContextSensitive: flagContexts, PreInlined: flagPreInlined, FlowDiscriminators: flagFlowSensitive,
	} {
		if w.p.Kind.Has(kind) {
			flags |= flag
		}
	}
	if w.opt.VTables {
		flags |= flagVTables
	}
	return flags
}

func (w *extendedWriter) nameFlags() uint64 {
	switch {
	case w.opt.MD5:
		return flagMD5 | flagFixed
	case w.opt.unique || w.body.hasUniqueSuffix():
		return flagUnique
	}
	return 0
}

// contextTable numbers the contexts, in their order, and returns the section with them.
func (w *extendedWriter) contextTable(place int) content {
	var functions []*Function
	if w.p.Kind.Has(ContextSensitive) {
		functions = slices.Clone(w.p.Functions)
		slices.SortFunc(functions, compareContexts)
	}
	w.body.contexts = make(map[*Function]uint64, len(functions))
	dst := cursor.AppendULEB(nil, uint64(len(functions)))
	for i, f := range functions {
		w.body.contexts[f] = uint64(i)
		dst = cursor.AppendULEB(dst, uint64(len(f.Context)))
		for _, frame := range f.Context {
			dst = appendPlace(w.body.appendName(dst, frame.Name), frame.Location)
		}
	}
	return content{section: section{kind: contextSection}, place: place, bytes: dst}
}

// profiles returns the section with functions, and that with their offsets, which is read
// before it and has the given place.
func (w *extendedWriter) profiles(functions []*Function, place int, flags uint64) (profiles, offsets content) {
	at := make(map[*Function]uint64, len(functions))
	var dst []byte
	for _, f := range functions {
		at[f] = uint64(len(dst))
		dst = w.body.appendFunction(dst, f)
	}
	profiles = content{section: section{kind: profileSection, flags: flags}, place: place + 1, bytes: dst}
	if w.p.Kind.Has(ContextSensitive) {
		flags |= flagOrdered
		slices.SortFunc(functions, compareContexts)
	}
	table := cursor.AppendULEB(nil, uint64(len(functions)))
	for _, f := range functions {
		table = cursor.AppendULEB(w.body.appendSubject(table, f), at[f])
	}
	return profiles, content{section: section{kind: offsetSection, flags: flags}, place: place, bytes: table}
}

// symbols returns the section with the symbol list.
func (w *extendedWriter) symbols(place int) content {
	var dst []byte
	for _, name := range w.p.Symbols {
		dst = append(append(dst, name...), 0)
	}
	return content{section: section{kind: symbolSection}, place: place, bytes: dst}
}

// metadata returns the section with checksums and attributes.
func (w *extendedWriter) metadata(place int) content {
	c := content{section: section{kind: metadataSection}, place: place}
	if w.p.Kind.Has(ProbeBased) {
		c.flags |= flagProbes
	}
	if w.p.Kind&(ContextSensitive|PreInlined) != 0 {
		c.flags |= flagAttributes
	}
	if c.flags == 0 {
		return c
	}
	for _, f := range w.p.InMapOrder() {
		c.bytes = w.appendMetadata(c.bytes, f, c.flags)
	}
	return c
}

func (w *extendedWriter) appendMetadata(dst []byte, f *Function, flags uint64) []byte {
	dst = w.body.appendSubject(dst, f)
	if flags&flagProbes != 0 {
		dst = cursor.AppendULEB(dst, f.Checksum)
	}
	if flags&flagAttributes != 0 {
		dst = cursor.AppendULEB(dst, uint64(f.Attributes))
	}
	if w.p.Kind.Has(ContextSensitive) {
		return dst
	}
	dst = cursor.AppendULEB(dst, uint64(len(f.Callsites)))
	for _, c := range f.Callsites {
		dst = w.appendMetadata(appendPlace(dst, c.Location), c.Callee, flags)
	}
	return dst
}

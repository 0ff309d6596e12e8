package ctxprof

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// readBinary reads all profiles of a file; without error there is at least one.
func readBinary(data []byte) (all []*Profile, err error) {
	if len(data) == 0 {
		return nil, flaw.Field("size").Got("0 bytes").Want("a contextual profile").Empty()
	}
	for offset := 0; offset < len(data); {
		p, end, err := readOne(data, offset)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
		offset = end
	}
	return all, nil
}

// readOne reads the profile at an offset, and returns where it ends.
func readOne(data []byte, offset int) (p *Profile, end int, err error) {
	if rest := data[offset:]; !bytes.HasPrefix(rest, []byte(magic)) {
		at := flaw.At("bitstream", int64(offset)).Field("first bytes of a profile")
		if bytes.HasPrefix([]byte(magic), rest) {
			return nil, 0, at.Gotf("%d bytes", len(rest)).Wantf("%q", magic).Truncated()
		}
		return nil, 0, at.Got(flaw.Quote(rest[:min(len(rest), len(magic))])).Wantf("%q", magic).Corrupt()
	}
	r := &reader{bitReader: newBitReader(data, offset+len(magic)), p: &Profile{Version: version}}
	e := r.next()
	switch {
	case r.err != nil:
	case e.kind != entryBlock || e.id != metadataBlock:
		r.unexpected(e, "block 8 (Metadata)")
	default:
		r.metadata()
	}
	return r.p, int(r.pos / 8), r.err
}

// A reader reads one profile.
type reader struct {
	*bitReader
	p     *Profile
	depth int // of the context that is read
}

// unexpected fails because of an entry that should be another.
func (r *reader) unexpected(e entry, want string) {
	got, at := "", r.at(e.at)
	switch e.kind {
	case entryBlock:
		got = fmt.Sprintf("block %d", e.id)
	case entryRecord:
		got = fmt.Sprintf("record %d of %d operands", e.id, len(r.ops))
	default:
		r.fail(at.Field("entry").Got("the end of the block").Want(want).Truncated())
		return
	}
	r.fail(at.Field("entry").Got(got).Want(want).Corrupt())
}

// number reads a record with one number.
func (r *reader) number(code uint64, field string) uint64 {
	e := r.next()
	if r.err == nil && (e.kind != entryRecord || e.id != code || len(r.ops) != 1) {
		r.unexpected(e, fmt.Sprintf("record %d of one operand (%s)", code, field))
	}
	if r.err != nil {
		return 0
	}
	return r.ops[0]
}

// counters reads the record of counters.
func (r *reader) counters() []uint64 {
	e := r.next()
	if r.err == nil && (e.kind != entryRecord || e.id != countersRecord) {
		r.unexpected(e, fmt.Sprintf("record %d (counters)", countersRecord))
	}
	if r.err != nil {
		return nil
	}
	return slices.Clone(r.ops)
}

// blocksOf calls read for each block with an id, up to the end of the block that is read. rest, if not nil, takes other blocks.
func (r *reader) blocksOf(id uint64, read func(), rest func(e entry) bool) {
	for r.err == nil {
		switch e := r.next(); {
		case r.err != nil || e.kind == entryEnd:
			return
		case e.kind == entryBlock && e.id == id:
			read()
		case rest == nil || !rest(e):
			r.unexpected(e, fmt.Sprintf("block %d (%s) or the end of the block", id, sectionName(id)))
		}
	}
}

func (r *reader) metadata() {
	at := r.pos
	if v := r.number(versionRecord, "version"); r.err == nil && v != version {
		r.fail(r.at(at).Field("version").Got(v).WantVersions(fmt.Sprintf("%d; no release wrote earlier ones", version), v, version).Unsupported())
	}
	section := false // the section of roots was there
	r.blocksOf(flatsBlock, func() { r.flats(&r.p.Flat) }, func(e entry) bool {
		if section || e.kind != entryBlock || e.id != contextsBlock || r.p.Flat != nil {
			return false
		}
		section = true
		r.blocksOf(rootBlock, r.root, nil)
		return true
	})
}

// flats reads blocks of functions without contexts. LLVM writes unhandled functions in the reverse order, see [reader.root].
func (r *reader) flats(to *[]Function) {
	*to = []Function{}
	r.blocksOf(flatBlock, func() {
		f := Function{GUID: r.number(guidRecord, "GUID"), Counters: r.counters()}
		r.leaveBlock()
		*to = append(*to, f)
	}, nil)
}

// leaveBlock demands the end of the block.
func (r *reader) leaveBlock() {
	if r.err != nil {
		return
	}
	if e := r.next(); r.err == nil && e.kind != entryEnd {
		r.unexpected(e, "the end of the block")
	}
}

func (r *reader) root() {
	var root Root
	root.GUID = r.number(guidRecord, "GUID")
	root.Total = r.number(totalRecord, "number of all entries")
	root.Counters = r.counters()
	if r.err != nil {
		return
	}
	if e := r.next(); r.err == nil && (e.kind != entryBlock || e.id != unhandledBlock) {
		r.unexpected(e, "block 14 (Unhandled)")
	}
	if r.err == nil {
		r.flats(&root.Unhandled)
		slices.Reverse(root.Unhandled)
	}
	r.callees(&root.Context)
	r.p.Roots = append(r.p.Roots, root)
}

// callees reads the contexts below x, up to the end of the block. LLVM writes the callees of a call site in the reverse order.
func (r *reader) callees(x *Context) {
	if r.depth++; r.depth > maxDepth {
		r.fail(r.at(r.pos).Field("depth of the contexts").Got("more").Wantf("at most %d", maxDepth).Unsupported())
		return
	}
	sorted := true
	r.blocksOf(contextBlock, func() {
		var c Context
		c.GUID = r.number(guidRecord, "GUID")
		at := r.pos
		site := r.number(siteRecord, "call site")
		if site > math.MaxUint32 {
			r.fail(r.at(at).Field("call site").Got(site).Want("a number of 32 bits").Corrupt())
		}
		c.Site = uint32(site)
		c.Counters = r.counters()
		if r.err != nil {
			return
		}
		r.callees(&c)
		n := len(x.Callees)
		sorted = sorted && (n == 0 || x.Callees[n-1].Site <= c.Site)
		x.Callees = append(x.Callees, c)
	}, nil)
	r.depth--
	if !sorted {
		slices.SortStableFunc(x.Callees, func(a, b Context) int { return int(int64(a.Site) - int64(b.Site)) })
	}
	for rest := x.Callees; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Site == rest[0].Site {
			n++
		}
		slices.Reverse(rest[:n])
		rest = rest[n:]
	}
}

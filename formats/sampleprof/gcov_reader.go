package sampleprof

import (
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
)

// The gcov format consists of little-endian u32 words. A u64 is two words, the low word first. A
// string is its length in words, followed by its bytes, padded with zeros.
//
//	gcov     = "adcg" "*704" stamp
//	           tagNames length n { string }
//	           tagFunctions length n { u64:head function }
//	function = name numPositions numCallsites
//	           { offset numTargets u64:count { kind u64:name u64:count } }
//	           { offset function }
//
// An offset is line<<16 | discriminator. The format has no totals: each count adds to the function
// and to all functions that it is inlined into.
const (
	magicGCov = "adcg*704"

	tagNames     = 0xaa000000
	tagFunctions = 0xac000000
	// targetKind is the kind of the indirect call targets of a position (HIST_TYPE_INDIR_CALL_TOPN).
	targetKind = 7
)

type gcovReader struct {
	builder
	c     *cursor.Cursor
	names []Name
}

func readGCov(data []byte) (*Profile, error) {
	r := &gcovReader{builder: newBuilder(), c: cursor.New("header", 0, data, le)}
	r.c.Skip(uint64(len(magicGCov)), "magic")
	r.c.U32("stamp")
	r.tag(tagNames, "names")
	n := r.c.Count(uint64(r.c.U32("number of names")), 4, "number of names")
	for range n {
		r.names = append(r.names, NameOf(r.text()))
	}
	r.tag(tagFunctions, "functions")
	n = r.c.Count(uint64(r.c.U32("number of functions")), 20, "number of functions")
	for i := range n {
		r.c.Record = i
		head := r.c.U64("head samples")
		name := r.name(uint64(r.c.U32("name")))
		if r.c.Err() != nil {
			break
		}
		f := r.function(name, nil)
		addCount(&f.Head, head, 1)
		// A function that comes again is read and not added, as in LLVM.
		if f.Total > 0 {
			f = &Function{Name: name}
		}
		r.readFunction([]*Function{f})
	}
	r.finish()
	return r.p, r.c.Err()
}

func (r *gcovReader) tag(want uint32, section string) {
	r.c.Section = section
	at := r.c.Offset()
	if tag := r.c.U32("tag"); r.c.Err() == nil && tag != want {
		r.c.Fail(r.c.At(at).Field("tag").Gotf("%#x", tag).Wantf("%#x", want).Corrupt())
	}
	r.c.U32("length") // which producers leave at 0
}

// text reads a string without its padding.
func (r *gcovReader) text() string {
	text, _, _ := strings.Cut(string(r.c.Bytes(4*uint64(r.c.U32("length of a name")), "name")), "\x00")
	return text
}

func (r *gcovReader) name(i uint64) Name {
	if i < uint64(len(r.names)) {
		return r.names[i]
	}
	if r.c.Err() == nil {
		r.c.Fail(r.c.At(r.c.Offset()).Field("name").Got(i).Wantf("less than %d, the number of names", len(r.names)).Corrupt())
	}
	return Name{}
}

func (r *gcovReader) location() Location {
	at := r.c.U32("offset")
	return Location{at >> 16, at & 0xffff}
}

// readFunction reads the last function of an inline chain, after its name, outermost function first.
func (r *gcovReader) readFunction(stack []*Function) {
	c, f := r.c, stack[len(stack)-1]
	positions := c.Count(uint64(c.U32("number of positions")), 16, "number of positions")
	callsites := c.Count(uint64(c.U32("number of callsites")), 16, "number of callsites")
	for ; positions > 0 && c.Err() == nil; positions-- {
		at := r.location()
		targets := c.Count(uint64(c.U32("number of targets")), 20, "number of targets")
		count := c.U64("samples")
		for _, g := range stack {
			addCount(&g.Total, count, 1)
		}
		s := Sample{Location: at, Count: count}
		for ; targets > 0 && c.Err() == nil; targets-- {
			offset := c.Offset()
			if kind := c.U32("kind of targets"); c.Err() == nil && kind != targetKind {
				c.Fail(c.At(offset).Field("kind of targets").Got(kind).Wantf("%d, calls", targetKind).Corrupt())
			}
			name := r.name(c.U64("target"))
			s.Targets = append(s.Targets, Target{name, c.U64("samples of a target")})
		}
		f.Body = append(f.Body, s)
	}
	if len(stack) > maxDepth && callsites > 0 {
		failDepth(c)
	}
	for ; callsites > 0 && c.Err() == nil; callsites-- {
		at := r.location()
		name := r.name(uint64(c.U32("name")))
		callee := &Function{Name: name}
		f.Callsites = append(f.Callsites, Callsite{at, callee})
		if c.Err() == nil {
			r.readFunction(append(stack, callee))
		}
	}
}

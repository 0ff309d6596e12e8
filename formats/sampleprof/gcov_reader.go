package sampleprof

import (
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
)

// The gcov format consists of little-endian u32 words, except for names of some versions. A u64 is two
// words, the low word first.
//
//	gcov     = "adcg" version stamp
//	           [ tagSummary 5 { u64 } u64:n { share u64:min u64:counts } ]
//	           tagNames length [ n { string } ] n { string [ file ] }
//	           tagFunctions length n { u64:head [ u64:time ] function }
//	           [ tagModules length n [ tagWorkingSet length 128 { counts u64:min } ] ]
//	function = name numPositions numCallsites
//	           { offset numTargets u64:count { kind u64:name u64:count } }
//	           { offset function }
//
// An offset is line<<16 | discriminator. The format has no totals: each count adds to the function
// and to all functions that it is inlined into.
//
// Each compiler reads one version. What is in brackets and how strings are written depends on the program
// that wrote the file: create_gcov of AutoFDO writes its newest layout under any version from 2 up, and
// up to 0.19 the oldest one.
//
//	*704  read by LLVM, and the default of create_gcov
//	1     read by GCC 5 to 11
//	2     read by GCC 12 to 15
//	3     read by development versions of GCC 16
const (
	magicGCov = "adcg"

	gcovLLVM  = '*' | '7'<<8 | '0'<<16 | '4'<<24
	gcovGCC11 = 1
	gcovGCC12 = 2
	gcovRich  = 3

	tagSummary    = 0xa8000000
	tagNames      = 0xaa000000
	tagFunctions  = 0xac000000
	tagModules    = 0xae000000
	tagWorkingSet = 0xaf000000
	// targetKind is the kind of the indirect call targets of a position (HIST_TYPE_INDIR_CALL_TOPN).
	targetKind = 7
)

// gcovVersion returns the version of a file in the gcov format; ok is false for other files, such as
// GCC's own .gcda, whose versions are four letters.
func gcovVersion(data []byte) (version uint32, ok bool) {
	if len(data) < 8 || !strings.HasPrefix(string(data[:8]), magicGCov) {
		return 0, false
	}
	version = le.Uint32(data[4:])
	return version, version == gcovLLVM || gcovGCC11 <= version && version <= gcovRich
}

type gcovReader struct {
	builder
	c     *cursor.Cursor
	names []Name
	unit  uint64 // bytes of a unit in which the lengths of strings count: 1, or 4 with padding
	rich  bool   // with a summary, names of files and times of functions
}

func readGCov(data []byte, opt *ReaderOptions) (*Profile, error) {
	r := &gcovReader{builder: newBuilder(), c: cursor.New("header", 0, data, le), unit: 1}
	version, _ := gcovVersion(data)
	r.p.version = uint64(version)
	r.c.Skip(8, "magic and version")
	r.c.U32("stamp")
	rest := r.c.Rest()
	switch r.rich = len(rest) >= 4 && le.Uint32(rest) == tagSummary; {
	case r.rich && !opt.Lenient:
	case version == gcovGCC11, opt.Lenient, version == gcovLLVM && !namesEnd(rest, 1):
		r.rich, r.unit = false, 4
	}
	functions := r.readSummary()
	r.readNames()
	r.tag(tagFunctions, "functions")
	n := r.c.Count(uint64(r.c.U32("number of functions")), 20, "number of functions")
	if n == 0 && functions > 0 && r.c.Err() == nil {
		r.c.Fail(r.c.At(r.c.Offset()).Field("number of functions").Got(n).Wantf("%d, as the summary says", functions).Corrupt())
	}
	for i := range n {
		r.c.Record = i
		head := r.c.U64("head samples")
		if r.rich {
			r.c.U64("time of the first sample")
		}
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

// namesEnd reports whether the names that begin data, in units of some bytes, end where the next section begins.
func namesEnd(data []byte, unit uint64) bool {
	const head = 3 * 4
	if len(data) < head {
		return false
	}
	n := le.Uint32(data[8:])
	for data = data[head:]; n > 0 && len(data) >= 4; n-- {
		size := 4 + unit*uint64(le.Uint32(data))
		if size > uint64(len(data)) {
			return false
		}
		data = data[size:]
	}
	return n == 0 && len(data) >= 4 && le.Uint32(data) == tagFunctions
}

// readSummary reads the summary, if there is one, and returns its number of functions. The distribution
// of the counts, for which AutoFDO has other shares than LLVM, is not kept.
func (r *gcovReader) readSummary() (functions uint64) {
	if !r.rich {
		return 0
	}
	c := r.c
	c.Section = summarySection.String()
	c.U32("tag")
	for _, field := range []string{"total samples", "greatest count", "greatest head samples", "number of counts"} {
		c.U64(field)
	}
	functions = c.U64("number of functions")
	c.Skip(20*uint64(c.Count(c.U64("number of cutoffs"), 20, "number of cutoffs")), "cutoffs")
	return functions
}

func (r *gcovReader) readNames() {
	c := r.c
	r.tag(tagNames, "names")
	if r.rich {
		for range c.Count(uint64(c.U32("number of files")), 4, "number of files") {
			r.text()
		}
	}
	for range c.Count(uint64(c.U32("number of names")), 4, "number of names") {
		r.names = append(r.names, NameOf(r.text()))
		if r.rich {
			c.U32("file")
		}
	}
}

func (r *gcovReader) tag(want uint32, section string) {
	r.c.Section = section
	at := r.c.Offset()
	if tag := r.c.U32("tag"); r.c.Err() == nil && tag != want {
		r.c.Fail(r.c.At(at).Field("tag").Gotf("%#x", tag).Wantf("%#x", want).Corrupt())
	}
	r.c.U32("length") // which producers leave at 0
}

// text reads a string without the zero bytes at its end.
func (r *gcovReader) text() string {
	text, _, _ := strings.Cut(string(r.c.Bytes(r.unit*uint64(r.c.U32("length of a name")), "name")), "\x00")
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

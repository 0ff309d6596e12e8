package sampleprof

import (
	"bytes"
	"math"
	"strconv"

	"github.com/profuse-pgo/profuse/internal/addup"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
)

// The text format consists of lines that end with \n or \r\n. Readers skip empty lines, and lines
// whose first character other than a space is '#'.
//
//	profile  = { head { line } }
//	head     = name ":" total ":" head
//	line     = spaces ( sample | callsite | vtables | metadata )
//	sample   = location ": " count { " " target ":" count }
//	callsite = location ": " callee ":" total
//	vtables  = location ": vtables " { name ":" count " " }
//	metadata = "!CFGChecksum: " number | "!Attributes: " number | "!Flat"
//	location = line [ "." discriminator ]
//
// The number of spaces is the depth: lines below a callsite have one more and belong to the
// callee. A digit after ": " begins a sample, anything else a callsite. Names may contain colons
// and spaces. The name of a head may be a context in brackets.
const (
	frameSeparator = " @ "
	vtablePrefix   = "vtables "
	metadataMark   = '!'

	// maxLine is the greatest line offset of a location without a discriminator.
	maxLine = 1<<16 - 1
)

type textReader struct {
	builder
	data  []byte
	pos   int
	line  int // number of the current line
	mask  uint32
	names map[string]Name

	lenient bool

	stack    []*Function // the function of the last head and the current chain of callees
	finished int         // depth whose metadata has begun; 0 for none
	err      error
}

func readText(data []byte, opt *ReaderOptions) (*Profile, error) {
	r := &textReader{builder: newBuilder(), data: data, names: make(map[string]Name), mask: opt.mask(), lenient: opt.Lenient}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		if !opt.Lenient {
			r.line = 1 + bytes.Count(data[:i], []byte("\n"))
			return nil, r.at("text").Got("a zero byte").Want("none").Corrupt()
		}
		r.data = data[:i] // for LLVM, the text ends here
	}
	for line, ok := r.next(); ok && r.err == nil; line, ok = r.next() {
		if line[0] == ' ' {
			r.readLine(line)
		} else {
			r.readHead(line)
		}
	}
	if r.finish() && r.err == nil {
		r.err = flaw.Field("samples").Got("a sum of 2^64 and more").Want("less").Because(flaw.ErrSaturated)
	}
	return r.p, r.err
}

// next returns the next line that is neither empty nor a comment.
func (r *textReader) next() (line []byte, ok bool) {
	for r.pos < len(r.data) {
		rest := r.data[r.pos:]
		line, _, ended := bytes.Cut(rest, []byte("\n"))
		r.line++
		r.pos += len(line)
		if ended {
			r.pos++
			line = bytes.TrimSuffix(line, []byte("\r"))
		}
		if text := bytes.TrimLeft(line, " "); len(text) > 0 && text[0] != '#' {
			return line, true
		}
	}
	return nil, false
}

func (r *textReader) at(field string) flaw.Problem {
	return flaw.At("", -1).OnLine(r.line).Field(field)
}

// LLVM's messages about bad lines; the line follows.
const (
	badHead   = "Expected 'mangled_name:NUM:NUM', found "
	badSample = "Expected 'NUM[.NUM]: NUM[ mangled_name:NUM]*', found "
	badVTable = "Expected 'vtables [mangled_vtable:NUM]+', found "
	badMeta   = "Cannot parse metadata: "
	badOrder  = "Found non-metadata after metadata: "
)

// fail records an error about a bad line, unless there is one already. words is LLVM's message.
func (r *textReader) fail(line []byte, field, want, words string) {
	if r.err == nil {
		r.err = r.at(field).Got(flaw.Quote(line)).Want(want).Because(llvmerr.SampleLine(words + string(line)))
	}
}

// name returns the Name of a text. Equal texts share memory.
func (r *textReader) name(text []byte) Name {
	n, ok := r.names[string(text)]
	if !ok {
		n = nameIn(string(text), r.lenient)
		r.p.numbered = r.p.numbered || n.isID()
		r.names[string(text)] = n
	}
	return n
}

// addTo adds count to a sum, and fails if it saturates.
func (r *textReader) addTo(to *uint64, count uint64, field string) {
	if addCount(to, count, 1) && r.err == nil {
		r.err = r.at(field).Got("a sum of 2^64 and more").Want("less").Because(flaw.ErrSaturated)
	}
}

// splitHead splits a head into its name and two numbers.
func splitHead(line []byte) (name []byte, total, head uint64, ok bool) {
	name, last, ok := cutLast(line)
	if ok {
		head, ok = number(last, math.MaxUint64)
	}
	if ok {
		if name, last, ok = cutLast(name); ok {
			total, ok = number(last, math.MaxUint64)
		}
	}
	return name, total, head, ok
}

func cutLast(text []byte) (before, after []byte, ok bool) {
	i := bytes.LastIndexByte(text, ':')
	if i < 0 {
		return text, nil, false
	}
	return text[:i], text[i+1:], true
}

// number parses a decimal number without sign, at most limit.
func number(digits []byte, limit uint64) (n uint64, ok bool) {
	if len(digits) == 0 {
		return 0, false
	}
	for _, d := range digits {
		if d < '0' || d > '9' || n > math.MaxUint64/10 {
			return 0, false
		}
		n *= 10
		if n > math.MaxUint64-uint64(d-'0') {
			return 0, false
		}
		n += uint64(d - '0')
	}
	return n, n <= limit
}

func (r *textReader) readHead(line []byte) {
	text, total, head, ok := splitHead(line)
	var context []Frame
	if ok && len(text) > 0 && text[0] == '[' {
		context, ok = r.context(text)
	}
	if !ok {
		r.fail(line, "function", "NAME:TOTAL:HEAD", badHead)
		return
	}
	name := Name{}
	if context != nil {
		name = context[len(context)-1].Name
	} else {
		name = r.name(text)
	}
	if len(r.p.Functions) == 0 && context != nil {
		r.p.Kind.ContextSensitive = true
	}
	if r.p.Kind.ContextSensitive != (context != nil) {
		r.fail(line, "function", "either contexts or names, as the functions before", badHead)
		return
	}
	f := r.function(name, context)
	r.addTo(&f.Total, total, "total samples")
	r.addTo(&f.Head, head, "head samples")
	r.stack, r.finished = append(r.stack[:0], f), 0
}

// context parses "[main:3 @ foo:1.2 @ bar]".
func (r *textReader) context(text []byte) (frames []Frame, ok bool) {
	text, ok = bytes.CutSuffix(text[1:], []byte("]"))
	if !ok {
		return nil, false
	}
	for len(text) > 0 {
		var frame []byte
		frame, text, _ = bytes.Cut(text, []byte(frameSeparator))
		name, at, _ := bytes.Cut(frame, []byte(":"))
		f := Frame{Name: r.name(name)}
		if len(at) > 0 {
			line, discriminator, more := bytes.Cut(at, []byte("."))
			l, ok1 := number(line, math.MaxUint32)
			d, ok2 := uint64(0), true
			if more {
				d, ok2 = number(discriminator, math.MaxUint32)
			}
			if (!ok1 || !ok2) && !r.lenient {
				return nil, false
			}
			f.Location = Location{uint32(l), uint32(d)}
		}
		if frames = append(frames, f); len(frames) > maxDepth {
			return nil, false
		}
	}
	return frames, len(frames) > 0
}

// readLine reads a line below a head.
func (r *textReader) readLine(line []byte) {
	text := bytes.TrimLeft(line, " ")
	depth := len(line) - len(text)
	if len(r.stack) == 0 {
		r.fail(line, "function", "NAME:TOTAL:HEAD", badHead)
		return
	}
	if text[0] == metadataMark {
		r.cutStack(depth)
		r.readMetadata(line, text, depth)
		return
	}
	if depth == r.finished {
		r.fail(line, "line", "no samples after the metadata of their function", badOrder)
		return
	}
	r.cutStack(depth)
	where, rest, ok := bytes.Cut(text, []byte(":"))
	at, good := location(where)
	if !ok || !good || len(rest) < 2 {
		r.failSample(line)
		return
	}
	at.Discriminator &= r.mask
	f, rest := r.stack[len(r.stack)-1], rest[1:]
	switch {
	case '0' <= rest[0] && rest[0] <= '9' && (r.lenient || !isNumbered(rest)):
		r.readSample(line, rest, f, at)
	case bytes.HasPrefix(rest, []byte(vtablePrefix)):
		r.readVTables(line, rest[len(vtablePrefix):], f, at)
	default:
		callee, digits, ok := cutLast(rest)
		total, good := number(digits, math.MaxUint64)
		if !ok || !good {
			r.failSample(line)
			return
		}
		if len(r.stack) >= maxDepth {
			r.fail(line, "depth", "at most "+strconv.Itoa(maxDepth)+" functions inlined into each other", badSample)
			return
		}
		inner := &Function{Name: r.name(callee), Total: total}
		f.Callsites = append(f.Callsites, Callsite{at, inner})
		r.stack, r.finished = append(r.stack, inner), 0
	}
}

// isNumbered reports whether a line is of an inlined function with a GUID, "GUID:TOTAL". LLVM writes such lines and takes
// them for samples when it reads, which are wrong.
func isNumbered(text []byte) bool {
	id, total, _ := bytes.Cut(text, []byte(":"))
	_, ok := number(id, math.MaxUint64)
	_, good := number(total, math.MaxUint64)
	return ok && good
}

func (r *textReader) failSample(line []byte) {
	r.fail(line, "sample", "NUM[.NUM]: NUM[ NAME:NUM]*, or NUM[.NUM]: NAME:NUM", badSample)
}

// cutStack cuts the stack so that it ends with the function to which lines of a depth belong.
func (r *textReader) cutStack(depth int) { r.stack = r.stack[:min(len(r.stack), depth)] }

// location parses LINE or LINE.DISCRIMINATOR.
func location(text []byte) (at Location, ok bool) {
	line, discriminator, more := bytes.Cut(text, []byte("."))
	limit := uint64(maxLine)
	d := uint64(0)
	if more {
		limit = math.MaxUint32
		if d, ok = number(discriminator, math.MaxUint32); !ok {
			return at, false
		}
	}
	l, ok := number(line, limit)
	return Location{uint32(l), uint32(d)}, ok
}

// readSample reads the rest of a sample: "COUNT TARGET:COUNT TARGET:COUNT".
func (r *textReader) readSample(line, text []byte, f *Function, at Location) {
	digits, text, more := bytes.Cut(text, []byte(" "))
	count, ok := number(digits, math.MaxUint64)
	if !ok || more && line[len(line)-1] == ' ' {
		r.failSample(line)
		return
	}
	s := Sample{Location: at, Count: count}
	for text = bytes.TrimLeft(text, " "); len(text) > 0; text = bytes.TrimLeft(text, " ") {
		name, n, rest, ok := cutTarget(text)
		if !ok {
			r.failSample(line)
			return
		}
		s.Targets, text = append(s.Targets, Target{r.name(name), n}), rest
	}
	// If a target occurs twice, the last one counts, as in LLVM.
	s.Targets = addup.Equal(s.Targets, (*Target).compare, func(to, t *Target) { to.Count = t.Count })
	f.Body = append(f.Body, s)
}

// cutTarget cuts off a target, before the first colon that a number and then a space or the end follow.
func cutTarget(text []byte) (name []byte, count uint64, rest []byte, ok bool) {
	for i := 1; i < len(text); i++ {
		if text[i] != ':' {
			continue
		}
		word, rest, _ := bytes.Cut(text[i+1:], []byte(" "))
		if n, ok := number(word, math.MaxUint64); ok {
			return text[:i], n, rest, true
		}
	}
	return nil, 0, nil, false
}

// readVTables reads "NAME:COUNT NAME:COUNT ". Names have no colons, and each occurs once.
func (r *textReader) readVTables(line, text []byte, f *Function, at Location) {
	uses := Sample{Location: at}
	ok := true
	for word := range bytes.SplitSeq(text, []byte(" ")) {
		if len(word) > 0 && ok {
			name, digits, _ := bytes.Cut(word, []byte(":"))
			var n uint64
			n, ok = number(digits, math.MaxUint64)
			uses.Targets = append(uses.Targets, Target{r.name(name), n})
		}
	}
	uses.Targets = addup.Equal(uses.Targets, (*Target).compare, func(_, _ *Target) { ok = false })
	if !ok {
		r.fail(line, "virtual tables", "NUM[.NUM]: vtables [NAME:NUM ]+, each name once", badVTable)
		return
	}
	f.VTables = append(f.VTables, uses)
}

// readMetadata reads a checksum, attributes, or the mark of a function without callsites.
func (r *textReader) readMetadata(line, text []byte, depth int) {
	f := r.stack[len(r.stack)-1]
	key, value, _ := bytes.Cut(text[1:], []byte(":"))
	value = bytes.TrimSpace(value)
	r.finished = depth
	ok := true
	var n uint64
	switch string(key) {
	case "Flat":
		if ok = string(line) == " !Flat"; r.lenient {
			f.Attributes = 0 // as LLVM does
		}
	case "CFGChecksum":
		if n, ok = number(value, math.MaxUint64); n != 0 {
			f.Checksum = n
			if depth == 1 {
				r.p.Kind.ProbeBased = true
			}
		}
		f.Attributes = 0
	case "Attributes":
		n, ok = number(value, math.MaxUint32)
		f.Attributes = uint32(n)
		if f.Attributes&shouldBeInlined != 0 {
			r.p.Kind.PreInlined = true
		}
	default:
		ok = false
	}
	if !ok {
		r.fail(line, "metadata", `"!CFGChecksum: NUM", "!Attributes: NUM" or " !Flat"`, badMeta)
	}
}

// isText reports whether data begins with a head. In text of instrumentation, a number, the hash, follows one.
func isText(data []byte) bool {
	r := textReader{data: data[:min(len(data), 1<<20)]}
	head, ok := r.next()
	if !ok || head[0] == ' ' || head[0] == ':' {
		return false
	}
	name, _, _, ok := splitHead(head)
	if !ok || len(name) == 0 {
		return false
	}
	next, _ := r.next()
	_, err := strconv.ParseUint(string(next), 0, 64)
	return err != nil
}

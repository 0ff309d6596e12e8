package gcov

import (
	"fmt"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// Notes are what a compiler knows of one object file: its functions, their flow graphs and source lines.
type Notes struct {
	Header
	// Folder is the folder in which the compiler ran; "" before GCC 9.
	Folder string
	// Sources are the names of the sources, in the order in which the functions mention them.
	Sources   []string
	Functions []Function

	hasFolder  bool
	unexecuted bool // gcov marks lines with blocks that did not run
	left       int  // records of unknown kinds
}

// A Function is the flow graph of one function. Block 0 is its entry.
type Function struct {
	Ident uint32 // of the name
	// LineChecksum is over the source and the line; FlowChecksum over the flow graph.
	LineChecksum, FlowChecksum uint32
	Name                       string
	// Artificial functions are made by the compiler, such as the constructors of global variables.
	Artificial             bool
	Source                 int // index in Notes.Sources
	StartLine, StartColumn uint32
	EndLine, EndColumn     uint32
	Blocks                 int
	Arcs                   []Arc // grouped by From
	// Locations are the source lines of the blocks, in the order of the file.
	Locations []Location
	// Conditions are decisions of several terms, for GCC 14's condition coverage.
	Conditions []Decision
	Paths      uint32 // number of prime paths, for GCC 15's path coverage

	counted int // number of arcs that are counted
}

// An Arc leads from one block to another.
type Arc struct{ From, To, flags uint32 }

// isCounted reports whether the program counts the arc.
func (a *Arc) isCounted() bool { return a.flags&arcOnTree == 0 }

// A Location is the lines of one source on which a block has code, ascending.
type Location struct {
	Block  uint32
	Source int // index in Notes.Sources
	Lines  []uint32
}

// A Decision is a boolean expression of several terms, decided in one block.
type Decision struct{ Block, Terms uint32 }

type notesReader struct {
	*Notes
	c       *cursor.Cursor
	sources map[string]int
	blocks  uint64 // that the functions may still have
}

// ReadNotes reads notes of any version, in any byte order.
func ReadNotes(name string, data []byte) (*Notes, error) {
	n, err := readNotes(data)
	return n, flaw.InFile(err, name)
}

func readNotes(data []byte) (*Notes, error) {
	h, c, err := readHeader(data, magicNotes, "GCC's coverage notes")
	if err != nil {
		return nil, err
	}
	// A block has a record of its own, or an arc that leads to it: several bytes for each.
	r := &notesReader{Notes: &Notes{Header: *h}, c: c, sources: make(map[string]int), blocks: uint64(len(data))/4 + 2}
	if r.isBytes() {
		r.Checksum = c.U32("checksum")
	}
	if r.release >= releaseFolder {
		var isNull bool
		r.Folder, isNull = r.readString(c, "working folder")
		r.hasFolder = !isNull
	}
	if r.release >= releaseSpans {
		r.unexecuted = c.U32("support of unexecuted blocks") != 0
	}
	// GCC's notes end with the file, clang's with a word that is zero.
	for c.Err() == nil && c.Len() > 0 {
		if more := r.readRecord(); !more {
			break
		}
	}
	return r.Notes, c.Err()
}

// readRecord reads one record. It returns false at the end.
func (r *notesReader) readRecord() bool {
	c := r.c
	c.Section, c.Record = "record", -1
	start := c.Offset()
	tag := c.U32("tag")
	if tag == 0 {
		return false
	}
	size := r.unit * uint64(c.U32("length"))
	body := c.Bytes(size, "record")
	if c.Err() != nil {
		return false
	}
	in := cursor.New(sectionOf(tag), start+8, body, r.Order)
	in.Record = len(r.Functions) - 1
	if tag == tagFunction {
		in.Record++
		r.readFunction(in)
	} else if len(r.Functions) > 0 {
		f := &r.Functions[len(r.Functions)-1]
		switch tag {
		case tagBlocks:
			r.readBlocks(f, in)
		case tagArcs:
			r.readArcs(f, in)
		case tagLines:
			r.readLines(f, in)
		case tagConditions:
			for in.Len() >= 8 && in.Err() == nil {
				d := Decision{in.U32("block"), in.U32("terms")}
				f.checkBlock(in, d.Block)
				f.Conditions = append(f.Conditions, d)
			}
		case tagPaths:
			f.Paths = in.U32("number of paths")
		default:
			r.left++
		}
	}
	if err := in.Err(); err != nil {
		c.Fail(err)
	}
	return c.Err() == nil
}

func sectionOf(tag uint32) string {
	switch {
	case tag == tagFunction:
		return "function"
	case tag == tagBlocks:
		return "blocks"
	case tag == tagArcs:
		return "arcs"
	case tag == tagLines:
		return "lines"
	case tag == tagConditions:
		return "conditions"
	case tag == tagPaths:
		return "paths"
	case tag == tagObject:
		return "object summary"
	case tag == tagProgram:
		return "program summary"
	case isCounters(tag):
		return "counters"
	}
	return fmt.Sprintf("record %08x", tag)
}

func (r *notesReader) source(name string) int {
	i, ok := r.sources[name]
	if !ok {
		i = len(r.Sources)
		r.sources[name] = i
		r.Sources = append(r.Sources, name)
	}
	return i
}

func (r *notesReader) readFunction(c *cursor.Cursor) {
	f := Function{Ident: c.U32("ident"), LineChecksum: c.U32("lineno checksum")}
	if r.release >= releaseFlow {
		f.FlowChecksum = c.U32("cfg checksum")
	}
	f.Name, _ = r.readString(c, "name")
	if r.release >= releaseSpans {
		f.Artificial = c.U32("artificial") != 0
	}
	source, isNull := r.readString(c, "source")
	if isNull {
		source = "<unknown>" // gcov's word
	}
	f.StartLine = c.U32("start line")
	if r.release >= releaseSpans {
		f.StartColumn, f.EndLine = c.U32("start column"), c.U32("end line")
	}
	if r.release >= releaseFolder {
		f.EndColumn = c.U32("end column")
	}
	if c.Err() == nil {
		f.Source = r.source(source)
		r.Functions = append(r.Functions, f)
	}
}

func (r *notesReader) readBlocks(f *Function, c *cursor.Cursor) {
	if f.Blocks > 0 {
		return // gcov passes over a second record
	}
	n := uint64(c.Len() / 4)
	if r.release >= releaseSpans {
		n = uint64(c.U32("number of blocks"))
	}
	if n > r.blocks {
		c.Fail(c.At(c.Offset()).Field("number of blocks").Got(n).Wantf("at most %d in a file of this size", r.blocks).Corrupt())
		return
	}
	r.blocks -= min(n, max(r.blocks, 2)-2)
	f.Blocks = int(n)
}

// checkBlock fails unless the function has the block, whose number was just read.
func (f *Function) checkBlock(c *cursor.Cursor, block uint32) {
	if c.Err() == nil && uint64(block) >= uint64(f.Blocks) {
		c.Fail(c.At(c.Offset()-4).Field("block").Got(block).Wantf("less than %d, the number of blocks", f.Blocks).Corrupt())
	}
}

func (r *notesReader) readArcs(f *Function, c *cursor.Cursor) {
	from := c.U32("block")
	f.checkBlock(c, from)
	n := c.Len() / 8
	if f.Arcs == nil {
		f.Arcs = make([]Arc, 0, n)
	}
	for ; n > 0 && c.Err() == nil; n-- {
		a := Arc{From: from, To: c.U32("destination")}
		f.checkBlock(c, a.To)
		a.flags = c.U32("flags")
		if a.isCounted() {
			f.counted++
		}
		f.Arcs = append(f.Arcs, a)
	}
}

func (r *notesReader) readLines(f *Function, c *cursor.Cursor) {
	block := c.U32("block")
	f.checkBlock(c, block)
	var at *Location
	for c.Err() == nil {
		if line := c.U32("line"); line != 0 {
			if at == nil {
				c.Fail(c.At(c.Offset() - 4).Field("source").Got("a line without one").Want("a source before the first line").Corrupt())
				return
			}
			at.Lines = append(at.Lines, line)
			continue
		}
		name, isNull := r.readString(c, "source")
		if at != nil {
			slices.Sort(at.Lines) // the last line is where the block ends
		}
		if isNull || c.Err() != nil {
			return
		}
		f.Locations = append(f.Locations, Location{Block: block, Source: r.source(name)})
		at = &f.Locations[len(f.Locations)-1]
	}
}

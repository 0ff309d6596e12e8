package gcov

import (
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// Counts are what one program, or several runs of it, counted in one object file.
type Counts struct {
	Header
	// Runs is the number of runs; Max the sum of the greatest counter of each run. Both are 0 without a summary.
	Runs, Max uint32
	Functions []FunctionCounts

	summary  summaryPlace
	programs int    // summaries of programs, before GCC 9
	ends     int    // words that are zero at the end: clang writes two
	tail     int    // bytes of an older, longer file behind the end
	unadded  string // a kind of counters that could not be added up
}

// summaryPlace says where the summary is. Clang writes it behind the functions.
type summaryPlace int

const (
	noSummary summaryPlace = iota
	summaryFirst
	summaryLast
)

// FunctionCounts are the counters of one function.
type FunctionCounts struct {
	Ident, LineChecksum, FlowChecksum uint32
	// Placeholder: the function belongs to another object, which the program did not have.
	Placeholder bool
	Counters    []Counters // by kind, ascending as GCC writes them
}

// Counters are all counters of one kind in a function.
type Counters struct {
	Kind Kind
	// Values are the counters of kinds that are not lists.
	Values []int64
	// Lists are the sites of kinds that are lists.
	Lists []List
}

// A List is the most frequent values of an expression. Before GCC 11 values of expressions have other forms and are no lists.
type List struct {
	// Total is how often the expression was evaluated. It is negative if values were dropped.
	Total  int64
	Values []ListValue
}

// A ListValue is a value, and how often the expression had it.
type ListValue struct{ Value, Count int64 }

// allZero reports whether all counters are zero, so that they take no bytes.
func (c *Counters) allZero() bool {
	return !slices.ContainsFunc(c.Values, func(v int64) bool { return v != 0 })
}

func isCounters(tag uint32) bool {
	k := (tag - tagCounters) >> kindShift
	return tag >= tagCounters && (tag-tagCounters)&(1<<kindShift-1) == 0 && k < maxKinds
}

// ReadCounts reads counts of any version, in any byte order.
func ReadCounts(name string, data []byte) (*Counts, error) {
	c, err := readCounts(data)
	return c, flaw.InFile(err, name)
}

type countsReader struct {
	*Counts
	c *cursor.Cursor
	// zeros is how many counters without bytes the file may still have: a file of 1 MiB must not need gigabytes. The
	// program and its notes are larger than its counters.
	zeros uint64
	left  int
}

const (
	// zerosPerByte allows counters without bytes: a function record of 12 bytes with a counter for each of its arcs.
	zerosPerByte = 64
	minZeros     = 1 << 16
)

func readCounts(data []byte) (*Counts, error) {
	h, c, err := readHeader(data, magicCounts, "GCC's counts")
	if err != nil {
		return nil, err
	}
	r := &countsReader{Counts: &Counts{Header: *h}, c: c, zeros: minZeros + zerosPerByte*uint64(len(data))}
	if r.isBytes() {
		r.Checksum = c.U32("checksum")
	}
	for c.Err() == nil && r.readRecord() {
	}
	if c.Err() == nil {
		r.ends = 1
		if rest := c.Rest(); len(rest) == 4 && r.Order.Uint32(rest) == 0 {
			r.ends = 2
		} else {
			r.tail = len(rest)
		}
	}
	return r.Counts, c.Err()
}

// readRecord reads one record. It returns false at the end of the file, a tag that is zero.
func (r *countsReader) readRecord() bool {
	c := r.c
	c.Section, c.Record = "record", -1
	start := c.Offset()
	tag := c.U32("tag")
	if tag == 0 {
		return false
	}
	words := c.U32("length")
	// Only counters have a negative length.
	if isCounters(tag) && int32(words) < 0 && r.release >= releaseLists {
		r.addZeros(tag, start, r.unit*uint64(-words))
		return c.Err() == nil
	}
	body := c.Bytes(r.unit*uint64(words), "record")
	if c.Err() != nil {
		return false
	}
	in := cursor.New(sectionOf(tag), start+8, body, r.Order)
	in.Record = len(r.Functions) - 1
	switch {
	case tag == tagFunction:
		in.Record++
		r.readFunction(in)
	case tag == tagObject && r.release >= releaseFolder:
		r.Runs, r.Max = in.U32("runs"), in.U32("greatest counter")
		if r.summary = summaryFirst; len(r.Functions) > 0 {
			r.summary = summaryLast
		}
	case tag == tagProgram || tag == tagObject:
		r.readProgram(in, tag)
	case isCounters(tag):
		r.readCounters(in, tag)
	default:
		r.left++
	}
	if err := in.Err(); err != nil {
		c.Fail(err)
	}
	return c.Err() == nil
}

func (r *countsReader) readFunction(c *cursor.Cursor) {
	if c.Len() == 0 {
		r.Functions = append(r.Functions, FunctionCounts{Placeholder: true})
		return
	}
	f := FunctionCounts{Ident: c.U32("ident"), LineChecksum: c.U32("lineno checksum")}
	if r.release >= releaseFlow {
		f.FlowChecksum = c.U32("cfg checksum")
	}
	if c.Err() == nil {
		r.Functions = append(r.Functions, f)
	}
}

// readProgram reads the runs of a program that holds the object: there is a summary for each program before GCC 9.
func (r *countsReader) readProgram(c *cursor.Cursor, tag uint32) {
	if tag == tagProgram {
		r.programs++
	}
	if c.Len() < 12 {
		return
	}
	c.U32("checksum")
	c.U32("number of counters")
	if runs := c.U32("runs"); tag == tagProgram {
		r.Runs += runs
	}
}

// function returns the function that counters of a kind belong to; nil if there is none, which is an error.
func (r *countsReader) function(c *cursor.Cursor, at int64, kind Kind) *FunctionCounts {
	if len(r.Functions) == 0 || r.Functions[len(r.Functions)-1].Placeholder {
		c.Fail(c.At(at).Field("function").Got("none").Want("a function before its counters").Corrupt())
		return nil
	}
	f := &r.Functions[len(r.Functions)-1]
	if f.of(kind) != nil {
		c.Fail(c.At(at).Field("record").Gotf("%s counters again", kind).Want("one record for each kind").Corrupt())
		return nil
	}
	return f
}

// addZeros adds counters that are all zero.
func (r *countsReader) addZeros(tag uint32, start int64, size uint64) {
	r.c.Section, r.c.Record = sectionOf(tag), len(r.Functions)-1
	set := Counters{Kind: kindOf(tag, r.release)}
	f := r.function(r.c, start, set.Kind)
	switch n := size / 8; {
	case f == nil:
	case size%8 != 0 || n > r.zeros:
		r.c.Fail(r.c.At(start+4).Field("length").Gotf("%d bytes of zeros", size).Wantf("a multiple of 8, of at most %d counters in a file of this size", r.zeros).Corrupt())
	default:
		r.zeros -= n
		if set.Kind.isList() { // of GCC no list is written so
			set.Lists = make([]List, n/2)
		} else {
			set.Values = make([]int64, n)
		}
		f.Counters = append(f.Counters, set)
	}
}

func (r *countsReader) readCounters(c *cursor.Cursor, tag uint32) {
	set := Counters{Kind: kindOf(tag, r.release)}
	f := r.function(c, c.Offset()-8, set.Kind)
	if f == nil {
		return
	}
	if c.Len()%8 != 0 {
		c.Fail(c.At(c.Offset()-4).Field("length").Gotf("%d bytes", c.Len()).Want("a multiple of 8").Corrupt())
		return
	}
	values := make([]int64, c.Len()/8)
	for i := range values {
		low := c.U32("counter")
		values[i] = int64(uint64(c.U32("counter"))<<32 | uint64(low))
	}
	if set.Kind.isList() {
		set.Lists = r.readLists(c, values)
	} else {
		set.Values = values
	}
	f.Counters = append(f.Counters, set)
}

// readLists takes counters apart: total, number of values, and the values with their counts, for each site.
func (r *countsReader) readLists(c *cursor.Cursor, values []int64) (lists []List) {
	for i := 0; i < len(values); {
		at := c.Offset() - int64(8*(len(values)-i))
		if len(values)-i < 2 {
			c.Fail(c.At(at).Field("list").Got("one counter").Want("a total and a number of values").Corrupt())
			return nil
		}
		l, n := List{Total: values[i]}, values[i+1]
		i += 2
		if limit := int64(len(values)-i) / 2; n < 0 || n > limit {
			c.Fail(c.At(at+8).Field("number of values").Got(n).Wantf("at most %d", limit).Corrupt())
			return nil
		}
		for range n {
			l.Values = append(l.Values, ListValue{values[i], values[i+1]})
			i += 2
		}
		lists = append(lists, l)
	}
	return lists
}

// Arcs returns the counters of the arcs; nil if the function has none.
func (f *FunctionCounts) Arcs() []int64 {
	if set := f.of(kindArcs); set != nil {
		return set.Values
	}
	return nil
}

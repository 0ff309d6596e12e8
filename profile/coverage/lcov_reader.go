package coverage

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/addup"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// byteOrderMark begins texts that shells and editors of Windows wrote as UTF-8.
var byteOrderMark = []byte("\xef\xbb\xbf")

// IsLCOV reports whether data begins like a tracefile of lcov: comments, then a test name or a source file.
func IsLCOV(data []byte) bool {
	const most = 1 << 16 // bytes of comments
	for line := range bytes.Lines(bytes.TrimPrefix(data[:min(len(data), most)], byteOrderMark)) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		return bytes.HasPrefix(line, []byte("TN:")) || bytes.HasPrefix(line, []byte("SF:"))
	}
	return false
}

// ReadLCOV reads a tracefile, of any tool and of lcov up to release 2. It takes functions,
// lines and branches, adds several sections of one source file up, and ignores records
// that it does not know. name is for errors, which are of type *[profile.FormatError].
func ReadLCOV(name string, data []byte) (*Coverage, error) {
	var files []*File
	err := ReadTests(name, data, func(_ string, f *File) error {
		files = append(files, f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	c := &Coverage{HasLines: true}
	c.unite(files)
	return c, nil
}

// ReadTests reads a tracefile like [ReadLCOV], and calls section for each of its sections, with the
// name of the test, which may be empty, and the file. An error of section ends the reading. A test and
// source file may have several sections.
func ReadTests(name string, data []byte, section func(test string, f *File) error) error {
	r := lcovReader{name: name, section: section}
	number := 0
	for line := range bytes.Lines(bytes.TrimPrefix(data, byteOrderMark)) {
		number++
		text := strings.TrimRight(string(line), "\r\n")
		if err := r.record(number, text); err != nil {
			return err
		}
	}
	if r.file != nil {
		return flaw.File(name).OnLine(number + 1).Field("record").Got("the end").Want("end_of_record").Truncated()
	}
	return nil
}

type lcovReader struct {
	name    string
	section func(test string, f *File) error
	test    string
	// Of the section being read:
	file      *File // nil outside of sections
	functions map[string]int
	indexes   map[string]int32  // lines of functions, by the index of FNL
	branches  map[[2]string]int // by line and block
	ways      map[[3]string]int // by line, block and branch
	decisions map[[2]string]int // by line and number of conditions
	operands  map[[3]string]int // by line, number of conditions and index
}

func (r *lcovReader) record(line int, text string) error {
	key, value, _ := strings.Cut(text, ":")
	switch {
	case key == "TN":
		r.test = value
		return nil
	case key == "SF":
		err := r.endSection()
		if value == "" && err == nil {
			err = flaw.File(r.name).OnLine(line).Field(key).Got("empty").Want("the name of a source file").Corrupt()
		}
		r.file = &File{Path: value}
		r.functions, r.indexes = make(map[string]int), make(map[string]int32)
		r.branches, r.ways = make(map[[2]string]int), make(map[[3]string]int)
		r.decisions, r.operands = make(map[[2]string]int), make(map[[3]string]int)
		return err
	case strings.TrimSpace(text) == "end_of_record":
		return r.endSection()
	}
	record, known := lcovRecords[key]
	if !known {
		return nil
	}
	problem := func(want string) error {
		return flaw.File(r.name).OnLine(line).Field(key).Got(strconv.Quote(value)).Want(want).Corrupt()
	}
	if r.file == nil {
		return flaw.File(r.name).OnLine(line).Field("record").Got(key).Want("SF, the source file, before it").Corrupt()
	}
	parts := strings.SplitN(value, ",", record.values)
	if len(parts) < record.values {
		return problem(strconv.Itoa(record.values) + " values with commas between them")
	}
	if !record.read(r, parts) {
		return problem("lines from 1 to 2147483647 and whole numbers")
	}
	return nil
}

// lcovRecords are the records of a section. read reports false for malformed values.
var lcovRecords = map[string]struct {
	values int // separated by commas; the last may contain more
	read   func(r *lcovReader, values []string) bool
}{
	"FN":   {2, (*lcovReader).start},
	"FNL":  {2, (*lcovReader).indexedStart},
	"FNDA": {2, (*lcovReader).calls},
	"FNA":  {3, (*lcovReader).indexedCalls},
	"DA":   {2, (*lcovReader).line},
	"BRDA": {4, (*lcovReader).way},
	"MCDC": {6, (*lcovReader).condition},
}

// start reads LINE,[END,]NAME.
func (r *lcovReader) start(values []string) bool {
	name := values[1]
	if end, rest, more := strings.Cut(name, ","); more {
		if _, isLine := parseLine(end); isLine {
			name = rest
		}
	}
	n, ok := parseLine(values[0])
	if ok {
		r.function(name).StartLine = int32(n)
	}
	return ok
}

// indexedStart reads INDEX,LINE[,END].
func (r *lcovReader) indexedStart(values []string) bool {
	first, _, _ := strings.Cut(values[1], ",")
	n, ok := parseLine(first)
	if ok {
		r.indexes[values[0]] = int32(n)
	}
	return ok
}

// calls reads CALLS,NAME.
func (r *lcovReader) calls(values []string) bool {
	n, ok := parseCount(values[0])
	if ok {
		f := r.function(values[1])
		f.Calls = saturate.Add(f.Calls, n)
	}
	return ok
}

// indexedCalls reads INDEX,CALLS,NAME.
func (r *lcovReader) indexedCalls(values []string) bool {
	ok := r.calls(values[1:])
	if ok {
		r.function(values[2]).StartLine = r.indexes[values[0]]
	}
	return ok
}

// line reads LINE,COUNT[,CHECKSUM].
func (r *lcovReader) line(values []string) bool {
	first, _, _ := strings.Cut(values[1], ",")
	n, isLine := parseLine(values[0])
	count, isCount := parseCount(first)
	if !isLine || !isCount {
		return false
	}
	r.file.Lines = append(r.file.Lines, Line{n, count})
	return true
}

func (r *lcovReader) endSection() error {
	f := r.file
	if f == nil {
		return nil
	}
	r.file = nil
	f.Lines = addup.Equal(f.Lines, func(a, b *Line) int { return cmp.Compare(a.Number, b.Number) },
		func(to, from *Line) { to.Count = saturate.Add(to.Count, from.Count) })
	slices.SortStableFunc(f.Branches, func(a, b Branch) int { return cmp.Compare(a.Line, b.Line) })
	slices.SortStableFunc(f.Decisions, func(a, b Decision) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.size, b.size))
	})
	return r.section(r.test, f)
}

func (r *lcovReader) function(name string) *Function {
	i, ok := r.functions[name]
	if !ok {
		i = len(r.file.Functions)
		r.functions[name] = i
		r.file.Functions = append(r.file.Functions, Function{Symbol: profile.Symbol{Name: name, File: r.file.Path}})
	}
	return &r.file.Functions[i]
}

// way reads LINE,BLOCK,BRANCH,COUNT or LINE,BLOCK,BRANCH,-.
func (r *lcovReader) way(values []string) bool {
	line, isLine := parseLine(values[0])
	count, isCount := uint64(0), values[3] == "-"
	if !isCount {
		count, isCount = parseCount(values[3])
	}
	if !isLine || !isCount {
		return false
	}
	block := [2]string{values[0], values[1]}
	at, ok := r.branches[block]
	if !ok {
		at = len(r.file.Branches)
		r.branches[block] = at
		r.file.Branches = append(r.file.Branches, Branch{Line: line})
	}
	b := &r.file.Branches[at]
	key := [3]string{values[0], values[1], values[2]}
	way, ok := r.ways[key]
	if !ok {
		r.ways[key] = len(b.Ways)
		b.Ways = append(b.Ways, count)
		return true
	}
	b.Ways[way] = saturate.Add(b.Ways[way], count)
	return true
}

// condition reads LINE,[U]CONDITIONS,t|f,COUNT,INDEX,EXPRESSION. U marks a condition that is excluded.
func (r *lcovReader) condition(values []string) bool {
	line, isLine := parseLine(values[0])
	count, isCount := parseCount(values[3])
	value := strings.Index("ft", values[2])
	if !isLine || !isCount || value < 0 || len(values[2]) != 1 {
		return false
	}
	digits, excluded := strings.CutPrefix(values[1], "U")
	size, isSize := parseLine(digits)
	if !isSize || size == 0 || excluded {
		return isSize && size > 0
	}
	group := [2]string{values[0], values[1]}
	at, ok := r.decisions[group]
	if !ok {
		at = len(r.file.Decisions)
		r.decisions[group] = at
		r.file.Decisions = append(r.file.Decisions, Decision{Line: line, size: int(size)})
	}
	d := &r.file.Decisions[at]
	key := [3]string{values[0], values[1], values[4]}
	index, ok := r.operands[key]
	if !ok {
		index = len(d.Operands)
		r.operands[key] = index
		d.Operands = append(d.Operands, Condition{Line: line, Expression: values[5]})
		d.Conditions.Count(false)
	}
	c := &d.Operands[index]
	c.Shown[value] = saturate.Add(c.Shown[value], count)
	if !c.Covered && c.Shown[0] > 0 && c.Shown[1] > 0 {
		c.Covered = true
		d.Conditions.Covered++
	}
	return true
}

func parseLine(s string) (uint32, bool) {
	n, err := strconv.ParseUint(s, 10, 31)
	return uint32(n), err == nil
}

// parseCount parses a count. Some tools write unreliable counts as negative numbers, and large counts as
// decimal fractions with exponents. A negative count is 0.
func parseCount(s string) (uint64, bool) {
	if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || f != f:
		return 0, false
	case f <= 0:
		return 0, true
	case f >= 1<<63:
		return 1<<64 - 1, true
	}
	return uint64(f), true
}

package profgen

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// An unsymbolized profile is what llvm-profgen --skip-symbolization writes: two tables, each the number of its lines
// and the lines, in which addresses are hexadecimal and count from a base:
//
//	2
//	11a0-11c0:57      a range and its count
//	11d0-11d8:3
//	1
//	11c0->11a0:57     a branch and its count
//
// Profiles with contexts have two tables for each context, below a line with the context in brackets.
const (
	rangeMark  = "-"
	branchMark = "->"
)

// ReadUnsymbolized reads an unsymbolized profile whose addresses count from base: see [Program.Base].
func ReadUnsymbolized(name string, data []byte, base uint64) (*Counts, error) {
	r := unsymbolizedReader{name: name, data: data, base: base}
	c := NewCounts()
	if len(data) == 0 {
		return nil, r.flaw(0).Field("table of ranges").Got("nothing").Want("the number of its lines").Truncated()
	}
	for len(r.data) > 0 {
		if r.data[0] == '[' {
			return nil, r.flaw(r.line + 1).Field("table").Got("one of a context").Want("a profile without contexts").Unsupported()
		}
		for _, t := range []struct {
			mark string
			to   map[Span]uint64
		}{{rangeMark, c.Ranges}, {branchMark, c.Branches}} {
			if err := r.table(t.mark, t.to); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

type unsymbolizedReader struct {
	name string
	data []byte // the rest
	line int    // of the last one read, from 1 on
	base uint64
}

func (r *unsymbolizedReader) flaw(line int) flaw.Position {
	return flaw.File(r.name).OnLine(line)
}

// next returns the next line without the white space before it.
func (r *unsymbolizedReader) next(what string) ([]byte, error) {
	if len(r.data) == 0 {
		return nil, r.flaw(r.line).Field("line").Got("the end of the file").Want(what).Truncated()
	}
	line, rest, _ := bytes.Cut(r.data, []byte("\n"))
	r.data = rest
	r.line++
	return bytes.TrimLeft(line, " \t\n\v\f\r"), nil
}

// table reads a table and adds its counts to a map.
func (r *unsymbolizedReader) table(mark string, to map[Span]uint64) error {
	line, err := r.next("the number of lines of a table")
	if err != nil {
		return err
	}
	n, ok := number(line, 10)
	if !ok {
		return r.flaw(r.line).Field("line").Got(string(clip(line))).Want("the number of lines of a table").Corrupt()
	}
	for ; n > 0; n-- {
		line, err := r.next("ADDRESS" + mark + "ADDRESS:COUNT")
		if err != nil {
			return err
		}
		places, text, _ := bytes.Cut(line, []byte(":"))
		count, ok := number(text, 10)
		from, rest, _ := bytes.Cut(places, []byte(mark))
		low, fromOK := number(from, 16)
		high, toOK := number(rest, 16)
		if !ok || !fromOK || !toOK {
			return r.flaw(r.line).Field("line").Got(string(clip(line))).Want("ADDRESS" + mark + "ADDRESS:COUNT").Corrupt()
		}
		s := Span{low + r.base, high + r.base}
		to[s], _ = saturate.AddScaled(to[s], count, 1)
	}
	return nil
}

// clip shortens what an error quotes.
func clip(b []byte) []byte { return b[:min(len(b), 60)] }

// number parses digits alone.
func number(b []byte, base int) (uint64, bool) {
	const maxDigits = 1 << 10 // leading zeros; LLVM has no limit
	if len(b) == 0 || len(b) > maxDigits || bytes.ContainsAny(b, "_+-") {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b), base, 64)
	return n, err == nil
}

// WriteUnsymbolized writes an unsymbolized profile with addresses that count from base.
func (c *Counts) WriteUnsymbolized(w io.Writer, base uint64) error {
	b := bufio.NewWriter(w)
	for _, t := range []struct {
		mark string
		of   map[Span]uint64
	}{{rangeMark, c.Ranges}, {branchMark, c.Branches}} {
		fmt.Fprintf(b, "%d\n", len(t.of))
		var line []byte
		for _, x := range sorted(t.of) {
			line = strconv.AppendUint(line[:0], x.From-base, 16)
			line = append(line, t.mark...)
			line = strconv.AppendUint(line, x.To-base, 16)
			line = append(line, ':')
			line = strconv.AppendUint(line, x.count, 10)
			b.Write(append(line, '\n'))
		}
	}
	return b.Flush()
}

// IsUnsymbolized reports whether data begins as an unsymbolized profile.
func IsUnsymbolized(data []byte) bool {
	const enough = 1 << 10
	r := unsymbolizedReader{data: data[:min(len(data), enough)]}
	first, err := r.next("")
	if err != nil {
		return false
	}
	if bytes.HasPrefix(first, []byte("[")) {
		first, _ = r.next("")
	}
	second, err := r.next("")
	n, ok := number(first, 10)
	if err != nil || !ok {
		return false
	}
	if n == 0 { // an empty table of ranges
		if n, ok = number(second, 10); !ok || n == 0 {
			return ok
		}
		second, err = r.next("")
	}
	places, count, _ := bytes.Cut(second, []byte(":"))
	from, to, found := bytes.Cut(places, []byte(rangeMark))
	_, countOK := number(count, 10)
	_, fromOK := number(from, 16)
	_, toOK := number(bytes.TrimPrefix(to, []byte(">")), 16)
	return err == nil && found && countOK && fromOK && toOK
}

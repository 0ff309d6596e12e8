package sampleprof

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// textBuffer is the number of bytes written at a time, at least.
const textBuffer = 64 << 10

// writeText writes the profile as text. split marks functions without callsites.
func (p *Profile) writeText(w io.Writer, split bool) error {
	t := textWriter{contexts: p.Kind.ContextSensitive, probes: p.Kind.ProbeBased}
	for _, f := range p.sorted() {
		if t.contexts {
			t.buf = append(appendContext(append(t.buf, '['), f.Context), ']')
		} else {
			t.buf = append(t.buf, f.Name.String()...)
		}
		t.number(':', f.Total)
		t.number(':', f.Head)
		t.buf = append(t.buf, '\n')
		t.function(f, 1)
		if split && len(f.Callsites) == 0 {
			t.buf = append(t.buf, " !Flat\n"...)
		}
		if len(t.buf) >= textBuffer {
			if _, err := w.Write(t.buf); err != nil {
				return err
			}
			t.buf = t.buf[:0]
		}
	}
	_, err := w.Write(t.buf)
	return err
}

type textWriter struct {
	buf              []byte
	contexts, probes bool
}

func (t *textWriter) number(before byte, n uint64) {
	t.buf = strconv.AppendUint(append(t.buf, before), n, 10)
}

func (t *textWriter) begin(depth int, at Location) {
	t.indent(depth)
	t.buf = append(appendLocation(t.buf, at), ": "...)
}

func (t *textWriter) indent(depth int) {
	for range depth {
		t.buf = append(t.buf, ' ')
	}
}

// function writes the lines below the head of a function, indented by depth spaces.
func (t *textWriter) function(f *Function, depth int) {
	vtables := f.VTables
	for i := range f.Body {
		s := &f.Body[i]
		t.begin(depth, s.Location)
		t.buf = strconv.AppendUint(t.buf, s.Count, 10)
		for _, target := range s.Targets {
			t.buf = append(append(t.buf, ' '), target.Name.String()...)
			t.number(':', target.Count)
		}
		t.buf = append(t.buf, '\n')
		t.uses(&vtables, depth, s.Location)
	}
	vtables = f.VTables
	for i := range f.Callsites {
		c := &f.Callsites[i]
		t.begin(depth, c.Location)
		t.buf = append(t.buf, c.Callee.Name.String()...)
		t.number(':', c.Callee.Total)
		t.buf = append(t.buf, '\n')
		t.function(c.Callee, depth+1)
		if i+1 == len(f.Callsites) || f.Callsites[i+1].Location != c.Location {
			t.uses(&vtables, depth, c.Location)
		}
	}
	if t.probes {
		t.indent(depth)
		t.buf = append(t.buf, "!CFGChecksum:"...)
		t.number(' ', f.Checksum)
		t.buf = append(t.buf, '\n')
	}
	if f.Attributes != 0 {
		t.indent(depth)
		t.buf = append(t.buf, "!Attributes:"...)
		t.number(' ', uint64(f.Attributes))
		t.buf = append(t.buf, '\n')
	}
}

// uses writes the virtual tables of a location. It removes them, and all before them, from vtables.
func (t *textWriter) uses(vtables *[]Sample, depth int, at Location) {
	for len(*vtables) > 0 && (*vtables)[0].compare(at) <= 0 {
		uses := (*vtables)[0]
		*vtables = (*vtables)[1:]
		if uses.Location != at || len(uses.Targets) == 0 {
			continue
		}
		t.begin(depth, at)
		t.buf = append(t.buf, vtablePrefix...)
		for _, v := range uses.Targets {
			t.buf = append(t.buf, v.Name.String()...)
			t.number(':', v.Count)
			t.buf = append(t.buf, ' ')
		}
		t.buf = append(t.buf, '\n')
	}
}

// WriteOptions adjust writing. The zero value writes extensible binary.
type WriteOptions struct {
	// Format is FormatText, FormatBinary, FormatExtended or FormatGCov; "" means FormatExtended.
	// FormatBinary cannot hold contexts or probes. FormatGCov cannot hold these, GUIDs without names,
	// totals of functions and virtual tables.
	Format Format
	// GCC is the release of GCC for which FormatGCov is written: versions before 12 read one encoding, 12 to 15
	// another. 0 means AutoFDO's default, which LLVM reads.
	GCC int

	// Options of extensible binary files: MD5 writes GUIDs instead of names, Compress compresses all
	// sections, Split puts functions without callsites into a section of their own, VTables writes
	// virtual tables. In text, Split marks functions without callsites; text always has virtual tables.
	MD5, Compress, Split, VTables bool
	// Lossless sets VTables if the profile has virtual tables, which compilers before LLVM 22
	// cannot read, and MD5 if the profile has a bare GUID, which compilers would otherwise take
	// for a name made of digits.
	Lossless bool
	// Partial writes a partial sum, an extensible binary file that loses nothing: however inputs
	// are grouped into partial sums, the sum of these is the sum of all inputs. Other tools read
	// it as the profile without Partial. It is for [Merged.Write] without
	// [MergeOptions.LLVMCompat]; otherwise writing fails with [errors.ErrUnsupported].
	Partial bool

	// SizeLimit is the maximum number of bytes to write; 0 means no limit. Write leaves out the
	// functions with the smallest totals until the rest fits.
	SizeLimit uint64

	unique      bool   // set flagUnique even if no name has uniqueSuffix
	partialData []byte // contents of a partialSection
}

// Write writes the profile with the bytes of llvm-profdata 22, except that compressed sections differ
// and inflate to the same contents. Write computes the summary anew. Binary files hold checksums only
// of probe-based profiles, and attributes only of context-sensitive and pre-inlined profiles.
func (p *Profile) Write(w io.Writer, opt WriteOptions) error {
	if opt.Partial {
		return errors.ErrUnsupported
	}
	if limit := opt.SizeLimit; limit > 0 {
		opt.SizeLimit = 0
		packed := p.pack()
		opt.complete(packed)
		// LLVM sets flagUnique at its first attempt and keeps it.
		opt.unique = newBinaryWriter(packed, opt.VTables).hasUniqueSuffix()
		out, err := p.encodeWithin(limit, func(p *Profile) ([]byte, error) {
			var b bytes.Buffer
			err := p.Write(&b, opt)
			return b.Bytes(), err
		})
		if err == nil {
			_, err = w.Write(out)
		}
		return err
	}
	switch opt.Format {
	case FormatText:
		return p.writeText(w, opt.Split)
	case FormatGCov:
		switch {
		case opt.GCC >= 12:
			return p.writeGCov(w, gcovGCC12)
		case opt.GCC > 0:
			return p.writeGCov(w, gcovGCC11)
		}
		return p.writeGCov(w, gcovLLVM)
	}
	return p.pack().write(w, &opt)
}

// complete sets the options that Lossless implies.
func (o *WriteOptions) complete(p *packedProfile) {
	if !o.Lossless {
		return
	}
	for number, used := range p.survey().used {
		o.MD5 = o.MD5 || used&ofFunction != 0 && p.names.names[number].isID()
		o.VTables = o.VTables || used&ofVTable != 0
	}
}

func (p *packedProfile) write(w io.Writer, opt *WriteOptions) error {
	opt.complete(p)
	switch opt.Format {
	case FormatBinary:
		if p.kind.ContextSensitive || p.kind.ProbeBased {
			return flaw.Field("format").Got("a " + p.kind.String() + " profile").
				Want("a line-based one in the binary format").Unsupported()
		}
		return p.writeBinary(w)
	case FormatExtended, "":
		if opt.Split && p.kind.ContextSensitive {
			return flaw.Field("layout").Got("a context-sensitive profile").
				Want("one without contexts in the split layout, which has no context table").Unsupported()
		}
		return p.writeExtended(w, opt)
	}
	return flaw.Field("format").Got(opt.Format).Want("text, binary, extensible binary or gcov").Because(profile.ErrUnsupported)
}

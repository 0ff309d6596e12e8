package profdata

import (
	"io"
	"iter"
	"slices"
	"strconv"

	"github.com/profuse-pgo/profuse/formats/sampleprof"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmjson"
)

// dumpBuffer is the number of bytes to collect before writing.
const dumpBuffer = 64 << 10

// dumpSamples (FunctionSamples::print) prints functions of a profile.
func dumpSamples(w io.Writer, functions iter.Seq[*sampleprof.Function]) {
	buf := make([]byte, 0, 2*dumpBuffer)
	for f := range functions {
		buf = append(append(append(buf, "Function: "...), f.Label()...), ": "...)
		buf = appendSamples(buf, f, 0)
		if len(buf) >= dumpBuffer {
			w.Write(buf)
			buf = buf[:0]
		}
	}
	w.Write(buf)
}

// appendSamples appends the text after the name of a function at the given inlining depth, in the order of
// locations, as in LLVM's BodySampleMap. It does not use package fmt, which would take most of the time.
func appendSamples(dst []byte, f *sampleprof.Function, depth int) []byte {
	if f.Checksum != 0 {
		dst = append(appendNumber(append(dst, "CFG checksum "...), f.Checksum), '\n')
	}
	dst = append(appendNumber(dst, f.Total), ", "...)
	dst = append(appendNumber(dst, f.Head), ", "...)
	dst = append(appendNumber(dst, uint64(len(f.Body))), " sampled lines\n"...)
	if len(f.Body) > 0 {
		dst = append(appendIndent(dst, depth), "Samples collected in the function's body {\n"...)
		for i := range f.Body {
			s := &f.Body[i]
			dst = appendNumber(appendLocation(dst, depth, s.Location), s.Count)
			if len(s.Targets) > 0 {
				dst = append(dst, ", calls:"...)
				for i := range s.Targets {
					dst = appendTarget(append(dst, ' '), &s.Targets[i])
				}
			}
			dst = append(dst, '\n')
			// Virtual tables are on a separate line after the samples of their location.
			if len(f.VTables) > 0 {
				dst = appendVTables(dst, f, depth, s.Location)
			}
		}
		dst = append(appendIndent(dst, depth), "}\n"...)
	} else {
		dst = append(appendIndent(dst, depth), "No samples collected in the function's body\n"...)
	}
	dst = appendIndent(dst, depth)
	if len(f.Callsites) == 0 {
		return append(dst, "No inlined callsites in this function\n"...)
	}
	dst = append(dst, "Samples collected in inlined callsites {\n"...)
	for i := range f.Callsites {
		c := &f.Callsites[i]
		dst = append(appendLocation(dst, depth, c.Location), "inlined callee: "...)
		dst = append(append(dst, c.Callee.Name.String()...), ": "...)
		dst = appendSamples(dst, c.Callee, depth+1)
		// This was the last callee of the location.
		if i+1 == len(f.Callsites) || f.Callsites[i+1].Location != c.Location {
			dst = appendVTables(dst, f, depth, c.Location)
		}
	}
	return append(appendIndent(dst, depth), "}\n"...)
}

func appendVTables(dst []byte, f *sampleprof.Function, depth int, at sampleprof.Location) []byte {
	i, ok := slices.BinarySearchFunc(f.VTables, at, func(v sampleprof.Sample, at sampleprof.Location) int {
		return compareLocations(v.Location, at)
	})
	if !ok {
		return dst
	}
	if len(f.VTables[i].Targets) == 0 { // as LLVM
		return append(appendIndent(dst, depth), "  "...)
	}
	dst = append(appendLocation(dst, depth, at), "vtables: "...)
	for _, v := range f.VTables[i].Targets {
		dst = append(appendTarget(dst, &v), ' ')
	}
	return append(dst, '\n')
}

func appendTarget(dst []byte, t *sampleprof.Target) []byte {
	return appendNumber(append(append(dst, t.Name.String()...), ':'), t.Count)
}

func appendLocation(dst []byte, depth int, at sampleprof.Location) []byte {
	dst = appendNumber(append(appendIndent(dst, depth), "  "...), uint64(at.Line))
	if at.Discriminator != 0 {
		dst = appendNumber(append(dst, '.'), uint64(at.Discriminator))
	}
	return append(dst, ": "...)
}

func appendIndent(dst []byte, depth int) []byte {
	for range depth {
		dst = append(dst, "    "...)
	}
	return dst
}

func appendNumber(dst []byte, n uint64) []byte { return strconv.AppendUint(dst, n, 10) }

// dumpJSON (SampleProfileReader::dumpJson) prints functions of a profile as a JSON array.
func dumpJSON(w io.Writer, functions iter.Seq[*sampleprof.Function]) {
	var j llvmjson.Text
	j.Open('[')
	for f := range functions {
		j.Next()
		appendJSON(&j, f, true)
		if len(j.Bytes) >= dumpBuffer {
			w.Write(j.Bytes)
			j.Bytes = j.Bytes[:0]
		}
	}
	j.Close(']')
	w.Write(append(j.Bytes, '\n'))
}

// appendJSON appends a function. head adds the samples of its entry, which inlined functions do
// not have. Inlined functions are elements of "callsites" in their callers.
func appendJSON(j *llvmjson.Text, f *sampleprof.Function, head bool) {
	j.Open('{')
	j.String("name", f.Name.String())
	j.Number("total", f.Total)
	if head {
		j.Number("head", f.Head)
	}
	// beginLocation begins the object of a location.
	beginLocation := func(at sampleprof.Location) {
		j.Next()
		j.Open('{')
		j.Number("line", uint64(at.Line))
		if at.Discriminator != 0 {
			j.Number("discriminator", uint64(at.Discriminator))
		}
	}
	if len(f.Body) > 0 {
		j.Field("body")
		j.Open('[')
		for i := range f.Body {
			s := &f.Body[i]
			beginLocation(s.Location)
			j.Number("samples", s.Count)
			if len(s.Targets) > 0 {
				j.Field("calls")
				j.Open('[')
				for _, t := range s.Targets {
					j.Next()
					j.Open('{')
					j.String("function", t.Name.String())
					j.Number("samples", t.Count)
					j.Close('}')
				}
				j.Close(']')
			}
			j.Close('}')
		}
		j.Close(']')
	}
	if len(f.Callsites) > 0 {
		j.Field("callsites")
		j.Open('[')
		for _, c := range f.Callsites {
			beginLocation(c.Location)
			j.Field("samples")
			j.Open('[')
			j.Next()
			appendJSON(j, c.Callee, false)
			j.Close(']')
			j.Close('}')
		}
		j.Close(']')
	}
	j.Close('}')
}

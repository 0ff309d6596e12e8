package llvmprofdata

import (
	"io"
	"slices"
	"strconv"

	"github.com/profuse-pgo/profuse/sampleprof"
)

// dumpBuffer is how many bytes of text are collected before they are written.
const dumpBuffer = 64 << 10

// dumpSamples prints functions of a profile (FunctionSamples::print).
func dumpSamples(w io.Writer, functions ...*sampleprof.Function) {
	buf := make([]byte, 0, 2*dumpBuffer)
	for _, f := range functions {
		buf = append(append(append(buf, "Function: "...), f.Label()...), ": "...)
		buf = appendSamples(buf, f, 0)
		if len(buf) >= dumpBuffer {
			w.Write(buf)
			buf = buf[:0]
		}
	}
	w.Write(buf)
}

// appendSamples appends what follows the name of a function that is inlined depth times. It formats
// numbers without package fmt, which would take most of the time.
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
			dst = appendNumber(appendPlace(dst, depth, s.Location), s.Count)
			if len(s.Targets) > 0 {
				dst = append(dst, ", calls:"...)
				for _, t := range sampleprof.ByCount(s.Targets) {
					dst = appendTarget(append(dst, ' '), &t)
				}
			}
			dst = append(dst, '\n')
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
		dst = append(appendPlace(dst, depth, c.Location), "inlined callee: "...)
		dst = append(append(dst, c.Callee.Name.String()...), ": "...)
		dst = appendSamples(dst, c.Callee, depth+1)
		if i+1 == len(f.Callsites) || f.Callsites[i+1].Location != c.Location {
			dst = appendVTables(dst, f, depth, c.Location)
		}
	}
	return append(appendIndent(dst, depth), "}\n"...)
}

// appendVTables appends the virtual tables of a location, if it has any.
func appendVTables(dst []byte, f *sampleprof.Function, depth int, at sampleprof.Location) []byte {
	i, ok := slices.BinarySearchFunc(f.VTables, at, func(v sampleprof.VTableUses, at sampleprof.Location) int { return v.Compare(at) })
	if !ok {
		return dst
	}
	if len(f.VTables[i].VTables) == 0 { // as LLVM
		return append(appendIndent(dst, depth), "  "...)
	}
	dst = append(appendPlace(dst, depth, at), "vtables: "...)
	for _, v := range sampleprof.ByName(f.VTables[i].VTables) {
		dst = append(appendTarget(dst, &v), ' ')
	}
	return append(dst, '\n')
}

func appendTarget(dst []byte, t *sampleprof.Target) []byte {
	return appendNumber(append(append(dst, t.Name.String()...), ':'), t.Count)
}

// appendPlace begins a line of a location.
func appendPlace(dst []byte, depth int, at sampleprof.Location) []byte {
	dst = appendNumber(append(appendIndent(dst, depth), "  "...), uint64(at.Line))
	if at.Discriminator != 0 {
		dst = appendNumber(append(dst, '.'), uint64(at.Discriminator))
	}
	return append(dst, ": "...)
}

// appendIndent begins a line.
func appendIndent(dst []byte, depth int) []byte {
	for range depth {
		dst = append(dst, "    "...)
	}
	return dst
}

func appendNumber(dst []byte, n uint64) []byte { return strconv.AppendUint(dst, n, 10) }

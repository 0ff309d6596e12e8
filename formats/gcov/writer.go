package gcov

import (
	"bufio"
	"io"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// Write writes the counts in the version and byte order in which they were read, byte for byte as libgcov or
// gcov-tool of that release; counts of clang as clang's runtime does. Counts before GCC 9 have summaries of whole
// programs, which are not written.
func (c *Counts) Write(out io.Writer) error {
	if c.release < releaseFolder {
		return flaw.In("header").Field("version").Got(c.Version.Release()).Want("GCC 9 or later; counts of earlier releases are only read").Unsupported()
	}
	if c.unadded != "" {
		return flaw.In("counters").Field("kind").Gotf("%s of %s", c.unadded, c.Version.Release()).Want("kinds of GCC 11 or later, which can be added up").Unsupported()
	}
	w := &countsWriter{Writer: bufio.NewWriter(out), Counts: c}
	w.words(magicCounts, uint32(c.Version), c.Stamp)
	if c.isBytes() {
		w.words(c.Checksum)
	}
	if c.summary == summaryFirst {
		w.writeSummary()
	}
	for i := range c.Functions {
		w.writeFunction(&c.Functions[i])
	}
	if c.summary == summaryLast {
		w.writeSummary()
	}
	for range max(c.ends, 1) {
		w.words(0)
	}
	return w.Flush()
}

type countsWriter struct {
	*bufio.Writer
	*Counts
}

// words writes words. The error stays in the bufio.Writer until Flush.
func (w *countsWriter) words(values ...uint32) {
	for _, v := range values {
		var b [4]byte
		w.Order.PutUint32(b[:], v)
		_, _ = w.Writer.Write(b[:])
	}
}

func (w *countsWriter) counters(values ...int64) {
	for _, v := range values {
		w.words(uint32(v), uint32(uint64(v)>>32))
	}
}

// size is the length of so many bytes.
func (w *countsWriter) size(bytes int) uint32 { return uint32(bytes / int(w.unit)) }

func (w *countsWriter) writeSummary() { w.words(tagObject, w.size(8), w.Runs, w.Max) }

func (w *countsWriter) writeFunction(f *FunctionCounts) {
	if f.Placeholder {
		w.words(tagFunction, 0)
		return
	}
	w.words(tagFunction, w.size(12), f.Ident, f.LineChecksum, f.FlowChecksum)
	for i := range f.Counters {
		set := &f.Counters[i]
		w.words(tagOf(set.Kind, w.release))
		switch {
		case set.Kind.isList():
			n := 0
			for _, l := range set.Lists {
				n += 2 + 2*len(l.Values)
			}
			w.words(w.size(8 * n))
			for _, l := range set.Lists {
				w.counters(l.Total, int64(len(l.Values)))
				for _, v := range l.Values {
					w.counters(v.Value, v.Count)
				}
			}
		case w.release >= releaseLists && w.summary != summaryLast && set.allZero(): // clang writes zeros
			w.words(-w.size(8 * len(set.Values)))
		default:
			w.words(w.size(8 * len(set.Values)))
			w.counters(set.Values...)
		}
	}
}

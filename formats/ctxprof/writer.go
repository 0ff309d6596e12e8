package ctxprof

import (
	"bufio"
	"encoding/binary"
	"io"
	"slices"
)

// Write writes the profile: as YAML the bytes of llvm-ctxprof-util toYAML, or binary the bytes of llvm-ctxprof-util
// fromYAML with --ctx-prof-include-empty, which keeps contexts that were never entered.
func (p *Profile) Write(w io.Writer, yaml bool) error {
	if yaml {
		b := bufio.NewWriterSize(w, 1<<16)
		if err := p.writeYAML(b); err != nil {
			return err
		}
		return b.Flush()
	}
	_, err := w.Write(p.encode())
	return err
}

// encode returns the binary form. Blocks have their length before them, so it is in memory as a whole.
func (p *Profile) encode() []byte {
	w := &bitWriter{out: []byte(magic)}
	w.block(blockInfoBlock, func() {
		for _, b := range blockNames {
			w.record(setBlock, b.id)
			w.name(nameOfBlock, nil, b.name)
			for _, rec := range b.records {
				w.name(nameOfRecord, []uint64{rec.code}, rec.name)
			}
		}
	})
	w.block(metadataBlock, func() {
		w.record(versionRecord, version)
		if len(p.Roots) > 0 {
			w.block(contextsBlock, func() {
				for i := range p.Roots {
					w.root(&p.Roots[i])
				}
			})
		}
		if len(p.Flat) > 0 {
			w.block(flatsBlock, func() {
				for i := range p.Flat {
					w.flat(&p.Flat[i])
				}
			})
		}
	})
	return w.out
}

func (w *bitWriter) flat(f *Function) {
	w.block(flatBlock, func() {
		w.record(guidRecord, f.GUID)
		w.record(countersRecord, f.Counters...)
	})
}

func (w *bitWriter) root(r *Root) {
	w.block(rootBlock, func() {
		w.record(guidRecord, r.GUID)
		w.record(totalRecord, r.Total)
		w.record(countersRecord, r.Counters...)
		w.block(unhandledBlock, func() {
			for i := range slices.Backward(r.Unhandled) {
				w.flat(&r.Unhandled[i])
			}
		})
		w.callees(&r.Context)
	})
}

// callees writes the callees by ascending call site, and the callees of one site from the last to the first.
func (w *bitWriter) callees(x *Context) {
	for rest := x.Callees; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Site == rest[0].Site {
			n++
		}
		for i := range slices.Backward(rest[:n]) {
			c := &rest[i]
			w.block(contextBlock, func() {
				w.record(guidRecord, c.GUID)
				w.record(siteRecord, uint64(c.Site))
				w.record(countersRecord, c.Counters...)
				w.callees(c)
			})
		}
		rest = rest[n:]
	}
}

// A bitWriter writes an LLVM bitstream.
type bitWriter struct {
	out  []byte
	bits uint64 // not yet in out, from the least significant one
	n    uint   // number of bits, less than a word
}

// fixed writes a number of n bits, at most 32.
func (w *bitWriter) fixed(v uint64, n uint) {
	w.bits |= v << w.n
	if w.n += n; w.n >= wordBits {
		w.out = binary.LittleEndian.AppendUint32(w.out, uint32(w.bits))
		w.bits >>= wordBits
		w.n -= wordBits
	}
}

func (w *bitWriter) vbr(v uint64, n uint) {
	for more := uint64(1) << (n - 1); v >= more; v >>= n - 1 {
		w.fixed(v&(more-1)|more, n)
	}
	w.fixed(v&(1<<n-1), n)
}

func (w *bitWriter) align() {
	if w.n > 0 {
		w.fixed(0, wordBits-w.n)
	}
}

func (w *bitWriter) record(code uint64, ops ...uint64) {
	w.fixed(unabbreviated, topWidth)
	w.vbr(code, recordVBR)
	w.vbr(uint64(len(ops)), recordVBR)
	for _, op := range ops {
		w.vbr(op, recordVBR)
	}
}

// name writes a record of numbers and the letters of a name.
func (w *bitWriter) name(code uint64, numbers []uint64, name string) {
	for _, c := range []byte(name) {
		numbers = append(numbers, uint64(c))
	}
	w.record(code, numbers...)
}

// block writes a block with its contents.
func (w *bitWriter) block(id uint64, contents func()) {
	w.fixed(enterBlock, topWidth)
	w.vbr(id, blockVBR)
	w.vbr(topWidth, widthVBR)
	w.align()
	length := len(w.out)
	w.fixed(0, wordBits)
	contents()
	w.fixed(endBlock, topWidth)
	w.align()
	binary.LittleEndian.PutUint32(w.out[length:], uint32((len(w.out)-length-wordBits/8)/(wordBits/8)))
}

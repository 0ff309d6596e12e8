//go:build amd64 || arm64

package command

import (
	"bytes"
	"encoding/binary"
	"strings"
)

func sampleBombs() []bomb {
	const magic = "\x84\xe4\xd0\xb1\xf4\xc9\x94\xa8\x53\x67" // of an extensible binary file, with its version
	const plain = "\xff\xe5\xd0\xb1\xf4\xc9\x94\xa8\x53\x67\x00\x00\x00\x00\x00\x00"
	le := binary.LittleEndian
	// sections is a file of sections of types 1 to n; the contents are compressed.
	sections := func(contents ...[]byte) []byte {
		b := append([]byte(magic), make([]byte, 8)...)
		le.PutUint64(b[len(magic):], uint64(len(contents)))
		at := uint64(len(b) + 32*len(contents))
		for i, c := range contents {
			for _, v := range []uint64{[]uint64{1, 2, 6, 32}[i%4], 1, at, uint64(len(c))} {
				b = le.AppendUint64(b, v)
			}
			at += uint64(len(c))
		}
		return append(b, bytes.Join(contents, nil)...)
	}
	announced := func(n int, contents []byte) []byte { return append(binary.AppendUvarint(nil, uint64(n)), contents...) }
	file := func(name string, contents func() []byte) bomb {
		return bomb{name: "sample " + name, contents: contents}
	}
	inflated := func(name string, contents func() []byte) bomb {
		return bomb{name: "sample inflated " + name, inflates: true, contents: contents}
	}
	return []bomb{
		{name: "sample text functions", dense: true, contents: func() []byte { return numbered(7<<20, "f%d:1:1\n") }},
		file("text lines", func() []byte { return append([]byte("f:1:1\n"), numbered(7<<20, " 1.%d: 1\n")...) }),
		file("text targets", func() []byte { return append([]byte("f:1:1\n 1: 1"), numbered(7<<20, " %d:1")...) }),
		file("text nested", func() []byte {
			var b strings.Builder
			b.WriteString("f:1:1\n")
			for i := 1; b.Len() < 7<<20; i++ {
				b.WriteString(strings.Repeat(" ", i) + "1: f:1\n")
			}
			return []byte(b.String())
		}),
		file("text contexts", func() []byte { return numbered(7<<20, "[a:%d @ a:1 @ a:2 @ a:3 @ b]:1:1\n") }),
		file("text one context", func() []byte { return append(append([]byte("["), text(7<<20, "a:1 @ ")...), "b]:1:1\n"...) }),
		file("names", func() []byte {
			return append(append([]byte(plain), announced(7<<20, zeros(7<<20))...), 0, 0, 0, 0, 0)
		}),
		file("names announced", func() []byte { return append([]byte(plain), announced(1<<60, zeros(1000))...) }),
		file("one function", func() []byte { return append([]byte(plain+"\x01f\x00"), zeros(7<<20)...) }),
		file("callsites", func() []byte {
			b := append([]byte(plain+"\x01f\x00\x00\x00\x00\x00"), binary.AppendUvarint(nil, 1_250_000)...)
			for i := range 1_250_000 {
				b = append(b, byte(i>>14)&0x7f|0x80, byte(i>>7)&0x7f, byte(i)&0x7f, 0, 0, 0, 0)
			}
			return b[:7<<20]
		}),
		file("nested", func() []byte {
			return append([]byte(plain+"\x01f\x00\x00"), text(7<<20, "\x00\x00\x00\x01\x01\x00")...)
		}),
		inflated("names", func() []byte { return sections(chunkOf(zeros(6)), chunkOf(announced(64<<20, zeros(64<<20)))) }),
		inflated("contexts", func() []byte {
			return sections(chunkOf(zeros(6)), chunkOf([]byte("\x01f\x00")), chunkOf(announced(8_000_000, zeros(8_000_000))))
		}),
		inflated("functions", func() []byte {
			return sections(chunkOf(zeros(6)), chunkOf([]byte("\x01f\x00")), chunkOf(zeros(1)), chunkOf(zeros(8_000_000)))
		}),
		file("many sections", func() []byte {
			var all [][]byte
			names := chunkOf(announced(7_000_000, zeros(7_000_000)))
			for range 1000 {
				all = append(all, names)
			}
			return sections(all...)
		}),
	}
}

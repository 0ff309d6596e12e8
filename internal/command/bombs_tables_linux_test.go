//go:build amd64 || arm64

package command

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/profuse-pgo/profuse/formats/irpgo"
)

// tableBombs are binary files of tables: indexed profiles, MIP, raw heap profiles.
func tableBombs() []bomb {
	le := binary.LittleEndian
	item := func(name string, record []byte) []byte {
		b := le.AppendUint64(nil, irpgo.NameRef(name))
		b = le.AppendUint64(le.AppendUint64(b, uint64(len(name))), uint64(len(record)))
		return append(append(b, name...), record...)
	}
	// record returns one record: hash, counters, values of all kinds.
	record := func(hash uint64, counters int, values []byte) []byte {
		b := le.AppendUint64(le.AppendUint64(nil, hash), uint64(counters))
		b = append(b, make([]byte, 8*counters)...)
		return append(b, values...)
	}
	none := []byte("\x08\x00\x00\x00\x00\x00\x00\x00") // no values
	names := func(size int, each func(i int) []byte) []byte {
		var b []byte
		for i := 0; len(b) < size; i++ {
			b = append(b, each(i)...)
		}
		return b
	}
	mipFile := func(path string, records []byte) []byte {
		file := fixture(path)
		return append(file[:le.Uint32(file[28:])], records...)
	}
	mipRecord := func(i int, blocks, edges uint32, data int) []byte {
		b := le.AppendUint64(nil, uint64(i)) // signature
		b = le.AppendUint64(le.AppendUint64(b, uint64(0x20+8*i)), uint64(16*i))
		for _, v := range []uint32{16, 1, blocks, 1} {
			b = le.AppendUint32(b, v)
		}
		b = le.AppendUint64(le.AppendUint64(b, 1), 1)
		b = append(b, make([]byte, data)...)
		return le.AppendUint32(b, edges)
	}
	count := func(n uint64, records []byte) []byte { return append(le.AppendUint64(nil, n), records...) }
	rawSection := le.Uint64(fixture(bombMipmap)[16:]) // from the header of the map
	mapRecord := func(i, at, blocks int, name string) []byte {
		b := le.AppendUint64(le.AppendUint64(nil, rawSection+uint64(8*i-at)), uint64(at))
		for _, v := range []uint32{16, 1, uint32(blocks)} {
			b = le.AppendUint32(b, v)
		}
		for i := range blocks {
			b = le.AppendUint32(b, uint32(i+1))
		}
		b = append(le.AppendUint32(b, uint32(len(name))), name...)
		for len(b)%8 != 0 {
			b = append(b, 0)
		}
		return b
	}
	table := func(name string, contents func() []byte) bomb { return bomb{name: name, contents: contents} }
	profile := func(name string, contents func() []byte) bomb {
		return bomb{name: name, contents: contents, commands: mipCommands}
	}
	mapFile := func(name string, contents func() []byte) bomb {
		return bomb{name: name, contents: contents, commands: mipmapCommands}
	}
	heap := func(name string, contents func() []byte) bomb {
		return bomb{name: name, contents: contents, commands: heapCommands}
	}
	return []bomb{
		table("table of nameless entries", func() []byte {
			return indexed(names(4<<20, func(int) []byte { return item("", nil) }), 1<<18)
		}),
		table("table of small functions", func() []byte {
			return indexed(names(5<<20, func(i int) []byte { return item(fmt.Sprintf("%x", i), record(1, 1, none)) }), 1<<18)
		}),
		table("table of one chain", func() []byte { // every bucket leads to it
			b := indexed(names(3<<20, func(i int) []byte { return item(fmt.Sprintf("%x", i), record(1, 1, none)) }), 1)
			index := le.Uint64(b[32:])
			le.PutUint64(b[index:], 1<<19)
			return append(b, bytes.Repeat(b[index+16:][:8], 1<<19-1)...)
		}),
		table("table of empty buckets", func() []byte { return indexed(item("a", record(1, 1, none)), 1<<19) }),
		table("table of one name", func() []byte {
			return indexed(names(3<<20, func(i int) []byte { return item("a", record(uint64(i), 1, none)) }), 1)
		}),
		table("records of one function", func() []byte {
			return indexed(item("a", names(7<<20, func(i int) []byte { return record(uint64(i), 1, none) })), 1)
		}),
		table("records of no counters", func() []byte {
			return indexed(item("a", names(7<<20, func(i int) []byte { return record(uint64(i), 0, none) })), 1)
		}),
		table("counters announced", func() []byte {
			r := record(1, 1, none)
			le.PutUint64(r[8:], 1<<60)
			return indexed(item("a", r), 1)
		}),
		{name: "value sites in a table", dense: true, contents: func() []byte {
			// Size and kinds; kind and sites; the numbers of values of sites, 0.
			sites := 65535
			values := le.AppendUint32(le.AppendUint32(nil, uint32(8+8+(sites+7)/8*8)), 1)
			values = append(le.AppendUint32(le.AppendUint32(values, 0), uint32(sites)), make([]byte, (sites+7)/8*8)...)
			return indexed(names(6<<20, func(i int) []byte { return item(fmt.Sprintf("%x", i), record(1, 1, values)) }), 256)
		}},
		profile("mip functions", func() []byte {
			r := names(7<<20, func(i int) []byte { return mipRecord(i, 0, 0, 0) })
			return mipFile(bombMIP, count(uint64(len(r)/60), r))
		}),
		profile("mip functions announced", func() []byte { return mipFile(bombMIP, count(1<<60, make([]byte, 1000))) }),
		profile("mip blocks", func() []byte {
			return mipFile(bombMIP, append(count(1, mipRecord(1, 1_450_000, 0, 5*1_450_000)), count(1, []byte("a\x00"))...))
		}),
		profile("mip blocks announced", func() []byte { return mipFile(bombMIP, count(1, mipRecord(1, 1<<32-1, 0, 1000))) }),
		profile("mip edges announced", func() []byte { return mipFile(bombMIP, count(1, mipRecord(1, 0, 1<<32-1, 1000))) }),
		profile("mip names", func() []byte {
			return mipFile(bombMIP, append(count(1, mipRecord(1, 0, 0, 0)), count(3_500_000, bytes.Repeat([]byte("a\x00"), 3_500_000))...))
		}),
		mapFile("mipmap functions", func() []byte {
			at := 0
			return mipFile(bombMipmap, names(7<<20, func(i int) []byte {
				r := mapRecord(i, at, 0, fmt.Sprintf("%x", i))
				at += len(r)
				return r
			}))
		}),
		mapFile("mipmap blocks", func() []byte { return mipFile(bombMipmap, mapRecord(0, 0, 1_850_000, "a")) }),
		mapFile("mipmap blocks announced", func() []byte {
			r := mapRecord(0, 0, 1000, "a")
			le.PutUint32(r[24:], 1<<32-1)
			return mipFile(bombMipmap, r)
		}),
		heap("heap dumps", func() []byte {
			return bytes.Repeat(heapDump(nil, nil, nil), 100_000)
		}),
		heap("heap segments", func() []byte {
			s := fixture(bombHeap)[56:][:64]
			return heapDump(bytes.Repeat(s, 120_000), nil, nil)
		}),
		heap("heap blocks and stacks", func() []byte {
			s, mib := heapParts()
			var mibs, stacks []byte
			for i := range uint64(37_000) {
				mibs = append(le.AppendUint64(mibs, i), mib...)
				stacks = le.AppendUint64(le.AppendUint64(le.AppendUint64(stacks, i), 1), heapAddress(i))
			}
			return heapDump(s, mibs, stacks)
		}),
		{name: "heap stack, deep", dense: true, commands: heapCommands, contents: func() []byte {
			s, mib := heapParts()
			const frames = 900_000
			stack := le.AppendUint64(le.AppendUint64(nil, 1), frames)
			for i := range uint64(frames) {
				stack = le.AppendUint64(stack, heapAddress(i))
			}
			return heapDump(s, append(le.AppendUint64(nil, 1), mib...), stack)
		}},
		heap("heap stacks, deep", func() []byte {
			s, mib := heapParts()
			var mibs, stacks []byte
			for i := range uint64(500) {
				mibs = append(le.AppendUint64(mibs, i), mib...)
				stacks = le.AppendUint64(le.AppendUint64(stacks, i), 1800)
				for j := range uint64(1800) {
					stacks = le.AppendUint64(stacks, heapAddress(i*j))
				}
			}
			return heapDump(s, mibs, stacks)
		}),
		heap("heap stacks announced", func() []byte {
			s, mib := heapParts()
			return heapDump(s, append(le.AppendUint64(nil, 1), mib...), le.AppendUint64(le.AppendUint64(nil, 1), 1<<60))
		}),
		heap("heap histograms", func() []byte {
			s, mib := heapParts()
			le.PutUint32(mib[132:], 3_500_000)
			mibs := append(append(le.AppendUint64(nil, 1), mib...), make([]byte, 2*3_500_000)...)
			return heapDump(s, mibs, le.AppendUint64(le.AppendUint64(le.AppendUint64(nil, 1), 1), heapAddress(0)))
		}),
		heap("heap histograms announced", func() []byte {
			s, mib := heapParts()
			le.PutUint32(mib[132:], 1<<32-1)
			return heapDump(s, append(le.AppendUint64(nil, 1), mib...), nil)
		}),
	}
}

var heapCommands = []string{
	"show BOMB", "check BOMB", "merge -o OUT --program " + bombProgram + " BOMB", "top --program " + bombProgram + " BOMB",
	"export --to pprof -o OUT --program " + bombProgram + " BOMB", "llvm-profdata show --memory --profiled-binary " + bombProgram + " BOMB",
}

// indexed returns an indexed profile of version 7 whose table has the items in so many buckets.
func indexed(items []byte, buckets int) []byte {
	le := binary.LittleEndian
	file := fixture(bombIndexed)
	start := 40 + 16 + 8*le.Uint64(file[40:]) + 24*le.Uint64(file[48:])
	chains, lengths := make([][]byte, buckets), make([]int, buckets)
	all := 0
	for len(items) > 0 {
		n := 24 + le.Uint64(items[8:]) + le.Uint64(items[16:])
		at := le.Uint64(items) & uint64(buckets-1)
		chains[at] = append(chains[at], items[:n]...)
		items = items[n:]
		lengths[at]++
		all++
	}
	b, index := file[:start:start], make([]byte, 0, 8*buckets)
	for i, chain := range chains {
		at := 0
		if lengths[i] > 0 {
			at = len(b)
			b = append(le.AppendUint16(b, uint16(lengths[i])), chain...)
		}
		index = le.AppendUint64(index, uint64(at))
	}
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	le.PutUint64(b[32:], uint64(len(b)))
	b = le.AppendUint64(le.AppendUint64(b, uint64(buckets)), uint64(all))
	return append(b, index...)
}

// heapParts returns the segments and the first MIB of bombHeap.
func heapParts() (segments, mib []byte) {
	le := binary.LittleEndian
	file := fixture(bombHeap)
	n := le.Uint64(file[48:])
	return bytes.Clone(file[56:][:64*n]), bytes.Clone(file[le.Uint64(file[32:])+16:][:144])
}

// heapAddress returns an address in bombProgram, as the process of bombHeap had it, among
// those for which it has debug information.
func heapAddress(i uint64) uint64 { return 0x555555554000 + 0x8a3e1 + i%0x66a }

// heapDump returns a raw heap profile of version 5.
func heapDump(segments, mibs, stacks []byte) []byte {
	le := binary.LittleEndian
	numMIBs, numStacks := 0, 0
	for m := mibs; len(m) >= 152; numMIBs++ {
		m = m[min(len(m), 152+2*int(le.Uint32(m[8+132:]))):]
	}
	for s := stacks; len(s) >= 16; numStacks++ {
		s = s[min(uint64(len(s)), 16+8*min(le.Uint64(s[8:]), 1<<40)):]
	}
	section := func(b []byte, n int, entries []byte) []byte {
		b = append(le.AppendUint64(b, uint64(n)), entries...)
		for len(b)%8 != 0 {
			b = append(b, 0)
		}
		return b
	}
	body := section(make([]byte, 48), len(segments)/64, segments)
	mibAt := len(body)
	body = section(body, numMIBs, mibs)
	stackAt := len(body)
	body = section(body, numStacks, stacks)
	for i, v := range []uint64{0xff<<56 | 'm'<<48 | 'p'<<40 | 'r'<<32 | 'o'<<24 | 'f'<<16 | 'r'<<8 | 0x81, 5, uint64(len(body)), 48, uint64(mibAt), uint64(stackAt)} {
		le.PutUint64(body[8*i:], v)
	}
	return body
}

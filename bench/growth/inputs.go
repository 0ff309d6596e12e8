//go:build linux

package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/profuse-pgo/profuse/bench/internal/measure"
	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/formats/sampleprof"
)

// perFunction is how many counters functions have on average.
const perFunction = 8

// makeFiles returns profiles of one program with n counters each, or samples, records, contexts, below a folder.
func makeFiles(folder, kind string, files, n int) ([]string, error) {
	dir := filepath.Join(folder, fmt.Sprintf("%s-%d", kind, n))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	out := make([]string, max(files, 1))
	for i := range out {
		out[i] = filepath.Join(dir, fmt.Sprintf("%d.%s", i, kind))
		if measure.Exists(out[i]) {
			continue
		}
		g := &generator{rng: rand.New(rand.NewPCG(uint64(i), 7)), n: max(n/perFunction, 1)}
		if err := measure.WriteFile(out[i], func(w *bufio.Writer) error { return writers[kind](g, w) }); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// A generator makes one profile of n functions. Function i has the same name and shape in all profiles.
type generator struct {
	rng *rand.Rand
	n   int
}

// writers write the profile, by the suffix of the file.
var writers = map[string]func(*generator, *bufio.Writer) error{
	"profraw": (*generator).raw, "profdata": (*generator).indexed, "afdo": (*generator).samples,
	"iprof": (*generator).iprof, "memprof.yaml": (*generator).heap,
}

// name returns a mangled name of C++ of about 60 bytes.
func (g *generator) name(i int) string {
	return fmt.Sprintf("_ZN7project%02d9component%03d7Handler%07d7processERKNS_7RequestE", i/50_000%100, i/200%1000, i)
}

// shape returns the number of counters of a function.
func shape(i int) int { return 1 + i*7%(2*perFunction-1) }

// count returns 0 for every fourth counter, and otherwise a number of up to 34 bits, each length equally often.
func (g *generator) count() uint64 {
	if g.rng.IntN(4) == 0 {
		return 0
	}
	return g.rng.Uint64() >> (30 + g.rng.IntN(34))
}

// indexed writes a profile in which every tenth function calls others through pointers.
func (g *generator) indexed(w *bufio.Writer) error {
	p := &irpgo.Profile{Variant: irpgo.IRLevel}
	for i := range g.n {
		name := g.name(i)
		r := &irpgo.Record{Name: name, Hash: uint64(i) * 0x9e3779b97f4a7c15 >> 4, Counts: make([]uint64, shape(i))}
		for j := range r.Counts {
			r.Counts[j] = g.count()
		}
		if i%10 == 0 {
			var site []irpgo.ValueData
			for k := range 1 + g.rng.IntN(3) {
				site = append(site, irpgo.ValueData{Value: irpgo.NameRef(g.name((i*31 + k*17 + 1) % g.n)), Count: 1 + g.count()%1000})
			}
			r.Values[irpgo.IndirectCallTarget] = [][]irpgo.ValueData{site}
		}
		p.Functions = append(p.Functions, irpgo.Function{Name: name, Records: []*irpgo.Record{r}})
	}
	return irpgo.WriteIndexed(w, p, irpgo.IndexedOptions{})
}

// raw writes a profile of version 8, as programs compiled with LLVM 14 do: header, a record for each function, counters, names.
func (g *generator) raw(w *bufio.Writer) error {
	const (
		dataAddr, countersAddr, namesAddr = 0x40_0000, 0x4000_0000, 0x8000_0000
		recordSize                        = 48
	)
	le := binary.LittleEndian
	var records, counters []byte
	var names strings.Builder
	for i := range g.n {
		if i > 0 {
			names.WriteByte(1)
		}
		names.WriteString(g.name(i))
		at := uint64(countersAddr + len(counters))
		// A record is __llvm_profile_data: NameRef, FuncHash, CounterPtr (relative to the record),
		// FunctionPointer, Values, NumCounters, NumValueSites.
		records = le.AppendUint64(records, irpgo.NameRef(g.name(i)))
		records = le.AppendUint64(records, uint64(i)*0x9e3779b97f4a7c15>>4)
		records = le.AppendUint64(records, at-uint64(dataAddr+i*recordSize))
		records = le.AppendUint64(records, 0) // function
		records = le.AppendUint64(records, 0) // values
		records = le.AppendUint32(records, uint32(shape(i)))
		records = le.AppendUint32(records, 0) // value sites of two kinds
		for range shape(i) {
			counters = le.AppendUint64(counters, g.count())
		}
	}
	// The names section begins with the sizes of the names and of the compressed names (ULEB128).
	list := binary.AppendUvarint(nil, uint64(names.Len()))
	list = append(append(list, 0), names.String()...) // not compressed
	const irLevel, counterDelta = 1 << 56, countersAddr - dataAddr
	var file []byte
	// The header: magic, version with the variant in its upper bits, size of the binary ids, number of
	// records, padding, number of counters, padding, size of the names, CountersDelta, NamesDelta, and
	// the greatest kind of values.
	for _, word := range []uint64{
		0xff<<56 | 'l'<<48 | 'p'<<40 | 'r'<<32 | 'o'<<24 | 'f'<<16 | 'r'<<8 | 0x81, 8 | irLevel,
		0, uint64(g.n), 0, uint64(len(counters) / 8), 0, uint64(len(list)), counterDelta, namesAddr, 1,
	} {
		file = le.AppendUint64(file, word)
	}
	file = append(append(append(file, records...), counters...), list...)
	// Sections are padded to 8 bytes.
	_, err := w.Write(append(file, make([]byte, -len(list)&7)...))
	return err
}

// samples writes a sample profile, a sample for each counter.
func (g *generator) samples(w *bufio.Writer) error {
	p := new(sampleprof.Profile)
	for i := range g.n {
		f := &sampleprof.Function{Name: sampleprof.NameOf(g.name(i)), Head: g.count()}
		for line := range shape(i) {
			s := sampleprof.Sample{Location: sampleprof.Location{Line: uint32(line + 1)}, Count: 1 + g.count()}
			f.Body = append(f.Body, s)
			f.Total += s.Count
		}
		p.Functions = append(p.Functions, f)
	}
	return p.Write(w, sampleprof.WriteOptions{})
}

// iprof writes a call site for each counter.
func (g *generator) iprof(w *bufio.Writer) error {
	w.WriteString(`{"version":"1.1.0","types":[{"id":0,"name":"void"}`)
	for i := range g.n {
		fmt.Fprintf(w, `,{"id":%d,"name":"org.project.component%d.Handler%d"}`, i+1, i/200, i)
	}
	w.WriteString(`],"methods":[`)
	for i := range g.n {
		if i > 0 {
			w.WriteByte(',')
		}
		fmt.Fprintf(w, `{"id":%d,"name":"process","signature":[%d,0]}`, i+1, i+1)
	}
	w.WriteString(`],"callCountProfiles":[`)
	for i := range g.n {
		for k := range shape(i) {
			if i+k > 0 {
				w.WriteByte(',')
			}
			fmt.Fprintf(w, `{"ctx":"%d:0<%d:%d","records":[%d]}`, i+1, (i*31+k)%g.n+1, k, 1+g.count()>>2)
		}
	}
	_, err := w.WriteString("]}\n")
	return err
}

// heap writes a heap profile in YAML with a context for each counter.
func (g *generator) heap(w *bufio.Writer) error {
	w.WriteString("---\nHeapProfileRecords:\n")
	for i := range g.n {
		fmt.Fprintf(w, "  - GUID: %s\n    AllocSites:\n", g.name(i))
		for k := range shape(i) {
			fmt.Fprintf(w, "      - Callstack:\n          - { Function: %s, LineOffset: %d, Column: 10, IsInlineFrame: false }\n", g.name(i), k)
			for depth := range 4 {
				fmt.Fprintf(w, "          - { Function: %s, LineOffset: %d, Column: 3, IsInlineFrame: false }\n", g.name((i/(depth+2)+k)%g.n), depth)
			}
			count := 1 + g.count()%1000
			fmt.Fprintf(w, "        MemInfoBlock:\n          AllocCount: %d\n          TotalSize: %d\n          MinSize: 8\n          MaxSize: 64\n          TotalLifetime: %d\n", count, count*32, count*100)
		}
	}
	_, err := w.WriteString("...\n")
	return err
}

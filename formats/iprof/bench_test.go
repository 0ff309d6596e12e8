package iprof

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

var filesDir = flag.String("files", "", "folder with *.iprof files for BenchmarkMergeFiles; TestWriteFiles writes them")

// benchFile is a file of about 100 MB, an image of 500,000 methods.
var benchFile = sync.OnceValue(func() []byte {
	rng := rand.New(rand.NewPCG(1, 1))
	p := randomProfile(rng, version110, 500_000)
	randomEntriesMore(rng, p, 750_000)
	data, err := written(p, WriteOptions{})
	must2(err)
	return data
})

// randomEntriesMore gives p about n entries in all, instead of those it has.
func randomEntriesMore(rng *rand.Rand, p *Profile, n int) {
	p.Sections = [NumKinds]Section{}
	p.init()
	randomEntries(rng, p, n)
}

// benchFiles are ten files of about 10 MB, runs of one program.
var benchFiles = sync.OnceValue(func() (files [][]byte) {
	rng := rand.New(rand.NewPCG(2, 2))
	p := randomProfile(rng, version110, 72_000)
	randomEntriesMore(rng, p, 72_000)
	for range 10 {
		run := p.derive()
		for k := range NumKinds {
			s := &p.Sections[k]
			for i := range s.Len() {
				if k != Monitors && rng.IntN(10) == 0 {
					continue // not reached in this run
				}
				records := append([]int64(nil), s.Records(i)...)
				for j := k.Arity() - 1; j < len(records); j += k.Arity() {
					records[j] = records[j]/2 + rng.Int64N(records[j]+1)
				}
				must2(run.Sections[k].add(s.Context(i), records...))
			}
		}
		data, err := written(run, WriteOptions{})
		must2(err)
		files = append(files, data)
	}
	return files
})

// TestWriteFiles writes the files of BenchmarkMergeFiles and the file of BenchmarkRead,
// large.iprof, for bench/irpgo: "go test ./formats/iprof -run TestWriteFiles -files DIR".
func TestWriteFiles(t *testing.T) {
	if *filesDir == "" {
		t.Skip("no -files given")
	}
	for i, data := range benchFiles() {
		must(t, os.WriteFile(filepath.Join(*filesDir, fmt.Sprintf("run-%d.iprof", i+1)), data, 0o644))
	}
	must(t, os.WriteFile(filepath.Join(*filesDir, "large.iprof"), benchFile(), 0o644))
}

// reportCPU reports megabytes per second of CPU time. On a busy machine, it is more stable than wall time.
func reportCPU(b *testing.B, size int) (done func()) {
	before := cpuTime()
	return func() {
		if used := cpuTime() - before; used > 0 {
			b.ReportMetric(float64(size)*float64(b.N)/1e6/used.Seconds(), "CPU-MB/s")
		}
	}
}

func BenchmarkRead(b *testing.B) {
	data := benchFile()
	b.Run("tool", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		defer reportCPU(b, len(data))()
		for b.Loop() {
			if _, err := Read("f", data, ReaderOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("general", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			d := newDecoder("f", data, ReaderOptions{})
			d.generalOnly = true
			must(b, d.read())
		}
	})
	b.Run("check", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if rep := checkOf("f", data); rep.worst() == broken {
				b.Fatal(rep.Findings)
			}
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	p, err := Read("f", benchFile(), ReaderOptions{})
	must(b, err)
	for _, form := range []struct {
		name  string
		lines bool
	}{{"compact", false}, {"lines", true}} {
		b.Run(form.name, func(b *testing.B) {
			b.SetBytes(int64(len(benchFile())))
			for b.Loop() {
				must(b, Write(io.Discard, p, WriteOptions{Lines: form.lines}))
			}
		})
	}
}

// BenchmarkMergeFiles reads, merges and writes the ten files of -files, or the same from memory.
func BenchmarkMergeFiles(b *testing.B) {
	load := func(i int) []byte { return benchFiles()[i] }
	if *filesDir != "" {
		load = func(i int) []byte {
			data, err := os.ReadFile(filepath.Join(*filesDir, fmt.Sprintf("run-%d.iprof", i+1)))
			must2(err)
			return data
		}
	}
	const files = 10
	size := int64(0)
	for i := range files {
		size += int64(len(load(i)))
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint("workers=", workers), func(b *testing.B) {
			b.SetBytes(size)
			defer reportCPU(b, int(size))()
			for b.Loop() {
				mergers := make([]*Merger, workers)
				mergers[0] = NewMerger(MergeOptions{})
				var wg sync.WaitGroup
				for w := range workers {
					if w > 0 {
						mergers[w] = NewMerger(mergers[0].opt)
					}
					wg.Go(func() {
						for i := w; i < files; i += workers {
							p, err := Read("f", load(i), ReaderOptions{})
							if err == nil {
								_, err = mergers[w].AddProfile("f", p, Weights{})
							}
							must2(err)
						}
					})
				}
				wg.Wait()
				for _, m := range mergers[1:] {
					must(b, mergers[0].Merge(m))
				}
				must(b, Write(io.Discard, mergers[0].Profile(), WriteOptions{}))
			}
		})
	}
}

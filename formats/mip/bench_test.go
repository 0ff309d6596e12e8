package mip

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// benchFunctions is the size of a large program.
const benchFunctions = 100_000

// BenchmarkAddRaw merges raw files one at a time, next to what reading their bytes from memory costs.
func BenchmarkAddRaw(b *testing.B) {
	for _, typ := range profileTypes {
		rng := rand.New(rand.NewPCG(1, 1))
		base := randomMap(rng, typ, benchFunctions)
		var raws [][]byte
		for range 8 {
			raws = append(raws, rawOf(randomRun(rng, base), 8))
		}
		b.Run(typ.String(), func(b *testing.B) {
			m, err := NewMerger(base, MergeOptions{})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(raws[0])))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := m.AddRaw("raw", raws[i%len(raws)], 1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchFunctions, "ns/record")
		})
		b.Run(typ.String()+"/bytes", func(b *testing.B) {
			dst := make([]byte, len(raws[0]))
			b.SetBytes(int64(len(dst)))
			for i := 0; b.Loop(); i++ {
				copy(dst, raws[i%len(raws)])
			}
		})
	}
}

// BenchmarkMergeFiles merges 1000 raw files of 100,000 functions from disk with
// two workers into one profile; with "read" the files are only read.
func BenchmarkMergeFiles(b *testing.B) {
	const files, workers = 1000, 2
	for _, typ := range profileTypes {
		rng := rand.New(rand.NewPCG(1, 1))
		base := randomMap(rng, typ, benchFunctions)
		dir, size := b.TempDir(), int64(0)
		var raws [][]byte
		for range 8 {
			raws = append(raws, rawOf(randomRun(rng, base), 8))
		}
		for i := range files {
			raw := raws[i%len(raws)]
			size += int64(len(raw))
			oracle.WriteFile(b, filepath.Join(dir, strconv.Itoa(i)), raw)
		}
		for _, merge := range []bool{false, true} {
			name := typ.String() + "/read"
			if merge {
				name = typ.String() + "/merge"
			}
			b.Run(name, func(b *testing.B) {
				b.SetBytes(size)
				for b.Loop() {
					m, err := NewMerger(base, MergeOptions{})
					if err != nil {
						b.Fatal(err)
					}
					forks := []*Merger{m, m.Fork()}
					var wg sync.WaitGroup
					for w, fork := range forks {
						wg.Go(func() {
							buf := make([]byte, size/files+1)
							for i := w; i < files; i += workers {
								data, err := readInto(buf, filepath.Join(dir, strconv.Itoa(i)))
								if err == nil && merge {
									err = fork.AddRaw("raw", data, 1)
								}
								if err != nil {
									b.Error(err)
									return
								}
							}
						})
					}
					wg.Wait()
					if err := m.Merge(forks[1]); err != nil {
						b.Fatal(err)
					}
					m.Profile()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/files/benchFunctions, "ns/record")
			})
		}
	}
}

func readInto(buf []byte, name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n, err := io.ReadFull(f, buf)
	if err == io.ErrUnexpectedEOF {
		err = nil
	}
	return buf[:n], err
}

// BenchmarkRead reads a map, a profile and YAML of a large program.
func BenchmarkRead(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	p := randomRun(rng, randomMap(rng, callGraph|BlockCoverage, benchFunctions))
	for _, in := range []struct {
		name string
		data []byte
	}{{"map", mapOf(p, 8, 0)}, {"mip", mipOf(b, p, WriteOptions{})}, {"yaml", []byte(yamlOf(b, p))}} {
		b.Run(in.name, func(b *testing.B) {
			b.SetBytes(int64(len(in.data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read("input", in.data, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

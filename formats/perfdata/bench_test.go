package perfdata_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/profuse-pgo/profuse/formats/perfdata"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// manySamples returns a recording of n samples with 32 branches each: 824 bytes for a sample. PROFUSE_PERF_SAMPLES sets n.
func manySamples(b *testing.B) *recorder {
	n := 100_000
	if s := os.Getenv("PROFUSE_PERF_SAMPLES"); s != "" {
		n = oracle.Must(strconv.Atoi(s))(b)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var stacks [64][]uint64
	for i := range stacks {
		for range 32 {
			stacks[i] = append(stacks[i], 0x401000+random.Uint64N(1<<20), 0x401000+random.Uint64N(1<<20), 2|random.Uint64N(50)<<4)
		}
	}
	r := newRecorder()
	r.mmap2(7, 1000, 0x401000, 1<<21, 0x1000, 5, "/bin/t")
	for i := range n {
		r.sample(7, uint64(2000+10*i), 0x401000+random.Uint64N(1<<20), stacks[random.IntN(64)]...)
	}
	return r
}

func BenchmarkRead(b *testing.B) {
	run := func(data []byte) func(b *testing.B) {
		return func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			var sum uint64
			h := perfdata.Handler{Sample: func(s *perfdata.Sample) error {
				for i := range s.Branches {
					sum += s.Branches[i].From ^ s.Branches[i].To
				}
				return nil
			}}
			for b.Loop() {
				if _, err := perfdata.Read("a", data, &h, perfdata.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	r := manySamples(b)
	data := r.bytes()
	b.Run("file", run(data))
	var text bytes.Buffer
	_, err := perfdata.WriteScript(&text, "a", data, perfdata.Options{})
	oracle.NoError(b, err)
	b.Run("script", run(text.Bytes()))
	r.compress(b, 1, 40, 60000, 81)
	b.Run("zstd", run(r.bytes()))
}

func BenchmarkWriteScript(b *testing.B) {
	data := manySamples(b).bytes()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		_, err := perfdata.WriteScript(io.Discard, "a", data, perfdata.Options{})
		oracle.NoError(b, err)
	}
}

package inputs

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// BenchmarkEach reads files of several sizes, summing their words: with a Reader and without.
func BenchmarkEach(b *testing.B) {
	for _, c := range []struct{ files, size int }{
		{5000, 0}, {5000, 4 << 10}, {2000, 64 << 10}, {500, 256 << 10}, {100, 1 << 20}, {100, 2 << 20}, {50, 4 << 20}, {8, 32 << 20},
	} {
		dir := b.TempDir()
		contents := random(c.size)
		for i := range c.files {
			oracle.WriteFile(b, filepath.Join(dir, fmt.Sprint(i)), contents)
		}
		ins, err := Expand([]string{dir}, Options{})
		must(b, err)
		var r Reader
		for _, how := range []struct {
			name string
			each func(in Input) error
		}{
			{"reader", func(in Input) error { return in.Each(&r, sumWords) }},
			{"none", func(in Input) error { return in.Each(nil, sumWords) }},
		} {
			b.Run(fmt.Sprintf("%dx%dKiB/%s", c.files, c.size>>10, how.name), func(b *testing.B) {
				b.SetBytes(int64(c.files * c.size))
				b.ReportAllocs()
				for b.Loop() {
					for _, in := range ins {
						must(b, how.each(in))
					}
				}
				b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N*c.files), "µs/file")
			})
		}
		r.Close()
		os.RemoveAll(dir)
	}
}

var total uint64 // keeps the sums from being optimised away

func sumWords(d *Data) error {
	var s uint64
	for b := d.Bytes(); len(b) >= 8; b = b[8:] {
		s += binary.LittleEndian.Uint64(b)
	}
	total += s
	return nil
}

func BenchmarkExpand(b *testing.B) {
	dir := b.TempDir()
	var args []string
	for i := range 5000 {
		name := filepath.Join(dir, fmt.Sprint(i))
		oracle.WriteFile(b, name, nil)
		args = append(args, name)
	}
	for name, args := range map[string][]string{"folder": {dir}, "files": args} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if ins, err := Expand(args, Options{}); err != nil || len(ins) != 5000 {
					b.Fatal(len(ins), err)
				}
			}
		})
	}
}

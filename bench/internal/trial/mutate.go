//go:build linux

package trial

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// extremes are numbers that break sums, products and sizes.
var extremes = []uint64{
	0, 1, 2, 7, 8, 255, 256, 1 << 15, 1<<16 - 1, 1 << 16, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32,
	1 << 40, 1 << 56, 1<<61 + 1, 1<<63 - 1, 1 << 63, 1<<64 - 8, 1<<64 - 1,
}

// Mutate returns a damaged copy of data, and what was done to it. other is a profile of any format, which parts are taken from.
func Mutate(rng *rand.Rand, data, other []byte) (damaged []byte, how string) {
	d := bytes.Clone(data)
	at := func(n int) int { return rng.IntN(max(n, 1)) }
	if len(d) == 0 {
		return other, "replaced"
	}
	// Three of ten are flipped bits, two are extreme numbers in fields.
	switch rng.IntN(10) {
	case 0, 1, 2:
		// 1, 2, 4 or 8 bits.
		for range 1 << rng.IntN(4) {
			bit := at(8 * len(d))
			d[bit/8] ^= 1 << (bit % 8)
		}
		return d, "bits"
	case 3:
		return d[:at(len(d))], "cut"
	case 4:
		from := at(len(other))
		return append(d[:at(len(d)):len(d)], other[from:]...), "splice"
	case 5:
		i, n := at(len(d)), 1+at(64)
		// Zeros, random bytes or a copy of another place.
		piece := make([]byte, n)
		switch rng.IntN(3) {
		case 0:
			for j := range piece {
				piece[j] = byte(rng.Uint32())
			}
		case 1:
			copy(piece, d[at(len(d)):])
		}
		return append(d[:i:i], append(piece, d[i:]...)...), "insertion"
	case 6:
		i := at(len(d))
		return append(d[:i:i], d[min(len(d), i+1+at(64)):]...), "deletion"
	case 7, 8:
		// A field at the beginning, where headers are, or anywhere.
		i := 8 * at(min(len(d), 192)/8)
		if rng.IntN(3) == 0 {
			i = at(len(d))
		}
		var field [8]byte
		binary.LittleEndian.PutUint64(field[:], extremes[rng.IntN(len(extremes))])
		// 4 or 8 bytes, little-endian, as nearly all subjects are.
		copy(d[i:], field[:4<<rng.IntN(2)])
		return d, "field"
	default:
		var b bytes.Buffer
		// A bit is flipped in the compressed file, where it changes all that follows.
		if rng.IntN(2) == 0 {
			w := gzip.NewWriter(&b)
			_, _ = w.Write(d) // into memory
			_ = w.Close()
		} else if w, err := zstd.NewWriter(&b); err == nil {
			_, _ = w.Write(d)
			_ = w.Close()
		}
		d = b.Bytes()
		bit := at(8 * len(d))
		d[bit/8] ^= 1 << (bit % 8)
		return d, "compressed"
	}
}

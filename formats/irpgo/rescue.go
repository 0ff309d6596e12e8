package irpgo

import (
	"cmp"
	"fmt"
	"math"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
)

// negativeCounter is from where a counter counts as a small negative number.
const negativeCounter = math.MaxUint64 - 1<<32 + 1

// rescuer counts the damaged functions of one walk over a profile.
type rescuer struct {
	opt    *ReaderOptions
	file   string
	silent bool // all is told already
	left   int  // functions that may still be left out
	// kept is set once a record of the file was yielded; lost is the error about the first record that was not.
	kept bool
	lost error
}

// allow begins a profile of n records.
func (x *rescuer) allow(n int) {
	x.left = max(1, n/20)
	if x.opt.rescueAll {
		x.left = math.MaxInt
	}
}

// lose notes the error about a record that is left out.
func (x *rescuer) lose(err error) { x.lost = cmp.Or(x.lost, err) }

// nothingLeft returns an error if all records of the file were left out: such a file must not pass for the
// file of a program that ran nothing.
func (x *rescuer) nothingLeft() error {
	if x.kept || x.opt.rescueAll {
		return nil
	}
	return x.lost
}

// take decides about one damaged function: true if the reader goes on.
func (x *rescuer) take(r profile.Rescued) bool {
	if !x.opt.Rescue {
		return false
	}
	if !r.Clamped {
		if x.left--; x.left < 0 {
			return false
		}
	}
	if x.opt.Rescued != nil && !x.silent {
		r.Err = flaw.InFile(r.Err, x.file)
		x.opt.Rescued(r)
	}
	return true
}

// soundCounts looks for absurd counters in r.rec and replaces them if that is
// wanted. The error is about the first counter that stays absurd.
func (r *rawReader) soundCounts(i int) error {
	var err error
	sound := uint64(0)
	for j, c := range r.rec.Counts {
		switch {
		case c <= largeCounter:
			sound = max(sound, c)
		case err == nil:
			err = flaw.At("counters", r.countsAt+int64(8*j)).InRecord(i).Field("counter of " + r.rec.Name).
				Got(c).Want("at most 2^56").
				Because(&llvmerr.Error{Code: llvmerr.CounterValueTooLarge, Detail: fmt.Sprint(c)})
		}
	}
	if err == nil || !r.opt.Clamp {
		return err
	}
	for j, c := range r.rec.Counts {
		switch {
		case c <= largeCounter:
		case c >= negativeCounter:
			r.rec.Counts[j] = 0
		default:
			r.rec.Counts[j] = sound
		}
	}
	r.rescuer.take(profile.Rescued{Function: r.rec.Name, NameRef: r.cur.nameRef(r.cur.record(i)), Clamped: true, Err: err})
	return nil
}

// rescue decides about record i, which is damaged by cause and whose value data, if it has any, begins at file
// offset off. It returns the offset after that, or cause if the reader cannot go on.
func (r *rawReader) rescue(i int, off int64, cause error) (end int64, err error) {
	b := r.cur.record(i)
	if !r.opt.Rescue {
		return 0, cause
	}
	if r.cur.hasValueSites(b) && !r.lacksValues(off) {
		if off, err = r.skipValues(i, off); err != nil {
			return 0, cause
		}
	}
	if !r.rescuer.take(profile.Rescued{Function: r.rec.Name, NameRef: r.cur.nameRef(b), Err: cause}) {
		return 0, cause
	}
	return off, nil
}

// skipValues passes over the value data of record i, which is not used, and returns the offset after it.
func (r *rawReader) skipValues(i int, off int64) (int64, error) {
	p := r.cur
	if left := int64(len(r.data)) - off; left < valueDataHeader {
		return 0, flaw.At("value data", off).InRecord(i).Field("value data").Gotf("%d bytes", left).
			Want("at least 8").Because(&llvmerr.Error{Code: llvmerr.Truncated})
	}
	size := p.u32(r.data[off:], 0)
	if size%8 != 0 || size < valueDataHeader || int64(size) > int64(len(r.data))-off {
		return 0, flaw.At("value data", off).InRecord(i).Field("value data size").Got(size).
			Wantf("a multiple of 8 up to the %d bytes left", int64(len(r.data))-off).
			Because(&llvmerr.Error{Code: llvmerr.Malformed})
	}
	return off + int64(size), nil
}

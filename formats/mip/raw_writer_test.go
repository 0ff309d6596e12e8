package mip

import (
	"bytes"
	"io"
	"math"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// rawOptions adjust [appendRaw]. The zero value is right for most uses.
type rawOptions struct {
	// PointerSize is the width of the target's addresses in bytes, 4 or 8;
	// 0 means 8. It stands in the header and changes nothing else.
	PointerSize int
}

// maxRawGap bounds the bytes between records, which nothing in the profile
// accounts for, to this many for each byte of a record.
const maxRawGap = 64

// writeRaw writes a .mipraw of generation B as one run would leave it whose
// profile is p: no function may have been merged more than once.
func writeRaw(w io.Writer, p *Profile, opt rawOptions) error {
	return writeAppended(w, p, opt, appendRaw)
}

// appendRaw appends to dst what [writeRaw] writes.
func appendRaw(dst []byte, p *Profile, opt rawOptions) ([]byte, error) {
	ptr, err := pointerSize(opt.PointerSize)
	if err != nil {
		return dst, err
	}
	if err := checkRaw(p); err != nil {
		return dst, err
	}
	start := len(dst)
	dst = appendHeaderOf(dst, fileTypeBRaw, ptr, p, 0)
	dst = append(dst, make([]byte, p.rawSize()-headerSizeB)...)
	raw := dst[start:]
	for i := range p.Functions {
		putRawRecord(raw[p.Functions[i].RawOffset:], &p.Functions[i], p.Type)
	}
	if p.Type.Has(ReturnAddress) {
		for (len(dst)-start)%retAlign != 0 {
			dst = append(dst, 0)
		}
		dst = appendRet(dst, ptr, p)
	}
	return dst, nil
}

// putRawRecord writes the record of f at the start of raw.
func putRawRecord(raw []byte, f *Function, t ProfileType) {
	switch called := f.Covered(); {
	case t.Has(FunctionCoverage):
		raw[0] = coverageByte(called)
	case called:
		le.PutUint32(raw, uint32(f.CallCount))
		le.PutUint32(raw[4:], uint32(f.TimestampSum))
	default:
		copy(raw, bytes.Repeat([]byte{0xff}, rawEntryCounts))
	}
	if t.Has(BlockCoverage) {
		raw = raw[t.rawEntrySize():]
		for i, b := range f.Blocks {
			raw[i] = coverageByte(b.Covered)
		}
	}
}

// appendRet appends the call edges of a profile of one run as a .mipret.
func appendRet(dst []byte, ptr int, p *Profile) []byte {
	dst = appendHeaderOf(dst, fileTypeBRet, ptr, p, 0)
	for i := range p.Functions {
		f := &p.Functions[i]
		for _, e := range f.CallEdges {
			dst = le.AppendUint32(dst, uint32(f.RawOffset))
			dst = le.AppendUint32(dst, uint32(e.Source))
			dst = le.AppendUint32(dst, uint32(e.Weight))
		}
	}
	return append(dst, make([]byte, retSize)...)
}

func coverageByte(covered bool) byte {
	if covered {
		return rawCovered
	}
	return rawUntouched
}

// checkRaw reports what a single run cannot have left.
func checkRaw(p *Profile) error {
	if err := p.validate(); err != nil {
		return err
	}
	var maxCalls, maxTimestamp uint64 = 1, 0
	if !p.Type.Has(FunctionCoverage) {
		maxCalls, maxTimestamp = rawNotCalled-1, rawNotCalled-1
	}
	size := uint64(headerSizeB)
	for i := range p.Functions {
		f := &p.Functions[i]
		size += f.rawEnd(p.Type) - f.RawOffset
		runs := uint64(f.MergeCount)
		switch {
		case f.RawOffset < headerSizeB:
			return flaw.In("functions").InRecord(i).Field("raw offset").Gotf("%#x", f.RawOffset).
				Want(rawOffsetWant(headerSizeB)).Corrupt()
		case runs > 1:
			return flaw.In("functions").InRecord(i).Field("MergeCount").Got(runs).
				Want("at most 1 in a single run").Corrupt()
		case f.CallCount < runs || f.CallCount > runs*maxCalls:
			return flaw.In("functions").InRecord(i).Field("CallCount").Got(f.CallCount).
				Wantf("%d to %d with MergeCount %d", runs, runs*maxCalls, runs).Corrupt()
		case f.TimestampSum > runs*maxTimestamp:
			return flaw.In("functions").InRecord(i).Field("TimestampSum").Got(f.TimestampSum).
				Wantf("at most %d with MergeCount %d", runs*maxTimestamp, runs).Corrupt()
		case len(f.CallEdges) > 0 && !p.Type.Has(ReturnAddress):
			return flaw.In("functions").InRecord(i).Field("CallEdges").Got(len(f.CallEdges)).
				Want("none in a " + p.Type.String() + " profile").Corrupt()
		}
		for _, e := range f.CallEdges {
			if e.Weight > math.MaxUint32 {
				return flaw.In("functions").InRecord(i).Field("Weight").Got(e.Weight).
					Want("32 bits in a single run").Corrupt()
			}
		}
	}
	if total := p.rawSize(); total > size*maxRawGap {
		return flaw.In("functions").Field("size of the raw section").Got(total).
			Wantf("at most %d for records of %d bytes", size*maxRawGap, size).Unsupported()
	}
	return nil
}

// rawSize returns the size in bytes of the smallest raw file that holds the records of all functions.
func (p *Profile) rawSize() uint64 {
	end := uint64(headerSizeB)
	for i := range p.Functions {
		end = max(end, p.Functions[i].rawEnd(p.Type))
	}
	return end
}

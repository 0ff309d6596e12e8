package mip

import (
	"cmp"
	"fmt"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
)

// A partReader is the decoder of files without functions, which must be merged into a profile: raw
// profiles, whose records only a map locates, and samples of return addresses.
type partReader struct {
	Info
	typeWord uint16
}

func (r *partReader) records(yield func(*Function, error) bool) {
	want := "a map or profile that says where its records are"
	if r.Format == FormatRet {
		want = "a map or profile that says whose return addresses they are"
	}
	yield(nil, flaw.At("header", fileTypeAt).Field("FileType").Got(r.Format).Want(want).
		Because(&llvmerr.MIPError{Code: llvmerr.MIPBadFileType, Found: toolHex(uint64(r.typeWord)), Expected: toolHex(fileTypeBMIP)}))
}

// checkRaw checks the header and the size of a raw profile of the module. It returns the
// noise of its coverage, of one file.
func (s *shape) checkRaw(name string, data []byte, warn func(profile.Warning)) (n noise, err error) {
	h, err := parseHeader(data)
	if err != nil {
		return n, err
	}
	if err := cmp.Or(h.checkType(0, FormatRaw), s.checkModule(h.typ, h.moduleHash)); err != nil {
		return n, err
	}
	size, slack := uint64(len(data)), uint64(rawSlack)
	if h.typ.Has(ReturnAddress) && size >= s.rawSize {
		ret, at := s.retPart(data)
		if ret == nil {
			return n, s.noRet(size)
		}
		if _, err := s.readRet(ret, int64(at), nil, 0); err != nil {
			return n, err
		}
		size, slack = uint64(at), rawSlack+retAlign
	}
	switch {
	case size < s.rawSize:
		return n, s.tooShort(size)
	case s.rawMin < uint64(h.size()):
		return n, flaw.In("records").Field("offset of the first raw record").Gotf("%#x", s.rawMin).
			Wantf("at least %#x, the header's size", h.size()).Mismatch()
	case size >= s.rawSize+slack && warn != nil:
		warn(profile.Warning{File: name, Err: flaw.At("records", int64(s.rawSize)).Field("size of the file").
			Gotf("%d bytes", size).Wantf("%d: the program may be another build of the module", s.rawSize).Mismatch()})
	}
	if n = h.noise; n.flip > 0 {
		n.files = 1
	}
	return n, nil
}

// rawSlack is how many bytes alignment may add to the end of a raw section.
const rawSlack = 16

// tooShort returns an error that names the first function beyond the end of the file.
func (s *shape) tooShort(size uint64) error {
	base := s.base
	for i := range base.Functions {
		f := &base.Functions[i]
		if end := f.rawEnd(base.Type); end > size {
			return flaw.At("records", int64(size)).InRecord(i).Field("end of the raw record of "+f.Name).
				Gotf("%#x", end).Wantf("at most the size of the file, %#x", size).
				Because(&llvmerr.MIPError{Code: llvmerr.MIPRawOffset, Found: toolHex(f.RawOffset), Expected: toolHex(size), Class: profile.ErrTruncated})
		}
	}
	return tooSmall(nil, profile.ErrTruncated, fmt.Sprintf("%d bytes", size))
}

func badCounts(i int, off uint32, data []byte) error {
	count, timestamp := le.Uint32(data[off:]), le.Uint32(data[off+4:])
	return flaw.At("records", int64(off)).InRecord(i).Field("count and timestamp").
		Gotf("%#x and %#x", count, timestamp).Want("both 0xffffffff or neither").
		Because(&llvmerr.MIPError{Code: llvmerr.MIPRawMismatch, Found: toolHex(uint64(off) + rawEntryCounts)})
}

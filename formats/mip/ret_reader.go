package mip

import (
	"cmp"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// retPart returns the .mipret at the end of a raw profile, and where it begins; nil if there is none.
func (s *shape) retPart(raw []byte) (part []byte, at int) {
	for off := (s.rawSize + retAlign - 1) / retAlign * retAlign; off < s.rawSize+rawSlack+retAlign && off < uint64(len(raw)); off += retAlign {
		if t, ok := Detect(raw[off:]); ok && t == FormatRet {
			return raw[off:], int(off)
		}
	}
	return nil, len(raw)
}

// noRet returns the error for a raw profile without the .mipret at its end.
func (s *shape) noRet(size uint64) error {
	return flaw.At("records", int64(s.rawSize)).Field("return addresses").Got("missing").
		Wantf("behind the raw records: the file of %d bytes is cut off, or of another build of the module", size).Truncated()
}

// readRet checks samples of return addresses, which begin at offset base of their file,
// and adds them, times times, to the sums unless these are nil. dropped is the number of
// calls that did not fit the program's table.
func (s *shape) readRet(data []byte, base int64, to *edgeSums, times uint64) (dropped uint64, err error) {
	h, err := parseHeader(data)
	if err != nil {
		return 0, err
	}
	if err := cmp.Or(h.checkType(base, FormatRet), s.checkModule(h.typ, h.moduleHash)); err != nil {
		return 0, err
	}
	c := cursor.New("return addresses", base, data, le)
	c.Skip(uint64(h.size()), "header")
	for c.Record = 0; c.Err() == nil; c.Record++ {
		at := c.Offset()
		callee, source, weight := c.U32("callee"), int32(c.U32("return address")), c.U32("weight")
		if c.Err() != nil {
			break
		}
		if callee == 0 {
			dropped = uint64(weight)
			if c.Len() > 0 {
				c.Fail(c.At(c.Offset()).Field("end of the file").Gotf("%d bytes later", c.Len()).
					Want("after the record of callee 0").Corrupt())
			}
			break
		}
		i, ok := s.byRaw[callee]
		if !ok {
			c.Fail(c.At(at).Field("callee").Gotf("%#x", callee).Want("the offset of the raw record of a function").Mismatch())
			break
		}
		if to != nil {
			to.add(edgeKey{i, source}, uint64(weight), times)
		}
	}
	return dropped, c.Err()
}

// addRet is [Merger.Add] for samples of return addresses, which begin at offset base of their file.
func (m *Merger) addRet(name string, data []byte, base int64, weight uint64) error {
	if _, err := m.shape.readRet(data, base, nil, 0); err != nil {
		return err
	}
	dropped, err := m.shape.readRet(data, base, &m.edges, weight)
	if err == nil && dropped > 0 && m.opt.Warn != nil {
		m.opt.Warn(profile.Warning{File: name, Err: flaw.In("return addresses").Field("dropped").
			Gotf("about %d calls without a caller", dropped).
			Want("none: the program needs a larger -fmachine-profile-runtime-buffer").Truncated()})
	}
	return err
}

package perfdata_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// Bits of the sample type, as in the kernel's header of perf events.
const (
	sampleIP, sampleTID, sampleTime, sampleRead, sampleChain = 1 << 0, 1 << 1, 1 << 2, 1 << 4, 1 << 5
	sampleID, samplePeriod, sampleRaw, sampleBranches        = 1 << 6, 1 << 8, 1 << 10, 1 << 11
	sampleIdentifier                                         = 1 << 16
)

// A recorder builds recordings for tests. It shares nothing with the reader.
type recorder struct {
	order    binary.AppendByteOrder
	attrs    []attr
	pipe     bool
	noSize   bool // the header has no size of the data
	records  [][]byte
	features map[int][]byte
}

type attr struct {
	size         int
	sampleType   uint64
	readFormat   uint64
	branchSample uint64
	idAll        bool
	ids          []uint64
}

func newRecorder() *recorder {
	return &recorder{
		order: binary.LittleEndian, features: map[int][]byte{},
		attrs: []attr{{128, sampleIP | sampleTID | sampleTime | samplePeriod | sampleBranches | sampleIdentifier, 0, 1 | 1<<3, true, []uint64{100}}},
	}
}

// words appends numbers of 64 bits.
func (r *recorder) words(b []byte, words ...uint64) []byte {
	for _, w := range words {
		b = r.order.AppendUint64(b, w)
	}
	return b
}

// halves appends numbers of 32 bits.
func (r *recorder) halves(b []byte, halves ...uint32) []byte {
	for _, w := range halves {
		b = r.order.AppendUint32(b, w)
	}
	return b
}

func (r *recorder) add(kind uint32, misc uint16, body []byte) {
	r.records = append(r.records, r.record(kind, misc, body))
}

func (r *recorder) record(kind uint32, misc uint16, body []byte) []byte {
	b := r.order.AppendUint32(make([]byte, 0, 8+len(body)), kind)
	b = r.order.AppendUint16(b, misc)
	return append(r.order.AppendUint16(b, uint16(8+len(body))), body...)
}

// trailer appends what all records end with.
func (r *recorder) trailer(b []byte, pid uint32, time, id uint64) []byte {
	return r.words(r.words(r.halves(b, pid, pid), time), id)
}

func padded(name string) []byte {
	b := append([]byte(name), 0)
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	return b
}

func (r *recorder) mmap2(pid uint32, time, addr, size, offset uint64, prot uint32, name string) {
	b := r.words(r.halves(nil, pid, pid), addr, size, offset)
	b = r.halves(r.words(r.halves(b, 0xfe, 0), 10019070, 0), prot, 2)
	r.add(10, 2, r.trailer(append(b, padded(name)...), pid, time, r.attrs[0].ids[0]))
}

// sample adds a sample of the first event as newRecorder makes it.
func (r *recorder) sample(pid uint32, time, ip uint64, branches ...uint64) {
	b := r.words(r.halves(r.words(nil, r.attrs[0].ids[0], ip), pid, pid), time, 1000003, uint64(len(branches)/3))
	r.add(9, 2, r.words(b, branches...))
}

func (r *recorder) attr(a attr) []byte {
	var flags uint64
	if a.idAll {
		flags = 1 << 18
		if r.order.String() == "BigEndian" {
			flags = 1 << (63 - 18)
		}
	}
	b := r.words(r.halves(nil, 0, uint32(a.size)), 4, 1000003, a.sampleType, a.readFormat, flags, 0, 0, 0, a.branchSample)
	return append(b, make([]byte, 200)...)[:a.size]
}

// compress replaces the records from the first on by compressed ones, of n records each.
func (r *recorder) compress(t testing.TB, first, n, cut int, kind uint32) {
	var out bytes.Buffer
	z := oracle.Must(zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest)))(t)
	records := r.records[first:]
	r.records = r.records[:first:first]
	flush := func(all bool) {
		for out.Len() >= cut || all && out.Len() > 0 {
			part := bytes.Clone(out.Next(min(cut, out.Len())))
			if kind == 83 {
				size := uint64(len(part))
				part = append(r.words(nil, size), part...)
				for len(part)%8 != 0 {
					part = append(part, 0)
				}
			}
			r.add(kind, 0, part)
		}
	}
	for i, record := range records {
		z.Write(record)
		if i%n == n-1 {
			z.Flush()
			flush(false)
		}
	}
	z.Close()
	flush(true)
}

func (r *recorder) text(s string) []byte {
	b := make([]byte, (len(s)+64)&^63)
	copy(b, s)
	return append(r.halves(nil, uint32(len(b))), b...)
}

// bytes returns the recording.
func (r *recorder) bytes() []byte {
	magic := r.words(nil, 0x32454c4946524550)
	data := bytes.Join(r.records, nil)
	if r.pipe {
		b := r.words(magic, 16)
		for _, a := range r.attrs {
			b = append(b, r.record(64, 0, r.words(r.attr(a), a.ids...))...)
		}
		for feature, contents := range r.features {
			b = append(b, r.record(80, 0, append(r.words(nil, uint64(feature)), contents...))...)
		}
		return append(b, data...)
	}
	const header = 104
	var ids []byte
	var table []byte
	for _, a := range r.attrs {
		table = r.words(append(table, r.attr(a)...), uint64(header+len(ids)), uint64(8*len(a.ids)))
		ids = r.words(ids, a.ids...)
	}
	attrsAt := uint64(header + len(ids))
	dataAt := attrsAt + uint64(len(table))
	size := uint64(len(data))
	if r.noSize {
		size = 0
	}
	b := r.words(magic, header, uint64(r.attrs[0].size+16), attrsAt, uint64(len(table)), dataAt, size, 0, 0)
	var bits uint64
	for feature := range r.features {
		bits |= 1 << feature
	}
	b = r.words(b, bits, 0, 0, 0)
	b = append(append(append(b, ids...), table...), data...)
	if r.noSize {
		return b
	}
	var contents []byte
	at := uint64(len(b) + 16*len(r.features))
	for feature := range 64 {
		if c, ok := r.features[feature]; ok {
			b = r.words(b, at+uint64(len(contents)), uint64(len(c)))
			contents = append(contents, c...)
		}
	}
	return append(b, contents...)
}

package perfdata

import (
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// A segment is a piece of the recording that has whole records: the records of a file, or what was compressed in one
// record.
type segment struct {
	data   []byte
	base   int64   // offset in the file of data, or of the record that data was compressed in
	buffer *buffer // that holds data, decompressed; nil for data of the file
}

// at returns the place of a position in the segment, in a record.
func (r *reader) at(seg *segment, pos, record int) flaw.Position {
	if seg.buffer != nil {
		return flaw.At("compressed records", seg.base).InFile(r.name).InRecord(record)
	}
	return flaw.At("records", seg.base+int64(pos)).InFile(r.name).InRecord(record)
}

// scan goes over the records of a segment from a position on. It queues the records that the handler gets, in the
// order of their time, and processes the others. It returns where it ended: at the end or at an incomplete record.
func (r *reader) scan(seg *segment, pos int) (int, error) {
	for len(seg.data)-pos >= recordHeader {
		rec := seg.data[pos:]
		kind, size := r.u32(rec), int(r.u16(rec[sizeAt:]))
		if size < recordHeader {
			return pos, r.at(seg, pos, r.facts.Records).Field("size of the record").Got(size).Wantf("at least %d", recordHeader).Corrupt()
		}
		if size > len(rec) {
			break
		}
		body, next := rec[recordHeader:size], pos+size
		switch {
		case isQueued(kind):
			// Records without time are passed on before all that is queued, as by perf.
			if t := r.orderTime(kind, body); t == noTime {
				if err := r.process(seg, pos, size, r.facts.Records); err != nil {
					return pos, err
				}
			} else {
				r.add(seg, pos, next, t)
			}
		case kind >= recordAttr:
			skip, err := r.directive(seg, pos, kind, body)
			if err != nil {
				return pos, err
			}
			if skip > uint64(len(seg.data)-next) {
				return pos, nil
			}
			next += int(skip)
		default: // tells how far the round has come
			if t := r.orderTime(kind, body); t > r.queue.greatest {
				r.queue.greatest = t
			}
		}
		r.facts.Records++
		pos = next
	}
	return pos, nil
}

// directive processes a record of perf itself, at pos in the segment. It returns how many bytes behind the record
// belong to it.
func (r *reader) directive(seg *segment, pos int, kind uint32, body []byte) (skip uint64, err error) {
	at := r.at(seg, pos, r.facts.Records)
	short := func(least int) error {
		return at.Field("size of the record").Got(recordHeader+len(body)).Wantf("at least %d", recordHeader+least).Corrupt()
	}
	r.queue.open = false
	switch kind {
	case recordFinishedRound:
		return 0, r.finishRound()
	case recordCompressed, recordCompressed2:
		return 0, r.readCompressed(seg, at, kind, body)
	case recordAuxtrace, recordTracingData:
		if seg.buffer != nil {
			return 0, at.Field("type of the record").Got(kind).Want("a record that is not followed by data").Corrupt()
		}
		if kind == recordTracingData && len(body) >= 4 {
			return (uint64(r.u32(body)) + 7) &^ 7, nil
		}
		if len(body) < 8 {
			return 0, short(8)
		}
		skip = r.u64(body)
		r.facts.TraceBytes += min(skip, uint64(len(seg.data)-pos))
		return skip, nil
	case recordAttr:
		n := r.attrLen(body)
		if n == 0 {
			return 0, at.Field("size of the attribute").Got("wrong").Wantf("%d to the %d bytes of the record", attrSizeMin, len(body)).Corrupt()
		}
		// What is queued was read without this event.
		if err := r.flush(^uint64(0)); err != nil {
			return 0, err
		}
		r.lastID = ^uint64(0)
		r.addEvent(body[:n], body[n:])
	case recordBuildID:
		if !r.addBuildID(body, r.u16(seg.data[pos+miscAt:])) {
			return 0, short(buildIDNameAt)
		}
	case recordFeature:
		if len(body) < featureHead {
			return 0, short(featureHead)
		}
		if feature := r.u64(body); feature < featureBits {
			if err := r.readFeature(int(feature), body[featureHead:], r.contentsAt(seg, pos+recordHeader+featureHead)); err != nil {
				r.warn(err)
			}
		}
	case recordEventUpdate:
		if len(body) < 2*8 {
			return 0, short(2 * 8)
		}
		if r.u64(body) == updateName {
			if event, ok := r.byID[r.u64(body[8:])]; ok {
				r.facts.Events[event].Name = untilZero(body[2*8:])
			}
		}
	}
	return 0, nil
}

// contentsAt returns the offset in the file of a position in a segment.
func (r *reader) contentsAt(seg *segment, pos int) int64 {
	if seg.buffer != nil {
		return seg.base
	}
	return seg.base + int64(pos)
}

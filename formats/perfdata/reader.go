package perfdata

import (
	"encoding/binary"
	"math/bits"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// Read reads a recording and passes its records to h. The facts are those up to the error, if any, and are never nil.
// Read does not retain data.
func Read(name string, data []byte, h *Handler, opt Options) (*Facts, error) {
	f, ok := Detect(data)
	if !ok {
		class := flaw.File(name).Field("format").Got("another one").Want("perf.data or the text of perf script")
		if len(data) >= len(magicOld) && string(data[:len(magicOld)]) == magicOld {
			return &Facts{}, flaw.File(name).Field("version").Got(1).Want("2, which perf writes since Linux 2.6.32").Unsupported()
		}
		return &Facts{}, class.Unrecognized()
	}
	if f == FormatScript {
		s := newScriptReader(name, data, h, opt)
		return &s.facts, s.read()
	}
	swapped := data[0] != magic[0]
	r := &reader{
		name: name, data: data, order: byteOrder(swapped), swapped: swapped, h: h, opt: opt,
		facts: Facts{Format: f, BigEndian: swapped, Events: []Event{}}, byID: make(map[uint64]int), names: make(map[string]string), lastID: ^uint64(0),
	}
	defer r.unpacker.close()
	return &r.facts, flaw.InFile(r.read(), name)
}

// A reader reads a file or a pipe.
type reader struct {
	name    string
	data    []byte
	order   binary.ByteOrder
	swapped bool // the recording is big-endian
	h       *Handler
	opt     Options
	facts   Facts

	layouts []layout       // of the events
	byID    map[uint64]int // events by id
	lastID  uint64         // its event is lastEvent
	last    int

	unpacker unpacker
	queue    queue
	handling bool // the error is of the handler

	// What the handler receives, used again and again.
	sample  Sample
	mapping Mapping
	command Command
	task    Task
	lost    Lost
	names   map[string]string // of mapped files
}

func (r *reader) u16(b []byte) uint16 {
	v := binary.LittleEndian.Uint16(b)
	if r.swapped {
		v = bits.ReverseBytes16(v)
	}
	return v
}

func (r *reader) u32(b []byte) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if r.swapped {
		v = bits.ReverseBytes32(v)
	}
	return v
}

func (r *reader) u64(b []byte) uint64 {
	v := binary.LittleEndian.Uint64(b)
	if r.swapped {
		v = bits.ReverseBytes64(v)
	}
	return v
}

// read reads all of the recording.
func (r *reader) read() error {
	records, offset, whole := []byte(nil), int64(headerSizePipe), true
	if r.facts.Format == FormatPipe {
		records = r.data[headerSizePipe:]
	} else {
		var err error
		if records, offset, whole, err = r.readHeader(); err != nil {
			return err
		}
	}
	if r.h.Begin != nil {
		if err := r.h.Begin(&r.facts); err != nil {
			return err
		}
	}
	seg := &segment{data: records, base: offset}
	used, err := r.scan(seg, 0)
	// What was read before an error is passed on.
	if !r.handling {
		if flushed := r.flush(^uint64(0)); r.handling {
			return flushed
		} else if err == nil {
			err = flushed
		}
	}
	if err != nil {
		return err
	}
	end := flaw.At("records", offset+int64(used)).InFile(r.name).InRecord(r.facts.Records)
	switch left := len(records) - used; {
	case left > 0 && whole && r.facts.Format == FormatFile:
		return end.Field("last record").Gotf("cut off after %d bytes", left).Want("a whole one").Corrupt()
	case left > 0:
		r.facts.Cut = end.Field("last record").Gotf("cut off after %d bytes", left).Want("a whole one").Truncated()
	case !whole:
		r.facts.Cut = end.Field("recording").Got("cut short").Want("a size in its header").Truncated()
	case len(r.unpacker.left()) > 0:
		r.facts.Cut = end.Field("last record in the compressed data").Gotf("cut off after %d bytes", len(r.unpacker.left())).
			Want("a whole one").Truncated()
	}
	if r.facts.Cut != nil {
		r.warn(r.facts.Cut)
	}
	return nil
}

// call marks errors of the handler.
func (r *reader) call(err error) error {
	r.handling = r.handling || err != nil
	return err
}

// eventOf returns the event with an id, or -1.
func (r *reader) eventOf(id uint64) int {
	if id == r.lastID {
		return r.last
	}
	event, ok := r.byID[id]
	if !ok {
		if id != 0 { // perf gives records that it made itself the id 0
			return -1
		}
		event = 0
	}
	r.lastID, r.last = id, event
	return event
}

// eventOfSample returns the event of a sample, or -1.
func (r *reader) eventOfSample(body []byte) int {
	if len(r.layouts) <= 1 {
		return len(r.layouts) - 1
	}
	at := r.layouts[0].id
	if at < 0 {
		return 0
	}
	if at+8 > len(body) {
		return -1
	}
	return r.eventOf(r.u64(body[at:]))
}

// eventOfRecord returns the event of another record of the kernel, or -1.
func (r *reader) eventOfRecord(body []byte) int {
	if len(r.layouts) <= 1 {
		return len(r.layouts) - 1
	}
	at := r.layouts[0].trailerID()
	if at == 0 {
		return 0
	}
	if at > len(body) {
		return -1
	}
	return r.eventOf(r.u64(body[len(body)-at:]))
}

// orderTime returns the time of a record by which it is ordered; noTime if it is not. Where only samples have a time
// (no sample_id_all), as before Linux 2.6.38, the order of the file tells which mappings come before a sample.
func (r *reader) orderTime(kind uint32, body []byte) uint64 {
	if len(r.facts.Events) == 0 || r.facts.Events[0].Flags&flagSampleIDAll == 0 {
		return noTime
	}
	if t := r.timeOf(kind, body); t != ^uint64(0) {
		return t
	}
	return noTime
}

// timeOf returns the time of a record; noTime if it has none.
func (r *reader) timeOf(kind uint32, body []byte) uint64 {
	if kind == recordSample {
		event := r.eventOfSample(body)
		if event < 0 {
			return noTime
		}
		if at := r.layouts[event].time; at >= 0 && at+8 <= len(body) {
			return r.u64(body[at:])
		}
		return noTime
	}
	event := r.eventOfRecord(body)
	if event < 0 {
		return noTime
	}
	if at := r.layouts[event].trailerTime; at > 0 && at <= len(body) {
		return r.u64(body[len(body)-at:])
	}
	return noTime
}

package perfdata

import (
	"bytes"

	"github.com/profuse-pgo/profuse/internal/saturate"
)

// process decodes the record at a position and passes it on.
func (r *reader) process(seg *segment, pos, size, record int) error {
	rec := seg.data[pos : pos+size]
	kind, misc, body := r.u32(rec), r.u16(rec[miscAt:]), rec[recordHeader:]
	short := func(least int) error {
		return r.at(seg, pos, record).Field("size of the record").Got(size).Wantf("at least %d", recordHeader+least).Corrupt()
	}
	switch kind {
	case recordSample:
		event := r.eventOfSample(body)
		if event < 0 {
			r.facts.UnknownIDs++
			return nil
		}
		if bad := r.decodeSample(body, event); bad != "" {
			return r.at(seg, pos, record).Field("size of the "+bad).Got("too large").
				Wantf("at most the %d bytes of the record", size).Corrupt()
		}
		r.sample.Mode = uint8(misc & miscMode)
		r.countSample()
		if r.h.Sample != nil {
			return r.call(r.h.Sample(&r.sample))
		}
	case recordMmap, recordMmap2:
		least := mmapSize
		if kind == recordMmap2 {
			least = mmap2Size
		}
		if len(body) < least {
			return short(least)
		}
		r.facts.Mappings++
		if r.h.Mapping != nil {
			r.decodeMapping(kind, misc, body)
			return r.call(r.h.Mapping(&r.mapping))
		}
	case recordComm:
		if len(body) < 8 {
			return short(8)
		}
		if r.h.Command != nil {
			r.command = Command{
				PID: int32(r.u32(body)), TID: int32(r.u32(body[4:])), Time: r.timeOf(kind, body),
				Name: r.text(body[8:], body), Exec: misc&miscExec != 0,
			}
			return r.call(r.h.Command(&r.command))
		}
	case recordFork, recordExit:
		return r.processTask(kind, body, short)
	case recordLost, recordLostSamples:
		return r.processLost(kind, body, short)
	}
	return nil
}

func (r *reader) countSample() {
	f, s := &r.facts, &r.sample
	f.Samples++
	f.Events[s.Event].Samples++
	if len(s.Branches) > 0 {
		f.Branched++
		f.Branches += uint64(len(s.Branches))
	}
	for _, entry := range s.Chain {
		if !IsMarker(entry) {
			f.Chained++
			break
		}
	}
	f.addTime(s.Time)
}

// addTime extends the span of time of the samples.
func (f *Facts) addTime(t uint64) {
	if t == noTime {
		return
	}
	if f.First == noTime || t < f.First {
		f.First = t
	}
	f.Last = max(f.Last, t)
}

func (r *reader) processTask(kind uint32, body []byte, short func(int) error) error {
	if len(body) < taskSize {
		return short(taskSize)
	}
	handle := r.h.Fork
	if kind == recordExit {
		handle = r.h.Exit
	}
	if handle == nil {
		return nil
	}
	r.task = Task{
		PID: int32(r.u32(body)), Parent: int32(r.u32(body[4:])), TID: int32(r.u32(body[8:])), ParentTID: int32(r.u32(body[12:])),
		Time: r.u64(body[16:]),
	}
	return r.call(handle(&r.task))
}

func (r *reader) processLost(kind uint32, body []byte, short func(int) error) error {
	least := 8
	if kind == recordLost {
		least = 16
	}
	if len(body) < least {
		return short(least)
	}
	r.lost = Lost{Event: max(r.eventOfRecord(body), 0), Count: r.u64(body[least-8:]), Samples: kind == recordLostSamples, Time: r.timeOf(kind, body)}
	if r.lost.Samples {
		r.facts.LostSamples = saturate.Add(r.facts.LostSamples, r.lost.Count)
	} else {
		r.facts.LostRecords = saturate.Add(r.facts.LostRecords, r.lost.Count)
	}
	if r.h.Lost != nil {
		return r.call(r.h.Lost(&r.lost))
	}
	return nil
}

// decodeMapping reads the body of MMAP or MMAP2 into r.mapping.
func (r *reader) decodeMapping(kind uint32, misc uint16, body []byte) {
	m := &r.mapping
	*m = Mapping{
		PID: int32(r.u32(body)), TID: int32(r.u32(body[4:])), Time: r.timeOf(kind, body),
		Addr: r.u64(body[8:]), Len: r.u64(body[16:]), Offset: r.u64(body[24:]),
	}
	if kind == recordMmap {
		m.Old, m.Exec, m.File = true, misc&miscData == 0, r.text(body[mmapSize:], body)
		return
	}
	if misc&miscBuildID != 0 {
		n := min(int(body[32]), maxBuildID)
		m.BuildID = body[36 : 36+n : 36+n]
	} else {
		m.Major, m.Minor, m.Inode, m.Generation = r.u32(body[32:]), r.u32(body[36:]), r.u64(body[40:]), r.u64(body[48:])
	}
	m.Prot, m.Flags = r.u32(body[56:]), r.u32(body[60:])
	m.Exec, m.File = m.Prot&protExec != 0, r.text(body[mmap2Size:], body)
}

// text returns the text with which the rest of a body begins. It ends at the first zero, and before the fields that all
// records end with.
func (r *reader) text(rest, body []byte) string {
	if event := r.eventOfRecord(body); event >= 0 {
		rest = rest[:max(0, len(rest)-r.layouts[event].trailer)]
	}
	if i := bytes.IndexByte(rest, 0); i >= 0 {
		rest = rest[:i]
	}
	if name, ok := r.names[string(rest)]; ok {
		return name
	}
	if len(r.names) == maxNames {
		clear(r.names)
	}
	name := string(rest)
	r.names[name] = name
	return name
}

// maxNames limits the names that are kept to be found again.
const maxNames = 1 << 12

package perfdata

import (
	"fmt"
	"math/bits"

	"github.com/profuse-pgo/profuse/internal/cursor"
)

// A layout says where the fields of the records of an event are. Offsets are in the body of a sample, and -1 for a
// field that samples do not have.
type layout struct {
	sampleType           uint64
	id, ip, tid, time    int
	period               int
	fixed                int // size of the fields before READ
	readFixed, readEach  int // size of READ: before the values, of each value
	readGroup            bool
	hwIndex              bool
	trailer, trailerTime int // of other records: size of the fields at their end, time from their end; 0 without
}

func newLayout(e *Event, readFormat uint64) layout {
	l := layout{sampleType: e.SampleType, id: -1, ip: -1, tid: -1, time: -1, period: -1}
	for _, field := range []struct {
		bit uint64
		at  *int
	}{
		{sampleIdentifier, &l.id},
		{sampleIP, &l.ip},
		{sampleTID, &l.tid},
		{sampleTime, &l.time},
		{sampleAddr, nil},
		{sampleID, &l.id},
		{sampleStream, nil},
		{sampleCPU, nil},
		{samplePeriod, &l.period},
	} {
		if e.SampleType&field.bit == 0 {
			continue
		}
		if field.at != nil && *field.at < 0 {
			*field.at = l.fixed
		}
		l.fixed += 8
	}
	if e.SampleType&sampleRead != 0 {
		l.readGroup = readFormat&readGroup != 0
		l.readFixed = 8 * (1 + bits.OnesCount64(readFormat&(readEnabled|readRunning)))
		l.readEach = 8 * bits.OnesCount64(readFormat&(readID|readLost))
		if l.readGroup {
			l.readEach += 8
		} else {
			l.readFixed += l.readEach
		}
	}
	l.hwIndex = e.BranchSample&branchHWIndex != 0
	if e.Flags&flagSampleIDAll != 0 {
		l.trailer = 8 * bits.OnesCount64(e.SampleType&(sampleTID|sampleTime|sampleID|sampleStream|sampleCPU|sampleIdentifier))
		if e.SampleType&sampleTime != 0 {
			l.trailerTime = l.trailer
			if e.SampleType&sampleTID != 0 {
				l.trailerTime -= 8
			}
		}
	}
	return l
}

// trailerID returns how far from the end of a record, other than a sample, its id is; 0 if it has none.
func (l *layout) trailerID() int {
	switch {
	case l.trailer == 0:
		return 0
	case l.sampleType&sampleIdentifier != 0:
		return 8
	case l.sampleType&sampleID != 0:
		return 8 * (1 + bits.OnesCount64(l.sampleType&(sampleStream|sampleCPU)))
	}
	return 0
}

// parseAttr reads an attribute of any size.
func (r *reader) parseAttr(attr []byte) (Event, layout) {
	field := func(at int) uint64 {
		if at+8 > len(attr) {
			return 0
		}
		return r.u64(attr[at:])
	}
	e := Event{
		Type: r.u32(attr[attrTypeAt:]), Config: field(attrConfigAt), Period: field(attrPeriodAt),
		SampleType: field(attrSampleAt), BranchSample: field(attrBranchAt), Flags: field(attrFlagsAt),
	}
	if r.facts.BigEndian {
		// Bit fields begin at the top of each byte.
		var flags uint64
		for i := range 8 {
			flags |= uint64(bits.Reverse8(attr[attrFlagsAt+i])) << (8 * i)
		}
		e.Flags = flags
	}
	e.Frequency = e.Flags&flagFrequency != 0
	e.Name = e.ownName()
	return e, newLayout(&e, field(attrReadAt))
}

// attrLen returns how many bytes an attribute has; 0 if it does not fit in the bytes.
func (r *reader) attrLen(attr []byte) int {
	if len(attr) < attrSizeMin {
		return 0
	}
	n := r.u32(attr[attrLenAt:])
	if n == 0 {
		n = attrSizeMin
	}
	if n < attrSizeMin || uint64(n) > uint64(len(attr)) {
		return 0
	}
	return int(n)
}

// addEvent adds an event with its ids.
func (r *reader) addEvent(attr, ids []byte) {
	e, l := r.parseAttr(attr)
	for ; len(ids) >= 8; ids = ids[8:] {
		id := r.u64(ids)
		e.IDs = append(e.IDs, id)
		if _, taken := r.byID[id]; !taken {
			r.byID[id] = len(r.layouts)
		}
	}
	r.facts.Events, r.layouts = append(r.facts.Events, e), append(r.layouts, l)
}

// names of events without a name in the recording, by type and config, as perf writes them.
var (
	hardwareNames = []string{
		"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles",
		"stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
	}
	softwareNames = []string{
		"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults", "major-faults",
		"alignment-faults", "emulation-faults", "dummy", "bpf-output", "cgroup-switches",
	}
)

func (e *Event) ownName() string {
	names := [][]string{hardwareNames, softwareNames}
	if int64(e.Type) < int64(len(names)) && e.Config < uint64(len(names[e.Type])) {
		return names[e.Type][e.Config]
	}
	return fmt.Sprintf("type %d, config %#x", e.Type, e.Config)
}

// SomeBranches reports whether samples of the event have branches of some kinds only, such as calls (perf record -j any_call).
func (e *Event) SomeBranches() bool {
	return e.SampleType&sampleBranches != 0 && e.BranchSample&branchAny == 0 && e.BranchSample&branchKinds != 0
}

// readEventNames reads EVENT_DESC: { number u32, attr size u32 }, then for each event { attribute, number of ids u32,
// name, ids }.
func (r *reader) readEventNames(c *cursor.Cursor) {
	n, size := c.U32("number of events"), c.U32("size of an attribute")
	if size < attrSizeMin {
		return
	}
	for i := range c.Count(uint64(n), int(size)+8, "number of events") {
		c.Skip(uint64(size), "attribute")
		ids := c.U32("number of ids")
		name := readString(c)
		all := c.Bytes(8*uint64(ids), "ids")
		if c.Err() != nil || name == "" {
			continue
		}
		if ids > 0 {
			if at, ok := r.byID[c.Order().Uint64(all)]; ok {
				r.facts.Events[at].Name = name
			}
		} else if i < len(r.facts.Events) {
			r.facts.Events[i].Name = name
		}
	}
}

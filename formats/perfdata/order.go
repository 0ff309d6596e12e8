package perfdata

// Records of several processors are interleaved in a recording. perf passes them on by time: at the end of a round
// (FINISHED_ROUND), all records up to the greatest time before the previous end are complete. Equal times keep the
// order of the file.
//
// The queue holds runs, not records: a recording of one processor is a single run however long it is.

// A run is a sequence of records of a segment whose times do not decrease.
type run struct {
	seg      *segment
	pos, end int
	record   int    // number of the record at pos
	time     uint64 // of the record at pos
	last     uint64 // time of the last record
}

type queue struct {
	runs []run
	heap []int // runs, by the time of their next record
	open bool  // the last run may grow

	greatest uint64 // time of a record
	complete uint64 // records up to this time are complete at the end of this round
	passed   uint64 // time of the last record that was passed on
}

// add queues the record at a position, which ends at end.
func (r *reader) add(seg *segment, pos, end int, time uint64) {
	q := &r.queue
	if time < q.passed {
		r.facts.Late++
	}
	q.greatest = max(q.greatest, time)
	if q.open {
		if last := &q.runs[len(q.runs)-1]; last.seg == seg && last.last <= time {
			last.end, last.last = end, time
			return
		}
	}
	if seg.buffer != nil {
		seg.buffer.users++
	}
	q.open = true
	q.runs = append(q.runs, run{seg, pos, end, r.facts.Records, time, time})
}

// finishRound passes on what is complete at the end of a round.
func (r *reader) finishRound() error {
	err := r.flush(r.queue.complete)
	r.queue.complete = r.queue.greatest
	return err
}

// flush passes on the records up to a time.
func (r *reader) flush(limit uint64) error {
	q := &r.queue
	q.open = false
	q.heap = q.heap[:0]
	for i := range q.runs {
		if q.runs[i].time <= limit {
			q.heap = append(q.heap, i)
			q.up(len(q.heap) - 1)
		}
	}
	if len(q.heap) == 0 {
		return nil
	}
	for len(q.heap) > 0 {
		top := q.heap[0]
		if err := r.drain(&q.runs[top], min(limit, q.bound())); err != nil {
			return err
		}
		if next := &q.runs[top]; next.pos == next.end || next.time > limit {
			last := len(q.heap) - 1
			q.heap[0] = q.heap[last]
			q.heap = q.heap[:last]
		}
		q.down()
	}
	rest := q.runs[:0]
	for _, run := range q.runs {
		switch {
		case run.pos < run.end:
			rest = append(rest, run)
		case run.seg.buffer != nil:
			r.unpacker.release(run.seg.buffer)
		}
	}
	clear(q.runs[len(rest):])
	q.runs = rest
	return nil
}

// bound returns the last time up to which the run at the top of the heap comes before all others.
func (q *queue) bound() uint64 {
	bound := ^uint64(0)
	for _, i := range q.heap[1:min(3, len(q.heap))] {
		t := q.runs[i].time
		if i < q.heap[0] {
			t-- // at the same time, the earlier run is first
		}
		bound = min(bound, t)
	}
	return bound
}

// less orders the heap.
func (q *queue) less(a, b int) bool {
	a, b = q.heap[a], q.heap[b]
	if s, t := q.runs[a].time, q.runs[b].time; s != t {
		return s < t
	}
	return a < b
}

func (q *queue) up(i int) {
	for i > 0 && q.less(i, (i-1)/2) {
		q.heap[i], q.heap[(i-1)/2] = q.heap[(i-1)/2], q.heap[i]
		i = (i - 1) / 2
	}
}

func (q *queue) down() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(q.heap) {
			return
		}
		if child+1 < len(q.heap) && q.less(child+1, child) {
			child++
		}
		if !q.less(child, i) {
			return
		}
		q.heap[i], q.heap[child] = q.heap[child], q.heap[i]
		i = child
	}
}

// drain passes on the records of a run up to a time, at least one.
func (r *reader) drain(run *run, limit uint64) error {
	for run.pos < run.end && run.time <= limit {
		size := int(r.u16(run.seg.data[run.pos+sizeAt:]))
		if err := r.process(run.seg, run.pos, size, run.record); err != nil {
			return err
		}
		r.queue.passed = run.time
		run.pos, run.record = run.pos+size, run.record+1
		// Go to the next record that is queued.
		for run.pos < run.end {
			rec := run.seg.data[run.pos:]
			kind, size := r.u32(rec), int(r.u16(rec[sizeAt:]))
			if isQueued(kind) {
				if t := r.orderTime(kind, rec[recordHeader:size]); t != noTime {
					run.time = t
					break
				}
			}
			run.pos, run.record = run.pos+size, run.record+1
		}
	}
	return nil
}

// isQueued reports whether the handler gets records of a type.
func isQueued(kind uint32) bool {
	switch kind {
	case recordSample, recordMmap, recordMmap2, recordComm, recordFork, recordExit, recordLost, recordLostSamples:
		return true
	}
	return false
}

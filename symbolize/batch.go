package symbolize

import (
	"errors"
	"runtime"
	"sync"

	"github.com/profuse-pgo/profuse/symbolize/internal/dwarf"
	"github.com/profuse-pgo/profuse/symbolize/internal/object"
)

// Batch looks up many addresses of the file and calls yield for each with its
// index in addrs and its frames, innermost first.
//
// yield runs on the calling goroutine. Equal addresses follow each other and
// get the same frames, which may be kept but not modified. The order depends on
// the file and the addresses only, not on the number of workers: it is grouped
// by compilation unit. Addresses about which nothing is known get no frames.
//
// Memory is needed for 16 bytes per address and for a few compilation units at
// a time.
//
// The error tells, for at most a few units, why they or parts of them could
// not be read: see [File.Frames]. Only when the file itself cannot be read is
// yield not called for the rest.
func (f *File) Batch(addrs []uint64, yield func(i int, frames []Frame)) error {
	d, symbols, err := f.lookup()
	if err != nil {
		return err
	}
	b := &batch{file: f, debug: d.data, symbols: symbols}
	b.sortAddresses(addrs)
	if err := f.guard(func() error { b.divide(); return nil }); err != nil {
		return err
	}
	return b.run(yield)
}

// A batch is the state of a call of Batch.
type batch struct {
	file    *File
	debug   *dwarf.Data
	symbols *object.SymbolTable

	order []place // by address
	jobs  []job
}

// A place is an address and where it was in the input.
type place struct {
	addr  uint64
	index int
}

// A job is the addresses of one unit, or of none.
type job struct {
	unit  int // -1 for none
	spans [][2]int
}

// An answer is the result of a job.
type answer struct {
	frames []Frame
	ends   []int // end in frames of each distinct address, in order
	err    error // why something is missing
	fatal  error // why everything is
}

// sortAddresses sorts by address with a radix sort that looks only at the
// bytes that differ: in a program they are three or four.
func (b *batch) sortAddresses(addrs []uint64) {
	b.order = make([]place, len(addrs))
	and, or := ^uint64(0), uint64(0)
	for i, a := range addrs {
		b.order[i] = place{a, i}
		and &= a
		or |= a
	}
	spare := make([]place, len(addrs))
	for shift := 0; shift < 64; shift += 8 {
		if (and^or)>>shift&0xff == 0 {
			continue
		}
		var next [256]int
		for _, p := range b.order {
			next[p.addr>>shift&0xff]++
		}
		sum := 0
		for i, n := range next {
			next[i] = sum
			sum += n
		}
		for _, p := range b.order {
			digit := p.addr >> shift & 0xff
			spare[next[digit]] = p
			next[digit]++
		}
		b.order, spare = spare, b.order
	}
}

// divide makes a job of the addresses of each unit.
func (b *batch) divide() {
	jobs := make(map[int]int) // by unit
	last := -2
	for i := range b.order {
		if i > 0 && b.order[i].addr == b.order[i-1].addr {
			b.extend(jobs[last], i)
			continue
		}
		unit := b.debug.Unit(b.order[i].addr)
		last = unit
		j, ok := jobs[unit]
		if !ok {
			j = len(b.jobs)
			jobs[unit] = j
			b.jobs = append(b.jobs, job{unit: unit})
		}
		b.extend(j, i)
	}
}

// extend adds the i-th place to a job.
func (b *batch) extend(j, i int) {
	spans := b.jobs[j].spans
	if n := len(spans); n > 0 && spans[n-1][1] == i {
		spans[n-1][1] = i + 1
		return
	}
	b.jobs[j].spans = append(spans, [2]int{i, i + 1})
}

// run does the jobs and yields the answers in the order of the jobs.
func (b *batch) run(yield func(i int, frames []Frame)) error {
	workers := b.file.opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	type task struct {
		job    *job
		answer chan answer
	}
	// The tasks wait in both channels: for a worker, and for their turn. What
	// fits into the second bounds how many answers are in memory.
	work := make(chan task)
	turn := make(chan task, 2*workers)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(stop)
	wg.Go(func() {
		defer close(turn)
		defer close(work)
		for i := range b.jobs {
			t := task{&b.jobs[i], make(chan answer, 1)}
			for _, c := range []chan task{turn, work} {
				select {
				case c <- t:
				case <-stop:
					return
				}
			}
		}
	})
	for range min(workers, len(b.jobs)) {
		wg.Go(func() {
			for t := range work {
				t.answer <- b.do(t.job)
			}
		})
	}
	var problems []error
	for t := range turn {
		a := <-t.answer
		if a.fatal != nil {
			return a.fatal
		}
		if a.err != nil && len(problems) < maxProblems {
			problems = append(problems, a.err)
		}
		b.deliver(t.job, &a, yield)
	}
	return errors.Join(problems...)
}

// maxProblems is how many units Batch explains why it could not read them.
const maxProblems = 8

// do looks up the addresses of a job.
func (b *batch) do(j *job) (a answer) {
	a.fatal = b.file.guard(func() error {
		var unit *dwarf.Unit
		if j.unit >= 0 {
			unit, a.err = b.debug.Load(j.unit)
		}
		var l looker
		for _, s := range j.spans {
			for i := s[0]; i < s[1]; i++ {
				if i > s[0] && b.order[i].addr == b.order[i-1].addr {
					continue
				}
				a.frames = l.frames(a.frames, unit, b.symbols, b.order[i].addr)
				a.ends = append(a.ends, len(a.frames))
			}
		}
		return nil
	})
	return a
}

// deliver yields the answer to a job.
func (b *batch) deliver(j *job, a *answer, yield func(i int, frames []Frame)) {
	start, n := 0, 0
	var frames []Frame
	for _, s := range j.spans {
		for i := s[0]; i < s[1]; i++ {
			if i == s[0] || b.order[i].addr != b.order[i-1].addr {
				end := a.ends[n]
				frames = a.frames[start:end:end]
				start = end
				n++
			}
			yield(b.order[i].index, frames)
		}
	}
}

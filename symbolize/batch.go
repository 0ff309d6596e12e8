package symbolize

import (
	"errors"
	"runtime"
	"sync"

	"github.com/profuse-pgo/profuse/internal/program/dwarf"
	"github.com/profuse-pgo/profuse/internal/program/object"
)

// Batch looks up many addresses of the file. For each address it calls yield with the index
// of the address in addrs and the frames there, innermost first.
//
// yield runs on the calling goroutine. Equal addresses follow each other and share their frames, which the caller
// may keep but not modify. The order is grouped by compilation unit; it depends on the file and the addresses, not
// on the number of workers. An address without debug information gets no frames.
//
// Batch takes 32 bytes of memory per address, and the memory of as many compilation units as there are workers.
//
// The error says why units, or parts of units, could not be read, for at most 8 units; see [File.Frames]. If the
// file itself cannot be read, Batch returns without calling yield for the remaining addresses.
func (f *File) Batch(addrs []uint64, yield func(i int, frames []Frame)) error {
	d, symbols, err := f.lookup()
	if err != nil {
		return err
	}
	b := &batch{file: f, debug: d.data, symbols: symbols}
	b.order = make([]indexedAddr, len(addrs))
	for i, a := range addrs {
		b.order[i] = indexedAddr{a, i}
	}
	dwarf.SortByAddress(b.order, func(p *indexedAddr) uint64 { return p.addr })
	if err := f.guard(func() error { b.divide(); return nil }); err != nil {
		return err
	}
	return b.run(yield)
}

type batch struct {
	file    *File
	debug   *dwarf.Data
	symbols *object.SymbolTable

	order []indexedAddr // by address
	jobs  []job
}

type indexedAddr struct {
	addr  uint64
	index int
}

// A job is the addresses of one unit, or of none.
type job struct {
	unit  int      // -1 for none
	spans [][2]int // start and end indices in the order of the batch
}

type task struct {
	*job
	answers chan answer
}

type answer struct {
	frames []Frame
	runs   []run
	err    error // why some frames are missing
	fatal  error // why the file cannot be read
}

// A run is equal addresses in the order of a batch.
type run struct {
	start, end int
	frames     int // end of their frames in the answer's
}

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

func (b *batch) extend(j, i int) {
	spans := b.jobs[j].spans
	if n := len(spans); n > 0 && spans[n-1][1] == i {
		spans[n-1][1] = i + 1
		return
	}
	b.jobs[j].spans = append(spans, [2]int{i, i + 1})
}

// chunk is how many distinct addresses an answer holds. In a large program an
// address has about ten frames of 72 bytes each.
const chunk = 4096

// run does the jobs and yields the answers in the order of the jobs.
func (b *batch) run(yield func(i int, frames []Frame)) error {
	workers := b.file.opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	// Each task goes into two channels: work feeds the workers, turn keeps the order of delivery. A worker
	// computes at most two answers of a task ahead of its turn.
	work, turn := make(chan task), make(chan task, workers)
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
				b.answerTask(t, stop)
			}
		})
	}
	var problems []error
	for t := range turn {
		for a := range t.answers {
			if a.fatal != nil {
				return a.fatal
			}
			if a.err != nil && len(problems) < maxProblems {
				problems = append(problems, a.err)
			}
			b.deliver(&a, yield)
		}
	}
	return errors.Join(problems...)
}

// maxProblems is how many unreadable units the error of Batch describes.
const maxProblems = 8

func (b *batch) answerTask(t task, stop <-chan struct{}) {
	defer close(t.answers)
	send := func(a answer) bool {
		select {
		case t.answers <- a:
			return true
		case <-stop:
			return false
		}
	}
	err := b.file.guard(func() error {
		var unit *dwarf.Unit
		var a answer
		if t.unit >= 0 {
			unit, a.err = b.debug.Load(t.unit)
		}
		var l looker
		for _, s := range t.spans {
			for start := s[0]; start < s[1]; {
				end := start + 1
				for end < s[1] && b.order[end].addr == b.order[start].addr {
					end++
				}
				a.frames = l.frames(a.frames, unit, b.symbols, b.order[start].addr)
				a.runs = append(a.runs, run{start, end, len(a.frames)})
				start = end
				if len(a.runs) == chunk {
					if !send(a) {
						return nil
					}
					a = answer{}
				}
			}
		}
		send(a)
		return nil
	})
	if err != nil {
		send(answer{fatal: err})
	}
}

func (b *batch) deliver(a *answer, yield func(i int, frames []Frame)) {
	start := 0
	for _, r := range a.runs {
		frames := a.frames[start:r.frames:r.frames]
		start = r.frames
		for _, p := range b.order[r.start:r.end] {
			yield(p.index, frames)
		}
	}
}

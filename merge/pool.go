package merge

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/inputs"
)

// Options adjust [Run]. The zero value is right for sums that are the same in
// any order.
type Options struct {
	// Ordered gives every profile its place in the order of all, the same for
	// any number of workers.
	Ordered bool
	// Only says which members of the inputs are wanted; nil means all. A plain
	// file is member 0.
	Only func(input, member int) bool
	// Ended, if not nil, is told what became of each profile. Several
	// goroutines call it, in any order.
	Ended func(*Account)
	// InputEnded, if not nil, is told of how many profiles an input consists,
	// after all of them have ended or been handed to a worker.
	InputEnded func(input, profiles int)
}

// Run adds the profiles of all inputs up, with one worker for each adder. The
// error is one that leaves no result: ctx is done, or an input changed while it
// was being added. Run returns when ctx is done also if a worker hangs on an
// input that never comes.
func Run(ctx context.Context, ins []inputs.Input, adders []Adder, opt Options) error {
	p := &pool{
		inputs: ins, Options: opt,
		first: make(map[int]chan int), done: make(chan struct{}), offers: make(chan *worker),
	}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	defer p.cancel(nil)
	p.unread.Store(int64(len(ins)))
	p.pass(0, 0)
	if len(ins) == 0 {
		return context.Cause(p.ctx)
	}
	var group sync.WaitGroup
	for _, add := range adders {
		group.Go((&worker{pool: p, adder: add, inbox: make(chan *Profile)}).run)
	}
	finished := make(chan struct{})
	go func() {
		group.Wait()
		close(finished)
	}()
	select {
	case <-finished:
	case <-p.ctx.Done():
	}
	return context.Cause(p.ctx)
}

// A pool is one Run.
//
// Workers take the inputs in order. A worker that has run out of inputs takes
// members from the archive that another is reading. With Options.Ordered every
// profile gets its place in the order of all profiles. How many profiles an
// input holds is known at once for a file and only at the end for an archive, so
// the place of an input's first profile is passed on from input to input, and a
// worker that waits for it takes members as well.
type pool struct {
	Options
	ctx    context.Context
	cancel context.CancelCauseFunc
	inputs []inputs.Input

	next   atomic.Int64 // input to be taken next
	unread atomic.Int64 // inputs that have not been read to their end
	done   chan struct{}
	offers chan *worker

	mu    sync.Mutex
	first map[int]chan int // place of an input's first profile, by input
}

// A worker adds to a sum of its own.
type worker struct {
	*pool
	adder  Adder
	reader inputs.Reader
	inbox  chan *Profile
	copied []byte // of a member that another worker read
}

// pass says at which place the profiles of an input begin.
func (p *pool) pass(input, place int) {
	if p.Ordered && input < len(p.inputs) {
		p.place(input) <- place
	}
}

// place returns where the place of an input's first profile arrives.
func (p *pool) place(input int) chan int {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.first[input]
	if c == nil {
		c = make(chan int, 1)
		p.first[input] = c
	}
	return c
}

func (p *pool) wants(input, member int) bool { return p.Only == nil || p.Only(input, member) }

func (w *worker) run() {
	defer w.reader.Close()
	for w.ctx.Err() == nil {
		i := int(w.next.Add(1)) - 1
		if i >= len(w.inputs) {
			break
		}
		w.read(i)
		if w.unread.Add(-1) == 0 {
			close(w.done)
		}
	}
	for {
		select {
		case <-w.done:
			return
		case <-w.ctx.Done():
			return
		case w.offers <- w:
			w.add(<-w.inbox)
		}
	}
}

// await returns the place of an input's first profile. Until it is known the
// worker helps with an archive before it.
func (w *worker) await(input int) (int, error) {
	if !w.Ordered {
		return 0, nil
	}
	arrives := w.place(input)
	for {
		select {
		case place := <-arrives:
			w.mu.Lock()
			delete(w.first, input)
			w.mu.Unlock()
			return place, nil
		case <-w.ctx.Done():
			return 0, context.Cause(w.ctx)
		case w.offers <- w:
			w.add(<-w.inbox)
		}
	}
}

// read adds the profiles of one input.
func (w *worker) read(input int) {
	in := w.inputs[input]
	const unknown = -1
	place, seen, members := unknown, 0, 0
	var plain *Profile // the input is one file, not an archive
	err := in.Each(&w.reader, func(d *inputs.Data) error {
		if seen++; !w.wants(input, seen-1) {
			return nil
		}
		if place == unknown {
			var err error
			if place, err = w.await(input); err != nil {
				return err
			}
		}
		if err := context.Cause(w.ctx); err != nil {
			return err
		}
		p := &Profile{Name: d.Name(), Data: d.Bytes(), Weight: max(in.Weight, 1), Input: input, Member: members, Place: place}
		place++
		members++
		if p.Name == in.Name {
			plain = p
			w.pass(input+1, place)
			w.add(p)
			return nil
		}
		select {
		case idle := <-w.offers:
			idle.copied = append(idle.copied[:0], p.Data...)
			p.Data = idle.copied
			idle.inbox <- p
		default:
			w.add(p)
		}
		return nil
	})
	switch {
	case w.ctx.Err() != nil:
		return
	case err != nil && plain != nil && plain.inSum:
		w.spoiled(err)
		return
	case plain != nil && plain.ended, err != nil && !w.wants(input, seen):
		err = nil // has been told, or is for another run to tell
	case err == nil && seen == 0:
		err = inputs.EmptyArchive(in.Name)
	}
	if err != nil {
		a := &Account{Input: input, Member: members, File: in.Name, Err: err}
		if members++; plain != nil { // it could not be read to its end
			a.Member, members = plain.Member, members-1
		}
		w.end(a)
	}
	if w.InputEnded != nil {
		w.InputEnded(input, members)
	}
	if plain != nil {
		return
	}
	if place == unknown {
		if place, err = w.await(input); err != nil {
			return
		}
	}
	w.pass(input+1, place)
}

// spoiled ends the run: an input that changed while it was read has left a
// part of itself in the sum.
func (w *worker) spoiled(err error) {
	w.cancel(fmt.Errorf("%w; part of it is merged already, nothing is written", err))
}

// add adds one profile to the worker's sum.
func (w *worker) add(p *Profile) {
	p.account = Account{Input: p.Input, Member: p.Member, File: p.Name, Size: len(p.Data), Data: p.Data}
	brought, err := w.adder(p)
	if err != nil && brought != nil {
		w.spoiled(err)
		return
	}
	if p.inSum = err == nil; err != nil {
		p.account.Err, p.account.Rescued, p.account.RescuedOmitted = err, nil, 0
	}
	p.account.Brought = brought
	w.end(&p.account)
	p.account.Data, p.ended = nil, true
}

func (w *worker) end(a *Account) {
	if w.Ended != nil {
		w.Ended(a)
	}
}

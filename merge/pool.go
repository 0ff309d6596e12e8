package merge

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/inputs"
)

// Options configures [Run]. The zero value suits sums that do not depend on the order of the profiles.
type Options struct {
	// Ordered sets Profile.Index to the profile's index in the order of the inputs, whatever the number of workers.
	Ordered bool
	// NumInputs returns how many inputs a partial sum stands for; nil means 1 each.
	NumInputs func(data []byte) int
	// Only selects the members of the inputs to add; nil selects all. A plain file has one member, 0.
	Only func(input, member int) bool
	// Ended, if not nil, receives the account of each profile. Several goroutines call it, in no particular order.
	Ended func(*Account)
	// InputEnded, if not nil, receives the number of profiles in an input, after all have ended or been handed to a worker.
	InputEnded func(input, profiles int)
}

// Run adds up the profiles of all inputs, with one worker for each adder. After an error there is no sum to use:
// ctx is done, or an input changed while an adder read it. Once ctx is done Run returns even if a worker is blocked
// on an input that never arrives.
func Run(ctx context.Context, ins []inputs.Input, adders []Adder, opt Options) error {
	if opt.NumInputs == nil {
		opt.NumInputs = func([]byte) int { return 1 }
	}
	p := &pool{
		inputs: ins, Options: opt,
		first: make(map[int]chan int), done: make(chan struct{}), offers: make(chan *worker),
	}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	defer p.cancel(nil)
	p.unread.Store(int64(len(ins)))
	p.passIndex(0, 0)
	if len(ins) == 0 {
		return context.Cause(p.ctx)
	}
	var group sync.WaitGroup
	for _, add := range adders {
		w := &worker{pool: p, adder: add, inbox: make(chan *Profile)}
		w.reader.Ahead = p.ahead
		group.Go(w.run)
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

// A pool is the state of one [Run].
//
// Workers take the inputs in order. When no input is left, a worker takes members of an archive that another worker
// is reading. With Options.Ordered every profile needs its index among all profiles. A file holds one profile, but
// the profiles of an archive are known only when it has been read to its end. Each input therefore passes the index
// of the next input's first profile on, and a worker that waits for an index takes members meanwhile.
type pool struct {
	Options
	ctx    context.Context
	cancel context.CancelCauseFunc
	inputs []inputs.Input

	next   atomic.Int64 // input to be taken next
	unread atomic.Int64 // inputs that have not been read to their end
	done   chan struct{}
	offers chan *worker

	mu        sync.Mutex
	first     map[int]chan int // delivers the index of an input's first profile, by input
	readAhead int              // the first input that [pool.ahead] has not returned
}

// aheadOf is how many inputs the system may be reading before a worker takes them.
const aheadOf = 32

// ahead returns an input that a worker will take soon.
func (p *pool) ahead() (inputs.Input, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := int(p.next.Load())
	i := max(p.readAhead, next)
	if i >= min(len(p.inputs), next+aheadOf) {
		return inputs.Input{}, false
	}
	p.readAhead = i + 1
	return p.inputs[i], true
}

// A worker adds to a sum of its own.
type worker struct {
	*pool
	adder  Adder
	reader inputs.Reader
	inbox  chan *Profile
	copied []byte // a member that another worker read
}

// passIndex announces the index of an input's first profile.
func (p *pool) passIndex(input, index int) {
	if p.Ordered && input < len(p.inputs) {
		p.firstIndex(input) <- index
	}
}

// firstIndex returns the channel that delivers the index of an input's first profile.
func (p *pool) firstIndex(input int) chan int {
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
		w.readInput(i)
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
			w.addProfile(<-w.inbox)
		}
	}
}

// awaitIndex waits for the index of an input's first profile. Meanwhile the worker takes members of an earlier archive.
func (w *worker) awaitIndex(input int) (int, error) {
	if !w.Ordered {
		return 0, nil
	}
	arrives := w.firstIndex(input)
	for {
		select {
		case index := <-arrives:
			w.mu.Lock()
			delete(w.first, input)
			w.mu.Unlock()
			return index, nil
		case <-w.ctx.Done():
			return 0, context.Cause(w.ctx)
		case w.offers <- w:
			w.addProfile(<-w.inbox)
		}
	}
}

// readInput adds the profiles of one input.
func (w *worker) readInput(input int) {
	in := w.inputs[input]
	const unknown = -1
	index, seen, members := unknown, 0, 0
	var plain *Profile // the input is one file, not an archive
	err := in.Each(&w.reader, func(d *inputs.Data) error {
		if seen++; !w.wants(input, seen-1) {
			return nil
		}
		if index == unknown {
			var err error
			if index, err = w.awaitIndex(input); err != nil {
				return err
			}
		}
		if err := context.Cause(w.ctx); err != nil {
			return err
		}
		p := &Profile{
			Name: d.Name(), BuildID: d.BuildID, Data: d.Bytes(), Weight: max(in.Weight, 1),
			Input: input, Member: members, Number: seen - 1, Index: index,
		}
		index += w.NumInputs(p.Data)
		members++
		if p.Name == in.Name {
			plain = p
			w.passIndex(input+1, index)
			w.addProfile(p)
			return nil
		}
		select {
		case idle := <-w.offers:
			idle.copied = append(idle.copied[:0], p.Data...)
			p.Data = idle.copied
			idle.inbox <- p
		default:
			w.addProfile(p)
		}
		return nil
	})
	switch {
	case w.ctx.Err() != nil:
		return
	case plain != nil && plain.ended, err != nil && !w.wants(input, seen):
		err = nil // already reported, or left to another run
	}
	if err != nil {
		a := &Account{Input: input, Member: members, File: in.Name, Err: err}
		if members++; plain != nil { // the archive could not be read to its end
			a.Member, members = plain.Member, members-1
		}
		w.deliver(a)
	}
	if w.InputEnded != nil {
		w.InputEnded(input, members)
	}
	if plain != nil {
		return
	}
	if index == unknown {
		if index, err = w.awaitIndex(input); err != nil {
			return
		}
	}
	w.passIndex(input+1, index)
}

// addProfile adds one profile to the worker's sum. It ends the run if part of the profile is in the sum and the rest
// cannot be added.
func (w *worker) addProfile(p *Profile) {
	p.account = Account{Input: p.Input, Member: p.Member, File: p.Name, Size: len(p.Data), Data: p.Data}
	contributed, err := w.adder(p)
	switch {
	case err != nil && contributed != nil:
		w.cancel(fmt.Errorf("%w; part of it is in the sum already, so nothing is written: merge again when no process writes it", err))
		return
	case err != nil:
		p.account.Err, p.account.Rescued, p.account.RescuedOmitted = err, nil, 0
	}
	p.account.Contribution = contributed
	w.deliver(&p.account)
	p.account.Data, p.ended = nil, true
}

func (w *worker) deliver(a *Account) {
	if w.Ended != nil {
		w.Ended(a)
	}
}

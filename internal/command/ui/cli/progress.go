package cli

import (
	"fmt"
	"sync/atomic"
	"time"
)

const progressInterval = time.Second / 10

// Progress counts units of work and shows the count as a [StatusLine], which it removes at the end.
// Several goroutines may call its methods.
type Progress struct {
	what  string
	done  atomic.Int64
	total atomic.Int64
	bytes atomic.Int64

	stop    chan struct{}
	stopped chan struct{}
}

// StartProgress shows a count of what on standard error, if that is a terminal and quiet is false.
// Call [Progress.Stop] before printing anything else there.
func (e *Env) StartProgress(what string, quiet bool) *Progress {
	p := &Progress{what: what}
	if line := e.StatusLine(quiet); line.Shown() {
		p.start(line, progressInterval)
	}
	return p
}

func (p *Progress) start(line *StatusLine, interval time.Duration) {
	p.stop, p.stopped = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(p.stopped)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		defer line.Clear()
		for {
			select {
			case <-p.stop:
				return
			case <-tick.C:
				line.Set(p.String())
			}
		}
	}()
}

// Done adds finished units and their bytes.
func (p *Progress) Done(units, bytes int64) {
	p.done.Add(units)
	p.bytes.Add(bytes)
}

// Expect adds expected units. Without expected units, the line shows no total.
func (p *Progress) Expect(units int64) { p.total.Add(units) }

// Stop removes the line. It may be called twice.
func (p *Progress) Stop() {
	if p.stop == nil {
		return
	}
	close(p.stop)
	<-p.stopped
	p.stop = nil
}

// String returns the line as it stands, "inputs read: 12 of 340, 56 MB".
func (p *Progress) String() string {
	s := p.what + ": " + Count(p.done.Load())
	if total := p.total.Load(); total > 0 {
		s += " of " + Count(total)
	}
	return s + ", " + Size(p.bytes.Load())
}

// Size prints a number of bytes with a decimal unit.
func Size[N Integer](n N) string {
	const k = 1000
	units := []string{"bytes", "kB", "MB", "GB", "TB"}
	if n < k {
		return Quantity(n, "byte", "bytes")
	}
	f, u := float64(n), 0
	for f >= k-0.05 && u < len(units)-1 {
		f /= k
		u++
	}
	return fmt.Sprintf("%.1f %s", f, units[u])
}

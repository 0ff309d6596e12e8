//go:build unix

package merge

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/profuse-pgo/profuse/inputs"
)

// TestSlowReading: workers overlap where each read waits. Inputs are pipes, and a pipe gets nothing before as many
// of them as there are workers are being read: workers that wait for each other would never end.
func TestSlowReading(t *testing.T) {
	const workers, rounds = 4, 3
	dir := t.TempDir()
	var ins []inputs.Input
	var names []string
	for i := range workers * rounds {
		names = append(names, filepath.Join(dir, fmt.Sprint(i)))
		must(t, unix.Mkfifo(names[i], 0o600))
		ins = append(ins, inputs.File(names[i], inputs.Options{}))
	}
	for group := range slices.Chunk(names, workers) {
		go func() {
			pipes := make([]*os.File, len(group))
			for i, name := range group {
				pipes[i], _ = os.OpenFile(name, os.O_WRONLY, 0) // returns once it is being read
			}
			for _, text := range []string{"a", " profile", " in parts"} {
				time.Sleep(time.Millisecond)
				for _, f := range pipes {
					f.WriteString(text)
				}
			}
			for _, f := range pipes {
				f.Close()
			}
		}()
	}
	var read atomic.Int64
	adders := slices.Repeat([]Adder{func(p *Profile) (*Contribution, error) {
		if string(p.Data) == "a profile in parts" {
			read.Add(1)
		}
		return nil, nil
	}}, workers)
	if err := Run(t.Context(), ins, adders, Options{Ordered: true}); err != nil || read.Load() != int64(len(ins)) {
		t.Errorf("%d of %d read: %v", read.Load(), len(ins), err)
	}
}

// TestAhead: what is read ahead is what workers take next, each input once, and not further than 32 inputs.
func TestAhead(t *testing.T) {
	p := &pool{inputs: make([]inputs.Input, 100)}
	for i := range p.inputs {
		p.inputs[i].Name = fmt.Sprint(i)
	}
	var got []string
	take := func() {
		for in, ok := p.ahead(); ok; in, ok = p.ahead() {
			got = append(got, in.Name)
		}
	}
	for _, next := range []int64{1, 3, 50, 99} {
		p.next.Store(next)
		take()
	}
	var want []string
	for i := range 100 {
		if i >= 1 && i < 35 || i >= 50 && i < 82 || i >= 99 {
			want = append(want, fmt.Sprint(i))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("read ahead %q, want %q", got, want)
	}
}

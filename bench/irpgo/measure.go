//go:build linux

package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/profuse-pgo/profuse/bench/internal/measure"
)

type commandKind int

const (
	ours      commandKind = iota // measured: profuse's own command
	replacing                    // measured: profuse by the command line of its peer
	peer                         // compared with; the fastest counts
	other                        // printed beside them
	reading                      // only reads the inputs
)

// A command is measured once in each round.
type command struct {
	name   string
	kind   commandKind
	before func() error // what comes before each run, which is not measured; may be nil
	argv   []string
	stdin  string // file that it reads; "" for none
	out    string // file that it writes, "" if none or not compared
	// canonical: profuse merges the file with nothing before it is compared, because the
	// command writes the same in another order.
	canonical bool
	stdout    bool   // its output is compared
	digest    string // of its output in the first round

	samples []measure.Sample
}

// run runs the command once and, if it counts, keeps its cost.
func (c *command) run(counts bool) error {
	var err error
	if c.before != nil {
		err = c.before()
	}
	switch {
	case err != nil:
	case counts:
		var s measure.Sample
		if s, err = measure.Run(c.argv, c.stdin); err == nil {
			c.samples = append(c.samples, s)
		}
	default:
		h := sha256.New()
		if err = measure.Output(c.argv, c.stdin, h); err == nil {
			c.digest = string(h.Sum(nil))
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

// dropFromCache has the system forget the contents of files, which are on the disk.
func dropFromCache(names []string) error {
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		err = errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close())
		if err != nil {
			return err
		}
	}
	return nil
}

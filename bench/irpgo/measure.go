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

// A commandKind says what a command's figures are for.
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

	first   measure.Sample // of the first round, unless the output is compared
	samples []measure.Sample
}

// long is how many seconds a command takes that is not repeated.
const long = 10

// run runs the command once. In the first round it keeps the digest of the output if that
// is compared, in the others the cost.
func (c *command) run(round int) (err error) {
	// A long command runs once; its figures stand for all rounds.
	if round > 0 && c.first.Wall > long {
		c.samples = append(c.samples, c.first)
		return nil
	}
	if c.before != nil {
		err = c.before()
	}
	switch {
	case err != nil:
	// The digest takes time, so this round has no figures.
	case round == 0 && c.stdout:
		h := sha256.New()
		if err = measure.Output(c.argv, c.stdin, h); err == nil {
			c.digest = string(h.Sum(nil))
		}
	default:
		var s measure.Sample
		if s, err = measure.Run(c.argv, c.stdin); round == 0 {
			c.first = s
		} else {
			c.samples = append(c.samples, s)
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
		// Pages that are not yet written would stay in the cache.
		err = errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close())
		if err != nil {
			return err
		}
	}
	return nil
}

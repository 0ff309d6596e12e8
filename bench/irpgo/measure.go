//go:build linux

package main

import (
	"crypto/sha256"
	"fmt"

	"github.com/profuse-pgo/profuse/bench/internal/measure"
)

// A commandKind says what a command's figures are for.
type commandKind int

const (
	ours      commandKind = iota // measured: profuse's own command
	replacing                    // measured: profuse with the command line of its peer
	peer                         // compared with; the fastest counts
	other                        // printed beside them
	reading                      // only reads the inputs
)

// A command is measured once in each round.
type command struct {
	name   string
	kind   commandKind
	before func() error // runs before each run and is not measured; may be nil
	argv   []string
	stdin  string // file that it reads; "" for none
	out    string // file that it writes, "" if none or not compared
	// canonical: the command writes records in another order, so profuse merges the file alone before it is compared.
	canonical bool
	stdout    bool   // its output is compared
	digest    string // of its output in the first round

	first   measure.Sample // of the first round, unless the output is compared
	samples []measure.Sample
}

// long is the time in seconds from which a command is not repeated.
const long = 10

// run runs the command once. It keeps the cost or, in the first round of a command whose output is compared, the digest
// of the output.
func (c *command) run(round int) (err error) {
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

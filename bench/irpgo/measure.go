//go:build linux

package main

import (
	"crypto/sha256"
	"fmt"

	"github.com/profuse-pgo/profuse/bench/internal/measure"
)

type commandKind int

const (
	ours    commandKind = iota // measured
	peer                       // compared with; the fastest counts
	other                      // printed beside both
	reading                    // only reads the inputs
)

// A command is measured once in each round.
type command struct {
	name  string
	kind  commandKind
	argv  []string
	stdin string // file that it reads; "" for none
	out   string // file that it writes, "" if none or not compared
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
	if counts {
		var s measure.Sample
		if s, err = measure.Run(c.argv, c.stdin); err == nil {
			c.samples = append(c.samples, s)
		}
	} else {
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

//go:build linux

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

type commandKind int

const (
	ours    commandKind = iota // what is compared
	peer                       // with what it is compared; the best counts
	other                      // printed beside them
	reading                    // only reads the inputs
)

// A command is measured once in each round.
type command struct {
	name   string
	kind   commandKind
	argv   []string
	out    string // file that it writes, "" if none or of no interest
	stdout bool   // its output is compared
	digest string // of its output in the first round

	samples []sample
}

// sample is what one run took.
type sample struct{ Wall, CPU, Memory float64 } // seconds, seconds, MiB

// run runs the command once and keeps what it took, if it counts.
func (c *command) run(counts bool) error {
	var out bytes.Buffer
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	h := sha256.New()
	cmd.Stdout = h
	if counts {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		cmd = exec.Command(self, append([]string{"-measure", "--"}, c.argv...)...)
		cmd.Stdout = &out
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", c.name, err, stderr.String())
	}
	if !counts {
		c.digest = string(h.Sum(nil))
		return nil
	}
	var s sample
	if err := json.Unmarshal(out.Bytes(), &s); err != nil {
		return err
	}
	c.samples = append(c.samples, s)
	return nil
}

// measureOne runs a command, its output thrown away. It does so in a process
// of its own, as the peak memory that the system tells of a process is at
// least what its parent had when it started it.
func measureOne(argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return err
	}
	wall := time.Since(start)
	return json.NewEncoder(os.Stdout).Encode(sample{
		Wall:   wall.Seconds(),
		CPU:    (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(),
		Memory: float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1024,
	})
}

// metrics are the columns of the table.
var metrics = []struct {
	name string
	of   func(sample) float64
}{
	{"wall s", func(s sample) float64 { return s.Wall }},
	{"CPU s", func(s sample) float64 { return s.CPU }},
	{"peak MiB", func(s sample) float64 { return s.Memory }},
}

func values(samples []sample, of func(sample) float64) []float64 {
	out := make([]float64, len(samples))
	for i, s := range samples {
		out[i] = of(s)
	}
	return out
}

// spread returns median, least and greatest.
func spread(v []float64) (median, low, high float64) {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2, v[0], v[n-1]
}

// printTable prints a line for each command, and how many times more the peer
// takes. In each column the peer has the number of threads that is best for it
// there; a round is compared with itself.
func printTable(w io.Writer, commands []*command) {
	fmt.Fprintf(w, "%-20s", "")
	for _, m := range metrics {
		fmt.Fprintf(w, " %26s", m.name)
	}
	fmt.Fprintln(w)
	cell := func(format string, v []float64) {
		median, low, high := spread(v)
		fmt.Fprintf(w, " %26s", fmt.Sprintf(format+" ["+format+" "+format+"]", median, low, high))
	}
	formats := []string{"%.3f", "%.3f", "%.0f"}
	for _, c := range commands {
		fmt.Fprintf(w, "%-20s", c.name)
		for i, m := range metrics {
			cell(formats[i], values(c.samples, m.of))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%-20s", "llvm / profuse")
	for _, m := range metrics {
		var own, best []float64
		for _, c := range commands {
			v := values(c.samples, m.of)
			switch c.kind {
			case ours:
				own = v
			case peer:
				if best == nil || less(v, best) {
					best = v
				}
			}
		}
		ratios := make([]float64, len(own))
		for i := range own {
			ratios[i] = best[i] / own[i]
		}
		cell("%.1f", ratios)
	}
	fmt.Fprintln(w)
}

func less(a, b []float64) bool {
	x, _, _ := spread(a)
	y, _, _ := spread(b)
	return x < y
}

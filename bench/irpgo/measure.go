//go:build linux

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
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
	name   string
	kind   commandKind
	argv   []string
	out    string // file that it writes, "" if none or not compared
	stdout bool   // its output is compared
	digest string // of its output in the first round

	samples []sample
}

// sample holds the cost of one run.
type sample struct{ Wall, CPU, Memory float64 } // seconds, seconds, MiB

// run runs the command once and, if it counts, keeps its cost.
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

// measureOne runs a command and discards its output. It needs a process of its
// own, since the peak memory that the system reports for a process is at least
// what its parent had when it started it.
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

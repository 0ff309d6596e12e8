//go:build linux

// Package measure takes the time and memory of commands for the benchmarks, compares two commands that run in
// turns, and writes the inputs of commands.
package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// A Sample is the cost of one run of a command, in seconds, seconds and MiB.
type Sample struct{ Wall, CPU, Memory float64 }

// flag asks a benchmark to measure the command in its arguments.
const flag = "-measure-command"

// Main must come first in the main function of a program that calls [Run].
func Main() {
	if len(os.Args) < 3 || os.Args[1] != flag {
		return
	}
	if err := runOne(os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func runOne(argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return err
	}
	wall := time.Since(start)
	return json.NewEncoder(os.Stdout).Encode(Sample{
		Wall:   wall.Seconds(),
		CPU:    (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(),
		Memory: float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1024,
	})
}

// Run runs a command and returns its cost. The command reads the file stdin unless that is "". A separate process
// starts the command, because the peak memory that the system reports for a process is at least the memory of its
// parent at the start.
func Run(argv []string, stdin string) (s Sample, err error) {
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	var out bytes.Buffer
	if err := Output(append([]string{self, flag}, argv...), stdin, &out); err != nil {
		return s, err
	}
	return s, json.Unmarshal(out.Bytes(), &s)
}

// Output runs a command and writes its output to w. The command reads the file stdin unless that is "".
func Output(argv []string, stdin string, w io.Writer) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout = w
	if stdin != "" {
		f, err := os.Open(stdin)
		if err != nil {
			return err
		}
		defer f.Close()
		cmd.Stdin = f
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, stderr.String())
	}
	return nil
}

// Pairs runs two commands in turns, n times each after a pair that warms up, and returns their costs. Changes of the
// machine's speed that are slower than a pair affect both alike. The commands read the file stdin unless that is "".
func Pairs(n int, first, second []string, stdin string) (costs [2][]Sample, err error) {
	argv := [2][]string{first, second}
	for i := -1; i < n; i++ {
		for k := range argv {
			which := (k + i) & 1 // the command that runs first may have an advantage
			s, err := Run(argv[which], stdin)
			if err != nil {
				return costs, err
			}
			if i >= 0 {
				costs[which] = append(costs[which], s)
			}
		}
	}
	return costs, nil
}

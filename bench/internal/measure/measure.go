//go:build linux

// Package measure takes the time and memory of commands for the benchmarks, and compares
// those of two commands that run in turns.
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

// A Sample is what one run of a command cost: seconds, seconds, MiB.
type Sample struct{ Wall, CPU, Memory float64 }

// flag asks a benchmark to measure the command in its arguments.
const flag = "-measure-command"

// Main must come first in the main function of a program that calls [Run].
func Main() {
	if len(os.Args) < 3 || os.Args[1] != flag {
		return
	}
	if err := one(os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// one runs a command, discards its output and prints what it cost.
func one(argv []string) error {
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

// Run runs a command, which reads the file stdin if it is not empty, and returns what it
// cost. A process of its own starts the command, since the peak memory that the system
// reports for a process is at least what its parent had when it started it.
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

// Output runs a command, which reads the file stdin if it is not empty, and writes its
// output to w.
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

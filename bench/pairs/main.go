// Command pairs compares the time of two commands on a machine whose speed
// changes: it runs them in turns, briefly and often, and takes the ratio of
// each pair. Changes slower than a pair affect both commands alike.
//
//	go run ./bench/pairs [-n PAIRS] COMMAND1 -- COMMAND2
//
// It prints the median of time2/time1 with its 95 % confidence interval, from
// ranks, which assumes no distribution of the times, and the median times in
// seconds. Times are wall time; outputs are discarded.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/profuse-pgo/profuse/bench/internal/measure"
)

func main() {
	pairs := flag.Int("n", 500, "number of `pairs`")
	flag.Parse()
	one, two, err := commands(flag.Args())
	if err == nil && *pairs < 10 {
		err = fmt.Errorf("-n %d: at least 10", *pairs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pairs:", err)
		os.Exit(2)
	}
	if err := compare(one, two, *pairs); err != nil {
		fmt.Fprintln(os.Stderr, "pairs:", err)
		os.Exit(1)
	}
}

func commands(args []string) (one, two []string, err error) {
	i := slices.Index(args, "--")
	if i <= 0 || i == len(args)-1 {
		return nil, nil, fmt.Errorf("want COMMAND1 -- COMMAND2")
	}
	return args[:i], args[i+1:], nil
}

func compare(one, two []string, n int) error {
	ratios, first, second := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := -1; i < n; i++ { // the first pair warms up
		a, b := one, two
		if i&1 == 1 { // the command that runs first may have an advantage
			a, b = two, one
		}
		ta, err := run(a)
		if err != nil {
			return err
		}
		tb, err := run(b)
		if err != nil {
			return err
		}
		if i&1 == 1 {
			ta, tb = tb, ta
		}
		if i >= 0 {
			first[i], second[i], ratios[i] = ta, tb, tb/ta
		}
	}
	ratio, low, high := measure.Interval(ratios)
	fmt.Printf("%.4f %.4f %.4f %.4f %.4f\n", ratio, low, high, measure.Median(first), measure.Median(second))
	return nil
}

// run runs a command and returns its wall time in seconds.
func run(argv []string) (float64, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%s: %w", argv[0], err)
	}
	return time.Since(start).Seconds(), nil
}

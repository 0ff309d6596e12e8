//go:build linux

// Command pairs compares the time of two commands on a machine whose speed changes: it runs them in turns, briefly and
// often, and takes the ratio of each pair.
//
//	go run ./bench/pairs [-n PAIRS] COMMAND1 -- COMMAND2
//
// It prints the median of time2/time1 with its 95 % confidence interval, and the median times in seconds. Times are
// wall time; outputs are discarded.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/profuse-pgo/profuse/bench/internal/measure"
)

func main() {
	measure.Main()
	n := flag.Int("n", 500, "number of `pairs`")
	flag.Parse()
	args := flag.Args()
	i := slices.Index(args, "--")
	if i <= 0 || i == len(args)-1 || *n < 10 {
		fmt.Fprintln(os.Stderr, "pairs: want COMMAND1 -- COMMAND2, and at least 10 pairs")
		os.Exit(2)
	}
	costs, err := measure.Pairs(*n, args[:i], args[i+1:], "")
	if err != nil {
		fmt.Fprintln(os.Stderr, "pairs:", err)
		os.Exit(1)
	}
	var ratios []float64
	var times [2][]float64
	for i := range *n {
		a, b := costs[0][i].Wall, costs[1][i].Wall
		ratios, times[0], times[1] = append(ratios, b/a), append(times[0], a), append(times[1], b)
	}
	ratio, low, high := measure.Interval(ratios)
	fmt.Printf("%.4f %.4f %.4f %.4f %.4f\n", ratio, low, high, measure.Median(times[0]), measure.Median(times[1]))
}

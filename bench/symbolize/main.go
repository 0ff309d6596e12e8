// Command symbolize prints the functions and lines of addresses as
// llvm-symbolizer does, to compare the speed and the results of both.
//
//	symbolize [-sample N] PROGRAM <ADDRESSES
//
// Addresses are read one per line. With -sample it prints N addresses of the
// program's code instead, evenly spread and in shuffled order.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/symbolize"
)

func main() {
	log.SetFlags(0)
	sample := flag.Int("sample", 0, "print `N` addresses")
	flag.Parse()
	f, err := symbolize.Open(flag.Arg(0), symbolize.Options{SymbolTable: true})
	if err != nil {
		log.Fatal(err)
	}
	out := bufio.NewWriter(os.Stdout)
	if *sample > 0 {
		printSample(out, f.Section(".text"), uint64(*sample))
	} else {
		err = symbolizeAll(out, f, os.Stdin)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		log.Fatal(err)
	}
}

func printSample(out *bufio.Writer, text *symbolize.Section, n uint64) {
	addrs := make([]uint64, n)
	for i := range addrs {
		addrs[i] = text.Addr + text.Size*uint64(i)/n
	}
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
	for _, a := range addrs {
		fmt.Fprintf(out, "%#x\n", a)
	}
}

func symbolizeAll(out *bufio.Writer, f *symbolize.File, in *os.File) error {
	var addrs []uint64
	s := bufio.NewScanner(in)
	for s.Scan() {
		a, err := strconv.ParseUint(strings.TrimPrefix(s.Text(), "0x"), 16, 64)
		if err != nil {
			return err
		}
		addrs = append(addrs, a)
	}
	if s.Err() != nil {
		return s.Err()
	}
	found := make([][]symbolize.Frame, len(addrs))
	if err := f.Batch(addrs, func(i int, frames []symbolize.Frame) { found[i] = frames }); err != nil {
		return err
	}
	for _, frames := range found {
		if len(frames) == 0 {
			out.WriteString("??\n??:0:0\n")
		}
		for _, x := range frames {
			out.WriteString(orUnknown(x.Function))
			out.WriteByte('\n')
			out.WriteString(orUnknown(x.File))
			out.WriteByte(':')
			out.WriteString(strconv.Itoa(int(x.Line)))
			out.WriteByte(':')
			out.WriteString(strconv.Itoa(int(x.Column)))
			out.WriteByte('\n')
		}
		out.WriteByte('\n')
	}
	return nil
}

func orUnknown(s string) string {
	if s == "" {
		return "??"
	}
	return s
}

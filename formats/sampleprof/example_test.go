package sampleprof_test

import (
	"fmt"
	"log"
	"os"

	"github.com/profuse-pgo/profuse/formats/sampleprof"
)

func Example() {
	text := "main:184:1\n 1: 4 parse:4\n 2: 30\n 3: loop:150\n  1: 150\nparse:12:4\n 1: 12\n"
	p, err := sampleprof.Read("app.prof", []byte(text), sampleprof.ReaderOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range p.Functions {
		fmt.Println(f.Name, f.Total, f.EntryCount())
	}
	m := sampleprof.NewMerger(sampleprof.MergeOptions{})
	if _, err := m.AddProfile("app.prof", p, 2); err != nil {
		log.Fatal(err)
	}
	sum := m.Finish().Profile()
	sum.Convert(sampleprof.ConvertOptions{Flatten: true})
	if err := sum.Write(os.Stdout, sampleprof.WriteOptions{Format: sampleprof.FormatText}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// main 184 4
	// parse 12 12
	// main:368:8
	//  1: 8 parse:8
	//  2: 60
	//  3: 300 loop:300
	// loop:300:300
	//  1: 300
	// parse:24:24
	//  1: 24
}

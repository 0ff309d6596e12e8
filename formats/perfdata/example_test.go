package perfdata_test

import (
	"fmt"
	"log"

	"github.com/profuse-pgo/profuse/formats/perfdata"
)

func Example() {
	text := `PERF_RECORD_MMAP2 7/7: [0x401000(0x2000) @ 0x1000 fe:00 12 0]: r-xp /bin/app
           401180 0x401190/0x401180/P/-/-/2/  0x401010/0x401170/P/-/-/5/
`
	var spaces perfdata.Spaces[string]
	facts, err := perfdata.Read("app.perfscript", []byte(text), &perfdata.Handler{
		Mapping: func(m *perfdata.Mapping) error {
			spaces.Map(m, m.File)
			return nil
		},
		Sample: func(s *perfdata.Sample) error {
			for _, b := range s.Branches {
				file, offset, _ := spaces.Find(7, b.To)
				fmt.Printf("%#x -> %#x, at %#x of %s\n", b.From, b.To, offset, file)
			}
			return nil
		},
	}, perfdata.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(facts.Samples, "sample with", facts.Branches, "branches")
	// Output:
	// 0x401190 -> 0x401180, at 0x1180 of /bin/app
	// 0x401010 -> 0x401170, at 0x1170 of /bin/app
	// 1 sample with 2 branches
}

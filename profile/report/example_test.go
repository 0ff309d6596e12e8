package report_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/profile/report"
)

// Make the report of a profile, as one HTML file.
func Example() {
	const name = "../../testdata/irpgo/clang22/ir.profraw"
	data, err := os.ReadFile(name)
	if err != nil {
		log.Fatal(err)
	}
	p, err := irpgo.Read(name, data, irpgo.ReaderOptions{})
	if err != nil {
		log.Fatal(err)
	}
	var html bytes.Buffer
	err = report.Write(&html, []report.Source{{View: p.View(name, nil)}}, report.Options{Title: "A run"})
	if err != nil {
		log.Fatal(err)
	}
	for _, part := range []string{"<title>A run</title>", "never_less"} {
		fmt.Println(part, strings.Contains(html.String(), part))
	}
	// Output:
	// <title>A run</title> true
	// never_less true
}

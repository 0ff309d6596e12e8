package inputs_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"log"

	"github.com/profuse-pgo/profuse/inputs"
)

// Read every profile that a command line names, here one on standard input that is compressed.
func Example() {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	fmt.Fprint(z, ":ir\nmain\n1\n1\n10\n")
	z.Close()

	ins, err := inputs.Expand([]string{"-"}, inputs.Options{Stdin: &packed, MaxSize: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	var r inputs.Reader // its memory is used again from file to file
	defer r.Close()
	for _, in := range ins {
		err := in.Each(&r, func(d *inputs.Data) error {
			fmt.Printf("%s: %d bytes\n", d.Name(), len(d.Bytes()))
			return nil
		})
		if err != nil {
			log.Fatal(err) // says where in the file, and what is wrong there
		}
	}
	// Output:
	// -: 16 bytes
}

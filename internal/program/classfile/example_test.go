package classfile_test

import (
	"fmt"
	"log"

	"github.com/profuse-pgo/profuse/internal/program/classfile"
)

// Find the source lines of a method's bytecode indexes.
func Example() {
	x := classfile.NewIndex(classfile.Options{})
	if err := x.Add("../../../testdata/classfile/java25"); err != nil {
		log.Fatal(err)
	}
	m, ok := x.Method("sample.Plain$Inner", "pick", []string{"[Ljava.lang.String;", "boolean"}, "java.lang.String")
	if !ok {
		log.Fatal("no such method")
	}
	for _, bci := range []int{0, 1000} {
		line, ok := m.Line(bci)
		fmt.Printf("%s:%d %t\n", m.Class.SourcePath(), line, ok)
	}
	// Output:
	// sample/Plain.java:31 true
	// sample/Plain.java:0 false
}

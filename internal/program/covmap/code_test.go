package covmap

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/cursor"
)

// macros evaluates a function that uses each of n macros twice, which are defined in n
// files: it has 2n+1 virtual files.
func macros(t testing.TB, n int) *Coverage {
	t.Helper()
	list := &fileList{version: 7, names: []string{"a.c"}}
	numbers := []uint64{2*uint64(n) + 1, 0}
	for i := range 2 * n {
		if i < n {
			list.names = append(list.names, fmt.Sprintf("m%d.h", i))
		}
		numbers = append(numbers, uint64(i%n)+1)
	}
	numbers = append(numbers, 0, 1+2*uint64(n)) // no expressions
	const counter = counterNumber
	numbers = append(numbers, counter, 1, 1, uint64(4*n), 2) // counter 0
	for i := range 2 * n {
		numbers = append(numbers, uint64(i+1)<<pseudoShift|expansionBit, 1, 3, 0, 9)
	}
	for i := range 2 * n {
		if i%2 == 0 {
			numbers = append(numbers, 1, counter, 1, 20, 0, 30)
			continue
		}
		numbers = append(numbers, 2, 1<<2|counter, 1, 20, 0, 30, pseudoBranch<<pseudoShift, 1<<2|counter, counter, 0, 21, 0, 25)
	}
	return oneFunction(t, list, numbers)
}

// oneFunction evaluates a function f with the numbers of a mapping and the counts 7 and 3.
func oneFunction(t testing.TB, list *fileList, numbers []uint64) *Coverage {
	t.Helper()
	rec := Record{Name: "f", Ref: irpgo.NameRef("f"), Hash: 1, list: list}
	for _, n := range numbers {
		rec.mapping = cursor.AppendULEB(rec.mapping, n)
	}
	b := build{version: 7, ptr: 8, order: binary.LittleEndian, records: []Record{rec}}
	maps, err := Read("a.o", b.elf(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &irpgo.Profile{Functions: []irpgo.Function{{Name: "f", Records: []*irpgo.Record{{Name: "f", Hash: 1, Counts: []uint64{7, 3}}}}}}
	c, err := Evaluate(maps, p, EvaluateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestNestedExpansions: an expansion counts as the first region of what it expands to, which
// may be a branch or another expansion.
func TestNestedExpansions(t *testing.T) {
	const expansion = expansionBit
	c := oneFunction(t, &fileList{version: 7, names: []string{"a.c", "m.h"}}, []uint64{
		4, 0, 1, 1, 1, 0, // virtual files; no expressions
		3, counterNumber, 1, 1, 9, 2, 1<<pseudoShift | expansion, 1, 3, 0, 9, 3<<pseudoShift | expansion, 1, 3, 0, 9,
		1, 2<<pseudoShift | expansion, 1, 1, 0, 9,
		2, 1<<2 | counterNumber, 2, 1, 0, 9, counterNumber, 0, 2, 0, 3,
		2, pseudoBranch << pseudoShift, 1<<2 | counterNumber, counterNumber, 3, 1, 0, 9, counterNumber, 0, 2, 0, 3,
	})
	for _, r := range c.Functions[0].Regions() {
		if r.Kind == Expansion && r.Count != 3 {
			t.Errorf("the expansion at %v counts %d, want 3", r.Start, r.Count)
		}
	}
}

// TestKeptCode: what is written does not depend on whether functions stay decoded.
func TestKeptCode(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		c := macros(t, n)
		f := c.Functions[0]
		if kept := f.kept != nil; kept != (n+1 > fewFiles) {
			t.Errorf("%d files: kept is %v", n+1, kept)
		}
		lcov, json := exports(t, c)
		f.kept = nil
		lcov2, json2 := exports(t, c)
		compare(t, "lcov", lcov2, lcov)
		compare(t, "JSON", json2, json)
		if len(f.Regions()) != 4*n+1 {
			t.Errorf("%d regions, want %d", len(f.Regions()), 4*n+1)
		}
	}
}

// TestManyFiles: a function in very many source files is not decoded for each of them.
func TestManyFiles(t *testing.T) {
	const n = 1 << 16
	c := macros(t, n)
	var lcov bytes.Buffer
	if err := WriteLCOV(&lcov, c, LCOVOptions{}); err != nil {
		t.Fatal(err)
	}
	if files := len(counted(lcov.String(), "LF")); files != n+1 {
		t.Errorf("%d files, want %d", files, n+1)
	}
}

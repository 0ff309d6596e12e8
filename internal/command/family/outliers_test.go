package family

import (
	"fmt"
	"strings"
	"testing"
)

// shapesOf returns n functions, of which some have other shapes.
func shapesOf(n int, others map[uint64]uint64) Shapes {
	of := make(map[uint64]uint64)
	for i := range uint64(n) {
		of[i<<32] = 100 + i
	}
	for id, shape := range others {
		if shape == 0 {
			delete(of, id<<32)
		} else {
			of[id<<32] = shape
		}
	}
	return Shapes{Of: of, What: "hash", Name: func(id uint64) string { return fmt.Sprintf("f%d", id>>32) }}
}

func TestComparison(t *testing.T) {
	many := make(map[uint64]uint64)
	for i := range uint64(20) {
		many[i] = 7
	}
	for name, c := range map[string]struct {
		files []map[uint64]uint64 // the functions that differ from the usual ones
		n     int                 // functions
		odd   string              // what is said, by file
		build string
	}{
		"alike":                 {n: 100, files: make([]map[uint64]uint64, 50)},
		"one hash":              {n: 100, files: []map[uint64]uint64{nil, nil, {3: 9}, nil, nil}, odd: "2: hash of f3 is 0x9, want 0x67, as most"},
		"one hash of the first": {n: 100, files: []map[uint64]uint64{{3: 9}, nil, nil, nil}, odd: "0: hash of f3 is 0x9, want 0x67, as most"},
		"two hashes":            {n: 100, files: []map[uint64]uint64{nil, {3: 9, 4: 9}, nil, nil, nil}, odd: "1: hash of f3 and of 1 more is 0x9"},
		"two files":             {n: 100, files: []map[uint64]uint64{nil, {3: 9}, nil, {5: 9}, nil, nil}, odd: "1: hash of f3 is 0x9|3: hash of f5 is 0x9"},
		"too few files":         {n: 100, files: []map[uint64]uint64{nil, {3: 9}, nil}},
		"too few functions":     {n: 7, files: []map[uint64]uint64{nil, nil, {3: 9}, nil, nil}},
		"another build":         {n: 100, files: []map[uint64]uint64{nil, nil, many, nil, nil}, build: "1 of 5 inputs are of another build or instrumentation than most: the hash of 20 functions differs: 2"},
		"three of another":      {n: 100, files: []map[uint64]uint64{many, nil, many, nil, many, nil, nil, nil, nil, nil}, build: "3 of 10 inputs are of another build"},
		"two builds":            {n: 100, files: []map[uint64]uint64{many, nil, many, nil, many, nil}},
		"more functions":        {n: 100, files: []map[uint64]uint64{nil, {200: 7}, nil, {300: 9}, nil}},
		"fewer functions":       {n: 100, files: []map[uint64]uint64{nil, {7: 0}, nil, {8: 0}, nil}},
		"another name":          {n: 100, files: []map[uint64]uint64{nil, {7: 0, 200: 107}, nil, nil}, odd: "1: function is one that no other input has, want the one of the same hash that all others have"},
		"another function":      {n: 100, files: []map[uint64]uint64{nil, {7: 0, 200: 108}, nil, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			var r Comparison
			for i, differ := range c.files {
				r.Add(fmt.Sprint(i), shapesOf(c.n, differ))
			}
			odd, build := r.Outliers()
			var want []string
			if c.odd != "" {
				want = strings.Split(c.odd, "|")
			}
			if len(odd) != len(want) {
				t.Fatalf("%v, want %q", odd, want)
			}
			for i, o := range odd {
				if !strings.HasPrefix(o.Err.Error(), want[i]) || !strings.HasPrefix(want[i], o.File+":") {
					t.Errorf("%s: %v, want %q", o.File, o.Err, want[i])
				}
			}
			if !strings.HasPrefix(build, c.build) || (build == "") != (c.build == "") {
				t.Errorf("%q, want %q", build, c.build)
			}
		})
	}
}

// TestComparisonIsBounded: with too many functions nothing is compared, and nothing is kept.
func TestComparisonIsBounded(t *testing.T) {
	var r Comparison
	for i, n := range []int{maxCompared + 1, 100, 100, 100, 100} {
		r.Add(fmt.Sprint(i), shapesOf(n, map[uint64]uint64{uint64(i): 7}))
		if len(r.functions) > 0 {
			t.Fatalf("%d functions are kept", len(r.functions))
		}
	}
	if odd, build := r.Outliers(); len(odd) > 0 || build != "" {
		t.Errorf("%v, %q", odd, build)
	}
}

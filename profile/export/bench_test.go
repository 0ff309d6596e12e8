package export

import (
	"fmt"
	"io"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

// BenchmarkWrite exports 20,000 stacks of 30 frames of 5,000 functions, as a
// heap profile of a large program has them.
func BenchmarkWrite(b *testing.B) {
	v := &fakeView{features: profile.Features{LineOffsets: true}}
	symbols := make([]profile.Symbol, 5000)
	for i := range symbols {
		symbols[i] = profile.Symbol{Name: fmt.Sprintf("_ZN9container6module%04dE7processEv", i), ID: uint64(i)}
	}
	v.stacks = []profile.StackSet{{
		Name: "allocations", Values: []profile.ValueType{{Name: "alloc_space", Unit: profile.Bytes}, {Name: "alloc_objects", Unit: profile.Count}},
		ReusedStacks: func(yield func(*profile.Stack) bool) {
			s := profile.Stack{Frames: make([]profile.Frame, 30), Values: make([]uint64, 2)}
			for n := range 20000 {
				for i := range s.Frames {
					s.Frames[i] = profile.Frame{Symbol: symbols[(n/(i+1)*7+i*131)%len(symbols)], Line: int32(n/(i+1)) % 40, Column: 3}
				}
				s.Values[0], s.Values[1] = uint64(n)*8, uint64(n)
				if !yield(&s) {
					return
				}
			}
		},
	}}
	for _, f := range Formats() {
		b.Run(string(f), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Write(io.Discard, f, v, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

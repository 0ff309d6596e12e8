package lazymap

import (
	"maps"
	"testing"
)

func TestMap(t *testing.T) {
	var m Map[int, string]
	if len(m.All()) != 0 {
		t.Errorf("the zero value holds %v", m.All())
	}
	asked := 0
	later := func(entries map[int]string) func(func(int, string) bool) {
		return func(yield func(int, string) bool) {
			asked++
			maps.All(entries)(yield)
		}
	}
	m.Add(1, "one")
	m.AddLater(later(map[int]string{1: "uno", 2: "due"}))
	m.AddLater(later(map[int]string{2: "deux", 3: "trois"}))
	if asked != 0 {
		t.Error("entries were asked for before the map was read")
	}
	m.Add(3, "three") // later than those of AddLater
	want := map[int]string{1: "one", 2: "due", 3: "trois"}
	for range 2 { // the second time from memory
		if got := m.All(); !maps.Equal(got, want) || asked != 2 {
			t.Errorf("got %v after %d calls, want %v after 2", got, asked, want)
		}
	}
}

package irpgo

import (
	"maps"
	"testing"
)

func TestLazyMap(t *testing.T) {
	var m lazyMap[int, string]
	if len(m.all()) != 0 {
		t.Errorf("the zero value holds %v", m.all())
	}
	asked := 0
	later := func(entries map[int]string) func(func(int, string) bool) {
		return func(yield func(int, string) bool) {
			asked++
			maps.All(entries)(yield)
		}
	}
	m.add(1, "one")
	m.addLater(later(map[int]string{1: "uno", 2: "due"}))
	m.addLater(later(map[int]string{2: "deux", 3: "trois"}))
	if asked != 0 {
		t.Error("entries were asked for before the map was read")
	}
	m.add(3, "three") // later than the entries of addLater
	want := map[int]string{1: "one", 2: "due", 3: "trois"}
	for range 2 { // the second time from memory
		if got := m.all(); !maps.Equal(got, want) || asked != 2 {
			t.Errorf("got %v after %d calls, want %v after 2", got, asked, want)
		}
	}
}

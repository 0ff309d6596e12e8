// Package lazymap has maps whose entries may be put in late: when the map is
// first read. It is a package of its own so that no reader can see the map
// without them.
package lazymap

import "iter"

// Map keeps the first value that is added for each key. The zero value is an
// empty map.
type Map[K comparable, V any] struct {
	entries map[K]V
	later   []iter.Seq2[K, V]
}

// Add adds a value, unless the key has one.
func (m *Map[K, V]) Add(key K, value V) {
	m.fill()
	m.add(key, value)
}

// AddLater adds entries, which it asks for when the map is next read or added
// to.
func (m *Map[K, V]) AddLater(entries iter.Seq2[K, V]) { m.later = append(m.later, entries) }

// All returns the map itself, which must not be changed; nil if it is empty.
func (m *Map[K, V]) All() map[K]V {
	m.fill()
	return m.entries
}

func (m *Map[K, V]) fill() {
	later := m.later
	m.later = nil
	for _, entries := range later {
		for key, value := range entries {
			m.add(key, value)
		}
	}
}

func (m *Map[K, V]) add(key K, value V) {
	if m.entries == nil {
		m.entries = make(map[K]V)
	}
	if _, ok := m.entries[key]; !ok {
		m.entries[key] = value
	}
}

package irpgo

import "iter"

// lazyMap keeps the first value that is added for each key. It can take entries when it is first read. The zero
// value is an empty map. Read it by its methods only: entries is incomplete before fill.
type lazyMap[K comparable, V any] struct {
	entries map[K]V
	later   []iter.Seq2[K, V]
}

// add adds a value, unless the key has one.
func (m *lazyMap[K, V]) add(key K, value V) {
	m.fill()
	m.insert(key, value)
}

// addLater adds entries. It reads them when the map is next read or added to.
func (m *lazyMap[K, V]) addLater(entries iter.Seq2[K, V]) { m.later = append(m.later, entries) }

// all returns the map itself, which must not be changed; nil if it is empty.
func (m *lazyMap[K, V]) all() map[K]V {
	m.fill()
	return m.entries
}

func (m *lazyMap[K, V]) fill() {
	later := m.later
	m.later = nil
	for _, entries := range later {
		for key, value := range entries {
			m.insert(key, value)
		}
	}
}

func (m *lazyMap[K, V]) insert(key K, value V) {
	if m.entries == nil {
		m.entries = make(map[K]V)
	}
	if _, ok := m.entries[key]; !ok {
		m.entries[key] = value
	}
}

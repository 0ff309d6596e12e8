package irpgo

import (
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestMain(m *testing.M) { oracle.Main(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openReader(t testing.TB, name string, data []byte, opt ReaderOptions) *Reader {
	t.Helper()
	r, err := NewReader(name, data, opt)
	must(t, err)
	return r
}

func readProfile(t testing.TB, name string, data []byte, opt ReaderOptions) *Profile {
	t.Helper()
	p, err := Read(name, data, opt)
	must(t, err)
	return p
}

func addTo(t testing.TB, m *Merger, r *Reader, weight uint64) Added {
	t.Helper()
	added, err := m.Add(r, weight)
	must(t, err)
	return added
}

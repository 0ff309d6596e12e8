package irpgo

import (
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestMain(m *testing.M) { oracle.Main(m) }

func openReader(t testing.TB, name string, data []byte, opt ReaderOptions) *Reader {
	t.Helper()
	return oracle.Must(NewReader(name, data, opt))(t)
}

func readProfile(t testing.TB, name string, data []byte, opt ReaderOptions) *Profile {
	t.Helper()
	return oracle.Must(Read(name, data, opt))(t)
}

func addTo(t testing.TB, m *Merger, r *Reader, weight uint64) Added {
	t.Helper()
	return oracle.Must(m.Add(r, weight))(t)
}

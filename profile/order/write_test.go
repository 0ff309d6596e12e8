package order_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile/order"
	"github.com/profuse-pgo/profuse/test/fulldisk"
)

func TestWrite(t *testing.T) {
	symbols := []string{"main", "_ZN1a1bEv", "f.cold", "g.cold.1", "$s1aD", "-[A b:c:]", "a#b", "", " c", "d\ne", "f"}
	for _, c := range []struct {
		linker    order.Linker
		want      string
		unwritten []string
	}{
		{"lld", "main\n_ZN1a1bEv\nf.cold\ng.cold.1\n$s1aD\n-[A b:c:]\nf\n", []string{"a#b", "", " c", "d\ne"}},
		{"ld64", "main\n_ZN1a1bEv\nf.cold\ng.cold.1\n$s1aD\n-[A b:c:]\nf\n", []string{"a#b", "", " c", "d\ne"}},
		{"gold", `.text.main
.text.hot.main
.text.unlikely.main
.text.startup.main
.text.exit.main
.text.unknown.main
.text._ZN1a1bEv
.text.hot._ZN1a1bEv
.text.unlikely._ZN1a1bEv
.text.startup._ZN1a1bEv
.text.exit._ZN1a1bEv
.text.unknown._ZN1a1bEv
.text.unlikely.f
.text.split.f
.text.f.cold
.text.unlikely.f.cold
.text.unlikely.g
.text.split.g
.text.g.cold.1
.text.unlikely.g.cold.1
.text.$s1aD
.text.hot.$s1aD
.text.unlikely.$s1aD
.text.startup.$s1aD
.text.exit.$s1aD
.text.unknown.$s1aD
.text.??A?b?c??
.text.hot.??A?b?c??
.text.unlikely.??A?b?c??
.text.startup.??A?b?c??
.text.exit.??A?b?c??
.text.unknown.??A?b?c??
.text.a?b
.text.hot.a?b
.text.unlikely.a?b
.text.startup.a?b
.text.exit.a?b
.text.unknown.a?b
.text.?c
.text.hot.?c
.text.unlikely.?c
.text.startup.?c
.text.exit.?c
.text.unknown.?c
.text.d?e
.text.hot.d?e
.text.unlikely.d?e
.text.startup.d?e
.text.exit.d?e
.text.unknown.d?e
.text.f
.text.hot.f
.text.startup.f
.text.exit.f
.text.unknown.f
`, []string{""}},
		{"gnu-ld", `*(.text.main) *(.text.hot.main) *(.text.unlikely.main) *(.text.startup.main) *(.text.exit.main) *(.text.unknown.main)
*(.text._ZN1a1bEv) *(.text.hot._ZN1a1bEv) *(.text.unlikely._ZN1a1bEv) *(.text.startup._ZN1a1bEv) *(.text.exit._ZN1a1bEv) *(.text.unknown._ZN1a1bEv)
*(.text.unlikely.f) *(.text.split.f) *(.text.f.cold) *(.text.unlikely.f.cold)
*(.text.unlikely.g) *(.text.split.g) *(.text.g.cold.1) *(.text.unlikely.g.cold.1)
*(.text.$s1aD) *(.text.hot.$s1aD) *(.text.unlikely.$s1aD) *(.text.startup.$s1aD) *(.text.exit.$s1aD) *(.text.unknown.$s1aD)
*(.text.??A?b?c??) *(.text.hot.??A?b?c??) *(.text.unlikely.??A?b?c??) *(.text.startup.??A?b?c??) *(.text.exit.??A?b?c??) *(.text.unknown.??A?b?c??)
*(.text.a?b) *(.text.hot.a?b) *(.text.unlikely.a?b) *(.text.startup.a?b) *(.text.exit.a?b) *(.text.unknown.a?b)
*(.text.?c) *(.text.hot.?c) *(.text.unlikely.?c) *(.text.startup.?c) *(.text.exit.?c) *(.text.unknown.?c)
*(.text.d?e) *(.text.hot.d?e) *(.text.unlikely.d?e) *(.text.startup.d?e) *(.text.exit.d?e) *(.text.unknown.d?e)
*(.text.f) *(.text.hot.f) *(.text.startup.f) *(.text.exit.f) *(.text.unknown.f)
`, []string{""}},
	} {
		var b strings.Builder
		unwritten, err := order.Write(&b, c.linker, symbols)
		if err != nil || b.String() != c.want || !slices.Equal(unwritten, c.unwritten) {
			t.Errorf("%s: %v, left out %q, got\n%s", c.linker, err, unwritten, b.String())
		}
	}
}

func TestWriteErrors(t *testing.T) {
	for _, l := range order.Linkers() {
		if _, err := order.Write(&fulldisk.Writer{}, l, []string{"main"}); !errors.Is(err, fulldisk.ErrFull) {
			t.Errorf("%s: %v", l, err)
		}
	}
	if _, err := order.Write(&strings.Builder{}, "mold", []string{"main"}); err == nil {
		t.Error("mold: no error")
	}
}

package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/report"
)

// hostileNames are names that would do something if they got into the page as
// anything but text.
var hostileNames = []string{
	`<script>window.broken=1</script>`, `</script><script>window.broken=1</script>`, `<!--<script>`, `-->`, `]]>`,
	`<img src=x onerror="window.broken=1">`, `"><svg onload=window.broken=1>`, `' onmouseover='window.broken=1`, `javascript:window.broken=1`,
	"`${window.broken=1}`", `__proto__`, `constructor`, `toString`, `&lt;b&gt;`, `%3Cscript%3E`, `\u003cscript\u003e`,
	"right\u202eleft", "zero\u200bwidth", "nul\x01bell\x07", "\xff\xfe not UTF-8", "emoji 🔥 and 漢字", strings.Repeat("a very long name ", 200),
	"line\u2028separator", `a=b&set=7#page=nothing`,
}

// TestHostile: names are text, whatever is in them.
func TestHostile(t *testing.T) {
	text := func(times int) []byte {
		b := []byte(":ir\n")
		for i, name := range hostileNames {
			b = fmt.Appendf(b, "%s\n%d\n2\n%d\n%d\n\n", name, i+1, 1000-times*i, i)
		}
		return b
	}
	sources := []report.Source{
		view(t, "<b>one</b>.proftext", text(1), formats.ViewOptions{}),
		view(t, "</title><script>window.broken=1</script>.proftext", text(30), formats.ViewOptions{}),
	}
	for from, address := range map[string]string{"file": writeReport(t, "hostile", sources), "server": serveReport(t, sources)} {
		t.Run(from, func(t *testing.T) {
			b := newTab(t)
			b.open(address)
			for set := range b.sets() {
				b.chooseSet(set)
				for _, id := range b.tabs() {
					b.choose(id)
					where := fmt.Sprintf("set %d, %s", set, id)
					b.quiet(where)
					b.fits(where)
				}
			}
			if value[bool](b, `'broken' in window`) {
				t.Error("a name was executed")
			}
			if n := value[int](b, `document.querySelectorAll('main img, main b, main script, [onerror], [onload], [onmouseover], a[href^="javascript"]').length`); n > 0 {
				t.Errorf("%d elements are made of names", n)
			}
			b.chooseSet(0)
			b.choose("functions")
			rows := value[int](b, shownPage+`.querySelectorAll('tr[data-row]').length`)
			if rows < len(hostileNames)-2 {
				t.Errorf("%d rows of %d names", rows, len(hostileNames))
			}
			// Each can be chosen, linked to and found again.
			for i := range rows {
				value[bool](b, fmt.Sprintf(`%s.querySelectorAll('tr[data-row]')[%d].cells[0].click() === undefined`, shownPage, i))
				b.frames()
				name := value[string](b, shownPage+`.querySelector('tr[aria-selected="true"]').cells[0].textContent`)
				if heading := value[string](b, shownPage+`.querySelector('.detail h4').textContent`); heading != name {
					t.Errorf("%q is chosen, %q shown", name, heading)
				}
				if got := b.hash().Get("fn"); got != name {
					t.Errorf("%q is chosen, the address has %q", name, got)
				}
			}
			b.quiet("choosing")
		})
	}
}

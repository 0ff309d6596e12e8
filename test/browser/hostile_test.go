package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/profile/report"
)

// hostileNames are names that would do something if they got into the page as anything but text.
var hostileNames = []string{
	`<script>window.broken=1</script>`, `</script><script>window.broken=1</script>`, `<!--<script>`, `-->`, `]]>`,
	`<img src=x onerror="window.broken=1">`, `"><svg onload=window.broken=1>`, `' onmouseover='window.broken=1`, `javascript:window.broken=1`,
	"`${window.broken=1}`", `__proto__`, `constructor`, `toString`, `&lt;b&gt;`, `%3Cscript%3E`, `\u003cscript\u003e`,
	"right\u202eleft", "zero\u200bwidth", "nul\x01bell\x07", "\xff\xfe not UTF-8", "emoji 🔥 and 漢字", strings.Repeat("a very long name ", 200),
	"line\u2028separator", `a=b&set=7#page=nothing`,
}

// TestHostile: names are text, whatever is in them.
func TestHostile(t *testing.T) {
	t.Parallel()
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
	bothWays(t, "hostile", sources, func(b *tab, address string) {
		b.open(address)
		b.eachPage(func(at place) {
			b.quiet(at.String())
			b.fits(at.String())
		})
		if value[bool](b, `'broken' in window`) {
			b.t.Error("a name was executed")
		}
		if n := value[int](b, `document.querySelectorAll('main img, main b, main script, [onerror], [onload], [onmouseover], a[href^="javascript"]').length`); n > 0 {
			b.t.Errorf("%d elements are made of names", n)
		}
		b.chooseSet(0)
		b.choose("functions")
		rows := value[int](b, shownPage+`.querySelectorAll('tr[data-row]').length`)
		if rows < len(hostileNames)-2 {
			b.t.Errorf("%d rows of %d names", rows, len(hostileNames))
		}
		// Each can be chosen and linked to.
		for i := range rows {
			got := value[struct{ Name, Heading, Hash string }](b, fmt.Sprintf(`(async () => {
				const page = %s;
				page.querySelectorAll('tr[data-row]')[%d].cells[0].click();
				await %s;
				return {
					Name: page.querySelector('tr[aria-current="true"]').cells[0].textContent,
					Heading: page.querySelector('.detail h4').textContent, Hash: location.hash,
				};
			})()`, shownPage, i, frames))
			if got.Heading != got.Name {
				b.t.Errorf("%q is chosen, %q shown", got.Name, got.Heading)
			}
			if fn := b.state(got.Hash).Get("fn"); fn != got.Name {
				b.t.Errorf("%q is chosen, the address has %q", got.Name, fn)
			}
		}
		b.quiet("choosing")
	})
}

package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/profuse-pgo/profuse/profile/report"
)

// bothWays runs a test of a report that is a file, and of the same that is served.
func bothWays(t *testing.T, name string, sources []report.Source, test func(b *tab, address string)) {
	for way, addressOf := range map[string]func(*testing.T, string, []report.Source, report.Options) string{"file": writeReport, "server": serveReport} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			test(newTab(t), addressOf(t, name, sources, report.Options{}))
		})
	}
}

// A place is a page of a set.
type place struct {
	set  int
	page string
}

func (p place) String() string { return fmt.Sprintf("set %d, %s", p.set, p.page) }

func (b *tab) eachPage(look func(at place)) {
	b.t.Helper()
	for set := range b.sets() {
		b.chooseSet(set)
		for _, id := range b.tabs() {
			b.choose(id)
			look(place{set, id})
		}
	}
}

// shownID returns the id of the page that is seen, "functions".
func (b *tab) shownID() string { return value[string](b, shownPage+`.dataset.page`) }

// sets returns how many profiles, or pairs of them, can be chosen.
func (b *tab) sets() int { return value[int](b, `document.querySelectorAll('.set').length`) }

func (b *tab) chooseSet(set int) {
	b.t.Helper()
	if b.sets() == 1 {
		return
	}
	b.do(clickOn(fmt.Sprintf(`[data-choose="%d"]`, set)))
	b.wait(fmt.Sprintf(`document.querySelector('.set:not([hidden])').dataset.set === "%d"`, set))
	b.drawn()
}

// tabs returns the ids of the pages of the set that is seen. The tabs of a served report come one after the other.
func (b *tab) tabs() []string {
	b.t.Helper()
	b.wait(`!document.querySelector('.set:not([hidden]) nav.tabs[aria-busy]')`)
	return value[[]string](b, `[...document.querySelectorAll('.set:not([hidden]) [data-tab]:not([hidden])')].map((a) => a.dataset.tab)`)
}

func (b *tab) choose(id string) {
	b.t.Helper()
	b.do(clickOn(fmt.Sprintf(`.set:not([hidden]) [data-tab=%q]`, id)))
	b.wait(shownPage + fmt.Sprintf(`?.dataset.page === %q`, id))
	b.drawn()
}

func clickOn(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Click(chromedp.CSS(selector))
}

package browser

import (
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestScriptless: without scripts all pages stand below each other and can be read.
func TestScriptless(t *testing.T) {
	t.Parallel()
	for _, f := range fixtures {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t)
			b.scripts(false)
			b.do(chromedp.Navigate(f.file(t)))
			// What is evaluated from here is not the page's script.
			tabs := value[[]string](b, `[...document.querySelectorAll('[data-tab]')].map((a) => a.dataset.tab)`)
			seen := value[[]string](b, `[...document.querySelectorAll('.page')].filter((p) => p.checkVisibility()).map((p) => p.dataset.page)`)
			if len(tabs) == 0 || !slices.Equal(seen, tabs) {
				t.Errorf("%q can be seen, with scripts there are tabs for %q", seen, tabs)
			}
			for _, empty := range value[[]string](b, `[...document.querySelectorAll('.page')].filter((p) => p.innerText.trim().length < 60).map((p) => p.id)`) {
				t.Errorf("%s has next to nothing to read", empty)
			}
			for _, dead := range value[[]string](b, `[...document.querySelectorAll('button, input, select')].filter((e) => e.checkVisibility()).map((e) => e.outerHTML.slice(0, 100))`) {
				t.Errorf("it needs a script: %s", dead)
			}
			for _, lost := range value[[]string](b, `[...document.querySelectorAll('a[href^="#"]')].filter((a) => a.checkVisibility() && !document.getElementById(a.getAttribute('href').slice(1))).map((a) => a.outerHTML.slice(0, 100))`) {
				t.Errorf("it leads nowhere without scripts: %s", lost)
			}
			for _, width := range []int64{380, 1280} {
				b.size(width, 900)
				b.fits("without scripts")
			}
			b.sound("without scripts")
			b.quiet("without scripts")
		})
	}
}

// TestServedScriptless: the served page then leads to the file.
func TestServedScriptless(t *testing.T) {
	t.Parallel()
	f := fixtureNamed(t, "iprof-app")
	b := newTab(t)
	b.scripts(false)
	b.do(chromedp.Navigate(f.served(t)), clickOn(`noscript a`))
	b.wait(`location.pathname === '/report.html' && document.readyState === 'complete'`)
	if n := value[int](b, `[...document.querySelectorAll('.page')].filter((p) => p.checkVisibility()).length`); n < 2 {
		t.Errorf("%d pages can be seen", n)
	}
	b.quiet("served without scripts")
}

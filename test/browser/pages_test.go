package browser

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestPages opens every page of every fixture: nothing fails, the console is quiet, nothing is asked of the network
// but the report itself, nothing is wider than the window, and all texts can be read in both themes.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, f := range fixtures {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			address := f.file(t)
			b := newTab(t)
			b.open(address)
			b.eachPage(func(at place) {
				where := at.String()
				b.quiet(where)
				b.sound(where)
				b.readable(at)
				for _, width := range []int64{380, 1280} {
					b.size(width, 900)
					b.frames()
					b.fits(fmt.Sprintf("%s, %d pixels wide", where, width))
				}
				b.quiet(where)
			})
			for _, url := range b.asked() {
				if url != address {
					t.Errorf("asked for %s beside the file", url)
				}
			}
			if f.name == "two-irpgo" && b.sets() != 3 {
				t.Errorf("%d sets of pages, not two profiles and their comparison", b.sets())
			}
		})
	}
}

// TestServedPages opens every page of some fixtures, which have all pages together, from the server.
func TestServedPages(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := make(map[string]bool) // by page
	t.Cleanup(func() {
		for id, some := range seen {
			if !some {
				t.Errorf("no served fixture has the page %s", id)
			}
		}
	})
	for _, f := range fixtures {
		if !f.serve {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			address := f.served(t)
			b := newTab(t)
			b.open(address)
			shown := make(map[string]bool)
			b.eachPage(func(at place) {
				b.quiet(at.String())
				b.sound(at.String())
				shown[at.page] = true
			})
			mu.Lock()
			defer mu.Unlock()
			for _, id := range value[[]string](b, `[...document.querySelectorAll('[data-tab]')].map((a) => a.dataset.tab)`) {
				seen[id] = seen[id] || shown[id]
			}
			for _, url := range b.asked() {
				if !strings.HasPrefix(url, address) {
					t.Errorf("asked for %s", url)
				}
			}
		})
	}
}

// fits fails the test if the document is wider than the window. What is in a box that scrolls does not count.
func (b *tab) fits(where string) {
	b.t.Helper()
	wide := value[[]string](b, `(() => {
		const room = document.documentElement.clientWidth;
		if (document.documentElement.scrollWidth <= room) return [];
		const out = [];
		for (const e of document.body.querySelectorAll('*')) {
			if (e.getBoundingClientRect().right > room + 1 && e.getBoundingClientRect().width > 0) out.push(e.tagName + '.' + (e.getAttribute('class') || ''));
		}
		return [document.documentElement.scrollWidth + ' pixels'].concat(out.slice(0, 8));
	})()`)
	if len(wide) > 0 {
		b.t.Errorf("%s: too wide: %v", where, wide)
	}
}

// sound fails the test if the page says nothing to those who do not see it.
func (b *tab) sound(where string) {
	b.t.Helper()
	for _, fault := range value[[]string](b, `(() => {
		const out = [];
		const ids = new Set();
		for (const e of document.querySelectorAll('[id]')) {
			if (ids.has(e.id)) out.push('two elements have the id ' + e.id);
			ids.add(e.id);
		}
		for (const e of document.querySelectorAll('[aria-labelledby], [aria-describedby], [aria-controls]')) {
			for (const a of ['aria-labelledby', 'aria-describedby', 'aria-controls']) {
				for (const id of (e.getAttribute(a) || '').split(' ').filter(Boolean)) {
					if (!document.getElementById(id)) out.push(a + ' names ' + id + ', which does not exist');
				}
			}
		}
		const page = `+shownPage+`;
		const named = (e) => e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.title || (e.labels && e.labels.length) || e.textContent.trim();
		for (const e of page.querySelectorAll('button, a[href], select, input, [role="button"]')) {
			if (e.checkVisibility() && !named(e)) out.push('nameless: ' + e.outerHTML.slice(0, 120));
		}
		for (const e of page.querySelectorAll('svg')) {
			if (!e.checkVisibility() || e.parentElement.closest('svg')) continue;
			const hidden = e.closest('[aria-hidden="true"]');
			const title = e.querySelector(':scope > title');
			if (!hidden && !(title && title.textContent) && !e.getAttribute('aria-label') && !e.getAttribute('aria-labelledby')) {
				out.push('a drawing without a title: ' + e.outerHTML.slice(0, 120));
			}
		}
		for (const e of page.querySelectorAll('[role="grid"], [role="treegrid"], table [role="gridcell"], table [role="row"]')) {
			out.push('a grid without focus in its cells: ' + e.outerHTML.slice(0, 120));
		}
		for (const e of page.querySelectorAll('[tabindex]')) {
			if (e.tabIndex > 0) out.push('out of order for Tab: ' + e.outerHTML.slice(0, 120));
		}
		return out;
	})()`) {
		b.t.Errorf("%s: %s", where, fault)
	}
}

package browser

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// rows returns the texts of a column of the table that is seen, of the rows that exist.
func (b *tab) rows(column int) []string {
	return value[[]string](b, fmt.Sprintf(`[...`+shownPage+`.querySelectorAll('table.virtual tr[data-row]')].map((r) => r.cells[%d].textContent)`, column))
}

func (b *tab) hash() url.Values {
	b.t.Helper()
	return b.state(value[string](b, `location.hash`))
}

func (b *tab) state(hash string) url.Values {
	b.t.Helper()
	v, err := url.ParseQuery(strings.TrimPrefix(hash, "#"))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

func TestSearch(t *testing.T) {
	t.Parallel()
	f := fixtureNamed(t, "irpgo-temporal")
	b := newTab(t)
	b.open(f.file(t) + "#page=functions")
	all := b.rows(0)
	if len(all) < 3 {
		t.Fatalf("functions %q", all)
	}
	wanted := all[1]
	b.press("/")
	b.press(strings.ToUpper(wanted))
	// On a busy machine the page searches for the beginning of the text first.
	b.wait(fmt.Sprintf(`new URLSearchParams(location.hash.slice(1)).get('q') === %q && %s.querySelectorAll('table.virtual tr[data-row]').length < %d`,
		strings.ToUpper(wanted), shownPage, len(all)))
	for _, name := range b.rows(0) {
		if !strings.Contains(strings.ToLower(name), strings.ToLower(wanted)) {
			t.Errorf("%s is shown for %s", name, wanted)
		}
	}
	b.press(kb.Escape)
	b.wait(fmt.Sprintf(`%s.querySelectorAll('table.virtual tr[data-row]').length === %d`, shownPage, len(all)))

	b.press("/(/")
	b.wait(shownPage + `.querySelector('.search-note.error')`)
	b.press(kb.Escape)
	b.press("/^" + wanted[:1] + "/")
	b.wait(fmt.Sprintf(`%s.querySelectorAll('table.virtual tr[data-row]').length < %d`, shownPage, len(all)))
	for _, name := range b.rows(0) {
		if !strings.HasPrefix(name, wanted[:1]) {
			t.Errorf("%s is shown for names that begin with %s", name, wanted[:1])
		}
	}
	b.press(kb.Escape)
	b.press("no function is called so")
	b.wait(shownPage + `.querySelectorAll('table.virtual tr[data-row]').length === 0`)
	b.quiet("search")
}

func TestSort(t *testing.T) {
	t.Parallel()
	f := fixtureNamed(t, "irpgo-many")
	b := newTab(t)
	b.open(f.file(t) + "#page=functions")
	columns := value[int](b, shownPage+`.querySelectorAll('table.virtual th button').length`)
	if columns < 3 {
		t.Fatalf("%d columns can be sorted", columns)
	}
	header := func(i int) string {
		return fmt.Sprintf(`%s.querySelectorAll('table.virtual th')[%d]`, shownPage, i)
	}
	for i := range columns {
		var first [2][]string
		for turn := range first {
			value[bool](b, header(i)+`.querySelector('button').click() === undefined`)
			b.frames()
			first[turn] = b.rows(i)
			if sorted := value[string](b, header(i)+`.getAttribute('aria-sort')`); sorted != "ascending" && sorted != "descending" {
				t.Errorf("column %d is sorted, and said to be %q", i, sorted)
			}
		}
		if i == 0 {
			if !slices.IsSorted(first[0]) {
				t.Errorf("not in order: %q", first[0][:5])
			}
			if slices.IsSorted(first[1]) {
				t.Errorf("in order after the second click: %q", first[1][:5])
			}
		}
	}
	b.quiet("sort")
}

// TestTheme: the theme is that of the system until it is switched, and then in the address. TestNamesFirst: columns
// that have no room give way to names, whose ends are in sight.
func TestNamesFirst(t *testing.T) {
	t.Parallel()
	f := fixtureNamed(t, "irpgo-rust")
	b := newTab(t)
	for _, width := range []int64{390, 600, 800, 1280} {
		b.size(width, 900)
		b.open(f.file(t) + "#page=functions&fn=ledger%3A%3Amain")
		for _, fault := range value[[]string](b, `(() => {
			const out = [];
			const scroller = `+shownPage+`.querySelector('.scroller');
			if (scroller.scrollWidth > scroller.clientWidth) out.push('the table is wider than its room');
			const cells = [...scroller.querySelectorAll('tr[data-row] td:first-child')];
			if (!cells.some((td) => td.querySelector('.cut'))) out.push('no name is cut');
			for (const td of cells) {
				const end = td.querySelector('.cut > :last-child');
				if (end && end.getBoundingClientRect().right > td.getBoundingClientRect().right) out.push(td.textContent + ' loses its end');
			}
			return out;
		})()`) {
			t.Errorf("%d pixels: %s", width, fault)
		}
	}
	b.quiet("names")
}

func TestTheme(t *testing.T) {
	t.Parallel()
	f := fixtureNamed(t, "iprof-app")
	address := f.file(t)
	b := newTab(t)
	background := func() string { return value[string](b, `getComputedStyle(document.body).backgroundColor`) }
	b.open(address + "#theme=light")
	light := background()
	b.do(clickOn("button.theme"))
	b.frames()
	dark := background()
	if light == dark {
		t.Errorf("both themes have the background %s", light)
	}
	if got := b.hash().Get("theme"); got != "dark" {
		t.Errorf("the address has theme %q", got)
	}
	b.choose("functions")
	if background() != dark {
		t.Error("the theme is lost on the next page")
	}
	b.open(address + "#theme=dark")
	if background() != dark {
		t.Error("the theme in the address is not the theme")
	}
	b.do(clickOn("button.theme"))
	b.frames()
	if background() != light {
		t.Error("the theme does not go back")
	}
	b.quiet("theme")
}

// TestKeyboard goes through a report without a mouse.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	f := fixtureNamed(t, "irpgo-values")
	b := newTab(t)
	b.open(f.file(t))
	b.press(kb.Tab)
	if text := value[string](b, `document.activeElement.textContent`); text != "Skip to content" {
		t.Errorf("Tab goes first to %q", text)
	}
	for n := 0; value[string](b, `document.activeElement.dataset.tab || ''`) == ""; n++ {
		if n > 10 {
			t.Fatal("Tab does not reach the pages")
		}
		b.press(kb.Tab)
	}
	outlined := `((s) => s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0)(getComputedStyle(document.activeElement))`
	if !value[bool](b, outlined) {
		t.Error("the focus is not seen")
	}
	for value[string](b, `document.activeElement.dataset.tab`) != "functions" {
		before := value[string](b, `document.activeElement.dataset.tab`)
		b.press(kb.ArrowRight)
		if value[string](b, `document.activeElement.dataset.tab`) == before {
			t.Fatalf("the arrow does not leave %s", before)
		}
	}
	b.press(kb.Enter)
	b.wait(shownPage + `.dataset.page === 'functions'`)
	b.drawn()
	for n := 0; !value[bool](b, `document.activeElement.classList.contains('scroller')`); n++ {
		if n > 40 {
			t.Fatal("Tab does not reach the table")
		}
		b.press(kb.Tab)
	}
	b.press(kb.ArrowDown + kb.ArrowDown)
	b.frames()
	chosen := value[int](b, shownPage+`.querySelector('tr[aria-current="true"]').rowIndex`)
	if first := value[int](b, shownPage+`.querySelector('tr[data-row]').rowIndex`); chosen != first+1 {
		t.Errorf("two arrows choose row %d, the first being %d", chosen, first)
	}
	name := value[string](b, shownPage+`.querySelector('tr[aria-current="true"]').cells[0].textContent`)
	if got := b.hash().Get("fn"); got != name {
		t.Errorf("the address has %q, chosen is %q", got, name)
	}
	if said := value[string](b, shownPage+`.querySelector('.list .unseen').textContent`); !strings.HasPrefix(said, "Function: "+name+", ") {
		t.Errorf("chosen is %q, said %q", name, said)
	}
	b.press(kb.Escape)
	b.wait(`!` + shownPage + `.querySelector('tr[aria-current="true"]')`)
	b.quiet("keyboard")
}

// TestLinks: what is in the address is what is shown, and going back goes back.
func TestLinks(t *testing.T) {
	t.Parallel()
	f := fixtureNamed(t, "three")
	bothWays(t, f.name, f.sources(t), func(b *tab, address string) {
		b.open(address + "#set=2&page=functions&q=main")
		if set := value[string](b, `document.querySelector('.set:not([hidden])').dataset.set`); set != "2" {
			b.t.Errorf("set %s is shown", set)
		}
		if id := b.shownID(); id != "functions" {
			b.t.Errorf("page %s is shown", id)
		}
		if q := value[string](b, shownPage+`.querySelector('input.search').value`); q != "main" {
			b.t.Errorf("searched for %q", q)
		}
		b.choose("overview")
		b.do(chromedp.NavigateBack())
		b.wait(shownPage + `.dataset.page === 'functions'`)
		b.drawn()
		if q := b.hash().Get("q"); q != "main" {
			b.t.Errorf("after going back searched for %q", q)
		}
		// What does not exist leads somewhere all the same.
		for _, wrong := range []string{"#set=9&page=functions", "#set=1&page=nothing", "#set=x", "#%%%", "#page=allocations&set=1", "#page-1-overview", "#q=%00"} {
			b.open(address + wrong)
			if b.shownID() == "" {
				b.t.Errorf("%s: nothing is shown", wrong)
			}
		}
		b.quiet("links")
	})
}

// TestFunctionLinks: a link to a function searches for it in drawings.
func TestFunctionLinks(t *testing.T) {
	t.Parallel()
	f := fixtureNamed(t, "iprof-app")
	address := f.file(t)
	b := newTab(t)
	for _, page := range []string{"flame", "treemap"} {
		b.open(address + "#page=functions&q=app.Main.main")
		b.click(`tr[data-row] td`)
		name := b.hash().Get("fn")
		b.do(clickOn(fmt.Sprintf(`.detail .links a[href*="page=%s"]`, page)))
		b.wait(fmt.Sprintf(`%s.dataset.page === %q`, shownPage, page))
		b.drawn()
		if state := b.hash(); name == "" || state.Get("q") != name || state.Has("fn") {
			b.t.Errorf("%s: the link to %q leads to %v", page, name, state)
		}
		if q := value[string](b, shownPage+`.querySelector('input.search').value`); q != name {
			b.t.Errorf("%s: searched for %q, not %q", page, q, name)
		}
		if n := value[int](b, shownPage+`.querySelectorAll('.box.match').length`); n == 0 {
			b.t.Errorf("%s: %q is not found", page, name)
		}
	}
	b.quiet("links")
}

// TestFlame zooms into a box and back, with the mouse and with the keyboard.
func TestFlame(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"memprof", "iprof-app"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fixtureNamed(t, name)
			b := newTab(t)
			b.open(f.file(t) + "#page=flame")
			boxes := `[...` + shownPage + `.querySelectorAll('svg.flame .box')]`
			before := value[int](b, boxes+`.length`)
			if before < 3 {
				t.Fatalf("%d boxes", before)
			}
			// The narrowest box that is not the end of its stack.
			deep := value[string](b, boxes+`.filter((e) => e.dataset.depth === '2')
				.sort((a, b) => a.getBBox().width - b.getBBox().width)[0].dataset.key`)
			width := func() float64 {
				return value[float64](b, fmt.Sprintf(`%s.querySelector('svg.flame [data-key="%s"] rect').getBBox().width`, shownPage, deep))
			}
			narrow := width()
			b.click(fmt.Sprintf(`svg.flame [data-key="%s"]`, deep))
			if width() < narrow || b.hash().Get("zoom") != deep {
				t.Errorf("zoomed: %g pixels, before %g; the address has %v", width(), narrow, b.hash())
			}
			b.do(chromedp.NavigateBack())
			b.wait(fmt.Sprintf(`%s.length === %d`, boxes, before))
			if width() != narrow {
				t.Errorf("back: %g pixels, before %g", width(), narrow)
			}
			value[bool](b, fmt.Sprintf(`%s.querySelector('svg.flame [tabindex="0"]').focus() === undefined`, shownPage))
			b.press(kb.Home)
			b.press(kb.ArrowUp)
			if depth := value[string](b, `document.activeElement.dataset.depth`); depth != "1" {
				t.Errorf("the arrow leads to depth %q", depth)
			}
			b.press(kb.Enter)
			zoomed := b.hash().Get("zoom")
			if zoomed == "" {
				t.Error("Enter does not zoom")
			}
			b.press(kb.Escape)
			if b.hash().Get("zoom") != "" {
				t.Error("Escape does not go back")
			}
			for _, view := range []string{"icicle", "inverted", "flame"} {
				b.click(fmt.Sprintf(`[data-view=%q]`, view))
				if n := value[int](b, boxes+`.length`); n < 2 {
					t.Errorf("%s: %d boxes", view, n)
				}
			}
			b.quiet("flame")
		})
	}
}

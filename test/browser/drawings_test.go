package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestFlameSearch: matches are marked, and what they have is counted once for each stack, whichever way the tree is turned.
func TestFlameSearch(t *testing.T) {
	t.Parallel()
	note := shownPage + `.querySelector('.search-note').textContent`
	matches := shownPage + `.querySelectorAll('svg.flame .match').length`
	for _, name := range []string{"memprof", "iprof-fib", "iprof-app"} {
		f := fixtureNamed(t, name)
		address := f.file(t)
		b := newTab(t)
		b.open(address + "#page=flame")
		for _, view := range []string{"flame", "icicle", "inverted"} {
			where := name + ", " + view
			b.turn("#page=flame&view=" + view + "&q=/./")
			if said := value[string](b, note); !strings.Contains(said, "in 100 %") {
				t.Errorf("%s: all functions are %q", where, said)
			}
			all := value[int](b, shownPage+`.querySelectorAll('svg.flame .box').length`)
			if n := value[int](b, matches); n < all/2 {
				t.Errorf("%s: %d of %d boxes match", where, n, all)
			}
			b.turn("#page=flame&view=" + view + "&q=no+function+is+called+so")
			if said := value[string](b, note); said != "0 functions, in 0 % (0)" && said != "0 functions, in 0 % (0 B)" {
				t.Errorf("%s: no function is %q", where, said)
			}
			if n := value[int](b, matches); n != 0 {
				t.Errorf("%s: %d boxes match what no function is called", where, n)
			}
		}
		b.quiet(name)
	}
}

// TestFlameFills: no box is wider than its caller, or beside it, and the parts of the whole fill it.
func TestFlameFills(t *testing.T) {
	t.Parallel()
	f := fixtureNamed(t, "iprof-app")
	address := f.file(t)
	b := newTab(t)
	for _, width := range []int64{1280, 400} {
		b.size(width, 900)
		b.open(address + "#page=flame")
		wrong := value[[]string](b, `(() => {
			const page = `+shownPage+`;
			const boxes = [...page.querySelectorAll('svg.flame .box')].map((e) => {
				const r = e.querySelector('rect');
				const t = e.querySelector('text');
				return {name: e.getAttribute('aria-label'), depth: Number(e.dataset.depth), x: Number(r.getAttribute('x')),
					w: Number(r.getAttribute('width')), text: t ? t.getComputedTextLength() : 0};
			});
			const out = [];
			for (const box of boxes) {
				const below = boxes.filter((o) => o.depth === box.depth - 1 && o.x <= box.x + 0.01 && o.x + o.w + 1 >= box.x + box.w - 0.01);
				if (box.depth > 0 && below.length !== 1) out.push(box.name + ' stands on ' + below.length + ' boxes');
				if (box.text > box.w) out.push(box.name + ': the text is longer than the box');
			}
			return out;
		})()`)
		for _, w := range wrong {
			t.Errorf("%d pixels: %s", width, w)
		}
	}
	b.quiet("flame")
}

// TestTreemap zooms into a group and back, with the mouse and with the keyboard.
func TestTreemap(t *testing.T) {
	t.Parallel()
	f := fixtureNamed(t, "irpgo-rust")
	address := f.file(t)
	b := newTab(t)
	b.open(address + "#page=treemap")
	boxes := `[...` + shownPage + `.querySelectorAll('svg.treemap .box')]`
	before := value[int](b, boxes+`.length`)
	if twice := value[bool](b, `(() => {
		const colours = [...`+shownPage+`.querySelectorAll('.legend .swatch')].map((e) => e.className);
		return colours.length < 3 || new Set(colours).size < colours.length;
	})()`); twice {
		t.Error("namespaces have the same colour")
	}
	if filled := value[float64](b, `(() => {
		const r = `+boxes+`.map((e) => e.querySelector('rect').getBBox());
		const inside = (a, b) => a !== b && a.x >= b.x && a.y >= b.y && a.x + a.width <= b.x + b.width && a.y + a.height <= b.y + b.height;
		const outer = r.filter((a) => !r.some((b) => inside(a, b)));
		const all = `+shownPage+`.querySelector('svg.treemap').viewBox.baseVal;
		return outer.reduce((sum, a) => sum + (a.width + 1) * (a.height + 1), 0) / (all.width * all.height);
	})()`); filled < 0.99 || filled > 1.01 {
		t.Errorf("the boxes fill %v of the drawing", filled)
	}
	group := value[string](b, boxes+`.find((e) => e.querySelector('rect.group')).dataset.box`)
	b.click(fmt.Sprintf(`svg.treemap [data-box=%q] text`, group))
	zoomed := b.hash().Get("zoom")
	if zoomed == "" {
		t.Fatal("a click does not zoom")
	}
	if n := value[int](b, boxes+`.length`); n == 0 {
		t.Error("nothing is in the group")
	}
	value[bool](b, boxes+`[0].focus() === undefined`)
	b.press(kb.Escape)
	if got := b.hash().Get("zoom"); got == zoomed {
		t.Error("Escape does not go back")
	}
	b.open(address + "#page=treemap")
	if n := value[int](b, boxes+`.length`); n != before {
		t.Errorf("%d boxes, before %d", n, before)
	}
	value[bool](b, boxes+`[0].focus() === undefined`)
	b.press(kb.ArrowRight)
	if at := value[string](b, `document.activeElement.dataset.box`); at == "0" || at == "" {
		t.Errorf("the arrow leads to box %q", at)
	}
	for _, v := range []string{"0", "1", "2"} {
		b.turn("#page=treemap&value=" + v)
		apart := value[[]string](b, `(() => {
			const r = `+boxes+`.filter((e) => !e.querySelector('.group')).map((e) => e.querySelector('rect').getBBox());
			const out = [];
			r.forEach((a, i) => r.slice(0, i).forEach((b) => {
				if (Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) > 0.5 && Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > 0.5) {
					out.push([a.x, a.y, b.x, b.y].join(' '));
				}
			}));
			return out;
		})()`)
		if len(apart) > 0 {
			t.Errorf("value %s: boxes overlap: %v", v, apart[:min(3, len(apart))])
		}
	}
	b.quiet("treemap")
}

package browser

import "fmt"

// lowContrast lists the texts of the page that is seen whose colour differs too
// little from what is behind them: a ratio below 4.5, or 3 for large text, as
// WCAG 2 has it. Colours go through a canvas, which knows all their notations.
const lowContrast = `(() => {
	const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
	const known = new Map();
	const rgba = (text) => {
		if (!known.has(text)) {
			canvas.clearRect(0, 0, 1, 1);
			canvas.fillStyle = text;
			canvas.fillRect(0, 0, 1, 1);
			const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
			known.set(text, [r, g, b, a / 255]);
		}
		return known.get(text);
	};
	const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
	const light = (c) => {
		const [r, g, b] = c.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
	const behind = (e) => {
		const layers = [];
		for (let at = e; at; at = at.parentElement) {
			if (at instanceof SVGElement && !(at instanceof SVGSVGElement)) continue;
			const c = rgba(getComputedStyle(at).backgroundColor);
			if (c[3] > 0) layers.push(c);
			if (c[3] === 1) break;
		}
		return layers.reduceRight((below, c) => over(c, below), [255, 255, 255, 1]);
	};
	const opacity = (e) => {
		let o = 1;
		for (let at = e; at; at = at.parentElement) o *= parseFloat(getComputedStyle(at).opacity);
		return o;
	};
	const out = [];
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const e = walker.currentNode.parentElement;
		if (!walker.currentNode.data.trim() || !e.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
		if (e.closest('option, title, script, style, noscript, :disabled')) continue;
		const range = document.createRange();
		range.selectNodeContents(walker.currentNode);
		const place = range.getBoundingClientRect();
		if (place.width < 2 || place.right < 0) continue;
		const style = getComputedStyle(e);
		let back = behind(e);
		let ink = rgba(style.color);
		const text = e.closest('svg text');
		if (text) {
			ink = rgba(style.fill);
			// What was drawn before it, where its middle is.
			const x = place.left + place.width / 2;
			const y = place.top + place.height / 2;
			for (const shape of text.ownerSVGElement.querySelectorAll('rect, path, circle, polygon')) {
				if (!(shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING)) break;
				const s = getComputedStyle(shape);
				if (s.fill === 'none' || s.visibility !== 'visible') continue;
				const r = shape.getBoundingClientRect();
				if (x < r.left || x > r.right || y < r.top || y > r.bottom) continue;
				if (shape.isPointInFill) {
					const p = new DOMPoint(x, y).matrixTransform(shape.getScreenCTM().inverse());
					if (!shape.isPointInFill(p)) continue;
				}
				const c = rgba(s.fill);
				back = over([c[0], c[1], c[2], c[3] * parseFloat(s.fillOpacity) * opacity(shape)], back);
			}
		}
		const shown = over([ink[0], ink[1], ink[2], ink[3] * opacity(e)], back);
		const size = parseFloat(style.fontSize);
		const large = size >= 24 || size >= 18.66 && parseInt(style.fontWeight) >= 700;
		const r = ratio(shown, back);
		if (r < (large ? 3 : 4.5) - 0.01) {
			out.push(r.toFixed(2) + ': "' + walker.currentNode.data.trim().slice(0, 40) + '" ' + e.tagName + '.' + (e.getAttribute('class') || '') +
				' rgb(' + shown.slice(0, 3).map(Math.round) + ') on rgb(' + back.slice(0, 3).map(Math.round) + ')');
		}
	}
	return [...new Set(out)].slice(0, 12);
})()`

// readable fails the test if a text of the page that is seen cannot be read, in
// either theme; on the page of functions also with one of them chosen.
func (b *tab) readable(at place) {
	b.t.Helper()
	look := func(how string) {
		for _, theme := range []string{"light", "dark"} {
			for _, low := range value[[]string](b, fmt.Sprintf(`(document.documentElement.dataset.theme = %q, %s)`, theme, lowContrast)) {
				b.t.Errorf("%s%s, %s: %s", at, how, theme, low)
			}
		}
		value[bool](b, `delete document.documentElement.dataset.theme`)
	}
	look("")
	if at.page == "functions" {
		value[bool](b, shownPage+`.querySelector('tr[data-row] td').click() === undefined`)
		b.frames()
		look(" with one chosen")
	}
}

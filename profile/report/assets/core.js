// The core of the report: elements, formats, search, tips, state in the address. It uses
// no other script; frame.js shows the pages. Text from profiles goes into text nodes and
// attributes only, never through a parser.

// el makes an element. Attributes: "class", "on" with listeners by event,
// "style" with CSS properties by name, anything else as it is; null and false
// leave one out, true is an empty one. Children are nodes and texts, nested
// lists of them, or null.
profuse.el = (tag, attrs, ...children) => build(document.createElement(tag), attrs, children);
profuse.svg = (tag, attrs, ...children) =>
  build(document.createElementNS('http://www.w3.org/2000/svg', tag), attrs, children);

function build(node, attrs, children) {
  for (const [name, value] of Object.entries(attrs || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'on') {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === 'style') {
      // The security policy forbids style attributes, not properties.
      for (const [property, v] of Object.entries(value)) node.style.setProperty(property, v);
    } else {
      node.setAttribute(name, value === true ? '' : value);
    }
  }
  node.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return node;
}

// format prints numbers as the static pages do.
profuse.format = {
  count(n) {
    if (!Number.isFinite(n)) return '–';
    if (Math.abs(n) >= 2 ** 53) return n.toExponential(3).replace('e+', '×10^');
    if (!Number.isInteger(n)) return n.toFixed(1);
    return String(n).replace(/\B(?=(\d{3})+$)/g, ',');
  },
  bytes(n) {
    if (n < 1024) return `${n} B`;
    let x = n / 1024;
    let u = 0;
    for (; x >= 1023.95 && u < 5; u++) x /= 1024;
    return `${x.toFixed(1)} ${'KMGTPE'[u]}iB`;
  },
  percent(x) {
    if (x === 0) return '0 %';
    if (x === 1) return '100 %';
    if (x > 0 && x < 0.0005) return '<0.1 %';
    if (x < 1 && x > 0.9995) return '>99.9 %';
    return `${(100 * x).toFixed(1)} %`;
  },
  value(n, unit) {
    if (unit === 'bytes') return profuse.format.bytes(n);
    if (unit === 'milliseconds') return `${profuse.format.count(n)} ms`;
    if (unit === 'percent') return profuse.format.percent(n);
    if (!unit || unit === 'count') return profuse.format.count(n);
    return `${profuse.format.count(n)} ${unit}`;
  },
};

// matcher returns a predicate of strings: whether they have text in them,
// upper case as good as lower case, or, of "/text/", whether they match the
// regular expression. predicate.error says what is wrong with a bad one, which
// matches nothing.
profuse.matcher = (text) => {
  const re = /^\/(.+)\/([i]?)$/.exec(text);
  if (re) {
    try {
      const compiled = new RegExp(re[1], re[2]);
      return (s) => compiled.test(s);
    } catch (err) {
      const none = () => false;
      none.error = `Not a regular expression: ${err.message}`;
      return none;
    }
  }
  if (text === '') return () => true;
  const wanted = text.toLowerCase();
  return (s) => s.toLowerCase().includes(wanted);
};

// search puts the search box of a page before the contents of root, or into options.into. It calls
// change(text) shortly after the user typed, and with the text in the address when the page is first
// shown. If change returns a string, the page shows it beside the box ("12 of 300 functions").
profuse.search = (root, options) => {
  const note = profuse.el('span', {class: 'search-note muted', 'aria-live': 'polite'});
  const input = profuse.el('input', {
    type: 'search', class: 'search', placeholder: options.placeholder || 'Search', spellcheck: 'false',
    autocomplete: 'off', 'aria-label': options.label || options.placeholder || 'Search', title: 'Press / to search, Esc to clear; /text/ is a regular expression',
  });
  const box = profuse.el('div', {class: 'search-box', role: 'search'}, input, note);
  let timer = 0;
  const apply = () => {
    clearTimeout(timer);
    timer = 0;
    const error = profuse.matcher(input.value).error;
    input.setAttribute('aria-invalid', error ? 'true' : 'false');
    const said = options.change(input.value);
    note.textContent = error || (typeof said === 'string' ? said : '');
    note.classList.toggle('error', Boolean(error));
  };
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      profuse.state.set('q', input.value, {replace: true});
      apply();
    }, 80);
  };
  input.addEventListener('input', changed);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && input.value !== '') {
      event.stopPropagation();
      event.preventDefault();
      input.value = '';
      changed();
    }
  });
  // set changes the text as if it had been typed.
  const set = (text) => {
    if (text === input.value && timer === 0) return;
    input.value = text;
    apply();
  };
  // follow searches anew for what the address says: the function that a link
  // names (see links), which is the text from then on, or the text.
  const follow = () => {
    const fn = profuse.state.get('fn');
    if (fn !== null) {
      profuse.state.set('fn', null, {replace: true});
      profuse.state.set('q', fn, {replace: true});
    }
    input.value = profuse.state.get('q') || '';
    apply();
  };
  if (options.into) options.into.append(box);
  else root.prepend(box);
  input.value = profuse.state.get('q') || '';
  apply();
  return {set, follow, refresh: apply};
};

// choice makes a select with a title beside it; offer(texts) sets its options. It calls change(i) when
// the user chooses another option; i is a number in a string.
profuse.choice = (title, change) => {
  const select = profuse.el('select', {on: {change: () => change(select.value)}});
  const label = profuse.el('label', null, profuse.el('span', {class: 'muted'}, title), select);
  const offer = (texts) => select.replaceChildren(...texts.map((text, i) => profuse.el('option', {value: i}, text)));
  return {label, select, offer};
};

// fit cuts a name to a width in pixels, in the monospaced letters of the
// drawings; '' if two of them have no room.
profuse.fit = (text, width) => {
  const room = Math.floor(width / 6.65);
  if (room < 3) return '';
  return text.length <= room ? text : `${text.slice(0, room - 1)}…`;
};

// tip shows text(element) beside the elements in root that match selector, when
// the mouse is over them or they have the focus. text may return a string, with
// line feeds, or a node; '' or null for no tip.
profuse.tip = (root, selector, text) => {
  const at = (event) => {
    const element = event.target.closest && event.target.closest(selector);
    return element && root.contains(element) ? element : null;
  };
  const place = (x, y) => {
    const size = tipBox.getBoundingClientRect();
    const left = x + 12 + size.width > innerWidth ? Math.max(4, x - 12 - size.width) : x + 12;
    const top = y + 16 + size.height > innerHeight ? Math.max(4, y - 8 - size.height) : y + 16;
    tipBox.style.left = `${left}px`;
    tipBox.style.top = `${top}px`;
  };
  const show = (element, x, y) => {
    const content = text(element);
    if (!content) {
      hide();
      return;
    }
    tipBox.replaceChildren(content);
    tipBox.hidden = false;
    place(x, y);
  };
  const hide = () => { tipBox.hidden = true; };
  let over = null;
  root.addEventListener('pointermove', (event) => {
    const element = at(event);
    if (!element) {
      if (over) hide();
    } else if (element === over && !tipBox.hidden) {
      place(event.clientX, event.clientY);
    } else {
      show(element, event.clientX, event.clientY);
    }
    over = element;
  });
  root.addEventListener('pointerleave', () => {
    over = null;
    hide();
  });
  root.addEventListener('focusin', (event) => {
    const element = at(event);
    if (!element || !element.matches(':focus-visible')) return;
    const r = element.getBoundingClientRect();
    show(element, r.left, r.bottom - 8);
  });
  root.addEventListener('focusout', hide);
  root.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') hide();
  });
};
const tipBox = profuse.el('div', {class: 'tip', role: 'tooltip', hidden: true});
document.body.append(tipBox);

// resize calls fn with the width of root in pixels, at first and whenever it
// changes while the page is seen.
profuse.resize = (root, fn) => {
  let width = 0;
  const check = () => {
    const w = Math.floor(root.getBoundingClientRect().width);
    if (w === 0 || w === width) return;
    width = w;
    fn(w);
  };
  check();
  new ResizeObserver(() => requestAnimationFrame(check)).observe(root);
};

// state is the state in the address, "#set=0&page=flame&root=main", so that users can link to a view and
// go back. The keys "set", "page" and "theme" belong to frame.js, all other keys to the page that is
// shown. A page keeps its keys while another page is shown.
profuse.state = {
  all() {
    // A fragment without "=" is the id of an element.
    const text = location.hash.slice(1);
    return new URLSearchParams(text.includes('=') ? text : '');
  },
  get(key) {
    return profuse.state.all().get(key);
  },
  // set changes a key; null or '' removes it. With replace there is no way
  // back to the state before: for what changes at each key press.
  set(key, value, {replace = false} = {}) {
    const p = profuse.state.all();
    if (value === null || value === undefined || value === '') p.delete(key);
    else p.set(key, String(value));
    profuse.state.go(p, replace);
  },
  // go changes all keys.
  go(p, replace = false) {
    const hash = `#${p}`;
    if (hash === location.hash) return;
    try {
      history[replace ? 'replaceState' : 'pushState'](null, '', hash);
    } catch {
      // Browsers limit how often; the state is then not in the address.
    }
  },
};

'use strict';
// The core of the report: elements, formats, search, state in the address,
// tabs and data. Pages register themselves with profuse.page. Text from
// profiles goes into text nodes and attributes only, never through a parser.
const profuse = {};

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

// search puts the search box of a page before what root has, or into
// options.into. change(text) is called as it is typed, delayed a little, and
// with the text in the address when the page is first shown. What it returns,
// if a string, is shown beside the box ("12 of 300 functions").
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
  if (options.into) options.into.append(box);
  else root.prepend(box);
  input.value = profuse.state.get('q') || '';
  apply();
  return {box, input, set, refresh: apply};
};

document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest('input, select, textarea, [contenteditable]')) return;
  const input = current && current.root.querySelector('input.search');
  if (!input) return;
  event.preventDefault();
  input.focus();
  input.select();
});

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

// state is kept in the address, "#set=0&page=flame&root=main": a view can be
// linked to, and going back goes back. The keys "set", "page" and "theme" are
// the core's; all others belong to the page that is shown, which keeps its own
// when another is shown meanwhile.
profuse.state = {
  get(key) {
    return params().get(key);
  },
  // set changes a key; null or '' removes it. With replace there is no way
  // back to the state before: for what changes at each key press.
  set(key, value, {replace = false} = {}) {
    const p = params();
    if (value === null || value === undefined || value === '') p.delete(key);
    else p.set(key, String(value));
    go(p, replace);
  },
};

const coreKeys = ['set', 'page', 'theme'];

function params() {
  // A fragment without "=" is the id of an element.
  const text = location.hash.slice(1);
  return new URLSearchParams(text.includes('=') ? text : '');
}

function go(p, replace) {
  const hash = `#${p}`;
  if (hash === location.hash) return;
  try {
    history[replace ? 'replaceState' : 'pushState'](null, '', hash);
  } catch {
    // Browsers limit how often; the state is then not in the address.
  }
}

// href returns the link to a page of the set that is shown, with its keys:
// profuse.href('functions', {fn: name}). null if there is no such page.
profuse.href = (page, keys) => {
  const set = current ? current.set : 0;
  if (!facts.sets[set].pages.includes(page)) return null;
  return `#${pageParams(set, page, keys)}`;
};

// links returns links to the pages that can show the function of this name: by
// convention they take the key "fn". The page that is shown is left out.
profuse.links = (name) => {
  const titles = {functions: 'Functions', flame: 'Flame graph', coverage: 'Coverage', values: 'Values'};
  const out = [];
  for (const [id, title] of Object.entries(titles)) {
    const href = current && current.id !== id ? profuse.href(id, {fn: name}) : null;
    if (href) out.push(profuse.el('a', {href}, title));
  }
  return out;
};

function pageParams(set, page, keys) {
  const p = new URLSearchParams();
  const theme = profuse.state.get('theme');
  if (theme) p.set('theme', theme);
  if (facts.sets.length > 1) p.set('set', set);
  p.set('page', page);
  for (const [k, v] of Object.entries(keys || {})) p.set(k, v);
  return p;
}

// page registers what makes a page: init(root, data, profile) once, when it is
// first shown, and show(root, data, profile), if there, after it, each time the
// page is shown, and when the address has changed while it is. Both may be
// async. profile has: index, label, features (names), names, has(feature).
profuse.page = (id, handlers) => { registered.set(id, handlers); };

const registered = new Map();
const facts = JSON.parse(document.getElementById('facts').textContent);
let current = null; // {set, id, root}

// fetched asks the server, if the report is served, for a part of a page; null
// if the profile has nothing to show on it.
async function fetched(part, set, id) {
  const response = await fetch(`${part}/${set}/${id}`);
  if (!response.ok) throw new Error(await response.text());
  return response.status === 204 ? null : response.json();
}

// findTabs shows the tabs of a served set, each when it is known that the page
// has something to show.
async function findTabs(set) {
  if (!facts.served || found.has(set)) return;
  found.add(set);
  for (const id of [...facts.sets[set].pages]) {
    const tab = await fetched('tab', set, id).catch(() => ({title: id}));
    if (tab) nameTab(set, id, tab.title);
    else facts.sets[set].pages = facts.sets[set].pages.filter((p) => p !== id);
  }
  document.querySelector(`.set[data-set="${set}"] nav.tabs`).removeAttribute('aria-busy');
}
const found = new Set();

function nameTab(set, id, title) {
  const tab = document.querySelector(`.set[data-set="${set}"] [data-tab="${id}"]`);
  tab.textContent = title;
  tab.hidden = false;
}

// openPage returns the data of a page and its profile; of a served one it fills the
// page in, and returns null if there is nothing to show on it.
async function openPage(set, id, root) {
  const profile = profiles[set];
  if (!facts.served) {
    await profile.load();
    return {data: await block(`data-${set}-${id}`), profile};
  }
  const page = await fetched('page', set, id);
  if (!page) return null;
  nameTab(set, id, page.title);
  root.querySelector('.page-title').textContent = page.title;
  // The server made the body as it does that of a file, names escaped.
  root.append(...new DOMParser().parseFromString(page.body, 'text/html').body.childNodes);
  return {data: page.data, profile: {...profile, names: decodeNames(page.names)}};
}

// block reads a block of data; null if there is none.
async function block(id) {
  const element = document.getElementById(id);
  if (!element) return null;
  if (element.type === 'application/json') return JSON.parse(element.textContent);
  const packed = atob(element.textContent);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).json();
}

// decodeNames undoes nameTable.encode.
function decodeNames(table) {
  const names = new Array(table.order.length);
  if (names.length === 0) return names;
  const rest = table.rest.split('\n');
  let name = '';
  let number = 0;
  for (let i = 0; i < names.length; i++) {
    name = name.slice(0, table.shared[i]) + rest[i];
    number += table.order[i];
    names[number] = name;
  }
  return names;
}

const profiles = facts.sets.map((set, index) => ({
  index,
  label: set.label,
  features: set.features,
  names: null,
  has(feature) { return set.features.includes(feature); },
  loading: null,
  load() {
    this.loading = this.loading || block(`names-${index}`).then((t) => { this.names = decodeNames(t); });
    return this.loading;
  },
}));

const shown = new Map(); // key of a page: promise of its data, after init
const kept = new Map(); // key of a page: its keys when it was left

async function showPage(set, id) {
  const key = `${set}-${id}`;
  const root = document.getElementById(`page-${key}`);
  const changed = !current || current.root !== root;
  current = {set, id, root};
  for (const e of document.querySelectorAll('.set')) e.hidden = e.dataset.set !== String(set);
  for (const e of document.querySelectorAll('.page')) e.hidden = e !== root;
  for (const a of document.querySelectorAll('[data-tab]')) {
    const chosen = a.dataset.tab === id && a.closest('.set').dataset.set === String(set);
    if (chosen) a.setAttribute('aria-current', 'page');
    else a.removeAttribute('aria-current');
    if (chosen && changed) a.scrollIntoView({block: 'nearest', inline: 'nearest'});
  }
  for (const a of document.querySelectorAll('[data-choose]')) {
    if (a.dataset.choose === String(set)) a.setAttribute('aria-current', 'true');
    else a.removeAttribute('aria-current');
  }
  const handlers = registered.get(id) || {};
  if (!facts.served && !registered.has(id)) return;
  try {
    if (!shown.has(key)) {
      shown.set(key, (async () => {
        const wait = profuse.el('p', {class: 'wait muted', role: 'status'}, 'Reading data …');
        root.querySelector('.page-title').after(wait);
        try {
          const page = await openPage(set, id, root);
          if (page && handlers.init) await handlers.init(root, page.data, page.profile);
          if (page && registered.has(id)) root.classList.add('live');
          return page;
        } finally {
          wait.remove();
        }
      })());
    }
    const page = await shown.get(key);
    if (!page && current.root === root) {
      // The address names a page that this profile does not have.
      facts.sets[set].pages = facts.sets[set].pages.filter((p) => p !== id);
      if (facts.sets[set].pages.length > 0) await showPage(set, facts.sets[set].pages[0]);
      return;
    }
    if (current.root === root && handlers.show) await handlers.show(root, page.data, page.profile);
  } catch (err) {
    console.error(err);
    // A server that does not answer may do so the next time.
    if (facts.served) shown.delete(key);
    if (!root.querySelector(':scope > .failure')) {
      root.querySelector('.page-title').after(profuse.el('p', {class: 'failure error', role: 'alert'},
        facts.served && !root.classList.contains('live') ? `This page could not be fetched: ${err.message}. Does profuse view still run?`
          : `This page cannot be drawn in this browser: ${err.message}. What follows is its short form.`));
    }
  }
  findTabs(set);
}

// follow shows what the address says.
function follow() {
  const p = params();
  let set = Number(p.get('set') || 0);
  let id = p.get('page');
  const anchor = /^#page-(\d+)-(\w+)$/.exec(location.hash);
  if (anchor) [set, id] = [Number(anchor[1]), anchor[2]];
  if (!facts.sets[set]) set = 0;
  if (!facts.sets[set].pages.includes(id)) id = facts.sets[set].pages[0];
  const theme = p.get('theme');
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  themeButton.textContent = isDark() ? 'Light' : 'Dark';
  return showPage(set, id);
}

// visit goes to a page by its tab, with the keys that it was left with.
function visit(set, id) {
  if (current) {
    const own = [...params()].filter(([k]) => !coreKeys.includes(k));
    kept.set(`${current.set}-${current.id}`, Object.fromEntries(own));
  }
  go(pageParams(set, id, kept.get(`${set}-${id}`)), false);
  follow();
}

function isDark() {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

const themeButton = profuse.el('button', {
  type: 'button', class: 'theme', title: 'Switch between light and dark',
  on: {
    click() {
      profuse.state.set('theme', isDark() ? 'light' : 'dark', {replace: true});
      follow();
    },
  },
});

// The scripts of the pages come after this one, and register first.
document.addEventListener('DOMContentLoaded', () => {
  document.documentElement.classList.add('js');
  const tools = document.getElementById('tools');
  if (facts.sets.length > 1) {
    const chooser = profuse.el('nav', {class: 'chooser', 'aria-label': 'Profiles'}, facts.sets.map((set, i) =>
      profuse.el('a', {href: `#page-${i}-${set.pages[0]}`, 'data-choose': i}, set.label)));
    document.querySelector('header.top').after(chooser);
    chooser.addEventListener('click', (event) => {
      const a = event.target.closest('[data-choose]');
      if (!a || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const set = Number(a.dataset.choose);
      const same = facts.sets[set].pages.includes(current.id);
      visit(set, same ? current.id : facts.sets[set].pages[0]);
    });
  }
  tools.append(themeButton);
  for (const nav of document.querySelectorAll('nav.tabs')) {
    nav.addEventListener('click', (event) => {
      const a = event.target.closest('[data-tab]');
      if (!a || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      visit(Number(nav.closest('.set').dataset.set), a.dataset.tab);
    });
    // Arrows go from tab to tab.
    nav.addEventListener('keydown', (event) => {
      const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      if (!step) return;
      const tabs = [...nav.querySelectorAll('[data-tab]')];
      const next = tabs[tabs.indexOf(document.activeElement) + step];
      if (next) {
        event.preventDefault();
        next.focus();
      }
    });
  }
  addEventListener('popstate', follow);
  addEventListener('hashchange', follow);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', follow);
  follow();
});

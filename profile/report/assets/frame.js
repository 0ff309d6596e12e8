// The frame of the report: tabs, the pages that register themselves with
// profuse.page, their data, and the links between them.
const {el, state} = profuse;

// page registers what makes a page: init(root, data, profile) is called once,
// when it is first shown; what init returns, if anything, then and each time
// that the page is shown again, and when the address has changed while it is.
// profile has: names, has(feature), part(number) for a promise of further data.
profuse.page = (id, init) => { registered.set(id, init); };

const registered = new Map();
const facts = JSON.parse(document.getElementById('facts').textContent);
let current = null; // {set, id, root}

// href returns the link to a page of the set that is shown, with its keys:
// profuse.href('functions', {fn: name}). null if there is no such page.
profuse.href = (page, keys) => {
  const set = current ? current.set : 0;
  return facts.sets[set].pages.includes(page) ? `#${pageParams(set, page, keys)}` : null;
};

// links returns links to the pages that can show the function of this name: by
// convention they take the key "fn". The page that is shown is left out.
profuse.links = (name) => {
  const out = [];
  for (const id of ['functions', 'flame', 'treemap', 'coverage', 'values']) {
    const href = current && current.id !== id ? profuse.href(id, {fn: name}) : null;
    if (!href) continue;
    const tab = document.querySelector(`.set[data-set="${current.set}"] [data-tab="${id}"]`);
    out.push(el('a', {href}, tab.textContent));
  }
  return out;
};

function pageParams(set, page, keys) {
  const p = new URLSearchParams();
  const theme = state.get('theme');
  if (theme) p.set('theme', theme);
  if (facts.sets.length > 1) p.set('set', set);
  p.set('page', page);
  for (const [k, v] of Object.entries(keys || {})) p.set(k, v);
  return p;
}

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
    const part = (n) => block(`data-${set}-${id}-${n}`);
    return {data: await block(`data-${set}-${id}`), profile: {...profile, part}};
  }
  const page = await fetched('page', set, id);
  if (!page) return null;
  nameTab(set, id, page.title);
  root.querySelector('.page-title').textContent = page.title;
  // The server made the body with the code that makes report files, and escaped the names.
  root.append(...new DOMParser().parseFromString(page.body, 'text/html').body.childNodes);
  const part = (n) => fetched('part', set, `${id}/${n}`);
  return {data: page.data, profile: {...profile, names: decodeNames(page.names), part}};
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
  names: null,
  has(feature) { return set.features.includes(feature); },
  loading: null,
  load() {
    this.loading = this.loading || block(`names-${index}`).then((t) => { this.names = decodeNames(t); });
    return this.loading;
  },
}));

const shown = new Map(); // key of a page: promise of what shows it; null if there is none
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
  const init = registered.get(id);
  if (!facts.served && !init) return;
  try {
    if (!shown.has(key)) {
      shown.set(key, (async () => {
        const wait = el('p', {class: 'wait muted', role: 'status'}, 'Reading data …');
        root.querySelector('.page-title').after(wait);
        try {
          const page = await openPage(set, id, root);
          if (!page) return null;
          const show = init && init(root, page.data, page.profile);
          if (init) root.classList.add('live');
          return show || (() => {});
        } finally {
          wait.remove();
        }
      })());
    }
    const show = await shown.get(key);
    if (!show && current.root === root) {
      // The address names a page that this profile does not have.
      facts.sets[set].pages = facts.sets[set].pages.filter((p) => p !== id);
      if (facts.sets[set].pages.length > 0) await showPage(set, facts.sets[set].pages[0]);
      return;
    }
    if (current.root === root) show();
  } catch (err) {
    console.error(err);
    // A server that does not answer may do so the next time.
    if (facts.served) shown.delete(key);
    if (!root.querySelector(':scope > .failure')) {
      root.querySelector('.page-title').after(el('p', {class: 'failure error', role: 'alert'},
        facts.served && !root.classList.contains('live') ? `This page could not be fetched: ${err.message}. Does profuse view still run?`
          : `This page cannot be drawn in this browser: ${err.message}. What follows is its short form.`));
    }
  }
  findTabs(set);
}

// follow shows what the address says.
function follow() {
  const p = state.all();
  // What changed is what a report on two profiles is for.
  const home = Math.max(0, facts.sets.findIndex((s) => s.pages[0] === 'comparison'));
  let set = Number(p.get('set') ?? home);
  let id = p.get('page');
  const anchor = /^#page-(\d+)-(\w+)$/.exec(location.hash);
  if (anchor) [set, id] = [Number(anchor[1]), anchor[2]];
  if (!facts.sets[set]) set = home;
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
    const own = [...state.all()].filter(([k]) => !['set', 'page', 'theme'].includes(k));
    kept.set(`${current.set}-${current.id}`, Object.fromEntries(own));
  }
  state.go(pageParams(set, id, kept.get(`${set}-${id}`)));
  follow();
}

function isDark() {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

const themeButton = el('button', {
  type: 'button', class: 'theme', title: 'Switch between light and dark',
  on: {
    click() {
      state.set('theme', isDark() ? 'light' : 'dark', {replace: true});
      follow();
    },
  },
});

// The scripts of the pages come after this one, and register first.
document.addEventListener('DOMContentLoaded', () => {
  document.documentElement.classList.add('js');
  const tools = document.getElementById('tools');
  if (facts.sets.length > 1) {
    const chooser = el('nav', {class: 'chooser', 'aria-label': 'Profiles'}, facts.sets.map((set, i) =>
      el('a', {href: `#page-${i}-${set.pages[0]}`, 'data-choose': i}, set.label)));
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

document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest('input, select, textarea, [contenteditable]')) return;
  const input = current && current.root.querySelector('input.search');
  if (!input) return;
  event.preventDefault();
  input.focus();
  input.select();
});

const ROW = 18;
const LEAST = 0.5; // narrower boxes are joined
const AHEAD = 12; // rows drawn beyond those seen
const VIEWS = [
  ['flame', 'Flame graph', 'Callers below, what they call above'],
  ['icicle', 'Icicle', 'Callers above, what they call below'],
  ['inverted', 'Inverted', 'The functions on top of stacks first, below them their callers'],
];

class Flame {
  constructor(root, data, profile) {
    this.root = root;
    this.sets = data.sets;
    this.names = profile.names;
    this.trees = new Map();
    this.matches = null; // by function
    this.rows = [];
    this.focused = 0;
    this.build();
  }

  build() {
    const {el, svg} = profuse;
    this.tables = profuse.choice('Stacks', (i) => this.set('table', i));
    this.values = profuse.choice('Width', (i) => this.set('value', i));
    this.colours = profuse.choice('Colour', (i) => this.set('colour', i));
    this.views = el('div', {class: 'switch', role: 'group', 'aria-label': 'View'}, VIEWS.map(([id, title, about]) =>
      el('button', {type: 'button', title: about, 'data-view': id, on: {click: () => this.set('view', id)}}, title)));
    this.bar = el('div', {class: 'bar'}, this.tables.label, this.values.label, this.views, this.colours.label);
    this.about = this.root.querySelector('.note');
    this.crumbs = el('nav', {class: 'crumbs', 'aria-label': 'Path to the box that is zoomed to'});
    this.svg = svg('svg', {class: 'flame', role: 'group', 'aria-label': 'Call tree; arrow keys move between boxes, Enter zooms, Escape resets'});
    this.view = el('div', {class: 'flame-view'}, this.svg);
    this.legend = el('ul', {class: 'legend'});
    this.details = el('p', {class: 'note', 'aria-live': 'polite'});
    this.about.after(this.bar, this.crumbs, this.view, this.details, this.legend);
    this.tables.offer(this.sets.map((s) => s.name));
    this.tables.label.hidden = this.sets.length < 2;
    this.view.addEventListener('scroll', () => this.drawSoon());
    this.svg.addEventListener('click', (event) => {
      const box = event.target.closest('.box');
      if (box) this.zoom(Number(box.dataset.node));
    });
    this.svg.addEventListener('focusin', (event) => {
      const box = event.target.closest('.box');
      if (box) this.focused = box.dataset.key;
    });
    this.svg.addEventListener('keydown', (event) => this.key(event));
    this.root.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.zoomed && !event.target.closest('input')) this.zoom(0);
    });
    profuse.tip(this.svg, '.box', (box) => this.tip(box));
    this.read();
    this.search = profuse.search(this.root, {placeholder: 'Search functions', label: 'Search functions', into: this.bar, change: (text) => this.find(text)});
    profuse.resize(this.view, (width) => {
      this.width = this.view.clientWidth || width;
      this.layout();
    });
  }

  set(key, value) {
    if (key === 'table') for (const k of ['value', 'zoom', 'colour']) profuse.state.set(k, '', {replace: true});
    if (key === 'view' && (value === 'inverted') !== (this.viewID === 'inverted')) profuse.state.set('zoom', '', {replace: true});
    profuse.state.set(key, value);
    this.show();
  }

  // read takes the choices from the address.
  read() {
    const {state} = profuse;
    const chosen = Number(state.get('table') || 0);
    const set = this.sets[chosen] || this.sets[0];
    if (set !== this.of) {
      this.of = set;
      this.about.textContent = `${set.about}${set.cut ? ' What is too small to be in this file is shown as “(n smaller)”.' : ''}`;
      this.values.offer(set.values.map((v) => v.name));
      this.values.label.hidden = set.values.length < 2;
      this.modes = this.colourModes(set);
      this.colours.offer(this.modes.map((m) => m.title));
      this.colours.label.hidden = this.modes.length < 2;
    }
    const first = Math.max(0, set.all.findIndex((x) => x > 0));
    this.value = Number(state.get('value') || first);
    if (!set.values[this.value]) this.value = first;
    const view = state.get('view');
    this.viewID = VIEWS.some(([id]) => id === view) ? view : 'flame';
    this.mode = this.modes[Number(state.get('colour') || 0)] || this.modes[0];
    this.tables.select.value = this.sets.indexOf(set);
    this.values.select.value = this.value;
    this.colours.select.value = this.modes.indexOf(this.mode);
    for (const b of this.views.children) b.setAttribute('aria-pressed', String(b.dataset.view === this.viewID));
    this.down = this.tree(set, 'down');
    this.now = this.viewID === 'inverted' ? this.tree(set, 'up') : this.down;
    this.w = this.now.weigh(this.value);
    const zoom = Number(state.get('zoom') || 0);
    this.zoomed = zoom > 0 && zoom < this.now.parent.length ? zoom : 0;
    this.unit = set.values[this.value].unit;
  }

  tree(set, which) {
    const key = `${this.sets.indexOf(set)}-${which}`;
    if (!this.trees.has(key)) this.trees.set(key, new Tree(set[which], set.classes.length));
    return this.trees.get(key);
  }

  show() {
    this.read();
    this.layout(); // the rows may be of another tree, and the search draws
    this.search.follow();
  }

  name(node) {
    const label = this.now.data.label[node];
    return label < 0 ? 'all' : this.names[this.of.functions.name[label]];
  }

  short(node) {
    const label = this.now.data.label[node];
    return label < 0 ? 'all' : this.names[this.of.functions.short[label]];
  }

  zoom(node) {
    if (node !== this.zoomed) this.focused = String(node);
    this.set('zoom', node || '');
  }

  key(event) {
    const element = event.target.closest('.box');
    if (!element || event.ctrlKey || event.metaKey || event.altKey) return;
    const depth = Number(element.dataset.depth);
    const row = this.rows[depth];
    const at = this.place(element.dataset.key, depth);
    const box = row[at];
    const deeper = this.viewID === 'flame' ? 'ArrowUp' : 'ArrowDown';
    const back = this.viewID === 'flame' ? 'ArrowDown' : 'ArrowUp';
    let to = null;
    let toDepth = depth;
    switch (event.key) {
      case 'Enter': case ' ': this.zoom(box.node); break;
      case 'Escape': this.zoom(0); break;
      case 'Backspace': this.zoom(Math.max(0, this.now.parent[this.zoomed])); break;
      case 'ArrowLeft': to = row[at - 1]; break;
      case 'ArrowRight': to = row[at + 1]; break;
      case 'Home': to = this.rows[0][0]; toDepth = 0; break;
      case deeper: case back:
        toDepth += event.key === deeper ? 1 : -1;
        to = (this.rows[toDepth] || []).find((b) => b.x + b.w > box.x + 1e-6 && b.x <= box.x + 1e-6)
          || (event.key === deeper && (this.rows[toDepth] || []).find((b) => b.x >= box.x && b.x < box.x + box.w)) || null;
        break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
    if (to) this.focus(to, toDepth);
  }

  focus(box, depth) {
    const y = this.top(depth);
    if (y < this.view.scrollTop) this.view.scrollTop = y;
    else if (y + ROW > this.view.scrollTop + this.view.clientHeight) this.view.scrollTop = y + ROW - this.view.clientHeight;
    this.focused = box.key;
    this.draw();
    for (const e of this.svg.querySelectorAll('[tabindex="0"]')) e.setAttribute('tabindex', '-1');
    const element = this.element(box.key);
    if (!element) return;
    element.setAttribute('tabindex', '0');
    element.focus({preventScroll: true});
  }
}

profuse.page('flame', (root, data, profile) => {
  const flame = new Flame(root, data, profile);
  return () => flame.show();
});

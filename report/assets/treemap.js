const LEAST = 5; // boxes with shorter sides on average are joined
const OPENING = 30; // sides that a box needs for what is inside to be drawn
const HEADER = 16;
const MAXIMUM = 6000; // boxes drawn at once
const PARTS = 2000; // boxes drawn of one

class Treemap {
  constructor(root, data, profile) {
    this.root = root;
    this.data = data;
    this.names = profile.names;
    this.tree = new Tree(data.tree, data.classes.length);
    this.matches = null; // by node
    this.build();
  }

  build() {
    const {el, svg} = profuse;
    this.values = profuse.choice('Area', (i) => this.set('value', i));
    this.values.offer(this.data.values.map((v) => v.name));
    this.colours = profuse.choice('Colour', (i) => this.set('colour', i));
    this.colours.offer(['temperature', 'outermost name']);
    this.bar = el('div', {class: 'bar'}, this.values.label, this.colours.label);
    this.about = this.root.querySelector('.note');
    this.crumbs = el('nav', {class: 'crumbs', 'aria-label': 'Path to the box that is zoomed to'});
    this.svg = svg('svg', {class: 'treemap', role: 'group', 'aria-label': 'Treemap; arrow keys move between boxes, Enter zooms, Escape goes back'});
    this.view = el('div', null, this.svg);
    this.details = el('p', {class: 'note', 'aria-live': 'polite'});
    this.legend = el('ul', {class: 'legend'});
    this.about.after(this.bar, this.crumbs, this.view, this.details, this.legend);
    this.svg.addEventListener('click', (event) => {
      const box = event.target.closest('.box');
      if (box) this.open(this.boxes[Number(box.dataset.box)]);
    });
    this.root.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.zoomed && !event.target.closest('input')) this.zoom(this.around(this.zoomed));
    });
    this.svg.addEventListener('keydown', (event) => this.key(event));
    profuse.tip(this.svg, '.box', (box) => this.tip(this.boxes[Number(box.dataset.box)]));
    this.read();
    this.search = profuse.search(this.root, {placeholder: 'Search functions', label: 'Search functions and namespaces', into: this.bar, change: (text) => this.find(text)});
    profuse.resize(this.view, (width) => {
      this.width = width;
      this.draw();
    });
  }

  set(key, value) {
    profuse.state.set(key, value);
    this.show();
  }

  // read takes the choices from the address.
  read() {
    const {state} = profuse;
    const {data} = this;
    this.value = Number(state.get('value') || data.first);
    if (!data.values[this.value]) this.value = data.first;
    this.byHeat = state.get('colour') === '0';
    const zoom = Number(state.get('zoom') || 0);
    this.zoomed = zoom > 0 && zoom < this.tree.parent.length ? zoom : 0;
    this.values.select.value = this.value;
    this.colours.select.value = this.byHeat ? 0 : 1;
    this.unit = data.values[this.value].unit;
    this.w = this.tree.weigh(this.value);
  }

  show() {
    this.read();
    this.search.follow(); // which draws
  }

  name(node) {
    return node === 0 ? 'all' : this.names[this.data.labels.name[this.tree.data.label[node]]];
  }

  // full returns the whole name of a function, null of what is none.
  full(node) {
    const label = this.tree.data.label[node];
    const n = label < 0 ? -1 : this.data.labels.full[label];
    return n < 0 ? null : this.names[n];
  }

  join(a, b) {
    return a.endsWith('/') ? a + b : a + this.data.separator + b;
  }

  // around returns the next group around a node that looks different.
  around(node) {
    const {parent} = this.tree;
    let out = parent[node];
    while (out > 0 && this.single(out) === this.single(node)) out = parent[out];
    return Math.max(0, out);
  }

  // single follows groups with nothing in them but one other group.
  single(node) {
    const {kids} = this.tree;
    while (kids[node].length === 1 && this.w.rest[node] === 0 && this.full(kids[node][0]) === null) [node] = kids[node];
    return node;
  }

  open(box) {
    if (!box) return;
    if (box.leaf) {
      this.detail(box.node);
      return;
    }
    this.zoom(box.node);
  }

  zoom(node) { this.set('zoom', node || ''); }

  key(event) {
    const element = event.target.closest('.box');
    if (!element || event.ctrlKey || event.metaKey || event.altKey) return;
    const box = this.boxes[Number(element.dataset.box)];
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      this.open(box);
      return;
    }
    const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    if (!step) return;
    event.preventDefault();
    // The nearest box in that direction, by the corners at which names stand.
    let best = -1;
    let least = Infinity;
    this.boxes.forEach((b, i) => {
      const along = (b.r.x - box.r.x) * step[0] + (b.r.y - box.r.y) * step[1];
      const beside = Math.abs((b.r.x - box.r.x) * step[1]) + Math.abs((b.r.y - box.r.y) * step[0]);
      if (along > 1 && along + 3 * beside < least) {
        best = i;
        least = along + 3 * beside;
      }
    });
    if (best < 0) return;
    element.setAttribute('tabindex', '-1');
    const next = this.svg.children[best];
    next.setAttribute('tabindex', '0');
    next.focus({preventScroll: true});
  }
}

profuse.page('treemap', (root, data, profile) => {
  const treemap = new Treemap(root, data, profile);
  return () => treemap.show();
});

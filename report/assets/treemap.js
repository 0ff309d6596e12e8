'use strict';
const LEAST = 5; // boxes with shorter sides on average are joined
const OPENING = 30; // sides that a box needs for what is inside to be drawn
const HEADER = 16;
const LETTER = 6.65; // width of a character of 11 pixels
const MAXIMUM = 6000; // boxes drawn at once
const PARTS = 2000; // boxes drawn of one

class Treemap {
  constructor(root, data, profile) {
    this.root = root;
    this.data = data;
    this.names = profile.names;
    this.weights = new Map();
    this.matches = null; // by node
    const n = data.tree.depth.length;
    this.parent = new Int32Array(n).fill(-1);
    this.kids = Array.from({length: n}, () => []);
    const path = [];
    for (let i = 0; i < n; i++) {
      path[data.tree.depth[i]] = i;
      if (i > 0) {
        this.parent[i] = path[data.tree.depth[i] - 1];
        this.kids[this.parent[i]].push(i);
      }
    }
    this.build();
  }

  // weigh returns total and rest of each node, and the total by class.
  weigh(value) {
    let w = this.weights.get(value);
    if (w) return w;
    const {tree, classes} = this.data;
    const n = this.parent.length;
    const k = classes.length;
    w = {total: new Float64Array(n), rest: new Float64Array(n), byClass: classes.map(() => new Float64Array(n)), column: (c) => tree.rest[value * k + c]};
    for (let c = 0; c < k; c++) {
      const sums = w.byClass[c];
      tree.self[value * k + c].forEach((x, i) => { sums[i] += x; });
      tree.rest[value * k + c].forEach((x, i) => {
        sums[i] += x;
        w.rest[i] += x;
      });
      for (let i = n - 1; i > 0; i--) sums[this.parent[i]] += sums[i];
      for (let i = 0; i < n; i++) w.total[i] += sums[i];
    }
    this.weights.set(value, w);
    return w;
  }

  build() {
    const {el, svg} = profuse;
    const select = (key, label, options) => {
      const s = el('select', {on: {change: () => { profuse.state.set(key, s.value); this.show(); }}},
        options.map((o, i) => el('option', {value: i}, o)));
      return {select: s, label: el('label', null, el('span', {class: 'muted'}, label), s)};
    };
    this.values = select('value', 'Area', this.data.values.map((v) => v.name));
    this.colours = select('colour', 'Colour', ['temperature', 'outermost name']);
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

  read() {
    const {state} = profuse;
    const {data} = this;
    this.value = Number(state.get('value') || data.first);
    if (!data.values[this.value]) this.value = data.first;
    this.byHeat = state.get('colour') !== '1';
    const zoom = Number(state.get('zoom') || 0);
    this.zoomed = zoom > 0 && zoom < this.parent.length ? zoom : 0;
    this.values.select.value = this.value;
    this.colours.select.value = this.byHeat ? 0 : 1;
    this.unit = data.values[this.value].unit;
    this.w = this.weigh(this.value);
  }

  show() {
    const fn = profuse.state.get('fn');
    if (fn !== null) {
      profuse.state.set('fn', '', {replace: true});
      profuse.state.set('q', fn, {replace: true});
    }
    this.read();
    const q = profuse.state.get('q') || '';
    if (q !== this.search.input.value) this.search.set(q);
    else this.search.refresh();
    this.draw();
  }

  name(node) {
    return node === 0 ? 'all' : this.names[this.data.labels.name[this.data.tree.label[node]]];
  }

  // full returns the whole name of a function, null of what is none.
  full(node) {
    const label = this.data.tree.label[node];
    const n = label < 0 ? -1 : this.data.labels.full[label];
    return n < 0 ? null : this.names[n];
  }

  join(a, b) {
    return a.endsWith('/') ? a + b : a + this.data.separator + b;
  }

  path(node) {
    const out = [];
    for (let i = node; i >= 0; i = this.parent[i]) out.push(i);
    return out.reverse();
  }

  // around returns the next group around a node that looks different.
  around(node) {
    let out = this.parent[node];
    while (out > 0 && this.single(out) === this.single(node)) out = this.parent[out];
    return Math.max(0, out);
  }

  // single follows groups with nothing in them but one other group.
  single(node) {
    while (this.kids[node].length === 1 && this.w.rest[node] === 0 && this.full(this.kids[node][0]) === null) [node] = this.kids[node];
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

  zoom(node) {
    profuse.state.set('zoom', node || '');
    this.show();
  }

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

profuse.page('treemap', {
  init(root, data, profile) { root.treemap = new Treemap(root, data, profile); },
  show(root) { root.treemap.show(); },
});

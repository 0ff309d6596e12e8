'use strict';
(() => {
  const LEAST = 5; // boxes with shorter sides on average are joined
  const OPENING = 30; // sides that a box needs for what is inside to be drawn
  const HEADER = 16;
  const LETTER = 6.65; // width of a character of 11 pixels
  const MAXIMUM = 6000; // boxes drawn at once
  const PARTS = 2000; // boxes drawn of one

  // squarify divides a rectangle as squarify.go does.
  function squarify(weights, r) {
    const out = weights.map(() => ({x: r.x, y: r.y, w: 0, h: 0}));
    const sum = weights.reduce((a, b) => a + b, 0);
    if (!(sum > 0) || r.w <= 0 || r.h <= 0) return out;
    const scale = r.w / sum * r.h;
    const ratio = (largest, smallest, all, side) => {
      if (smallest <= 0) return Infinity;
      const thick = all / side;
      return Math.max(largest / (thick * thick), thick * thick / smallest);
    };
    let {x, y, w, h} = r;
    for (let from = 0; from < weights.length;) {
      const side = Math.min(w, h);
      if (side <= 0 || weights[from] <= 0) break;
      const first = weights[from] * scale;
      let row = first;
      let to = from + 1;
      for (let worst = ratio(row, row, row, side); to < weights.length; to++) {
        const next = weights[to] * scale;
        const having = ratio(first, next, row + next, side);
        if (having > worst) break;
        row += next;
        worst = having;
      }
      const across = w <= h;
      const thick = to === weights.length ? Math.max(w, h) : row / side;
      let at = 0;
      for (; from < to; from++) {
        const length = Math.min(side * (weights[from] * scale / row), side - at);
        out[from] = across ? {x: x + at, y, w: length, h: Math.min(thick, h)} : {x, y: y + at, w: Math.min(thick, w), h: length};
        at += length;
      }
      if (across) {
        y += thick;
        h = Math.max(0, h - thick);
      } else {
        x += thick;
        w = Math.max(0, w - thick);
      }
    }
    return out;
  }

  function fit(text, width) {
    const room = Math.floor(width / LETTER);
    if (room < 3) return '';
    return text.length <= room ? text : `${text.slice(0, room - 1)}…`;
  }

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

    fill(node) {
      if (this.byHeat) {
        const {byClass} = this.w;
        let best = 0;
        for (let c = 1; c < byClass.length; c++) if (byClass[c][node] > byClass[best][node]) best = c;
        return `fill-${this.data.classes[best]}`;
      }
      const path = this.path(node);
      const outer = path[Math.min(path.length - 1, this.data.tree.depth[this.single(0)] + 1)];
      return outer === 0 ? 'fill-root' : `fill-c${this.data.labels.colour[this.data.tree.label[outer]]}`;
    }

    draw() {
      if (!this.width) return;
      const height = Math.max(320, Math.min(Math.round(this.width * 0.56), Math.max(400, innerHeight - 260)));
      this.boxes = [];
      const had = this.svg.contains(document.activeElement);
      const whole = {x: 0, y: 0, w: this.width, h: height};
      const node = this.zoomed;
      if (this.kids[node].length > 0 || this.w.rest[node] > 0) {
        // Level by level, so that all groups are seen before what is in them.
        const closed = [{node: this.single(node), r: whole, box: null}];
        for (let i = 0; i < closed.length; i++) this.inside(closed[i], closed);
      } else {
        this.boxes.push({node, r: whole, leaf: true, name: this.name(node)});
      }
      const {svg} = profuse;
      for (const [k, v] of [['width', this.width], ['height', height], ['viewBox', `0 0 ${this.width} ${height}`]]) this.svg.setAttribute(k, v);
      this.svg.replaceChildren(...this.boxes.map((b, i) => this.element(b, i)));
      if (this.boxes.length === 0) {
        this.svg.append(svg('text', {x: 8, y: 20, class: 'muted'}, 'Nothing was counted here.'));
      } else {
        this.svg.children[0].setAttribute('tabindex', '0');
        if (had) this.svg.children[0].focus({preventScroll: true});
      }
      this.svg.classList.toggle('searching', this.matches !== null);
      this.sideways();
    }

    // inside places what a group consists of, if there is room for all of it,
    // and adds groups within to closed.
    inside({node, r, box}, closed) {
      const {total, rest, byClass, column} = this.w;
      const inner = box ? {x: r.x + 2, y: r.y + HEADER, w: r.w - 5, h: r.h - HEADER - 3} : r;
      if (inner.w <= 0 || inner.h <= 0 || total[node] <= 0) return;
      const perPixel = total[node] / (inner.w * inner.h);
      const left = {node: -1, weight: rest[node], left: this.data.tree.left[node]};
      const heats = byClass.map((_, c) => column(c)[node] || 0);
      const parts = [];
      const kids = this.kids[node].slice().sort((a, b) => total[b] - total[a] || a - b);
      for (const k of kids) {
        if (total[k] >= LEAST * LEAST * perPixel && parts.length < PARTS - 1) {
          parts.push({node: k, weight: total[k]});
        } else if (total[k] > 0) {
          left.weight += total[k];
          left.left++;
          byClass.forEach((sums, c) => { heats[c] += sums[k]; });
        }
      }
      if (left.weight > 0) parts.push(left);
      if (box && this.boxes.length + parts.length > MAXIMUM) return;
      if (box) box.group = true;
      parts.sort((a, b) => b.weight - a.weight || a.node - b.node);
      squarify(parts.map((p) => p.weight), inner).forEach((at, i) => {
        if (at.w < 1 || at.h < 1) return;
        const p = parts[i];
        if (p.node < 0) {
          this.boxes.push({node, r: at, rest: true, weight: p.weight, name: `(${profuse.format.count(p.left)} smaller)`, heat: heats.indexOf(Math.max(...heats))});
        } else {
          this.place(p.node, at, closed);
        }
      });
    }

    place(node, r, closed) {
      const inner = this.single(node);
      const names = this.path(inner).slice(this.data.tree.depth[node]).map((n) => this.name(n));
      const group = this.kids[inner].length > 0 || this.w.rest[inner] > 0;
      const box = {node: inner, r, leaf: !group, name: names.reduce((a, b) => this.join(a, b))};
      this.boxes.push(box);
      if (group && r.w >= OPENING && r.h >= OPENING) closed.push({node: inner, r, box});
    }

    element(box, index) {
      const {svg, format} = profuse;
      const {r} = box;
      const weight = box.rest ? box.weight : this.w.total[box.node];
      const heat = this.byHeat && !box.group;
      const fill = box.group ? 'group' : box.rest && this.byHeat ? `rest fill-${this.data.classes[box.heat]}` : `${box.rest ? 'rest ' : ''}${this.fill(box.node)}`;
      const match = this.matches && !box.rest && this.matches[box.node];
      const text = r.h >= 14 ? fit(box.name, r.w - 7) : '';
      return svg('g', {
        class: `box${match ? ' match' : ''}${heat ? ' on-heat' : ''}`, 'data-box': index, tabindex: '-1', role: 'button',
        'aria-label': `${box.name}, ${format.value(weight, this.unit)}, ${format.percent(weight / this.w.total[0])}`,
      },
      svg('rect', {x: r.x, y: r.y, width: Math.max(1, r.w - 1), height: Math.max(1, r.h - 1), class: fill}),
      text ? svg('text', {x: r.x + 3, y: r.y + 12}, text) : null);
    }

    sideways() {
      const {el, format} = profuse;
      const path = this.path(this.zoomed);
      const part = (node) => el('button', {type: 'button', on: {click: () => this.zoom(node)}}, this.name(node));
      const all = this.w.total[0];
      this.crumbs.replaceChildren(...path.slice(0, -1).flatMap((n) => [part(n), el('span', {class: 'muted', 'aria-hidden': 'true'}, '›')]),
        el('span', {class: 'here', 'aria-current': 'true'}, this.name(this.zoomed), el('span', {class: 'muted'},
          `  ${format.value(this.w.total[this.zoomed], this.unit)}${this.zoomed ? ` (${format.percent(this.w.total[this.zoomed] / all || 0)})` : ''}`)),
        this.zoomed ? el('button', {type: 'button', on: {click: () => this.zoom(0)}}, 'Reset') : '');
      const item = (fill, text, share) => el('li', null, el('span', {class: `swatch ${fill}`}), `${text} `, el('span', {class: 'muted'}, share));
      if (this.byHeat) {
        const here = this.w.total[this.zoomed];
        this.legend.replaceChildren(...this.data.classes.map((c, i) => [c, this.w.byClass[i][this.zoomed]]).reverse()
          .filter(([, x]) => x > 0).map(([c, x]) => item(`fill-${c}`, c === 'ran' ? 'ran, not counted how often' : c, format.percent(x / here))));
      } else {
        this.legend.replaceChildren(...this.kids[this.single(0)].slice().sort((a, b) => this.w.total[b] - this.w.total[a]).filter((k) => this.w.total[k] > 0).slice(0, 10)
          .map((k) => item(this.fill(k), this.name(k), format.percent(this.w.total[k] / all))));
      }
      this.detail(this.zoomed);
    }

    // detail names a function and where else it is shown.
    detail(node) {
      const full = this.full(node);
      if (full === null) {
        this.details.replaceChildren();
        return;
      }
      this.details.replaceChildren(full, ...profuse.links(full).flatMap((a) => [' · ', a]));
    }

    tip(box) {
      if (!box) return null;
      const {format} = profuse;
      const value = (x) => `${format.value(x, this.unit)} (${format.percent(x / this.w.total[0])})`;
      if (box.rest) return `${box.name}\n${value(box.weight)}\nToo small to be drawn here${this.w.rest[box.node] > 0 ? ', or to be in this file' : ''}`;
      const lines = [this.full(box.node) || this.path(box.node).slice(1).map((n) => this.name(n)).reduce((a, b) => this.join(a, b))];
      this.data.values.forEach((v, i) => {
        const w = this.weigh(i);
        const n = w.total[box.node];
        if (w.total[0] > 0 && !(v.name === 'functions' && n === 1)) lines.push(`${v.name} ${format.value(n, v.unit)} (${format.percent(n / w.total[0])})`);
      });
      const heats = this.data.classes.map((c, i) => [c, this.w.byClass[i][box.node]]).filter(([, x]) => x > 0)
        .map(([c, x]) => (box.leaf ? c : `${c} ${format.percent(x / this.w.total[box.node])}`));
      lines.push(heats.join(', '));
      return lines.filter(Boolean).join('\n');
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

    // find marks the functions, and the groups with such in them, that text
    // matches.
    find(text) {
      const {format} = profuse;
      this.matches = null;
      let said = '';
      if (text !== '') {
        const test = profuse.matcher(text);
        const n = this.parent.length;
        this.matches = new Uint8Array(n);
        let found = 0;
        let hits = 0;
        const label = this.data.labels.name.map((name, i) => this.data.labels.full[i] >= 0 && test(this.names[this.data.labels.full[i]]));
        for (let i = n - 1; i > 0; i--) {
          if (label[this.data.tree.label[i]]) {
            this.matches[i] = 1;
            found += this.w.total[i];
            hits++;
          }
          if (this.matches[i]) this.matches[this.parent[i]] = 1;
        }
        said = `${format.count(hits)} ${hits === 1 ? 'function' : 'functions'}, ${format.percent(found / (this.w.total[0] || 1))} (${format.value(found, this.unit)})`;
        if (this.data.tree.left.some((x) => x > 0)) said += ', besides those too small to be in this file';
      }
      if (this.width) this.draw();
      return said;
    }
  }

  profuse.page('treemap', {
    init(root, data, profile) { root.treemap = new Treemap(root, data, profile); },
    show(root) { root.treemap.show(); },
  });
})();

'use strict';
(() => {
  const ROW = 18;
  const LEAST = 0.5; // narrower boxes are joined
  const LETTER = 6.65; // width of a character of 11 pixels
  const AHEAD = 12; // rows drawn beyond those seen
  const VIEWS = [
    ['flame', 'Flame graph', 'Callers below, what they call above'],
    ['icicle', 'Icicle', 'Callers above, what they call below'],
    ['inverted', 'Inverted', 'The functions on top of stacks first, below them their callers'],
  ];

  // A Tree is a tree of the data with the weights of one value.
  class Tree {
    constructor(data, classes) {
      this.data = data;
      this.classes = classes;
      const n = data.depth.length;
      this.parent = new Int32Array(n).fill(-1);
      this.first = Array.from({length: n}, () => []);
      const path = [];
      for (let i = 0; i < n; i++) {
        const d = data.depth[i];
        path[d] = i;
        if (d > 0) {
          this.parent[i] = path[d - 1];
          this.first[path[d - 1]].push(i);
        }
      }
      this.byValue = new Map();
    }

    // weigh returns total, self and rest of each node, the total by class, and
    // the children in their order.
    weigh(value) {
      let w = this.byValue.get(value);
      if (w) return w;
      const n = this.parent.length;
      const k = this.classes;
      w = {
        total: new Float64Array(n), self: new Float64Array(n), rest: new Float64Array(n),
        byClass: Array.from({length: k}, () => new Float64Array(n)), kids: null,
      };
      for (let c = 0; c < k; c++) {
        const self = this.data.self[value * k + c];
        const rest = this.data.rest[value * k + c];
        for (let i = 0; i < self.length; i++) {
          w.self[i] += self[i];
          w.byClass[c][i] += self[i];
        }
        for (let i = 0; i < rest.length; i++) {
          w.rest[i] += rest[i];
          w.byClass[c][i] += rest[i];
        }
        for (let i = n - 1; i > 0; i--) w.byClass[c][this.parent[i]] += w.byClass[c][i];
        for (let i = 0; i < n; i++) w.total[i] += w.byClass[c][i];
      }
      w.kids = this.first.map((kids) => (kids.length > 1 ? kids.slice().sort((a, b) => w.total[b] - w.total[a] || a - b) : kids));
      this.byValue.set(value, w);
      return w;
    }

    path(node) {
      const out = [];
      for (let i = node; i >= 0; i = this.parent[i]) out.push(i);
      return out.reverse();
    }
  }

  // fit cuts a name to a width in pixels; '' if two letters have no room.
  function fit(text, width) {
    const room = Math.floor(width / LETTER);
    if (room < 3) return '';
    return text.length <= room ? text : `${text.slice(0, room - 1)}…`;
  }

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
      const select = (key, label) => {
        const s = el('select', {on: {change: () => this.set(key, s.value)}});
        return {select: s, label: el('label', null, el('span', {class: 'muted'}, label), s)};
      };
      this.tables = select('table', 'Stacks');
      this.values = select('value', 'Width');
      this.colours = select('colour', 'Colour');
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
      this.tables.select.append(...this.sets.map((s, i) => el('option', {value: i}, s.name)));
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
      const {el, state} = profuse;
      const chosen = Number(state.get('table') || 0);
      const set = this.sets[chosen] || this.sets[0];
      if (set !== this.of) {
        this.of = set;
        this.about.textContent = `${set.about}${set.cut ? ' What is too small to be in this file is shown as “(n smaller)”.' : ''}`;
        this.values.select.replaceChildren(...set.values.map((v, i) => el('option', {value: i}, v.name)));
        this.values.label.hidden = set.values.length < 2;
        this.modes = this.colourModes(set);
        this.colours.select.replaceChildren(...this.modes.map((m, i) => el('option', {value: i}, m.title)));
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
      const fn = profuse.state.get('fn');
      if (fn !== null) {
        profuse.state.set('fn', '', {replace: true});
        profuse.state.set('q', fn, {replace: true});
      }
      this.read();
      this.layout(); // the rows may be of another tree, and the search draws
      const q = profuse.state.get('q') || '';
      if (q !== this.search.input.value) this.search.set(q);
      else this.search.refresh();
    }

    // colourModes are what boxes can be coloured by.
    colourModes(set) {
      const modes = [{title: 'package', kind: 'group'}];
      if (set.classes.length > 1 || set.classes[0] !== '') modes.push({title: 'temperature', kind: 'class'});
      const index = (name) => set.values.findIndex((v) => v.name === name);
      const count = index('alloc_objects');
      for (const [name, title, unit, scale] of [
        ['lifetime', 'mean lifetime', 'milliseconds', 1],
        ['lifetime_access_density', 'mean access density', 'count', 100],
      ]) {
        if (count >= 0 && index(name) >= 0 && set.all[index(name)] > 0) modes.push({title, kind: 'mean', of: index(name), by: count, unit, scale});
      }
      set.other.forEach((v, i) => {
        if (set.down.other[i].length) modes.push({title: v.name, kind: 'other', of: i, unit: v.unit});
      });
      return modes;
    }

    // number returns what a node is coloured by in a mode with a scale.
    number(mode, node) {
      if (mode.kind === 'other') return this.now.data.other[mode.of][node];
      const n = this.now.weigh(mode.by).total[node];
      return n > 0 ? this.now.weigh(mode.of).total[node] / n / mode.scale : 0;
    }

    // scale returns the bounds of the five steps of a mode.
    scale(mode) {
      let low = Infinity;
      let high = 0;
      for (let i = 0; i < this.now.parent.length; i++) {
        const x = this.number(mode, i);
        if (x > 0) {
          low = Math.min(low, x);
          high = Math.max(high, x);
        }
      }
      if (high === 0) return [];
      return [1, 2, 3, 4].map((k) => low * (high / low) ** (k / 5));
    }

    colour(node) {
      const label = this.now.data.label[node];
      if (this.mode.kind === 'group') return label < 0 ? 'fill-root' : `fill-c${this.of.groups.colour[this.of.functions.group[label]]}`;
      if (this.mode.kind === 'class') return `fill-${heat(this.of.classes[this.main(node)])} on-heat`;
      const x = this.number(this.mode, node);
      return `fill-r${this.steps.filter((s) => x > s).length}`;
    }

    // main returns the class that most of a node belongs to.
    main(node) {
      let best = 0;
      for (let c = 1; c < this.w.byClass.length; c++) if (this.w.byClass[c][node] > this.w.byClass[best][node]) best = c;
      return best;
    }

    name(node) {
      const label = this.now.data.label[node];
      return label < 0 ? 'all' : this.names[this.of.functions.name[label]];
    }

    short(node) {
      const label = this.now.data.label[node];
      return label < 0 ? 'all' : this.names[this.of.functions.short[label]];
    }

    // layout places all boxes, row by row.
    layout() {
      if (!this.width) return;
      if (this.mode.kind === 'mean' || this.mode.kind === 'other') this.steps = this.scale(this.mode);
      this.rows = [];
      const put = (depth, box) => {
        box.key = `${box.node}${box.kind || ''}`;
        (this.rows[depth] = this.rows[depth] || []).push(box);
      };
      const path = this.now.path(this.zoomed);
      for (const node of path.slice(0, -1)) put(this.now.data.depth[node], {node, x: 0, w: this.width, above: true});
      const {total, kids, rest} = this.w;
      const stack = [[this.zoomed, 0, this.width]];
      while (stack.length) {
        const [node, x, width] = stack.pop();
        const depth = this.now.data.depth[node];
        put(depth, {node, x, w: width});
        const scale = total[node] > 0 ? width / total[node] : 0;
        if (scale === 0) continue;
        const next = [];
        let at = x;
        let joined = 0;
        let left = 0;
        for (const k of kids[node]) {
          const w = total[k] * scale;
          if (w >= LEAST) {
            next.push([k, at, w]);
            at += w;
          } else if (total[k] > 0) {
            joined += w;
            left++;
          }
        }
        for (let i = next.length - 1; i >= 0; i--) stack.push(next[i]);
        const w = joined + rest[node] * scale;
        if (w >= LEAST) put(depth + 1, {node, x: at, w, kind: 'r', left: left + this.now.data.left[node], weight: w / scale});
      }
      for (const row of this.rows) row.sort((a, b) => a.x - b.x);
      const height = this.rows.length * ROW + 1;
      this.svg.setAttribute('width', this.width);
      this.svg.setAttribute('height', height);
      this.svg.setAttribute('viewBox', `0 0 ${this.width} ${height}`);
      this.height = height;
      this.sideways();
      this.drawn = '';
      this.scrollTo(this.now.data.depth[this.zoomed]);
      this.draw();
    }

    // sideways shows what stands beside the boxes.
    sideways() {
      const {el, format} = profuse;
      const path = this.now.path(this.zoomed);
      const part = (node) => el('button', {type: 'button', title: this.name(node), on: {click: () => this.zoom(node)}}, this.short(node));
      const above = path.slice(0, -1);
      const shown = above.length <= 6 ? above.map(part)
        : [...above.slice(0, 2).map(part), el('span', {class: 'muted'}, `… ${above.length - 5} …`), ...above.slice(-3).map(part)];
      const node = this.zoomed;
      const share = this.w.total[0] > 0 ? this.w.total[node] / this.w.total[0] : 0;
      this.crumbs.replaceChildren(...shown.flatMap((s) => [s, el('span', {class: 'muted', 'aria-hidden': 'true'}, '›')]),
        el('span', {class: 'here', 'aria-current': 'true'}, this.name(node),
          el('span', {class: 'muted'}, `  ${format.value(this.w.total[node], this.unit)}${node ? ` (${format.percent(share)})` : ''}`)),
        node ? el('button', {type: 'button', on: {click: () => this.zoom(0)}}, 'Reset') : '');
      this.details.replaceChildren();
      const label = this.now.data.label[node];
      if (label >= 0) {
        const f = this.of.functions;
        const links = profuse.links(this.name(node)).flatMap((a) => [' · ', a]);
        this.details.append(`${this.name(node)}, in all places: total ${format.value(f.total[this.value][label], this.unit)}, self ${format.value(f.self[this.value][label], this.unit)}`, ...links);
      }
      this.legend.replaceChildren(...this.legendItems());
    }

    legendItems() {
      const {el, format} = profuse;
      const item = (fill, ...text) => el('li', null, el('span', {class: `swatch ${fill}`}), ...text);
      if (this.mode.kind === 'class') {
        return this.of.classes.map((c, i) => item(`fill-${heat(c)}`, `${c || 'unknown'} `, el('span', {class: 'muted'}, format.percent(this.w.byClass[i][0] / this.w.total[0] || 0))));
      }
      if (this.mode.kind === 'group') {
        const self = new Float64Array(this.of.groups.name.length);
        this.of.functions.self[this.value].forEach((x, f) => { self[this.of.functions.group[f]] += x; });
        const order = [...self.keys()].filter((g) => self[g] > 0).sort((a, b) => self[b] - self[a] || a - b);
        const items = order.slice(0, 10).map((g) => item(`fill-c${this.of.groups.colour[g]}`, `${this.names[this.of.groups.name[g]]} `,
          el('span', {class: 'muted', title: 'What its functions have themselves'}, format.percent(self[g] / this.w.total[0]))));
        if (order.length > 10) items.push(el('li', {class: 'muted'}, `and ${order.length - 10} more`));
        return items;
      }
      const text = (x) => format.value(x >= 100 ? Math.round(x) : Number(x.toPrecision(2)), this.mode.unit);
      if (!this.steps.length) return [];
      return [item('fill-r0', `up to ${text(this.steps[0])}`), ...this.steps.map((s, i) => item(`fill-r${i + 1}`, `above ${text(s)}`))];
    }

    // top returns where a row is drawn.
    top(depth) {
      return this.viewID === 'flame' ? this.height - 1 - (depth + 1) * ROW : depth * ROW;
    }

    scrollTo(depth) {
      const y = this.top(depth);
      const seen = this.view.clientHeight;
      if (this.viewID === 'flame') this.view.scrollTop = y + 2 * ROW - seen + 4;
      else this.view.scrollTop = Math.max(0, y - ROW);
    }

    drawSoon() {
      if (this.waiting) return;
      this.waiting = true;
      requestAnimationFrame(() => {
        this.waiting = false;
        this.draw();
      });
    }

    // draw draws the rows that are seen.
    draw() {
      const from = Math.floor(this.view.scrollTop / ROW) - AHEAD;
      const to = from + Math.ceil((this.view.clientHeight || 600) / ROW) + 2 * AHEAD;
      const rows = [];
      for (let d = 0; d < this.rows.length; d++) {
        const r = this.top(d) / ROW;
        if (r >= from && r <= to) rows.push(d);
      }
      const seen = `${rows[0]}-${rows[rows.length - 1]}`;
      if (seen === this.drawn) return;
      this.drawn = seen;
      const had = this.svg.contains(document.activeElement);
      this.svg.replaceChildren(...rows.flatMap((d) => this.rows[d].map((box) => this.box(box, d))));
      this.svg.classList.toggle('searching', this.matches !== null);
      const target = this.element(this.focused) || this.element(String(this.zoomed));
      if (target) {
        target.setAttribute('tabindex', '0');
        if (had) target.focus({preventScroll: true});
      }
    }

    element(key) {
      return this.svg.querySelector(`[data-key="${key}"]`);
    }

    box(box, depth) {
      const {svg, format} = profuse;
      const y = this.top(depth);
      const name = box.kind ? `(${format.count(box.left)} smaller)` : this.name(box.node);
      const weight = box.kind ? box.weight : this.w.total[box.node];
      const label = this.now.data.label[box.node];
      const match = this.matches && !box.kind && label >= 0 && this.matches[label];
      const short = !box.kind && name.length * LETTER > box.w - 7 ? this.short(box.node) : name;
      const text = fit(short, box.w - 7);
      const share = this.w.total[0] > 0 ? weight / this.w.total[0] : 0;
      return svg('g', {
        class: `box${match ? ' match' : ''}${box.above ? ' above' : ''}${box.kind ? '' : ` ${this.colour(box.node).split(' ').slice(1).join(' ')}`}`,
        'data-key': box.key, 'data-node': box.node, 'data-depth': depth, tabindex: '-1', role: 'button',
        'aria-label': `${name}, ${format.value(weight, this.unit)}, ${format.percent(share)}`,
      },
      svg('rect', {x: box.x, y, width: Math.max(box.w - (box.w > 3 ? 1 : 0), LEAST), height: ROW - 1, class: box.kind ? 'fill-rest' : this.colour(box.node).split(' ')[0]}),
      text ? svg('text', {x: box.x + 3, y: y + 12.5}, text) : null);
    }

    place(key, depth) {
      return (this.rows[depth] || []).findIndex((b) => b.key === key);
    }

    tip(element) {
      const {format} = profuse;
      const depth = Number(element.dataset.depth);
      const box = this.rows[depth][this.place(element.dataset.key, depth)];
      if (!box) return null;
      const value = (x) => format.value(x, this.unit);
      const all = this.w.total[0];
      if (box.kind) return `${format.count(box.left)} boxes too small to be drawn here\n${value(box.weight)} (${format.percent(box.weight / all)})`;
      const node = box.node;
      const lines = [this.name(node), `total ${value(this.w.total[node])} (${format.percent(this.w.total[node] / all)})`];
      const parent = this.now.parent[node];
      if (parent > 0) lines[1] += `, ${format.percent(this.w.total[node] / this.w.total[parent])} of ${this.viewID === 'inverted' ? 'what it called' : 'its caller'}`;
      if (this.viewID !== 'inverted') lines.push(`self ${value(this.w.self[node])} (${format.percent(this.w.self[node] / all)})`);
      else if (this.w.self[node] > 0) lines.push(`${value(this.w.self[node])} in stacks that begin here`);
      const label = this.now.data.label[node];
      const set = this.of;
      if (label >= 0) {
        const f = set.functions;
        lines.push(`in all places: total ${value(f.total[this.value][label])}, self ${value(f.self[this.value][label])}`);
        lines.push(this.names[set.groups.name[f.group[label]]]);
      }
      if (set.classes.length > 1 || set.classes[0] !== '') {
        lines.push(set.classes.map((c, i) => [c || 'unknown', this.w.byClass[i][node]]).filter(([, x]) => x > 0)
          .map(([c, x]) => `${c} ${format.percent(x / this.w.total[node])}`).join(', '));
      }
      for (const m of this.modes) {
        if (m.kind === 'mean' || m.kind === 'other') {
          const x = this.number(m, node);
          lines.push(`${m.title} ${format.value(x >= 100 ? Math.round(x) : Number(x.toPrecision(3)), m.unit)}`);
        }
      }
      return lines.filter(Boolean).join('\n');
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

    // find marks the functions that text matches and says what share they have,
    // every stack counted once.
    find(text) {
      const {format} = profuse;
      const f = this.of.functions;
      let said = '';
      this.matches = null;
      if (text !== '') {
        const test = profuse.matcher(text);
        this.matches = f.name.map((n) => test(this.names[n]));
        const hits = this.matches.reduce((n, m) => n + (m ? 1 : 0), 0);
        const {total, rest} = this.down.weigh(this.value);
        const all = total[0] || 1;
        let found = 0;
        let unknown = 0;
        const under = new Uint8Array(total.length);
        for (let i = 0; i < total.length; i++) {
          const label = this.down.data.label[i];
          const parent = this.down.parent[i];
          under[i] = parent >= 0 ? under[parent] : 0;
          if (!under[i] && label >= 0 && this.matches[label]) {
            under[i] = 1;
            found += total[i];
          }
          if (!under[i]) unknown += rest[i];
        }
        if (hits === 1) {
          found = f.total[this.value][this.matches.indexOf(true)];
          unknown = 0;
        }
        said = `${format.count(hits)} ${hits === 1 ? 'function' : 'functions'}, in ${format.percent(found / all)} (${format.value(found, this.unit)})`;
        if (unknown > 0) said += `, and what of ${format.percent(unknown / all)} in small boxes`;
      }
      this.drawn = '';
      if (this.width) this.draw();
      return said;
    }
  }

  function heat(word) {
    return {hot: 'hot', warm: 'warm', notcold: 'warm', cold: 'cold'}[word] || 'never';
  }

  profuse.page('flame', {
    init(root, data, profile) { root.flame = new Flame(root, data, profile); },
    show(root) { root.flame.show(); },
  });
})();

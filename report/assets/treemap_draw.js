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

// What places boxes and draws them.
Object.assign(Treemap.prototype, {
  fill(node) {
    if (this.byHeat) return `fill-${this.data.classes[Tree.main(this.w, node)]}`;
    const path = this.tree.path(node);
    const outer = path[Math.min(path.length - 1, this.tree.data.depth[this.single(0)] + 1)];
    return outer === 0 ? 'fill-root' : `fill-c${this.data.labels.colour[this.tree.data.label[outer]]}`;
  },

  draw() {
    if (!this.width) return;
    const height = Math.max(320, Math.min(Math.round(this.width * 0.56), Math.max(400, innerHeight - 260)));
    this.boxes = [];
    const had = this.svg.contains(document.activeElement);
    const whole = {x: 0, y: 0, w: this.width, h: height};
    const node = this.zoomed;
    if (this.tree.kids[node].length > 0 || this.w.rest[node] > 0) {
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
  },

  // inside places what a group consists of, if there is room for all of it,
  // and adds groups within to closed.
  inside({node, r, box}, closed) {
    const {total, rest, byClass, kids} = this.w;
    const {data} = this.tree;
    const inner = box ? {x: r.x + 2, y: r.y + HEADER, w: r.w - 5, h: r.h - HEADER - 3} : r;
    if (inner.w <= 0 || inner.h <= 0 || total[node] <= 0) return;
    const perPixel = total[node] / (inner.w * inner.h);
    const left = {node: -1, weight: rest[node], left: data.left[node]};
    const heats = byClass.map((_, c) => data.rest[this.value * byClass.length + c][node] || 0);
    const parts = [];
    for (const k of kids[node]) {
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
  },

  place(node, r, closed) {
    const inner = this.single(node);
    const names = this.tree.path(inner).slice(this.tree.data.depth[node]).map((n) => this.name(n));
    const group = this.tree.kids[inner].length > 0 || this.w.rest[inner] > 0;
    const box = {node: inner, r, leaf: !group, name: names.reduce((a, b) => this.join(a, b))};
    this.boxes.push(box);
    if (group && r.w >= OPENING && r.h >= OPENING) closed.push({node: inner, r, box});
  },

  element(box, index) {
    const {svg, fit, format} = profuse;
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
  },
});

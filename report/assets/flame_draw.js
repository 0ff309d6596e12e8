// What places boxes and draws those that are seen.
Object.assign(Flame.prototype, {
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
  },

  // top returns where a row is drawn.
  top(depth) {
    return this.viewID === 'flame' ? this.height - 1 - (depth + 1) * ROW : depth * ROW;
  },

  scrollTo(depth) {
    const y = this.top(depth);
    const seen = this.view.clientHeight;
    if (this.viewID === 'flame') this.view.scrollTop = y + 2 * ROW - seen + 4;
    else this.view.scrollTop = Math.max(0, y - ROW);
  },

  drawSoon() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  },

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
  },

  element(key) {
    return this.svg.querySelector(`[data-key="${key}"]`);
  },

  box(box, depth) {
    const {svg, fit, format} = profuse;
    const y = this.top(depth);
    const name = box.kind ? `(${format.count(box.left)} smaller)` : this.name(box.node);
    const weight = box.kind ? box.weight : this.w.total[box.node];
    const label = this.now.data.label[box.node];
    const match = this.matches && !box.kind && label >= 0 && this.matches[label];
    let text = fit(name, box.w - 7);
    if (!box.kind && text !== name) text = fit(this.short(box.node), box.w - 7);
    const share = this.w.total[0] > 0 ? weight / this.w.total[0] : 0;
    return svg('g', {
      class: `box${match ? ' match' : ''}${box.above ? ' above' : ''}${box.kind ? '' : ` ${this.colour(box.node).split(' ').slice(1).join(' ')}`}`,
      'data-key': box.key, 'data-node': box.node, 'data-depth': depth, tabindex: '-1', role: 'button',
      'aria-label': `${name}, ${format.value(weight, this.unit)}, ${format.percent(share)}`,
    },
    svg('rect', {x: box.x, y, width: Math.max(box.w - (box.w > 3 ? 1 : 0), LEAST), height: ROW - 1, class: box.kind ? 'fill-rest' : this.colour(box.node).split(' ')[0]}),
    text ? svg('text', {x: box.x + 3, y: y + 12.5}, text) : null);
  },

  place(key, depth) {
    return (this.rows[depth] || []).findIndex((b) => b.key === key);
  },
});

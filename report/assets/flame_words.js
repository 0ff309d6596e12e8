// What is said of boxes beside the drawing.
Object.assign(Flame.prototype, {
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
  },

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
  },

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
  },
});

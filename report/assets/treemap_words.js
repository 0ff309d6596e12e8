// What is said of boxes beside the drawing.
Object.assign(Treemap.prototype, {
  sideways() {
    const {el, format} = profuse;
    const path = this.tree.path(this.zoomed);
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
      this.legend.replaceChildren(...this.w.kids[this.single(0)].filter((k) => this.w.total[k] > 0).slice(0, 10)
        .map((k) => item(this.fill(k), this.name(k), format.percent(this.w.total[k] / all))));
    }
    this.detail(this.zoomed);
  },

  // detail names a function and where else it is shown.
  detail(node) {
    const full = this.full(node);
    if (full === null) {
      this.details.replaceChildren();
      return;
    }
    this.details.replaceChildren(full, ...profuse.links(full).flatMap((a) => [' · ', a]));
  },

  tip(box) {
    if (!box) return null;
    const {format} = profuse;
    const value = (x) => `${format.value(x, this.unit)} (${format.percent(x / this.w.total[0])})`;
    if (box.rest) return `${box.name}\n${value(box.weight)}\nToo small to be drawn here${this.w.rest[box.node] > 0 ? ', or to be in this file' : ''}`;
    const lines = [this.full(box.node) || this.tree.path(box.node).slice(1).map((n) => this.name(n)).reduce((a, b) => this.join(a, b))];
    this.data.values.forEach((v, i) => {
      const w = this.tree.weigh(i);
      const n = w.total[box.node];
      if (w.total[0] > 0 && !(v.name === 'functions' && n === 1)) lines.push(`${v.name} ${format.value(n, v.unit)} (${format.percent(n / w.total[0])})`);
    });
    const heats = this.data.classes.map((c, i) => [c, this.w.byClass[i][box.node]]).filter(([, x]) => x > 0)
      .map(([c, x]) => (box.leaf ? c : `${c} ${format.percent(x / this.w.total[box.node])}`));
    lines.push(heats.join(', '));
    return lines.filter(Boolean).join('\n');
  },

  // find marks the functions, and the groups with such in them, that text
  // matches.
  find(text) {
    const {format} = profuse;
    this.matches = null;
    let said = '';
    if (text !== '') {
      const test = profuse.matcher(text);
      const {parent} = this.tree;
      const n = parent.length;
      this.matches = new Uint8Array(n);
      let found = 0;
      let hits = 0;
      const label = this.data.labels.name.map((name, i) => this.data.labels.full[i] >= 0 && test(this.names[this.data.labels.full[i]]));
      for (let i = n - 1; i > 0; i--) {
        if (label[this.tree.data.label[i]]) {
          this.matches[i] = 1;
          found += this.w.total[i];
          hits++;
        }
        if (this.matches[i]) this.matches[parent[i]] = 1;
      }
      said = `${format.count(hits)} ${hits === 1 ? 'function' : 'functions'}, ${format.percent(found / (this.w.total[0] || 1))} (${format.value(found, this.unit)})`;
      if (this.tree.data.left.some((x) => x > 0)) said += ', besides those too small to be in this file';
    }
    if (this.width) this.draw();
    return said;
  },
});

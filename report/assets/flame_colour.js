// What colours boxes, and explains the colours.
Object.assign(Flame.prototype, {
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
  },

  // number returns what a node is coloured by in a mode with a scale.
  number(mode, node) {
    if (mode.kind === 'other') return this.now.data.other[mode.of][node];
    const n = this.now.weigh(mode.by).total[node];
    return n > 0 ? this.now.weigh(mode.of).total[node] / n / mode.scale : 0;
  },

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
  },

  colour(node) {
    const label = this.now.data.label[node];
    if (this.mode.kind === 'group') return label < 0 ? 'fill-root' : `fill-c${this.of.groups.colour[this.of.functions.group[label]]}`;
    if (this.mode.kind === 'class') return `fill-${heat(this.of.classes[Tree.main(this.w, node)])} on-heat`;
    const x = this.number(this.mode, node);
    return `fill-r${this.steps.filter((s) => x > s).length}`;
  },

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
  },
});

function heat(word) {
  return {hot: 'hot', warm: 'warm', notcold: 'warm', cold: 'cold'}[word] || 'never';
}

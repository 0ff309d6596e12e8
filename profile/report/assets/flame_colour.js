// What colours the boxes of a flame graph, and explains the colours. now is what is
// chosen, see flame.js.
const {el, format} = profuse;

// number returns what a node is coloured by in a mode with a scale.
function number({tree}, mode, node) {
  if (mode.kind === 'other') return tree.data.other[mode.of][node];
  const n = tree.weigh(mode.by).total[node];
  return n > 0 ? tree.weigh(mode.of).total[node] / n / mode.scale : 0;
}

function heat(word) {
  return {hot: 'hot', warm: 'warm', notcold: 'warm', cold: 'cold'}[word] || 'never';
}

const item = (fill, ...text) => el('li', null, el('span', {class: `swatch ${fill}`}), ...text);

// weigh returns the weights of packages, and which have most.
function weigh({functions, groups}, value) {
  const self = new Float64Array(groups.name.length);
  functions.self[value].forEach((x, f) => { self[functions.group[f]] += x; });
  return [self, [...self.keys()].sort((a, b) => self[b] - self[a] || a - b)];
}

// groupItems are the packages with the greatest weight.
function groupItems({set, names, value, w, groups}) {
  const [self, all] = weigh(set, value);
  const order = all.filter((g) => self[g] > 0);
  const items = order.slice(0, 10).map((g) => item(`fill-c${groups.get(g)}`, `${names[set.groups.name[g]]} `,
    el('span', {class: 'muted', title: 'What its functions have themselves'}, format.percent(self[g] / w.total[0]))));
  if (order.length > 10) items.push(el('li', {class: 'muted'}, `and ${order.length - 10} more`));
  return items;
}

profuse.flameColours = {
  number,

  // modes are what boxes can be coloured by.
  modes(set) {
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

  // groups returns the colours of packages.
  groups(set) {
    const [, order] = weigh(set, Math.max(0, set.all.findIndex((x) => x > 0)));
    const colours = profuse.distinct(order.map((g) => set.groups.colour[g]));
    return new Map(order.map((g, i) => [g, colours[i]]));
  },

  // steps returns the bounds of the five steps of the mode; none without a scale.
  steps(now) {
    if (now.mode.kind === 'group' || now.mode.kind === 'class') return [];
    let low = Infinity;
    let high = 0;
    for (let i = 0; i < now.tree.parent.length; i++) {
      const x = number(now, now.mode, i);
      if (x > 0) {
        low = Math.min(low, x);
        high = Math.max(high, x);
      }
    }
    return high === 0 ? [] : [1, 2, 3, 4].map((k) => low * (high / low) ** (k / 5));
  },

  fill(now, node) {
    const {set, tree, mode} = now;
    const label = tree.data.label[node];
    if (mode.kind === 'group') return label < 0 ? 'fill-root' : `fill-c${now.groups.get(set.functions.group[label])}`;
    if (mode.kind === 'class') return `fill-${heat(set.classes[profuse.mainClass(now.w, node)])}`;
    const x = number(now, mode, node);
    return `fill-r${now.steps.filter((s) => x > s).length}`;
  },

  // legend returns the items of the legend.
  legend(now) {
    const {set, mode, w, steps} = now;
    if (mode.kind === 'group') return groupItems(now);
    if (mode.kind === 'class') {
      return set.classes.map((c, i) => item(`fill-${heat(c)}`, `${c || 'unknown'} `, el('span', {class: 'muted'}, format.percent(w.byClass[i][0] / w.total[0] || 0))));
    }
    if (!steps.length) return [];
    const text = (x) => format.value(x >= 100 ? Math.round(x) : Number(x.toPrecision(2)), mode.unit);
    return [item('fill-r0', `up to ${text(steps[0])}`), ...steps.map((s, i) => item(`fill-r${i + 1}`, `above ${text(s)}`))];
  },
};

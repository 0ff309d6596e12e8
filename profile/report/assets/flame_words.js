// What is said of the boxes of a flame graph. now is what is chosen, see flame.js.
const {format} = profuse;

profuse.flameWords = {
  // details returns the totals of the function zoomed to, over all its boxes.
  details({set, tree, value, unit, zoom, name}) {
    const label = tree.data.label[zoom];
    if (label < 0) return [];
    const {total, self} = set.functions;
    const text = `${name(zoom)}, in all places: total ${format.value(total[value][label], unit)}, self ${format.value(self[value][label], unit)}`;
    return [text, ...profuse.links(name(zoom)).flatMap((a) => [' · ', a])];
  },

  tip(now, box) {
    const {set, names, tree, w, unit, view} = now;
    const {node} = box;
    const text = (x) => format.value(x, unit);
    const all = w.total[0];
    if (box.kind) return `${format.count(box.left)} boxes too small to be drawn here\n${text(box.weight)} (${format.percent(box.weight / all)})`;
    const lines = [now.name(node), `total ${text(w.total[node])} (${format.percent(w.total[node] / all)})`];
    const parent = tree.parent[node];
    if (parent > 0) lines[1] += `, ${format.percent(w.total[node] / w.total[parent])} of ${view === 'inverted' ? 'what it called' : 'its caller'}`;
    if (view !== 'inverted') lines.push(`self ${text(w.self[node])} (${format.percent(w.self[node] / all)})`);
    else if (w.self[node] > 0) lines.push(`${text(w.self[node])} in stacks that begin here`);
    const label = tree.data.label[node];
    if (label >= 0) {
      const f = set.functions;
      lines.push(`in all places: total ${text(f.total[now.value][label])}, self ${text(f.self[now.value][label])}`);
      lines.push(names[set.groups.name[f.group[label]]]);
    }
    if (set.classes.length > 1 || set.classes[0] !== '') {
      lines.push(set.classes.map((c, i) => [c || 'unknown', w.byClass[i][node]]).filter(([, x]) => x > 0)
        .map(([c, x]) => `${c} ${format.percent(x / w.total[node])}`).join(', '));
    }
    for (const m of now.modes) {
      if (m.kind === 'mean' || m.kind === 'other') {
        const x = profuse.flameColours.number(now, m, node);
        lines.push(`${m.title} ${format.value(x >= 100 ? Math.round(x) : Number(x.toPrecision(3)), m.unit)}`);
      }
    }
    return lines.filter(Boolean).join('\n');
  },

  // find returns the functions that text matches, and a sentence with their share, which counts every
  // stack once.
  find({set, names, down, value, unit}, text) {
    if (text === '') return {matches: null, said: ''};
    const f = set.functions;
    const test = profuse.matcher(text);
    const matches = f.name.map((n) => test(names[n]));
    const hits = matches.filter(Boolean).length;
    const {total, rest} = down.weigh(value);
    const all = total[0] || 1;
    let found = 0;
    let unknown = 0;
    const under = new Uint8Array(total.length);
    for (let i = 0; i < total.length; i++) {
      const parent = down.parent[i];
      under[i] = parent >= 0 ? under[parent] : 0;
      if (!under[i] && matches[down.data.label[i]]) {
        under[i] = 1;
        found += total[i];
      }
      if (!under[i]) unknown += rest[i];
    }
    if (hits === 1) {
      found = f.total[value][matches.indexOf(true)];
      unknown = 0;
    }
    let said = `${format.count(hits)} ${hits === 1 ? 'function' : 'functions'}, in ${format.percent(found / all)} (${format.value(found, unit)})`;
    if (unknown > 0) said += `, and what of ${format.percent(unknown / all)} in small boxes`;
    return {matches, said};
  },
};

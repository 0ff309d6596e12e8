// What is said of the boxes of a treemap. now is what is chosen, see treemap.js.
const {el, format} = profuse;

profuse.treemapWords = {
  // legend returns the items of the legend.
  legend(now) {
    const {data, w} = now;
    const item = (fill, text, share) => el('li', null, el('span', {class: `swatch ${fill}`}), `${text} `, el('span', {class: 'muted'}, format.percent(share)));
    if (now.byHeat) {
      return data.classes.map((c, i) => [c, w.byClass[i][now.zoom]]).reverse().filter(([, x]) => x > 0)
        .map(([c, x]) => item(`fill-${c}`, c === 'ran' ? 'ran, not counted how often' : c, x / w.total[now.zoom]));
    }
    return w.kids[now.single(0)].filter((k) => w.total[k] > 0).slice(0, 10)
      .map((k) => item(profuse.treemapFill(now, k), now.name(k), w.total[k] / w.total[0] || 0));
  },

  // details names a function and where else it is shown.
  details({full}, node) {
    const name = full(node);
    return name === null ? [] : [name, ...profuse.links(name).flatMap((a) => [' · ', a])];
  },

  tip(now, box) {
    const {data, tree, w} = now;
    const {node} = box;
    const value = (x, unit, all) => `${format.value(x, unit)} (${format.percent(x / all)})`;
    if (box.rest) return `${box.name}\n${value(box.weight, now.unit, w.total[0])}\nToo small to be drawn here${w.rest[node] > 0 ? ', or to be in this file' : ''}`;
    const lines = [now.full(node) || now.join(tree.path(node).slice(node ? 1 : 0).map(now.name))];
    data.values.forEach((v, i) => {
      const {total} = tree.weigh(i);
      if (total[0] > 0 && !(v.name === 'functions' && total[node] === 1)) lines.push(`${v.name} ${value(total[node], v.unit, total[0])}`);
    });
    lines.push(data.classes.map((c, i) => [c, w.byClass[i][node]]).filter(([, x]) => x > 0)
      .map(([c, x]) => (box.leaf ? c : `${c} ${format.percent(x / w.total[node])}`)).join(', '));
    return lines.filter(Boolean).join('\n');
  },

  // find returns the functions, and the groups with such in them, that text matches, and
  // says how many there are.
  find({data, tree, w, unit}, names, text) {
    if (text === '') return {matches: null, said: ''};
    const test = profuse.matcher(text);
    const labels = data.labels.full.map((n) => n >= 0 && test(names[n]));
    const matches = new Uint8Array(tree.parent.length);
    let found = 0;
    let hits = 0;
    for (let i = matches.length - 1; i > 0; i--) {
      if (labels[data.tree.label[i]]) {
        matches[i] = 1;
        found += w.total[i];
        hits++;
      }
      if (matches[i]) matches[tree.parent[i]] = 1;
    }
    let said = `${format.count(hits)} ${hits === 1 ? 'function' : 'functions'}, ${format.percent(found / (w.total[0] || 1))} (${format.value(found, unit)})`;
    if (data.tree.left.some((x) => x > 0)) said += ', besides those too small to be in this file';
    return {matches, said};
  },
};

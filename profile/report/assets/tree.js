// profuse.tree is the tree in one of a page's data (see treeData), with its weights.
profuse.tree = (data, classes) => {
  const n = data.depth.length;
  const parent = new Int32Array(n).fill(-1);
  const kids = Array.from({length: n}, () => []);
  const above = [];
  for (let i = 0; i < n; i++) {
    const d = data.depth[i];
    above[d] = i;
    if (d > 0) {
      parent[i] = above[d - 1];
      kids[above[d - 1]].push(i);
    }
  }
  const byValue = new Map();

  // weigh returns of a value the total, self and rest of each node, the total by
  // class, and the children, the heaviest first.
  function weigh(value) {
    let w = byValue.get(value);
    if (w) return w;
    w = {
      total: new Float64Array(n), self: new Float64Array(n), rest: new Float64Array(n),
      byClass: Array.from({length: classes}, () => new Float64Array(n)), kids: null,
    };
    w.byClass.forEach((sums, c) => {
      for (const part of ['self', 'rest']) {
        data[part][value * classes + c].forEach((x, i) => {
          w[part][i] += x;
          sums[i] += x;
        });
      }
      for (let i = n - 1; i > 0; i--) sums[parent[i]] += sums[i];
      for (let i = 0; i < n; i++) w.total[i] += sums[i];
    });
    w.kids = kids.map((list) => (list.length > 1 ? list.slice().sort((a, b) => w.total[b] - w.total[a] || a - b) : list));
    byValue.set(value, w);
    return w;
  }

  // path returns the nodes from the root to a node.
  function path(node) {
    const out = [];
    for (let i = node; i >= 0; i = parent[i]) out.push(i);
    return out.reverse();
  }

  return {data, parent, kids, weigh, path};
};

// mainClass returns the class that most of a node belongs to.
profuse.mainClass = ({byClass}, node) => byClass.reduce((best, sums, c) => (sums[node] > byClass[best][node] ? c : best), 0);

// distinct returns the colours of groups, the heaviest first: the one wanted, which is that
// of its name in every report, but to each of the first ten another one.
profuse.distinct = (wanted) => {
  const used = new Set();
  return wanted.map((c) => {
    let own = c;
    while (used.size < 10 && used.has(own)) own = (own + 1) % 10;
    used.add(own);
    return own;
  });
};

// crumbs returns the path to the node that a page with a tree is zoomed to. The page's
// choices (see flame.js) have tree, w, unit, zoom, name(node) and perhaps short(node).
profuse.crumbs = ({tree, w, unit, zoom: node, name, short = name}, zoom) => {
  const {el, format} = profuse;
  const part = (n) => el('button', {type: 'button', title: name(n), on: {click: () => zoom(n)}}, short(n));
  const above = tree.path(node).slice(0, -1);
  const shown = above.length <= 6 ? above.map(part)
    : [...above.slice(0, 2).map(part), el('span', {class: 'muted'}, `… ${above.length - 5} …`), ...above.slice(-3).map(part)];
  return [
    ...shown.flatMap((s) => [s, el('span', {class: 'muted', 'aria-hidden': 'true'}, '›')]),
    el('span', {class: 'here', 'aria-current': 'true'}, name(node), el('span', {class: 'muted'},
      `  ${format.value(w.total[node], unit)}${node ? ` (${format.percent(w.total[node] / w.total[0] || 0)})` : ''}`)),
    node ? el('button', {type: 'button', on: {click: () => zoom(0)}}, 'Reset') : '',
  ];
};

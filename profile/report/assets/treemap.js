// The page of the treemap: what the address chooses and the controls beside the drawing.
// treemap_draw.js draws the boxes, treemap_words.js describes them.
const {el, state} = profuse;

profuse.page('treemap', (root, data, profile) => {
  const {names} = profile;
  const words = profuse.treemapWords;
  const tree = profuse.tree(data.tree, data.classes.length);
  const {label} = data.tree;
  // What is chosen: the value with its unit and weights, whether temperatures colour the
  // boxes, the node zoomed to, the colours of the outermost names, and which nodes match the
  // search. The tree and its names are always the same.
  let now = {
    data, tree,
    name: (node) => (node === 0 ? 'all' : names[data.labels.name[label[node]]]),
    // full returns the whole name of a function, null of what is none.
    full(node) {
      const n = label[node] < 0 ? -1 : data.labels.full[label[node]];
      return n < 0 ? null : names[n];
    },
    join: (list) => list.reduce((a, b) => (a.endsWith('/') ? a + b : a + data.separator + b)),
    // single follows groups with nothing in them but one other group.
    single(node) {
      const {kids} = tree;
      while (kids[node].length === 1 && now.w.rest[node] === 0 && now.full(kids[node][0]) === null) [node] = kids[node];
      return node;
    },
  };

  const values = profuse.choice('Area', (i) => set('value', i));
  values.offer(data.values.map((v) => v.name));
  const colours = profuse.choice('Colour', (i) => set('colour', i));
  colours.offer(['temperature', 'outermost name']);
  const bar = el('div', {class: 'bar'}, values.label, colours.label);
  const crumbs = el('nav', {class: 'crumbs', 'aria-label': 'Path to the box that is zoomed to'});
  const details = el('p', {class: 'note', 'aria-live': 'polite'});
  const legend = el('ul', {class: 'legend'});
  const drawing = profuse.treemapDrawing((box) => {
    if (box.leaf) details.replaceChildren(...words.details(now, box.node));
    else zoom(box.node);
  });
  root.querySelector('.note').after(bar, crumbs, drawing.view, details, legend);
  root.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && now.zoom && !event.target.closest('input')) zoom(around(now.zoom));
  });

  function set(key, value) {
    state.set(key, value);
    show();
  }

  function zoom(node) { set('zoom', node || ''); }

  // around returns the next group around a node that looks different.
  function around(node) {
    let out = tree.parent[node];
    while (out > 0 && now.single(out) === now.single(node)) out = tree.parent[out];
    return Math.max(0, out);
  }

  // read takes the choices from the address.
  function read() {
    const value = data.values[Number(state.get('value') || data.first)] ? Number(state.get('value') || data.first) : data.first;
    const node = Number(state.get('zoom') || 0);
    now = {
      ...now, value, unit: data.values[value].unit, w: tree.weigh(value), byHeat: state.get('colour') === '0',
      zoom: node > 0 && node < tree.parent.length ? node : 0, matches: null,
    };
    const outer = tree.weigh(data.first).kids[now.single(0)];
    const own = profuse.distinct(outer.map((n) => data.labels.colour[label[n]]));
    now.colours = new Map(outer.map((n, i) => [n, own[i]]));
    values.select.value = value;
    colours.select.value = now.byHeat ? 0 : 1;
    crumbs.replaceChildren(...profuse.crumbs(now, zoom));
    legend.replaceChildren(...words.legend(now));
    details.replaceChildren(...words.details(now, now.zoom));
  }

  function show() {
    read();
    search.follow(); // which draws
  }

  read();
  const search = profuse.search(root, {
    placeholder: 'Search functions', label: 'Search functions and namespaces', into: bar,
    change(text) {
      const found = words.find(now, names, text);
      now.matches = found.matches;
      drawing.draw(now);
      return found.said;
    },
  });
  profuse.resize(drawing.view, (width) => drawing.draw(now, width));
  return show;
});

// The page of the flame graph: what the address chooses and the controls beside the
// drawing. flame_draw.js draws the boxes, flame_colour.js colours and flame_words.js
// describes them.
const {el, state} = profuse;
const views = [
  ['flame', 'Flame graph', 'Callers below, what they call above'],
  ['icicle', 'Icicle', 'Callers above, what they call below'],
  ['inverted', 'Inverted', 'The functions on top of stacks first, below them their callers'],
];

profuse.page('flame', (root, data, profile) => {
  const {sets} = data;
  const {names} = profile;
  const colours = profuse.flameColours;
  const words = profuse.flameWords;
  const trees = new Map();
  // What is chosen: the set of stacks with the colours of its packages, its value with the
  // unit, the view, the modes of colours with the one chosen and its steps, the tree with its weights, the tree by
  // callers (down), the node zoomed to, and which functions match the search.
  let now = {};

  const tables = profuse.choice('Stacks', (i) => set('table', i));
  const values = profuse.choice('Width', (i) => set('value', i));
  const modes = profuse.choice('Colour', (i) => set('colour', i));
  const buttons = views.map(([id, title, about]) =>
    el('button', {type: 'button', title: about, 'data-view': id, on: {click: () => set('view', id)}}, title));
  const bar = el('div', {class: 'bar'}, tables.label, values.label, el('div', {class: 'switch', role: 'group', 'aria-label': 'View'}, buttons), modes.label);
  const about = root.querySelector('.note');
  const crumbs = el('nav', {class: 'crumbs', 'aria-label': 'Path to the box that is zoomed to'});
  const details = el('p', {class: 'note', 'aria-live': 'polite'});
  const legend = el('ul', {class: 'legend'});
  const drawing = profuse.flameDrawing(zoom);
  about.after(bar, crumbs, drawing.view, details, legend);
  tables.offer(sets.map((s) => s.name));
  tables.label.hidden = sets.length < 2;
  root.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && now.zoom && !event.target.closest('input')) zoom(0);
  });

  function set(key, value) {
    if (key === 'table') for (const k of ['value', 'zoom', 'colour']) state.set(k, '', {replace: true});
    if (key === 'view' && (value === 'inverted') !== (now.view === 'inverted')) state.set('zoom', '', {replace: true});
    state.set(key, value);
    show();
  }

  function zoom(node) { set('zoom', node || ''); }

  // read takes the choices from the address.
  function read() {
    const of = sets[Number(state.get('table') || 0)] || sets[0];
    if (of !== now.set) {
      about.textContent = `${of.about}${of.cut ? ' What is too small to be in this file is shown as “(n smaller)”.' : ''}`;
      values.offer(of.values.map((v) => v.name));
      values.label.hidden = of.values.length < 2;
      now = {set: of, modes: colours.modes(of), groups: colours.groups(of)};
      modes.offer(now.modes.map((m) => m.title));
      modes.label.hidden = now.modes.length < 2;
    }
    const first = Math.max(0, of.all.findIndex((x) => x > 0));
    const value = of.values[Number(state.get('value') || first)] ? Number(state.get('value') || first) : first;
    const view = views.some(([id]) => id === state.get('view')) ? state.get('view') : 'flame';
    const mode = now.modes[Number(state.get('colour') || 0)] || now.modes[0];
    const down = tree(of, 'down');
    const shown = view === 'inverted' ? tree(of, 'up') : down;
    const node = Number(state.get('zoom') || 0);
    // A function has a long and a short name.
    const called = (which) => (i) => (shown.data.label[i] < 0 ? 'all' : names[of.functions[which][shown.data.label[i]]]);
    now = {
      set: of, names, value, unit: of.values[value].unit, view, modes: now.modes, groups: now.groups, mode, down, tree: shown, w: shown.weigh(value),
      zoom: node > 0 && node < shown.parent.length ? node : 0, matches: null, name: called('name'), short: called('short'),
    };
    now.steps = colours.steps(now);
    tables.select.value = sets.indexOf(of);
    values.select.value = value;
    modes.select.value = now.modes.indexOf(mode);
    for (const b of buttons) b.setAttribute('aria-pressed', String(b.dataset.view === view));
    crumbs.replaceChildren(...profuse.crumbs(now, zoom));
    details.replaceChildren(...words.details(now));
    legend.replaceChildren(...colours.legend(now));
  }

  function tree(of, which) {
    const key = `${sets.indexOf(of)}-${which}`;
    if (!trees.has(key)) trees.set(key, profuse.tree(of[which], of.classes.length));
    return trees.get(key);
  }

  function show() {
    read();
    drawing.layout(now);
    search.follow(); // which draws
  }

  read();
  const search = profuse.search(root, {
    placeholder: 'Search functions', label: 'Search functions', into: bar,
    change(text) {
      const found = words.find(now, text);
      now.matches = found.matches;
      drawing.draw();
      return found.said;
    },
  });
  profuse.resize(drawing.view, (width) => {
    drawing.layout(now, width);
    drawing.draw();
  });
  return show;
});

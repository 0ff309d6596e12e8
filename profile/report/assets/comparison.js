// The page that compares two profiles: one table of all changes, and their points in the drawing. The
// static page draws only the first points.
const {el, svg, format} = profuse;
const absent = 0; // of the temperatures

profuse.page('comparison', (root, data, profile) => {
  const count = data.name ? data.name.length : 0;
  if (count === 0) {
    root.querySelector('.page-title').after(el('p', {class: 'note'}, 'Nothing changed.'));
    return null;
  }
  const name = (i) => profile.names[data.name[i]];
  const file = (i) => (data.file[i] >= 0 ? profile.names[data.file[i]] : '');
  const delta = (i) => data.newShare[i] - data.baseShare[i];
  const hot = data.temperatures.length - 1;
  const kind = (i) => {
    if (data.after[i] === hot && data.before[i] !== hot) return 'fill-hot';
    if (data.before[i] === hot && data.after[i] !== hot) return 'fill-cold';
    if (data.before[i] === absent || data.after[i] === absent) return 'fill-c3';
    return 'fill-never';
  };
  const facts = (i) => [
    name(i), file(i),
    `Base: ${format.percent(data.baseShare[i])} (${value(data.base[i])}), ${data.temperatures[data.before[i]]}`,
    `New: ${format.percent(data.newShare[i])} (${value(data.new[i])}), ${data.temperatures[data.after[i]]}`,
    data.listTitles.filter((_, l) => data.lists[i] & (1 << l)).join(', '),
  ].filter(Boolean).join('\n');
  const value = (n) => format.value(n, data.unit);

  // The visible row with the greatest value has the widest bar.
  let widest = 0;
  const widen = (rows) => {
    widest = 0;
    for (const i of rows) widest = Math.max(widest, data.baseShare[i], data.newShare[i]);
  };

  const bar = el('div', {class: 'bar'});
  const list = el('div', {class: 'cmp-list'});
  root.querySelector('.cmp-top').after(bar, list);
  let which = -1; // list; -1 for all
  let match = () => true;
  const wanted = (i) => (which < 0 || (data.lists[i] & (1 << which)) !== 0) && (match(name(i)) || (data.file[i] >= 0 && match(file(i))));
  const all = Array.from({length: count}, (_, i) => i);
  widen(all);

  const rank = {absent: 'absent', 'never ran': 'never', cold: 'cold', warm: 'warm', hot: 'hot'};
  const heat = (t) => el('span', {class: `cmp-heat is-${rank[data.temperatures[t]]}`}, data.temperatures[t]);
  const columns = [
    {title: data.kind === 'functions' ? 'Function' : 'Stack, the callee first', align: 'left', value: name},
    {title: 'Base', unit: 'percent', width: 8, value: (i) => data.baseShare[i], hint: 'Share of the total of the base'},
    {title: 'New', unit: 'percent', width: 8, value: (i) => data.newShare[i], hint: 'Share of the total of the new profile'},
    {title: 'Points', width: 8, value: delta, text: (i) => points(delta(i)), hint: 'Difference of the shares, in percentage points'},
    {title: 'Change', width: 18, align: 'left', narrow: false, value: (i) => Math.abs(delta(i)), node: dumbbell, hint: 'From the hollow end, the base, to the full one; sorted by how much'},
    {title: 'Was', width: 10, align: 'left', narrow: false, value: (i) => data.before[i], node: (i) => heat(data.before[i])},
    {title: 'Is', width: 10, align: 'left', narrow: false, value: (i) => data.after[i], node: (i) => heat(data.after[i])},
  ];
  if (data.file.some((f) => f >= 0)) columns.push({title: 'File', align: 'left', width: 24, narrow: false, value: file});

  function dumbbell(i) {
    const at = (share) => `${6 + 88 * (widest > 0 ? share / widest : 0)}%`;
    const d = delta(i);
    const x1 = at(data.baseShare[i]);
    const x2 = at(data.newShare[i]);
    return svg('svg', {class: `dumbbell${d > 0 ? ' rise' : d < 0 ? ' fall' : ''}`, width: '100%', height: 16, 'aria-hidden': 'true'},
      svg('line', {x1, x2, y1: 8, y2: 8}),
      svg('circle', {class: 'from', cx: x1, cy: 8, r: 4}),
      svg('circle', {class: 'to', cx: x2, cy: 8, r: 4}));
  }

  // The points of the drawing. Those above others are the ones that changed
  // most.
  const drawing = root.querySelector('.cmp-scatter svg');
  const dots = drawing.querySelector('.dots');
  const {low, high, none, size, decades} = data.scale;
  const pixel = (share) => (share <= 0 ? none : low + Math.min(1, Math.max(0, 1 + Math.log10(share) / decades)) * (high - low));
  const circles = [];
  for (let i = 0; i < data.points; i++) {
    circles.push(svg('circle', {class: kind(i), 'data-row': i, cx: pixel(data.baseShare[i]).toFixed(1), cy: (size - pixel(data.newShare[i])).toFixed(1), r: 3.5}));
  }
  dots.replaceChildren(...circles.slice().reverse());
  if (count > data.points) {
    root.querySelector('.cmp-scatter figcaption').append(el('p', {class: 'note'}, `The ${format.count(data.points)} whose share changed most.`));
  }
  profuse.tip(dots, 'circle', (c) => facts(Number(c.dataset.row)));
  dots.addEventListener('click', (event) => {
    const c = event.target.closest('circle');
    if (c) table.select(Number(c.dataset.row));
  });

  let drawn = null;
  const table = profuse.table(list, {
    label: 'What changed', count, columns,
    select(i) {
      drawn = i;
      profuse.state.set('row', i, {replace: true});
      mark(i);
    },
  });

  const choice = el('select', {'aria-label': 'Kind of change'}, el('option', {value: '-1'}, `All changes (${format.count(count)})`),
    data.listTitles.map((title, l) => {
      const n = data.lists.reduce((sum, bits) => sum + ((bits >> l) & 1), 0);
      const of = n < data.listCounts[l] ? ` of ${format.count(data.listCounts[l])}` : '';
      return n > 0 ? el('option', {value: l}, `${title} (${format.count(n)}${of})`) : null;
    }));
  choice.addEventListener('change', () => {
    profuse.state.set('list', choice.value === '-1' ? null : choice.value, {replace: true});
    show();
  });
  const search = profuse.search(root, {
    into: bar, placeholder: 'Search names and files', label: 'Search changes',
    change(text) {
      match = profuse.matcher(text);
      return filter();
    },
  });
  bar.append(choice);

  function filter() {
    const rows = all.filter(wanted);
    widen(rows);
    table.filter(wanted);
    dim();
    return rows.length === count ? `${format.count(count)} ${data.kind}` : `${format.count(rows.length)} of ${format.count(count)} ${data.kind}`;
  }

  function dim() {
    circles.forEach((c, i) => c.classList.toggle('off', !wanted(i)));
  }

  function mark(i) {
    for (const c of dots.querySelectorAll('.here')) {
      c.classList.remove('here');
      c.setAttribute('r', 3.5);
    }
    if (i === null || !circles[i]) return;
    circles[i].classList.add('here');
    circles[i].setAttribute('r', 6);
    dots.append(circles[i]); // above the others
  }

  function show() {
    const l = Number(profuse.state.get('list') || -1);
    const chosen = profuse.state.get('list') !== null && data.listTitles[l] !== undefined ? l : -1;
    if (chosen !== which) {
      which = chosen;
      choice.value = String(which);
      search.refresh();
    }
    search.set(profuse.state.get('q') || '');
    const row = profuse.state.get('row');
    const at = row !== null && Number(row) >= 0 && Number(row) < count ? Number(row) : null;
    if (at === drawn) return;
    drawn = at;
    table.select(at, {quiet: true});
    mark(at);
  }

  return show;
});

// points prints a difference of shares in percentage points.
function points(d) {
  if (d === 0) return '0';
  if (Math.abs(d) < 0.00005) return d > 0 ? '+<0.01' : '−<0.01';
  return d < 0 ? `−${(-100 * d).toFixed(2)}` : `+${(100 * d).toFixed(2)}`;
}

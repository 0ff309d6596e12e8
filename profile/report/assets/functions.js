// The page of functions: a table of all, and what is known of one.
const {el, svg, format} = profuse;
const maxBars = 400;
const maxListed = 50;

profuse.page('functions', (root, data, profile) => {
  const name = (i) => profile.names[data.names[i]];
  const file = (i) => (data.files && data.files[i] >= 0 ? profile.names[data.files[i]] : '');
  const count = data.names.length;
  const blockStart = data.blocks ? starts(data.blocks, data.blocksOf) : [];
  const edges = groups(data.edges.function, count);
  const labels = groups(data.labels.function, count);

  const cumulative = new Float64Array(data.count ? count : 0);
  let sum = 0;
  for (let i = 0; i < cumulative.length; i++) {
    sum += data.count[i];
    cumulative[i] = data.total > 0 ? Math.min(1, sum / data.total) : 0;
  }

  const columns = [{title: 'Function', align: 'left', value: name}];
  let ranked = null; // what the rows are sorted by
  const column = (c) => columns.push(c);
  if (data.heat) {
    const rank = (i) => data.heat[i];
    column({
      title: 'Heat', align: 'left', width: 8, value: rank, narrow: false,
      hint: 'By the counts that LLVM takes for hot and cold', node: (i) => heatMark(data.heatName[data.heat[i]]),
    });
  }
  if (data.count) {
    const calls = data.countOf === 'calls';
    ranked = {column: columns.length, down: true};
    column({title: calls ? 'Calls' : 'Total', value: (i) => data.count[i], hint: calls ? 'How often it was called' : 'Sum of its block counts'});
    column({title: 'Share', unit: 'percent', width: 8, value: (i) => (data.total > 0 ? data.count[i] / data.total : 0), hint: 'Of the total of all functions'});
    column({title: 'Up to here', unit: 'percent', width: 10, narrow: false, value: (i) => cumulative[i], hint: 'Share of this function and all with greater counts'});
  }
  for (const s of data.stacks || []) {
    column({title: `${s.title}, self`, unit: s.unit, value: (i) => s.self[i], hint: `${s.title} of stacks that end in the function`});
    if (s.all) {
      column({title: `${s.title}, all`, unit: s.unit, narrow: false, value: (i) => s.all[i], hint: `${s.title} of stacks that the function is in, its callees included`});
    }
  }
  if (data.max) column({title: 'Greatest', narrow: false, value: (i) => data.max[i], hint: 'The greatest count in the function'});
  if (data.calls && !(data.count && data.countOf === 'calls')) {
    column(profile.has('calls_are_coverage')
      ? {title: 'Ran', width: 6, value: (i) => data.calls[i], text: (i) => (data.calls[i] ? 'yes' : 'no')}
      : {title: 'Calls', narrow: false, value: (i) => data.calls[i], hint: 'How often it was called'});
  }
  if (data.blocks) {
    column({
      title: 'Blocks run', narrow: false, value: (i) => (data.blocks[i] ? data.covered[i] / data.blocks[i] : NaN),
      text: (i) => (data.blocks[i] === 0 ? '–' : `${format.count(data.covered[i])} of ${format.count(data.blocks[i])}`), hint: 'Instrumented places that ran; sorted by share',
    });
  }
  if (data.first) column({title: 'First call', narrow: false, value: (i) => data.first[i] || NaN, hint: 'Mean rank of its first call; 1 is the first function that was called'});
  if (data.sizes) column({title: 'Size', unit: 'bytes', narrow: false, value: (i) => data.sizes[i], hint: 'Machine code'});
  if (data.runs) column({title: 'Runs', narrow: false, value: (i) => data.runs[i], hint: 'Profiles merged in which it ran'});
  if (data.files) column({title: 'File', narrow: false, align: 'left', width: 18, value: file, text: (i) => file(i).split('/').pop(), whole: file});

  const bar = el('div', {class: 'bar'});
  const split = el('div', {class: 'split'});
  const left = el('div', {class: 'list'});
  const detail = el('div', {class: 'detail', role: 'region', 'aria-label': 'Function', hidden: true});
  split.append(left, detail);
  root.querySelector('.page-title').after(bar, split);

  let match = () => true;
  let heat = -1;
  const wanted = (i) => (heat < 0 || data.heat[i] === heat) && (match(name(i)) || (data.files !== null && match(file(i))));
  const table = profuse.table(left, {label: 'Functions', count, columns, sort: ranked, select: choose});

  const search = profuse.search(root, {
    into: bar, placeholder: 'Search names and files', label: 'Search functions',
    change(text) {
      match = profuse.matcher(text);
      return said();
    },
  });
  function said() {
    const all = heat < 0 && bar.querySelector('input.search').value === '';
    const n = table.filter(all ? null : wanted);
    return all ? `${format.count(count)} functions` : `${format.count(n)} of ${format.count(count)} functions`;
  }
  if (data.heat) bar.append(heatChoice());

  function heatChoice() {
    const there = new Set(data.heat);
    const select = el('select', {'aria-label': 'Heat'}, el('option', {value: '-1'}, 'any heat'),
      data.heatName.map((h, i) => (there.has(i) ? el('option', {value: i}, h) : null)).reverse());
    select.addEventListener('change', () => {
      heat = Number(select.value);
      search.refresh();
    });
    return select;
  }

  function choose(i) {
    profuse.state.set('row', null, {replace: true});
    profuse.state.set('fn', i === null ? null : name(i), {replace: true});
    // Names may not be enough.
    if (i !== null && rowOf(name(i)) !== i) profuse.state.set('row', i, {replace: true});
    drawDetail(i);
    // Below the table it may be out of sight.
    if (i !== null && detail.getBoundingClientRect().top > innerHeight - 120) detail.scrollIntoView({block: 'nearest'});
  }

  let byName = null;
  function rowOf(wantedName) {
    if (!byName) {
      byName = new Map();
      for (let i = count - 1; i >= 0; i--) byName.set(name(i), i);
    }
    return byName.has(wantedName) ? byName.get(wantedName) : null;
  }

  let drawn = null;
  function show() {
    search.set(profuse.state.get('q') || '');
    const fn = profuse.state.get('fn');
    let row = fn === null ? null : rowOf(fn);
    const exact = Number(profuse.state.get('row') || -1);
    if (row !== null && exact >= 0 && exact < count && name(exact) === fn) row = exact;
    if (row === drawn) return;
    drawDetail(row);
    table.select(row, {quiet: true});
  }

  function drawDetail(i) {
    drawn = i;
    detail.hidden = i === null;
    split.classList.toggle('open', i !== null);
    if (i === null) return;
    const facts = el('dl', {class: 'facts'});
    const fact = (title, value) => facts.append(el('dt', {}, title), el('dd', {}, value));
    for (const c of columns) {
      if (c.title === 'Function' || c.title === 'File') continue;
      const value = c.node ? c.node(i) : c.text ? c.text(i) : typeof c.value(i) === 'string' ? c.value(i) : format.value(c.value(i), c.unit);
      if (value !== '') fact(c.title, value);
    }
    if (data.files && file(i) !== '') fact('Path', file(i));
    if (data.hashes) fact('Hash of the control flow', data.hashes[i].padStart(16, '0'));
    if (data.lines && data.lines[i] > 0) fact('Begins at line', String(data.lines[i]));
    for (let at = labels[i]; at < labels[i + 1]; at++) fact(profile.names[data.labels.key[at]], profile.names[data.labels.value[at]]);
    const links = profuse.links(name(i));
    detail.replaceChildren(...[
      el('h4', {}, name(i)),
      el('button', {type: 'button', class: 'close', on: {click: () => table.select(null)}}, 'Close'),
      facts,
      links.length > 0 ? el('p', {class: 'links'}, links) : null,
      blocks(i), edgeList(i),
    ].filter(Boolean));
    detail.scrollTop = 0;
  }

  // What is known of block number b of function i, in words.
  function blockText(i, b) {
    const at = blockStart[i] + b;
    const places = [];
    if (data.blockLines && data.blockLines[at] > 0) places.push(`line ${data.blockLines[at]}`);
    if (data.blockOffsets) places.push(`offset 0x${data.blockOffsets[at].toString(16)}`);
    const n = data.blockCounts[at];
    const ran = profile.has('blocks_are_coverage') ? (n ? 'ran' : 'did not run') : format.count(n);
    return `Block ${b}${places.length ? ` (${places.join(', ')})` : ''}: ${ran}`;
  }

  function blocks(i) {
    if (!data.blocks || data.blocks[i] === 0) return null;
    if (i >= data.blocksOf) return el('p', {class: 'note'}, 'Its blocks are not in this report, which has those of the hottest functions.');
    const n = data.blocks[i];
    const bars = Math.min(n, maxBars);
    const height = 64;
    const step = 100 / Math.max(bars, 8);
    const coverage = profile.has('blocks_are_coverage');
    const greatest = Math.log1p(Math.max(1, ...data.blockCounts.slice(blockStart[i], blockStart[i] + bars)));
    const drawing = svg('svg', {width: '100%', height, role: 'img', 'aria-label': `Counts of ${n} blocks`});
    for (let b = 0; b < bars; b++) {
      const value = data.blockCounts[blockStart[i] + b];
      const h = coverage ? (value ? height : 3) : Math.max(2, Math.round(height * Math.log1p(value) / greatest));
      drawing.append(svg('rect', {
        'data-block': b, class: value ? null : 'none', x: `${b * step}%`, width: `${step * (bars > 120 ? 1 : 0.8)}%`, y: height - h, height: h,
      }));
    }
    profuse.tip(drawing, 'rect', (rect) => blockText(i, Number(rect.dataset.block)));
    const listed = Math.min(n, maxListed);
    return el('div', {},
      el('h4', {}, 'Blocks'), drawing,
      el('p', {class: 'note'}, coverage ? 'In the profile’s order; low ones did not run.' : 'In the profile’s order; heights are logarithmic.',
        n > bars ? ` ${format.count(n - bars)} more are not drawn.` : ''),
      el('details', {}, el('summary', {}, 'As a list'),
        el('ol', {class: 'blocks', start: 0}, Array.from({length: listed}, (_, b) => el('li', {}, blockText(i, b).replace(/^Block \d+ ?/, '').replace(/^: /, '')))),
        n > listed ? el('p', {class: 'note'}, `… and ${format.count(n - listed)} more.`) : null));
  }

  function edgeList(i) {
    const n = edges[i + 1] - edges[i];
    if (n === 0) return null;
    const e = data.edges;
    const bytecodes = profile.has('bytecode_indexes');
    const rows = [];
    for (let at = edges[i]; at < edges[i + 1] && rows.length < maxListed; at++) {
      const kind = e.kindName[e.kind[at]];
      const target = kind.startsWith('memop') ? format.bytes(e.size[at]) : e.target[at] < 0 ? 'something else' : profile.names[e.target[at]];
      const known = e.target[at] >= 0 && rowOf(target) !== null;
      rows.push(el('tr', {},
        el('td', {class: 'num'}, format.count(e.count[at])),
        el('td', {}, kind),
        el('td', {class: 'num'}, e.line[at] > 0 ? `line ${e.line[at]}` : `${bytecodes ? '@' : ''}${e.site[at]}`),
        el('td', {class: 'name'}, known ? el('a', {href: profuse.href('functions', {fn: target})}, target) : target)));
    }
    return el('div', {},
      el('h4', {}, 'Edges from here'),
      el('div', {class: 'wide'}, el('table', {class: 'plain'},
        el('thead', {}, el('tr', {}, el('th', {class: 'num'}, 'Count'), el('th', {}, 'Kind'), el('th', {class: 'num'}, 'Site'), el('th', {}, 'Target'))),
        el('tbody', {}, rows))),
      n > rows.length ? el('p', {class: 'note'}, `… and ${format.count(n - rows.length)} more with smaller counts.`) : null);
  }

  return show;
});

function heatMark(heat) { return el('span', {class: `heat heat-${heat}`}, heat); }

// starts returns where the blocks of each function begin.
function starts(lengths, n) {
  const out = new Uint32Array(n + 1);
  for (let i = 0; i < n; i++) out[i + 1] = out[i] + lengths[i];
  return out;
}

// groups returns the index, in an ascending list of rows, at which each row begins.
function groups(rows, count) {
  const out = new Uint32Array(count + 1);
  for (const row of rows || []) out[row + 1]++;
  for (let i = 0; i < count; i++) out[i + 1] += out[i];
  return out;
}

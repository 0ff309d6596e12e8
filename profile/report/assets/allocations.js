profuse.page('allocations', (root, data, profile) => {
  const {el, format} = profuse;
  const count = data.bytes.length;
  const frameName = (f) => profile.names[data.name[f]];
  // three significant digits, as on the static page
  const digits = (v) => (v === 0 ? '0' : v >= 999.5 ? format.count(Math.round(v)) : v < 0.001 ? v.toExponential(1) : String(Number(v.toPrecision(3))));
  const seconds = (v) => (v <= 0 ? '0 s' : v < 0.9995e-3 ? `${digits(v * 1e6)} µs` : v < 0.9995 ? `${digits(v * 1e3)} ms` : `${digits(v)} s`);
  const framesOf = (i) => {
    const out = [];
    for (let n = data.node[i]; n >= 0; n = data.caller[n]) out.push(data.frame[n]);
    return out;
  };
  const allocator = (i) => (data.node[i] < 0 ? 'unknown' : frameName(data.frame[data.node[i]]));
  const place = (f) => {
    if (data.offsets) return `+${data.line[f]}${data.column[f] ? `:${data.column[f]}` : ''}`;
    if (data.line[f] === 0) return '';
    const column = data.column[f] ? `:${data.column[f]}` : '';
    return data.file[f] < 0 ? `line ${data.line[f]}${column}` : `${profile.names[data.file[f]]}:${data.line[f]}${column}`;
  };
  const temperature = (i) => data.words[data.temperature[i]];
  const swatch = (i) => el('span', {}, el('span', {class: `swatch fill-${data.colors[data.temperature[i]]}`}), temperature(i));

  const stack = root.querySelector('[data-stack]');
  let plot = null;
  const dots = new Map(); // by context
  const explain = (i) => {
    if (plot) plot.mark(i === null || !dots.has(i) ? null : dots.get(i));
    if (i === null) {
      stack.replaceChildren(el('div', {class: 'stack muted'}, 'Choose a context to see its stack.'));
      return;
    }
    const facts = [['Bytes', format.bytes(data.bytes[i])]];
    if (data.count) facts.push(['Blocks', format.count(data.count[i])], ['Average size', data.count[i] > 0 ? format.bytes(Math.round(data.bytes[i] / data.count[i])) : '–']);
    if (data.lifetime) facts.push(['Average lifetime', seconds(data.lifetime[i])], ['Access density', `${digits(data.density[i])} per byte and second`]);
    stack.replaceChildren(el('div', {class: 'stack', tabindex: '0', role: 'region', 'aria-label': 'Stack of the context chosen'},
      el('p', {}, swatch(i)),
      el('dl', {class: 'facts'}, facts.map(([k, v]) => [el('dt', {}, k), el('dd', {}, v)])),
      el('ol', {class: 'frames'}, framesOf(i).map((f) => el('li', {},
        el('span', {class: 'mono'}, frameName(f)), ' ', el('span', {class: 'muted'}, place(f), data.inlined[f] ? ' inlined' : ''))))));
  };

  // Whether a name matches is asked once for each frame, whether a stack has
  // such a frame once for each node.
  const matching = (text) => {
    const match = profuse.matcher(text);
    const hits = data.name.map((n) => match(profile.names[n]));
    const known = new Int8Array(data.frame.length);
    // Callers have lower numbers than what they call.
    for (let n = 0; n < data.frame.length; n++) {
      if (hits[data.frame[n]] || (data.caller[n] >= 0 && known[data.caller[n]])) known[n] = 1;
    }
    return (i) => data.node[i] >= 0 && known[data.node[i]] === 1;
  };
  const columns = [
    {title: 'Allocating function', value: allocator, align: 'left'},
    {title: 'Bytes', value: (i) => data.bytes[i], unit: 'bytes', width: 10},
  ];
  if (data.count) columns.push({title: 'Blocks', value: (i) => data.count[i], width: 9, narrow: false});
  if (data.lifetime) {
    columns.push(
      {title: 'Lifetime', hint: 'Average', value: (i) => data.lifetime[i], text: (i) => seconds(data.lifetime[i]), width: 10},
      {title: 'Density', hint: 'Accesses per byte and second of life, on average', value: (i) => data.density[i], text: (i) => digits(data.density[i]), width: 9, narrow: false},
    );
  }
  columns.push({title: 'Temperature', value: temperature, align: 'left', width: 14, node: swatch});
  const host = root.querySelector('[data-list]');
  const table = profuse.table(host, {count, columns, sort: {column: 1, down: true}, select: explain, label: 'Allocation contexts'});
  const search = profuse.search(host, {
    placeholder: 'Search frames',
    change(text) {
      const left = table.filter(text === '' ? null : matching(text));
      return text === '' ? '' : `${format.count(left)} of ${format.count(count)}`;
    },
  });
  if (data.plot) {
    data.plot.thing.forEach((c, i) => dots.set(c, i));
    plot = profuse.plot(root, data.plot, {
      text(i) {
        const c = data.plot.thing[i];
        const lines = [allocator(c), `${format.bytes(data.bytes[c])} in ${format.count(data.count[c])} blocks, ${temperature(c)}`];
        lines.push(`lives ${seconds(data.lifetime[c])}, density ${digits(data.density[c])}`);
        return lines.join('\n');
      },
      choose(i) {
        search.set('');
        table.select(data.plot.thing[i]);
      },
    });
  }
  explain(null);
  return () => search.set(profuse.state.get('q') || '');
});

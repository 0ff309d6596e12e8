profuse.page('timeline', (root, data, profile) => {
  const {format} = profuse;
  const name = (i) => profile.names[data.name[i]];
  const several = data.runs.length > 1;
  const rank = (i) => (several || data.mean ? `mean rank ${format.count(data.rank[i])}` : `call ${format.count(data.rank[i])}`);

  const address = (i) => `0x${data.address[i].toString(16)}`;

  for (const points of data.plots) {
    profuse.plot(root, points, {
      text(i) {
        const f = points.thing[i];
        const lines = [name(f), rank(f)];
        if (several) lines[1] += ` in ${data.called[f]} of ${data.all} runs, ${format.count(data.min[f])} to ${format.count(data.max[f])}`;
        if (several) lines.push(data.runs[points.part[i]]);
        if (data.address) lines.push(`address ${address(f)}, ${format.bytes(data.size[f])}`);
        return lines.join('\n');
      },
      choose: (i) => choose(points.thing[i]),
    });
  }
  for (const points of data.curves) {
    profuse.plot(root, points, {
      text(i) {
        const after = data.several ? `${(points.thing[i] / 100).toFixed(1)} % of the first calls` : `${format.count(points.thing[i])} functions`;
        return `${data.orders[points.part[i]]}\n${format.count(points.value[i])} pages after ${after}`;
      },
    });
  }

  const list = root.querySelector('[data-list]');
  const columns = [
    {title: '#', hint: 'Place in the order of the mean ranks', value: (i) => i + 1},
    {title: 'Function', value: name, align: 'left'},
    {title: several || data.mean ? 'Mean rank' : 'Rank', hint: 'Rank of the first call among those of all functions', value: (i) => data.rank[i]},
  ];
  if (several) {
    columns.push(
      {title: 'Least', value: (i) => data.min[i], narrow: false},
      {title: 'Greatest', value: (i) => data.max[i], narrow: false},
      {title: 'Spread', hint: 'Ranks by which the runs differ', value: (i) => data.max[i] - data.min[i]},
      {title: 'Runs', value: (i) => data.called[i], narrow: false},
    );
  }
  if (data.address) {
    columns.push(
      {title: 'Size', value: (i) => data.size[i], unit: 'bytes'},
      {title: 'Address', hint: 'From the first of these functions on', value: (i) => data.address[i], text: address, narrow: false},
    );
  }
  const table = profuse.table(list, {count: data.name.length, columns, sort: {column: 0, down: false}, label: 'Functions by first call'});
  const search = profuse.search(list, {
    placeholder: 'Search functions',
    change(text) {
      const match = profuse.matcher(text);
      const left = table.filter(text === '' ? null : (i) => match(name(i)));
      return text === '' ? '' : `${format.count(left)} of ${format.count(data.name.length)}`;
    },
  });
  // choose shows in the list what was chosen in a plot.
  function choose(f) {
    search.set('');
    table.select(f);
  }
  return () => search.set(profuse.state.get('q') || '');
});

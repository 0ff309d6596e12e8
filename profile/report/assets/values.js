profuse.page('values', (root, data, profile) => {
  const {el, svg, format} = profuse;
  const count = data.caller.length;
  const shownOf = (i) => (i + 1 < count ? data.first[i + 1] : data.target.length) - data.first[i];
  const caller = (i) => profile.names[data.caller[i]];
  const single = (n) => n <= 8 || (n & (n - 1)) === 0;
  const sizeText = (n) => {
    if (single(n) && n < 513) return `${n} bytes`;
    if (n === 513) return '513 bytes and more';
    const below = 2 ** Math.floor(Math.log2(n));
    return n === below + 1 ? `${n} to ${2 * below - 1} bytes` : `${format.count(n)} bytes`;
  };
  const isUnknown = (t) => data.target[t] === -1;
  const isSize = (t) => data.target[t] <= -2;
  const target = (t) => {
    if (isUnknown(t)) return 'unknown';
    return isSize(t) ? sizeText(-2 - data.target[t]) : profile.names[data.target[t]];
  };
  const share = (t, i) => (data.total[i] > 0 ? data.count[t] / data.total[i] : 0);
  const top = (i) => share(data.first[i], i);
  // promoted returns the promoted targets: the first targets or, of sizes, the single, small ones.
  const promoted = (i) => {
    const out = new Set();
    if (!data.promoted) return out;
    for (let k = 0; k < shownOf(i) && out.size < data.promoted[i]; k++) {
      const t = data.first[i] + k;
      const size = -2 - data.target[t];
      if (!isSize(t) || (single(size) && size <= 128)) out.add(t);
    }
    return out;
  };
  const bar = (t, i, direct) => svg('svg', {width: 64, height: 12, 'aria-hidden': 'true'},
    svg('rect', {class: 'track', width: '100%', height: 12}),
    svg('rect', {class: direct ? 'fill-c2' : isUnknown(t) ? 'fill-never' : 'fill-c0', width: `${100 * share(t, i)}%`, height: 12}));
  const place = (i) => {
    const text = `${data.bytecode ? 'bytecode' : 'site'} ${data.place[i]}`;
    return data.line && data.line[i] > 0 ? `${text}, line ${data.line[i]}` : text;
  };

  const sites = new Map(); // by caller
  for (let i = 0; i < count; i++) {
    if (!sites.has(data.caller[i])) sites.set(data.caller[i], []);
    sites.get(data.caller[i]).push(i);
  }
  for (const list of sites.values()) list.sort((a, b) => data.kind[a] - data.kind[b] || data.place[a] - data.place[b] || a - b);

  const host = root.querySelector('[data-list]');
  const bars = el('div', {class: 'bar'});
  const split = el('div', {class: 'values-split'});
  const left = el('div');
  const detail = el('div', {class: 'values-detail', 'aria-live': 'polite', tabindex: '0', role: 'region', 'aria-label': 'Places of the function chosen'});
  split.append(left, detail);
  host.append(bars, split);

  const explain = (chosen) => {
    if (chosen === null) {
      detail.replaceChildren(el('p', {class: 'muted'}, 'Choose a place to see all places of its function.'));
      return;
    }
    const all = sites.get(data.caller[chosen]);
    const from = Math.max(0, all.indexOf(chosen) - 20);
    const some = all.slice(from, from + 40);
    detail.replaceChildren(el('div', {},
      el('div', {class: 'mono name'}, caller(chosen)),
      el('p', {class: 'muted'}, `${format.count(all.length)} ${all.length === 1 ? 'place' : 'places'}`, profuse.links(caller(chosen)).map((a) => [' ', a])),
      some.map((i) => {
        const direct = promoted(i);
        const list = [];
        for (let t = data.first[i]; t < data.first[i] + shownOf(i); t++) {
          list.push(el('div', {class: 'target'}, bar(t, i, direct.has(t)), el('span', {class: 'num'}, format.percent(share(t, i))),
            el('span', {class: 'num'}, format.count(data.count[t])), el('span', {class: isUnknown(t) ? 'name muted' : 'name mono'}, target(t), direct.has(t) ? el('span', {class: 'muted'}, ' promoted') : null)));
        }
        const more = data.number[i] - list.length;
        const fate = data.fate && data.fates[data.fate[i]];
        return el('div', {class: i === chosen ? 'chosen' : null},
          el('h5', {}, `${data.short[data.kind[i]]}, ${place(i)}`),
          el('p', {class: 'muted'}, `${format.count(data.total[i])} in all`, fate ? `; LLVM: ${fate}` : ''),
          list, more > 0 ? el('p', {class: 'muted'}, `… and ${format.count(more)} more`) : null);
      }),
      some.length < all.length ? el('p', {class: 'muted'}, `… ${format.count(all.length - some.length)} more places are not shown here.`) : null));
    const mark = detail.querySelector('.chosen');
    if (mark) detail.scrollTop = Math.max(0, mark.offsetTop - detail.offsetTop - 48);
  };

  const columns = [
    {title: 'Function', value: caller, align: 'left'},
    {title: data.bytecode ? 'Bytecode' : 'Site', hint: 'Place in the function', value: (i) => data.place[i], narrow: false},
    {title: 'Kind', value: (i) => data.short[data.kind[i]], align: 'left', width: 13, narrow: false},
    {title: 'Count', value: (i) => data.total[i]},
    {
      title: 'Top target', hint: 'Share of the most frequent target', value: top, width: 13,
      node: (i) => el('span', {class: 'share-cell'}, bar(data.first[i], i, promoted(i).has(data.first[i])), format.percent(top(i))),
    },
  ];
  if (data.fate) columns.push({title: 'LLVM', hint: 'What LLVM makes of it by its defaults', value: (i) => data.fates[data.fate[i]] || '–', align: 'left', width: 13, narrow: false});
  const table = profuse.table(left, {count, columns, sort: {column: 3, down: true}, select: explain, label: 'Places'});
  explain(null);

  let match = null;
  const wanted = () => {
    const kind = profuse.state.get('kind');
    const k = kind === null ? -1 : data.kinds.indexOf(kind);
    if (k < 0 && !match) return null;
    return (i) => {
      if (k >= 0 && data.kind[i] !== k) return false;
      if (!match || match(caller(i))) return true;
      for (let t = data.first[i]; t < data.first[i] + shownOf(i); t++) {
        if (match(target(t))) return true;
      }
      return false;
    };
  };
  const search = profuse.search(bars, {
    placeholder: 'Search functions and targets', into: bars,
    change(text) {
      match = text === '' ? null : profuse.matcher(text);
      const leftOver = table.filter(wanted());
      return text === '' ? '' : `${format.count(leftOver)} of ${format.count(count)}`;
    },
  });
  const buttons = [];
  if (data.kinds.length > 1) {
    for (const kind of [null, ...data.kinds]) {
      buttons.push(el('button', {
        type: 'button', 'data-kind': kind || '',
        on: {
          click() {
            profuse.state.set('kind', kind);
            show();
          },
        },
      }, kind || 'All'));
    }
    bars.append(el('div', {class: 'bar', role: 'group', 'aria-label': 'Kinds', style: {margin: 0}}, buttons));
  }
  const show = () => {
    const kind = profuse.state.get('kind') || '';
    for (const b of buttons) b.setAttribute('aria-pressed', b.dataset.kind === kind ? 'true' : 'false');
    search.set(profuse.state.get('q') || '');
    search.refresh();
    const fn = profuse.state.get('fn');
    if (fn) {
      const i = data.caller.findIndex((n) => profile.names[n] === fn);
      if (i >= 0) table.select(i);
    }
  };
  return show;
});

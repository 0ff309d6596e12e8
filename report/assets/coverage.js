// The page of coverage: the tree of files, and of one file its functions and
// its source, as far as that is in the report.
const {el, format} = profuse;
const chunk = 200; // lines of source that are laid out together

profuse.page('coverage', (root, data, profile) => {
  const rows = data.label.length;
  const label = (r) => profile.names[data.label[r]];
  const path = (f) => profile.names[data.path[f]];
  const isFile = (r) => data.file[r] >= 0;
  const rowOfFile = new Map();
  const parent = new Int32Array(rows);
  const open = []; // rows of the folders that the row is in
  for (let r = 0; r < rows; r++) {
    open.length = data.depth[r];
    parent[r] = open.length > 0 ? open[open.length - 1] : -1;
    if (isFile(r)) rowOfFile.set(data.file[r], r);
    else open.push(r);
  }
  const folded = new Set();
  const measures = [{title: 'Functions', ran: data.of.functionsRan, all: data.of.functions}];
  if (data.blocks) measures.push({title: 'Blocks', ran: data.of.blocksRan, all: data.of.blocks});
  if (data.lines) measures.push({title: 'Lines', ran: data.of.linesRan, all: data.of.lines});

  const last = measures[measures.length - 1]; // the finest

  const bar = el('div', {class: 'bar'});
  const split = el('div', {class: 'split coverage'});
  const left = el('div', {class: 'list'});
  const asTree = el('div');
  const asList = el('div', {hidden: true});
  const detail = el('div', {class: 'detail', role: 'region', 'aria-label': 'File', hidden: true});
  left.append(asTree, asList);
  split.append(left, detail);
  root.querySelector('.page-title').after(summary(), bar, split);

  function summary() {
    const tops = [];
    for (let r = 0; r < rows; r++) if (parent[r] < 0) tops.push(r);
    return el('dl', {class: 'cov-summary'}, measures.map((m) => {
      const ran = tops.reduce((sum, r) => sum + m.ran[r], 0);
      const all = tops.reduce((sum, r) => sum + m.all[r], 0);
      return el('div', {}, el('dt', {}, m.title), el('dd', {}, meter(ran, all, true)));
    }));
  }

  let match = () => true;
  let searched = '';
  let undone = false; // only files in which something did not run
  let marked = null; // rows to show while searched
  // A bar, and the longest text beside one: that of the first row or its like.
  const widthOf = (m) => 10 + m.all.reduce((most, n) => Math.max(most, `${format.count(n)} of ${format.count(n)}`.length), 8);
  const columns = (tree) => [
    tree
      ? {title: 'File', align: 'left', node: treeName}
      : {title: 'File', align: 'left', value: (i) => path(i)},
    ...measures.flatMap((m) => {
      const at = tree ? (r) => r : (f) => rowOfFile.get(f);
      const share = (i) => (m.all[at(i)] > 0 ? m.ran[at(i)] / m.all[at(i)] : NaN);
      const c = {title: m.title, align: 'left', width: widthOf(m), narrow: m === last ? null : false, hint: 'How many ran, of how many', node: (i) => meter(m.ran[at(i)], m.all[at(i)])};
      const not = {title: 'Not run', width: 9, narrow: false, text: (i) => format.count(m.all[at(i)] - m.ran[at(i)])};
      if (!tree) {
        c.value = share;
        not.value = (i) => m.all[at(i)] - m.ran[at(i)];
      }
      return m === last ? [c, not] : [c];
    }),
  ];
  const tree = profuse.table(asTree, {
    label: 'Files and folders', count: rows, columns: columns(true), filter: visible,
    select(r) {
      if (r === null) choose(null);
      else if (isFile(r)) choose(data.file[r]);
      else fold(r);
    },
  });
  const list = profuse.table(asList, {label: 'Files', count: data.path.length, columns: columns(false), select: choose});

  function treeName(r) {
    const indent = {'padding-left': `${Math.min(data.depth[r], 12) * 16}px`};
    if (isFile(r)) return el('span', {class: 'cov-file', style: indent, title: path(data.file[r])}, label(r));
    const shut = folded.has(r) && !marked;
    return el('span', {class: 'cov-folder', style: indent, title: shut ? 'Unfold' : 'Fold'},
      el('span', {'aria-hidden': 'true', class: 'cov-sign'}, shut ? '▸' : '▾'), label(r));
  }

  function visible(r) {
    if (marked) return marked[r] === 1;
    for (let p = parent[r]; p >= 0; p = parent[p]) if (folded.has(p)) return false;
    return true;
  }

  function fold(r) {
    if (folded.has(r)) folded.delete(r);
    else folded.add(r);
    tree.filter(visible);
  }

  const search = profuse.search(root, {
    into: bar, placeholder: 'Search files and functions', label: 'Search files and functions',
    change(text) {
      match = profuse.matcher(text);
      searched = text;
      return filter();
    },
  });
  function filter() {
    const found = new Uint8Array(data.path.length);
    let n = 0;
    for (let f = 0; f < found.length; f++) {
      const r = rowOfFile.get(f);
      if (undone && last.ran[r] === last.all[r]) continue;
      found[f] = searched === '' || match(path(f)) || hasFunction(f) ? 1 : 0;
      n += found[f];
    }
    marked = null;
    if (searched !== '' || undone) {
      marked = new Uint8Array(rows);
      for (let f = 0; f < found.length; f++) {
        if (found[f]) for (let r = rowOfFile.get(f); r >= 0; r = parent[r]) marked[r] = 1;
      }
    }
    tree.filter(visible);
    list.filter((f) => found[f] === 1);
    return n === found.length ? `${format.count(n)} ${n === 1 ? 'file' : 'files'}` : `${format.count(n)} of ${format.count(found.length)} files`;
  }
  function hasFunction(f) {
    for (let i = data.functions.start[f]; i < data.functions.start[f + 1]; i++) {
      if (match(profile.names[data.functions.name[i]])) return true;
    }
    return false;
  }

  const flat = el('button', {type: 'button', 'aria-pressed': 'false', title: 'All files in one list, which can be sorted', on: {click: () => {
    profuse.state.set('view', asList.hidden ? 'list' : null, {replace: true});
    arrange();
  }}}, 'List');
  const gaps = el('button', {type: 'button', 'aria-pressed': 'false', title: 'Only files in which something did not run', on: {click: () => {
    undone = !undone;
    gaps.setAttribute('aria-pressed', String(undone));
    search.refresh();
  }}}, 'With gaps');
  bar.append(flat, gaps);

  function arrange() {
    const listed = profuse.state.get('view') === 'list';
    asList.hidden = !listed;
    asTree.hidden = listed;
    flat.setAttribute('aria-pressed', String(listed));
  }

  function choose(f) {
    profuse.state.set('fn', null, {replace: true});
    profuse.state.set('file', f === null ? null : path(f), {replace: true});
    draw(f, null);
  }

  // find returns the file and function that the address names.
  function find() {
    const fn = profuse.state.get('fn');
    const wantedFile = profuse.state.get('file');
    let file = null;
    if (wantedFile !== null) {
      for (let f = 0; f < data.path.length && file === null; f++) if (path(f) === wantedFile) file = f;
    }
    if (fn === null) return [file, null];
    const from = file === null ? 0 : data.functions.start[file];
    const to = file === null ? data.functions.name.length : data.functions.start[file + 1];
    for (let i = from; i < to; i++) {
      if (profile.names[data.functions.name[i]] !== fn) continue;
      if (file === null) {
        file = 0;
        while (data.functions.start[file + 1] <= i) file++;
      }
      return [file, i];
    }
    return [file, null];
  }

  let drawn = null;
  function show() {
    search.set(profuse.state.get('q') || '');
    arrange();
    const [file, fn] = find();
    if (drawn !== null && drawn.file === file && drawn.fn === fn) return;
    draw(file, fn);
    if (file !== null) {
      tree.select(rowOfFile.get(file), {quiet: true});
      list.select(file, {quiet: true});
    }
  }

  function draw(file, fn) {
    drawn = {file, fn};
    detail.hidden = file === null;
    split.classList.toggle('open', file !== null);
    detail.replaceChildren();
    if (file === null) return;
    const row = rowOfFile.get(file);
    const head = el('dl', {class: 'cov-summary'}, measures.map((m) =>
      el('div', {}, el('dt', {}, m.title), el('dd', {}, meter(m.ran[row], m.all[row], true)))));
    const source = data.sources.find((s) => s.file === file);
    const lines = linesOf(file);
    const shown = source ? sourceView(source, lines) : null;
    detail.append(
      el('h4', {class: 'path'}, path(file)),
      el('button', {type: 'button', class: 'close', on: {click: () => {
        tree.select(null);
        list.select(null, {quiet: true});
      }}}, 'Close'),
      head, functionList(file, fn, shown));
    if (shown) detail.append(shown.root);
    else detail.append(lineList(lines));
    if (shown && fn !== null) shown.reveal(data.functions.line[fn]);
  }

  function linesOf(file) {
    const out = new Map();
    let number = 0;
    for (let i = data.lineOf.start[file]; i < data.lineOf.start[file + 1]; i++) {
      number += data.lineOf.number[i];
      out.set(number, data.lineOf.count[i]);
    }
    return out;
  }

  function functionList(file, fn, shown) {
    const first = data.functions.start[file];
    const count = data.functions.start[file + 1] - first;
    if (count === 0) return el('p', {class: 'note'}, 'No function of this file is listed.');
    const name = (i) => profile.names[data.functions.name[first + i]];
    const calls = (i) => data.functions.calls[first + i];
    const cols = [
      {title: 'Line', width: 6, value: (i) => data.functions.line[first + i], text: (i) => String(data.functions.line[first + i])},
      {title: 'Function', align: 'left', value: name},
      data.counts
        ? {title: 'Calls', width: 10, value: calls}
        : {title: 'Ran', width: 5, value: calls, text: (i) => (calls(i) ? 'yes' : 'no')},
    ];
    if (data.blocks) {
      cols.push({
        title: 'Blocks', align: 'left', width: 22, narrow: false, value: (i) => data.functions.blocksRan[first + i] / data.functions.blocks[first + i],
        node: (i) => meter(data.functions.blocksRan[first + i], data.functions.blocks[first + i]),
      });
    }
    const box = el('div', {class: 'cov-functions'});
    const links = el('p', {class: 'links'});
    const table = profuse.table(box, {
      label: 'Functions of the file', count, columns: cols, height: shown ? '240px' : null,
      select(i) {
        profuse.state.set('fn', i === null ? null : name(i), {replace: true});
        drawn = {file, fn: i === null ? null : first + i};
        links.replaceChildren(...(i === null ? [] : profuse.links(name(i))));
        if (shown && i !== null) shown.reveal(data.functions.line[first + i]);
      },
    });
    box.append(links);
    if (fn !== null) {
      table.select(fn - first, {quiet: true});
      links.replaceChildren(...profuse.links(name(fn - first)));
    }
    return box;
  }

  // lineList says in words which lines did not run, for want of the source.
  function lineList(lines) {
    if (!data.lines || lines.size === 0) return null;
    const not = [...lines].filter(([, n]) => n === 0).map(([l]) => l);
    const listed = not.slice(0, 400);
    return el('div', {},
      el('h4', {}, 'Lines that did not run'),
      el('p', {class: 'cov-gaps'}, not.length === 0 ? 'None of those that are known.' : listed.join(', '), not.length > listed.length ? ` and ${format.count(not.length - listed.length)} more` : ''),
      el('p', {class: 'note'}, 'The source itself is in reports that are made with --source.'));
  }

  return show;
});

// sourceView shows the text of a file. Its parts are laid out by the browser
// when they are scrolled to.
function sourceView(source, lines) {
  const texts = source.text.split('\n');
  texts.pop(); // after the last line feed
  const rows = [];
  const gaps = [];
  const parts = [];
  for (let from = 0; from < texts.length; from += chunk) {
    const to = Math.min(from + chunk, texts.length);
    const part = el('div', {class: 'part', style: {'contain-intrinsic-size': `auto ${(to - from) * 19}px`}});
    for (let i = from; i < to; i++) {
      const n = lines.get(i + 1);
      const kind = n === undefined ? null : n > 0 ? 'run' : 'not';
      if (kind === 'not' && (gaps.length === 0 || gapBefore(i))) gaps.push(i + 1);
      const row = el('div', {class: kind ? `line ${kind}` : 'line'},
        el('span', {class: 'at'}, String(i + 1)),
        el('span', {class: 'times', title: kind === 'not' ? 'did not run' : kind === 'run' ? 'ran' : null}, n === undefined ? '' : format.count(n)),
        el('span', {class: 'text'}, texts[i] === '' ? ' ' : texts[i]));
      rows.push(row);
      part.append(row);
    }
    parts.push(part);
  }
  // gapBefore reports whether the line begins a run of lines that did not run,
  // those without code passed over.
  function gapBefore(i) {
    for (let k = i; k > 0; k--) {
      const n = lines.get(k);
      if (n !== undefined) return n > 0;
    }
    return true;
  }
  const code = el('div', {class: 'source', tabindex: '0', role: 'group', 'aria-label': `Source of ${source.from}`}, parts);
  let at = 0;
  const reveal = (number) => {
    at = number;
    const row = rows[number - 1];
    if (!row) return;
    for (const r of code.querySelectorAll('.here')) r.classList.remove('here');
    row.classList.add('here');
    const top = () => row.getBoundingClientRect().top - code.getBoundingClientRect().top;
    code.scrollTop += top() - code.clientHeight / 3;
    // Parts before it may turn out higher than expected.
    requestAnimationFrame(() => { code.scrollTop += top() - code.clientHeight / 3; });
  };
  const go = (down) => {
    const next = down ? gaps.find((g) => g > at) : gaps.filter((g) => g < at).pop();
    if (next !== undefined) reveal(next);
  };
  const step = (text, down) => el('button', {type: 'button', on: {click: () => go(down)}}, text);
  const head = el('div', {class: 'bar cov-steps'},
    el('span', {class: 'muted'}, gaps.length === 0 ? 'All known lines ran' : `${format.count(gaps.length)} ${gaps.length === 1 ? 'gap' : 'gaps'}`),
    gaps.length === 0 ? null : [step('Previous gap', false), step('Next gap', true)]);
  return {root: el('div', {class: 'cov-source'}, head, code), reveal};
}

// meter shows how many of how many ran.
function meter(ran, all, large) {
  if (all === 0) return el('span', {class: 'muted'}, '–');
  const share = ran / all;
  const text = `${format.count(ran)} of ${format.count(all)}`;
  return el('span', {class: large ? 'meter large' : 'meter', title: `${text}, ${format.percent(share)}`},
    el('span', {class: 'track', 'aria-hidden': 'true'}, el('span', {class: 'done', style: {width: `${100 * share}%`}})),
    el('span', {class: 'said'}, large ? `${format.percent(share)} (${text})` : text));
}

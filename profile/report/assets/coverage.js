// The page of coverage: the tree of files, and one file at a time with its functions
// and its source, as far as that is in the report. coverage_source.js draws the source.
const {el, format} = profuse;

profuse.page('coverage', (root, data, profile) => {
  const rows = data.label.length;
  const label = (r) => profile.names[data.label[r]];
  const path = (f) => profile.names[data.path[f]];
  const fnName = (i) => profile.names[data.functions.name[i]];
  const isFile = (r) => data.file[r] >= 0;
  const rowOfFile = new Map();
  const parent = new Int32Array(rows);
  const children = new Map(); // of a row; -1 for the top
  const open = []; // rows of the folders that the row is in
  for (let r = 0; r < rows; r++) {
    open.length = data.depth[r];
    parent[r] = open.length > 0 ? open[open.length - 1] : -1;
    if (!children.has(parent[r])) children.set(parent[r], []);
    children.get(parent[r]).push(r);
    if (isFile(r)) rowOfFile.set(data.file[r], r);
    else open.push(r);
  }
  const folded = new Set();
  const kinds = data.kinds;
  const kind = (id) => kinds.find((k) => k.id === id);
  const main = kind('lines') || kind('blocks') || kind('functions');
  const compared = main.wasAll.length > 0;
  const shareOf = (ran, all) => (all > 0 ? ran / all : NaN);
  const share = (k, r) => shareOf(k.ran[r], k.all[r]);
  const was = (k, r) => (k.wasAll.length > 0 ? shareOf(k.wasRan[r], k.wasAll[r]) : NaN);
  const stopped = new Set(data.functions.stopped);

  const bar = el('div', {class: 'bar'});
  const left = el('div', {class: 'cov-list'});
  const asTree = el('div');
  const asList = el('div', {hidden: true});
  const detail = el('div', {class: 'cov-detail', role: 'region', 'aria-label': 'File', hidden: true});
  left.append(meters(rows), bar, asTree, asList);
  root.querySelector('.page-title').after(left, detail);

  // meters sums up a row; that after the last is the whole.
  function meters(r) {
    return el('dl', {class: 'cov-summary'}, kinds.filter((k) => k.all[r] > 0 || r === rows).map((k) => {
      const before = was(k, r);
      const change = share(k, r) - before;
      return el('div', {}, el('dt', {}, k.title), el('dd', {}, meter(k.ran[r], k.all[r], true),
        Number.isFinite(change) && el('span', {class: change < 0 ? 'cov-was error' : 'cov-was muted'}, change === 0 ? 'as in the baseline' : `${format.percent(before)} in the baseline`)));
    }));
  }

  let match = () => true;
  let searched = '';
  const wanted = {gaps: false, worse: false, changed: false};
  let marked = null; // rows to show while some are looked for
  let found = []; // numbers of the files that are listed
  const gone = (r) => kinds.some((k) => k.ran[r] < k.all[r]);
  const worse = (r) => kinds.some((k) => share(k, r) < was(k, r));
  const tests = {
    gaps: (r) => gone(r),
    worse,
    changed: (r) => kind('changed').all[r] > 0,
  };

  const columns = (tree) => {
    const at = tree ? (r) => r : (f) => rowOfFile.get(f);
    const out = [tree
      ? {title: 'File', align: 'left', node: treeName, value: label}
      : {title: 'File', align: 'left', value: (i) => path(i)}];
    for (const k of kinds) {
      const most = k.all.reduce((n, all) => Math.max(n, short(all).length), 1);
      out.push({
        title: k.title, align: 'left', width: Math.max(9 + 2 * most, k.title.length + 3), narrow: k === main ? null : false,
        hint: 'The share that ran, and how many of how many', value: (i) => share(k, at(i)), node: (i) => meter(k.ran[at(i)], k.all[at(i)]),
      });
      if (k !== main) continue;
      if (compared) {
        const change = (i) => 100 * (share(main, at(i)) - was(main, at(i)));
        out.push({title: 'Change', width: 8, hint: `Of the share of ${main.title.toLowerCase()}, in percentage points, since the baseline`, value: change, node: (i) => points(change(i))});
      }
      out.push({title: 'Not run', width: 8, hint: `${main.title} that did not run`, narrow: false, value: (i) => k.all[at(i)] - k.ran[at(i)]});
    }
    return out;
  };
  const tree = profuse.table(asTree, {
    label: 'Files and folders', count: rows, columns: columns(true), filter: visible, arrange: sortTree,
    select(r) {
      if (r === null) choose(null);
      else if (isFile(r)) choose(data.file[r]);
      else fold(r);
    },
  });
  const list = profuse.table(asList, {label: 'Files', count: data.path.length, columns: columns(false), select: choose});

  // sortTree sorts the entries of each folder.
  function sortTree(compare) {
    const out = [];
    const walk = (p) => {
      for (const r of [...(children.get(p) || [])].sort(compare)) {
        out.push(r);
        walk(r);
      }
    };
    walk(-1);
    return out;
  }

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
    found = [];
    for (let f = 0; f < data.path.length; f++) {
      const r = rowOfFile.get(f);
      if (Object.keys(wanted).some((id) => wanted[id] && !tests[id](r))) continue;
      if (searched === '' || match(path(f)) || hasFunction(f)) found.push(f);
    }
    marked = null;
    if (found.length < data.path.length || searched !== '') {
      marked = new Uint8Array(rows);
      for (const f of found) for (let r = rowOfFile.get(f); r >= 0; r = parent[r]) marked[r] = 1;
    }
    const some = new Set(found);
    tree.filter(visible);
    list.filter((f) => some.has(f));
    const all = data.path.length;
    return found.length === all ? `${format.count(all)} ${all === 1 ? 'file' : 'files'}` : `${format.count(found.length)} of ${format.count(all)} files`;
  }
  function hasFunction(f) {
    for (let i = data.functions.start[f]; i < data.functions.start[f + 1]; i++) {
      if (match(fnName(i))) return true;
    }
    return false;
  }

  const flat = el('button', {type: 'button', 'aria-pressed': 'false', title: 'All files in one list', on: {click: () => {
    profuse.state.set('view', asList.hidden ? 'list' : null, {replace: true});
    arrange();
  }}}, 'List');
  const only = (id, text, title) => {
    const button = el('button', {type: 'button', 'aria-pressed': 'false', title, on: {click: () => {
      wanted[id] = !wanted[id];
      button.setAttribute('aria-pressed', String(wanted[id]));
      search.refresh();
    }}}, text);
    return button;
  };
  bar.append(flat, only('gaps', 'With gaps', 'Only files in which something did not run'));
  if (compared) bar.append(only('worse', 'Worse', 'Only files of which a smaller share ran than in the baseline'));
  if (kind('changed')) bar.append(only('changed', 'Changed', 'Only files with lines that the patch adds'));

  function arrange() {
    const listed = profuse.state.get('view') === 'list';
    asList.hidden = !listed;
    asTree.hidden = listed;
    flat.setAttribute('aria-pressed', String(listed));
  }

  function choose(f, at) {
    profuse.state.set('fn', null, {replace: true});
    profuse.state.set('line', null, {replace: true});
    profuse.state.set('file', f === null ? null : path(f));
    draw(f, null, at);
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
      if (fnName(i) !== fn) continue;
      if (file === null) {
        file = 0;
        while (data.functions.start[file + 1] <= i) file++;
      }
      return [file, i];
    }
    return [file, null];
  }

  let drawn = {file: null, fn: null, view: null};
  function show() {
    search.set(profuse.state.get('q') || '');
    arrange();
    const [file, fn] = find();
    if (drawn.file === file && drawn.fn === fn) return;
    draw(file, fn);
  }

  // contents returns the coverage inside a file, once it has been read.
  const parts = new Map();
  async function contents(file) {
    let n = 0;
    while (n + 1 < data.parts.length && data.parts[n + 1] <= file) n++;
    if (!parts.has(n)) parts.set(n, profile.part(n));
    return (await parts.get(n))[file - data.parts[n]];
  }

  // draw shows a file, or the list of all if it is null. at is "first" or "last" to go
  // to that gap.
  async function draw(file, fn, at) {
    const own = {file, fn, view: null};
    drawn = own;
    detail.hidden = file === null;
    left.hidden = file !== null;
    detail.replaceChildren();
    if (file === null) return;
    const row = rowOfFile.get(file);
    tree.select(row, {quiet: true});
    list.select(file, {quiet: true});
    const step = (text, title, to) => el('button', {type: 'button', title, on: {click: () => turn(to)}}, text);
    const wait = el('p', {class: 'muted', role: 'status'}, 'Reading data …');
    detail.append(
      el('div', {class: 'bar cov-head'},
        el('button', {type: 'button', class: 'close', title: 'Back to all files (Esc)', on: {click: () => choose(null)}}, 'All files'),
        el('h4', {class: 'path'}, path(file)),
        step('Previous file', 'The file before this one in the list ([)', -1), step('Next file', 'The file after this one in the list (])', 1)),
      meters(row), wait);
    const known = await contents(file);
    if (drawn !== own) return;
    wait.remove();
    const names = [];
    for (let i = data.functions.start[file]; i < data.functions.start[file + 1]; i++) names.push(i);
    own.view = profuse.sourceView(known, {
      own: file, functions: names.map((i) => ({name: fnName(i), line: data.functions.line[i], calls: data.functions.calls[i]})),
      async textOf(f) {
        const other = f === file ? known : f >= 0 ? await contents(f) : null;
        return other && other.source ? other.source.text : null;
      },
      pathOf: path, beyond: (down) => turn(down ? 1 : -1, true),
    });
    detail.append(functionList(file, fn), own.view.root,
      el('p', {class: 'note cov-keys'}, ['n', 'p'].map((k) => el('kbd', {}, k)), ' next and previous gap; ', [']', '['].map((k) => el('kbd', {}, k)), ' next and previous file; ', el('kbd', {}, 'Esc'), ' all files'));
    const line = Number(profuse.state.get('line'));
    if (fn !== null) own.view.reveal(data.functions.line[fn]);
    else if (at) own.view.end(at === 'first');
    else if (line > 0) own.view.reveal(line);
  }

  // turn goes to the next or previous file of the list, with gap to one that has gaps,
  // and there to the first or last.
  function turn(by, gap) {
    const ordered = by > 0 ? found.filter((f) => f > drawn.file) : found.filter((f) => f < drawn.file).reverse();
    const next = ordered.find((f) => !gap || gone(rowOfFile.get(f)));
    if (next === undefined) return false;
    choose(next, gap ? (by > 0 ? 'first' : 'last') : null);
    return true;
  }

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !root.checkVisibility()) return;
    if (event.target.closest('input, select, textarea')) return;
    const {file, view} = drawn;
    if (file === null) return;
    const act = {
      n: () => view && view.step(true), p: () => view && view.step(false),
      ']': () => turn(1), '[': () => turn(-1), Escape: () => choose(null),
    }[event.key];
    if (!act || event.key === 'Escape' && event.target.closest('.scroller')) return;
    event.preventDefault();
    act();
  });

  function functionList(file, fn) {
    const first = data.functions.start[file];
    const count = data.functions.start[file + 1] - first;
    if (count === 0) return el('p', {class: 'note'}, 'No function of this file is listed.');
    const name = (i) => fnName(first + i);
    const calls = (i) => data.functions.calls[first + i];
    const cols = [
      {title: 'Line', width: 6, value: (i) => data.functions.line[first + i], text: (i) => String(data.functions.line[first + i])},
      {title: 'Function', align: 'left', value: name},
      data.counts
        ? {title: 'Calls', width: 10, value: calls}
        : {title: 'Ran', width: 5, value: calls, text: (i) => (calls(i) ? 'yes' : 'no')},
    ];
    if (stopped.size > 0) {
      const no = (i) => stopped.has(first + i);
      cols.push({title: 'Since the baseline', width: 18, value: (i) => (no(i) ? 1 : 0), node: (i) => el('span', {class: 'error'}, no(i) ? 'no longer runs' : '')});
    }
    if (data.blocks) {
      const ran = (i) => data.functions.blocksRan[first + i];
      const all = (i) => data.functions.blocks[first + i];
      cols.push({title: 'Blocks', align: 'left', width: 20, narrow: false, value: (i) => ran(i) / all(i), node: (i) => meter(ran(i), all(i))});
    }
    let not = 0;
    for (let i = 0; i < count; i++) if (calls(i) === 0) not++;
    const box = el('details', {class: 'cov-functions'},
      el('summary', {}, `${format.count(count)} ${count === 1 ? 'function' : 'functions'}`, not > 0 && el('span', {class: 'error'}, `, ${format.count(not)} did not run`)));
    box.open = !drawn.view.text || fn !== null;
    const links = el('p', {class: 'links'});
    const table = profuse.table(box, {
      label: 'Functions of the file', count, columns: cols, height: drawn.view.text ? '240px' : null,
      select(i) {
        profuse.state.set('fn', i === null ? null : name(i), {replace: true});
        drawn.fn = i === null ? null : first + i;
        links.replaceChildren(...(i === null ? [] : profuse.links(name(i))));
        if (i !== null) drawn.view.reveal(data.functions.line[first + i]);
      },
    });
    box.append(links);
    if (fn !== null) {
      table.select(fn - first, {quiet: true});
      links.replaceChildren(...profuse.links(name(fn - first)));
    }
    return box;
  }

  return show;
});

// meter shows how many of how many ran.
function meter(ran, all, large) {
  if (all === 0) return el('span', {class: 'muted'}, '–');
  const share = ran / all;
  const said = `${format.count(ran)} of ${format.count(all)}`;
  return el('span', {class: large ? 'meter large' : 'meter', title: `${said}, ${format.percent(share)}`},
    el('span', {class: 'said'}, el('b', {}, format.percent(share)), el('span', {class: 'muted'}, large ? said : `${short(ran)}/${short(all)}`)),
    el('span', {class: 'track', 'aria-hidden': 'true'}, el('span', {class: 'done', style: {width: `${100 * share}%`}})));
}

// short writes numbers from 10,000 on with three digits and a letter.
function short(n) {
  if (n < 10000) return format.count(n);
  let x = n / 1000;
  let u = 0;
  for (; x >= 999.5 && u < 2; u++) x /= 1000;
  return `${x < 9.995 ? x.toFixed(2) : x < 99.95 ? x.toFixed(1) : x.toFixed(0)}${'kMG'[u]}`;
}

// points shows a change in percentage points.
function points(x) {
  if (!Number.isFinite(x)) return el('span', {class: 'muted'}, 'new');
  const text = Math.abs(x) < 0.05 ? (x === 0 ? '0' : x < 0 ? '>−0.1' : '<0.1') : `${x < 0 ? '−' : '+'}${Math.abs(x).toFixed(1)}`;
  return el('span', {class: x < 0 ? 'error' : x === 0 ? 'muted' : null}, text);
}

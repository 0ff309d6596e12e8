// The source of a file on the page of coverage.
const {el, format} = profuse;
const chunk = 200; // lines that the browser lays out together

// sourceView shows the coverage inside a file, with its text if the report has it. about has own, the
// number of the file; functions; textOf(number) and pathOf(number), for other files; and beyond(down),
// which goes to another file. sourceView returns root, text (whether there is a text), reveal(line), and
// step(down) and end(first), which go through the gaps.
profuse.sourceView = (known, about) => {
  const inside = decode(known);
  const changed = new Set(sums(known.changed));
  const texts = known.source ? known.source.text.split('\n') : null;
  if (texts) texts.pop(); // after the last line feed
  const gaps = gapsOf(inside, changed);
  const instances = new Map(); // by line
  for (const i of known.instances) {
    const fn = about.functions[i.function];
    if (!instances.has(fn.line)) instances.set(fn.line, []);
    instances.get(fn.line).push({...fn, of: i.of});
  }
  const root = el('div', {class: 'cov-source'});
  const said = el('span', {class: 'cov-gap', 'aria-live': 'polite'}, gaps.length === 0 ? 'All that is known ran' : `${format.count(gaps.length)} ${gaps.length === 1 ? 'gap' : 'gaps'}`);
  const button = (text, title, down) => el('button', {type: 'button', title, on: {click: () => step(down)}}, text);
  const bar = el('div', {class: 'bar cov-steps'}, button('Previous gap', 'p', false), button('Next gap', 'n; after the last one that of the next file', true), said);
  let at = 0; // the line that was gone to
  let reveal = () => {};
  function go(gap) {
    said.textContent = `Gap ${format.count(gaps.indexOf(gap) + 1)} of ${format.count(gaps.length)}, line ${gap.line}: ${gap.what.join('; ')}`;
    reveal(gap.line);
  }
  function step(down) {
    const next = down ? gaps.find((g) => g.line > at) : gaps.filter((g) => g.line < at).pop();
    if (next) go(next);
    else if (!about.beyond(down)) said.textContent = down ? 'No further gap' : 'No gap before';
  }
  const end = (first) => {
    if (gaps.length > 0) go(first ? gaps[0] : gaps[gaps.length - 1]);
  };
  root.append(bar);
  if (!texts) {
    root.append(inWords(inside, gaps));
    return {root, text: false, reveal: (line) => { at = line; }, step, end};
  }

  const rows = new Map(); // by line
  const code = el('div', {class: 'source', tabindex: '0', role: 'group', 'aria-label': `Source of ${known.source.from}`});
  const context = {about, changed, instances, level: 'gaps'};
  function fill() {
    rows.clear();
    code.replaceChildren();
    for (let from = 0; from < texts.length; from += chunk) {
      const to = Math.min(from + chunk, texts.length);
      const part = el('div', {class: 'part', style: {'contain-intrinsic-size': `auto ${(to - from) * 19}px`}});
      for (let i = from; i < to; i++) appendLine(part, i + 1, texts[i], inside, context, rows);
      code.append(part);
    }
  }
  const levels = [['gaps', 'Gaps', 'Branches and conditions of which something is missing, on lines that ran'], ['all', 'All', 'All branches, conditions, macros and instances'], ['none', 'None', 'The source alone']];
  const has = inside.branches.size + inside.decisions.size + inside.expansions.size + instances.size > 0;
  const switches = levels.map(([id, text, title]) => el('button', {type: 'button', title, on: {click: () => {
    profuse.state.set('show', id === 'gaps' ? null : id, {replace: true});
    choose(id);
    fill();
    if (at > 0) reveal(at);
  }}}, text));
  function choose(id) {
    context.level = id;
    levels.forEach(([other], i) => switches[i].setAttribute('aria-pressed', String(other === id)));
  }
  const asked = profuse.state.get('show');
  choose(levels.some(([id]) => id === asked) ? asked : 'gaps');
  if (has) bar.append(el('span', {class: 'cov-level'}, el('span', {class: 'muted'}, 'Details'), el('span', {class: 'switch', role: 'group', 'aria-label': 'Details'}, switches)));
  fill();
  root.append(code);
  reveal = (number) => {
    at = number;
    const row = rows.get(number);
    if (!row) return;
    for (const r of code.querySelectorAll('.here')) r.classList.remove('here');
    row.classList.add('here');
    profuse.state.set('line', number, {replace: true});
    const top = () => row.getBoundingClientRect().top - code.getBoundingClientRect().top;
    code.scrollTop += top() - code.clientHeight / 3;
    // Parts before it may turn out higher than expected.
    requestAnimationFrame(() => { code.scrollTop += top() - code.clientHeight / 3; });
  };
  return {root, text: true, reveal: (n) => reveal(n), step, end};
};

// sums undoes the coding of ascending numbers as differences.
function sums(differences) {
  let sum = 0;
  return differences.map((d) => (sum += d));
}

function byLine(items) {
  const lines = new Map();
  for (const item of items) {
    if (!lines.has(item.at[0])) lines.set(item.at[0], []);
    lines.get(item.at[0]).push(item);
  }
  return lines;
}

// decode returns the parts of a file by line. What did not run as a whole is "not run".
function decode(part) {
  const counts = new Map(sums(part.line).map((line, i) => [line, part.count[i]]));
  const spans = new Map(); // by line
  const starts = []; // lines with spans
  sums(part.spanLine).forEach((line, i) => {
    if (!spans.has(line)) {
      spans.set(line, []);
      starts.push(line);
    }
    spans.get(line).push({column: part.spanColumn[i], count: part.spanCount[i]});
  });
  // before has the count with which a line begins.
  let next = 0;
  let current = -1;
  const before = (line) => { // of ascending lines
    if (next > 0 && starts[next - 1] >= line) {
      next = 0;
      current = -1;
    }
    for (; next < starts.length && starts[next] < line; next++) {
      const own = spans.get(starts[next]);
      current = own[own.length - 1].count;
    }
    return current;
  };
  return {
    counts, spans, before, decisions: byLine(part.decisions), expansions: byLine(part.expansions), branches: byLine(part.branches),
    missing: (line) => (counts.get(line) > 0 && (spans.get(line) || []).some((s) => s.count === 0)),
  };
}

const never = (b) => b.ways.some((n) => n === 0);
const wayNames = (b) => (b.bool ? ['True', 'False'] : b.names || b.ways.map((_, i) => `Way ${i + 1}`));
const place = (at) => (at[1] > 0 ? `${at[0]}:${at[1]}` : String(at[0]));

// gapsOf lists where something is missing, each line once and of lines that did not run
// the first of several.
function gapsOf(inside, changed) {
  const out = [];
  let missed = false; // the line before did not run
  for (const [line, count] of inside.counts) {
    const what = [];
    if (count === 0) {
      if (!missed || changed.has(line)) what.push(changed.has(line) ? 'a changed line did not run' : 'did not run');
    } else {
      if (inside.missing(line)) what.push('a part of the line did not run');
      for (const b of inside.branches.get(line) || []) {
        if (never(b)) what.push(`branch ${place(b.at)} never ${wayNames(b).filter((_, i) => b.ways[i] === 0).join(' nor ')}`);
      }
      for (const d of inside.decisions.get(line) || []) {
        if (d.ran < d.all) what.push(`MC/DC of ${place(d.at)}: ${d.all - d.ran} of ${d.all} conditions are not shown to decide`);
      }
    }
    missed = count === 0;
    if (what.length > 0) out.push({line, what});
  }
  return out;
}

// inWords lists the gaps of a file without its text.
function inWords(inside, gaps) {
  const ranges = [];
  let last = 0;
  for (const [line, count] of inside.counts) {
    if (count === 0) {
      const open = ranges[ranges.length - 1];
      if (open && open[1] === last) open[1] = line;
      else ranges.push([line, line]);
    }
    last = line;
  }
  const listed = ranges.slice(0, 400).map(([a, b]) => (a === b ? String(a) : `${a}–${b}`));
  const others = gaps.filter((g) => inside.counts.get(g.line) > 0);
  return el('div', {},
    el('h4', {}, 'Lines that did not run'),
    el('p', {class: 'cov-gaps'}, ranges.length === 0 ? 'None of those that are known.' : listed.join(', '), ranges.length > listed.length && ` and ${format.count(ranges.length - listed.length)} more`),
    others.length > 0 && [
      el('h4', {}, 'Missing on lines that ran'),
      el('ul', {class: 'cov-gaps'}, others.slice(0, 400).map((g) => el('li', {}, `Line ${g.line}: ${g.what.join('; ')}`))),
    ],
    el('p', {class: 'note'}, 'The source itself is in reports that are made with --source.'));
}

// appendLine adds a line, and below it what is known of its parts.
function appendLine(to, number, text, inside, context, rows) {
  const n = inside.counts.get(number);
  const branches = inside.branches.get(number) || [];
  const decisions = inside.decisions.get(number) || [];
  const partial = n > 0 && (inside.missing(number) || branches.some(never) || decisions.some((d) => d.ran < d.all));
  const kind = n === undefined ? '' : n === 0 ? 'not' : partial ? 'run some' : 'run';
  const notes = el('div', {class: 'cov-notes-of', hidden: true});
  const expansions = inside.expansions.get(number) || [];
  const title = {'': null, not: 'did not run', run: 'ran', 'run some': 'ran, but not all of it'}[kind];
  const row = el('div', {class: `line ${kind}`, 'data-line': rows ? number : null},
    el('span', {class: context.changed.has(number) && rows ? 'at changed' : 'at', title: context.changed.has(number) && rows ? 'changed' : null}, String(number)),
    el('span', {class: 'times', title}, n === undefined ? '' : format.count(n)),
    el('span', {class: 'text'}, textOf(number, text, n, inside, expansions, (x) => toggle(notes, x, context))));
  to.append(row, notes);
  if (rows) rows.set(number, row);
  const {level} = context;
  const add = (...nodes) => {
    notes.append(...nodes);
    notes.hidden = false;
  };
  if (level !== 'none') {
    const all = level === 'all';
    for (const b of branches) if (all || n > 0 && never(b)) add(branchNote(b));
    for (const d of decisions) if (all || n > 0 && d.ran < d.all) add(decisionNote(d));
    if (rows && context.instances.has(number)) add(instancesNote(context.instances.get(number), context));
    if (all && rows) for (const x of expansions) toggle(notes, x, context);
  }
}

// textOf returns the text of a line in pieces. Pieces that did not run are marked, and the names of
// macros are buttons.
function textOf(number, text, lineCount, inside, expansions, open) {
  if (text === null) return '';
  const index = columnsOf(text);
  const cuts = new Map([[0, inside.before(number)]]); // index: count from there on
  for (const s of inside.spans.get(number) || []) cuts.set(index(s.column), s.count);
  const macros = expansions.map((x) => ({x, from: index(x.at[1]), to: x.at[2] === number ? index(x.at[3]) : text.length})).filter((m) => m.to > m.from);
  const points = [...new Set([...cuts.keys(), ...macros.flatMap((m) => [m.from, m.to]), text.length])].sort((a, b) => a - b);
  const out = [];
  let count = -1;
  for (let i = 0; i + 1 < points.length; i++) {
    const [from, to] = [points[i], points[i + 1]];
    if (cuts.has(from)) count = cuts.get(from);
    let piece = text.slice(from, to);
    const macro = macros.find((m) => m.from <= from && to <= m.to);
    const missed = count === 0 && piece.trim() !== '' && lineCount !== undefined;
    const indent = from === 0 && missed && !macro ? piece.length - piece.trimStart().length : 0;
    if (indent > 0) {
      out.push(piece.slice(0, indent));
      piece = piece.slice(indent);
    }
    const title = count >= 0 && count !== lineCount ? (count === 0 ? 'did not run' : `ran ${format.count(count)} times`) : null;
    if (macro && macro.from === from) {
      out.push(el('button', {type: 'button', class: missed ? 'macro miss' : 'macro', title: 'Show what the macro stands for', 'aria-expanded': 'false', on: {click: (event) => {
        event.currentTarget.setAttribute('aria-expanded', String(open(macro.x)));
      }}}, piece));
    } else if (missed || title) {
      out.push(el('span', {class: missed ? 'miss' : null, title}, piece));
    } else {
      out.push(piece);
    }
  }
  return out.length > 0 ? out : ' ';
}

// columnsOf returns what turns columns, which count bytes of UTF-8 from 1, into indexes.
function columnsOf(text) {
  const within = (i) => Math.max(0, Math.min(i, text.length));
  let ascii = true;
  for (let i = 0; i < text.length && ascii; i++) ascii = text.charCodeAt(i) < 128;
  if (ascii) return (column) => within(column - 1);
  const at = []; // index by byte
  let i = 0;
  for (const c of text) {
    const code = c.codePointAt(0);
    for (let n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4; n > 0; n--) at.push(i);
    i += c.length;
  }
  return (column) => (column - 1 < at.length ? at[Math.max(0, column - 1)] : text.length);
}

function branchNote(b) {
  const names = wayNames(b);
  return el('div', {class: 'branch'}, `Branch ${place(b.at)}: `, b.ways.map((n, i) => [
    i > 0 && ', ', el('span', {class: n === 0 ? 'lost' : null}, `${names[i]}: ${format.count(n)}`)]));
}

// decisionNote shows the conditions of a decision, its test vectors, and which are missing.
function decisionNote(d) {
  const spoken = (v) => `${[...v.slice(0, v.indexOf(':'))].join(' ')} → ${v.slice(-1)}`;
  const condition = (c, i) => {
    const name = `C${i + 1} (${place(c.at)})`;
    if (c.constant) return el('li', {}, `${name} is constant`);
    if (c.covered) return el('li', {}, `${name} was shown to decide`);
    return el('li', {}, el('span', {class: 'lost'}, `${name} was not shown to decide`),
      c.wanted ? [': missing is ', el('code', {}, spoken(c.wanted)), ' beside ', el('code', {}, spoken(c.have))] : d.vectors.length > 0 && (d.vectors.every((v) => v[i] === '-') ? ': it was never evaluated' : ': it decides nothing alone in what was executed'));
  };
  return el('div', {class: 'decision'},
    el('div', {}, `MC/DC ${place(d.at)}: `, el('span', {class: d.ran < d.all ? 'lost' : null}, `${d.ran} of ${d.all} conditions were shown to decide`)),
    d.operands.length > 0 && el('ul', {}, d.operands.map(condition)),
    d.operands.length > 0 && el('div', {class: 'muted'}, `${d.operands.map((_, i) => `C${i + 1}`).join(' ')} → result: `,
      d.vectors.length === 0 ? 'no vector was executed' : d.vectors.map((v, i) => [i > 0 && ', ', el('code', {}, spoken(v))])));
}

// excerpt shows the lines of a part, with their text if it is known.
function excerpt(part, text, context) {
  const inside = decode(part);
  const texts = text === null ? null : text.split('\n');
  const box = el('div', {class: 'excerpt'});
  const numbers = [...inside.counts.keys()];
  const inner = {...context, instances: new Map(), level: context.level === 'none' ? 'gaps' : context.level};
  const whole = texts !== null && numbers.length > 0;
  const [from, to] = whole ? [numbers[0], numbers[numbers.length - 1]] : [0, numbers.length - 1];
  for (let i = from; i <= to; i++) {
    const number = whole ? i : numbers[i];
    appendLine(box, number, whole ? texts[number - 1] ?? '' : null, inside, inner, null);
  }
  return box;
}

// toggle shows or hides the text of a macro, and returns whether it is shown.
function toggle(notes, x, context) {
  const shown = [...notes.children].find((e) => e.expansion === x);
  if (shown) {
    shown.remove();
    notes.hidden = notes.children.length === 0;
    return false;
  }
  const {about} = context;
  const box = el('div', {class: 'expansion'}, el('div', {class: 'muted'}, `Expansion ${place(x.at)}, of ${x.file >= 0 ? about.pathOf(x.file) : x.path}`));
  box.expansion = x;
  notes.append(box);
  notes.hidden = false;
  about.textOf(x.file).then((text) => box.append(excerpt(x.of, text, context)));
  return true;
}

// instancesNote lists the functions that begin on a line.
function instancesNote(list, context) {
  const ran = list.filter((f) => f.calls > 0).length;
  return lazy(`${format.count(list.length)} instances, of which ${ran === list.length ? 'all' : format.count(ran)} ran; the lines show their sum`, 'instances', () => list.map((f) => {
    const total = f.of.count.length;
    const lines = f.of.count.filter((n) => n > 0).length;
    const title = [f.name, el('span', {class: f.calls > 0 ? 'muted' : 'lost'}, f.calls > 0 ? ` ran ${format.count(f.calls)} times, ${format.count(lines)} of ${format.count(total)} lines` : ' did not run')];
    return lazy(title, 'instance', () => excerptOf(f, context));
  }));
}

function excerptOf(f, context) {
  const box = el('div');
  context.about.textOf(context.about.own).then((text) => box.append(excerpt(f.of, text, context)));
  return [box];
}

// lazy makes what can be unfolded, with contents that are made then.
function lazy(title, kind, contents) {
  const box = el('details', {class: kind}, el('summary', {}, title));
  box.addEventListener('toggle', () => {
    if (box.open && box.children.length === 1) box.append(...contents());
  });
  return box;
}

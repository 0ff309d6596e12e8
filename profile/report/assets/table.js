// profuse.table shows rows of columns. Only the rows in sight exist as elements, so that a hundred
// thousand rows are as quick as ten. Options:
//
//   count     number of rows, which are numbered from 0
//   columns   [{title, hint, unit, align, width, narrow, value(i), text(i), node(i)}]
//             value is what is sorted by, and printed in its unit ("count",
//             "bytes", "milliseconds", "percent") unless text, or node for an
//             element, says otherwise; strings are aligned left. hint explains
//             the column; whole(i) a cell that is cut short. width is in characters; one column without a
//             width takes the rest. narrow: false drops the column if there is no room, the last column first.
//   sort      {column, down}; what is sorted at first
//   filter(i) whether a row is shown; may be replaced by table.filter(fn)
//   arrange(compare) returns all rows in the order of compare(a, b), for rows that cannot be sorted by
//             themselves, such as the rows of a tree
//   select(i) a row was chosen, by mouse or Enter; null: none is
//   height    of the whole, in CSS; "min(70vh, 640px)" if missing
//   label     what the table is, for screen readers
//
// profuse.table returns filter(fn), which returns the number of rows left, and select(i, {quiet}).
profuse.table = (root, options) => {
  const {el, format} = profuse;
  const rowHeight = 26;
  const overscan = 8;
  let columns = options.columns;
  let sort = options.sort ? {column: options.sort.column, down: Boolean(options.sort.down)} : null;
  let wanted = options.filter || null;
  let order = [];
  let chosen = null;
  let first = -1; // of the rows that exist
  let last = -1;

  const head = el('tr', {'aria-rowindex': 1});
  const above = el('tr', {class: 'spacer', 'aria-hidden': 'true'}, el('td'));
  const below = el('tr', {class: 'spacer', 'aria-hidden': 'true'}, el('td'));
  const body = el('tbody', {}, above, below);
  const cols = el('colgroup');
  const table = el('table', {class: 'virtual', 'aria-label': options.label || null}, cols, el('thead', {}, head), body);
  const empty = el('p', {class: 'empty muted', hidden: true}, 'Nothing matches.');
  // A plain table for screen readers. They do not follow the row chosen, so it is said.
  const said = el('p', {class: 'unseen', 'aria-live': 'polite'});
  const ruler = el('div', {class: 'unseen', style: {width: '10ch'}});
  const scroller = el('div', {class: 'scroller', tabindex: '0', role: 'group', 'aria-label': `${options.label || 'Table'}; arrow keys choose a row`, style: {'max-height': options.height || 'min(70vh, 640px)'}}, table, empty);
  root.append(scroller, said, ruler);

  const isText = (c) => c.align === 'left' || (!c.align && !c.unit && options.count > 0 && c.value && typeof c.value(0) === 'string');
  const textOf = (c, i) => (c.text ? c.text(i) : typeof c.value(i) === 'string' ? c.value(i) : format.value(c.value(i), c.unit));

  // widthOf is the width of the widest text among some rows, which include the row with the greatest
  // value.
  function widthOf(c) {
    if (c.width) return c.width;
    let widest = c.title.length + 2;
    if (c.node) return Math.max(widest, 12);
    let greatest = 0;
    for (let i = 0; i < options.count; i++) {
      if (c.value(i) > c.value(greatest)) greatest = i;
    }
    const step = Math.max(1, Math.floor(options.count / 200));
    for (let i = 0; i < options.count; i += step) widest = Math.max(widest, textOf(c, i).length);
    if (options.count > 0) widest = Math.max(widest, textOf(c, greatest).length);
    return Math.min(widest, 40);
  }

  let widths = null;
  let laidOut = '';
  function layout() {
    widths = widths || new Map(options.columns.map((c) => [c, widthOf(c) + 2]));
    const room = scroller.clientWidth / (ruler.getBoundingClientRect().width / 10 || 1);
    const restOf = (list) => list.filter((c) => !c.width && isText(c)).pop();
    const needs = (list, least) => list.reduce((sum, c) => sum + (c === restOf(list) ? Math.min(least, widths.get(c)) : widths.get(c)), 0);
    let shown = options.columns;
    while (room > 0 && needs(shown, 32) > room && shown.some((c) => c.narrow === false)) {
      const last = shown.findLast((c) => c.narrow === false);
      shown = shown.filter((c) => c !== last);
    }
    const least = needs(shown, 32) > room ? 18 : 32;
    if (laidOut === `${shown.length} ${least}`) return;
    laidOut = `${shown.length} ${least}`;
    columns = shown;
    const rest = restOf(columns);
    cols.replaceChildren(...columns.map((c) => el('col', c === rest ? {} : {style: {width: `${widths.get(c)}ch`}})));
    table.style.minWidth = rest ? `${needs(columns, least)}ch` : '';
    head.replaceChildren(...columns.map((c) => {
      const up = sort && sort.column === options.columns.indexOf(c);
      const button = el('button', {type: 'button', title: c.hint || null, on: {click: () => sortBy(options.columns.indexOf(c))}}, c.title);
      if (!c.value) return el('th', {scope: 'col', class: isText(c) ? 'left' : null, title: c.hint || null}, c.title);
      return el('th', {scope: 'col', class: isText(c) ? 'left' : null, 'aria-sort': up ? (sort.down ? 'descending' : 'ascending') : 'none'}, button);
    }));
    table.setAttribute('aria-colcount', columns.length);
    draw(true);
  }

  // arrange filters and sorts.
  function arrange() {
    order = [];
    for (let i = 0; i < options.count; i++) {
      if (!wanted || wanted(i)) order.push(i);
    }
    if (sort) {
      const value = options.columns[sort.column].value;
      const keys = new Array(options.count);
      for (let i = 0; i < options.count; i++) keys[i] = value(i);
      const sign = sort.down ? -1 : 1;
      let compare = (a, b) => (keys[a] < keys[b] ? -sign : keys[a] > keys[b] ? sign : a - b);
      if (order.length > 0 && typeof keys[order[0]] !== 'string') {
        // What has no value comes last.
        compare = (a, b) => {
          const x = keys[a];
          const y = keys[b];
          const none = (Number.isFinite(x) ? 0 : 1) - (Number.isFinite(y) ? 0 : 1);
          return none || sign * (x - y) || a - b;
        };
      }
      if (options.arrange) order = options.arrange(compare).filter((i) => !wanted || wanted(i));
      else order.sort(compare);
    }
    table.setAttribute('aria-rowcount', order.length + 1);
    empty.hidden = order.length > 0;
    draw(true);
  }

  function sortBy(column) {
    if (sort && sort.column === column) sort.down = !sort.down;
    else sort = {column, down: !isText(options.columns[column])};
    [...head.children].forEach((th, i) => {
      const at = options.columns.indexOf(columns[i]);
      if (columns[i].value) th.setAttribute('aria-sort', at === sort.column ? (sort.down ? 'descending' : 'ascending') : 'none');
    });
    scroller.scrollTop = 0;
    arrange();
  }

  // cut makes a text that loses its middle if there is no room: names may differ only at the end.
  function cut(text) {
    const end = [...text].slice(-16).join('');
    return el('span', {class: 'cut'}, el('span', {}, text.slice(0, -end.length)), el('span', {}, end));
  }

  function row(at) {
    const i = order[at];
    return el('tr', {'data-row': i, 'aria-rowindex': at + 2, 'aria-current': i === chosen ? 'true' : null},
      columns.map((c) => {
        const node = c.node ? c.node(i) : null;
        const text = node ? null : textOf(c, i);
        const long = text !== null && text.length > 24;
        return el('td', {class: isText(c) ? 'left' : null, title: c.whole ? c.whole(i) : long ? text : null}, node || (long && !c.width ? cut(text) : text));
      }));
  }

  function draw(anew) {
    if (!widths) return;
    // Few rows have made it low, and more are to come.
    const height = Math.max(scroller.clientHeight, innerHeight);
    const from = Math.max(0, Math.floor(scroller.scrollTop / rowHeight) - overscan);
    const to = Math.min(order.length, Math.ceil((scroller.scrollTop + height) / rowHeight) + overscan);
    if (!anew && from === first && to === last) return;
    first = from;
    last = to;
    const rows = [];
    for (let at = from; at < to; at++) rows.push(row(at));
    above.firstChild.style.height = `${from * rowHeight}px`;
    below.firstChild.style.height = `${(order.length - to) * rowHeight}px`;
    above.firstChild.colSpan = below.firstChild.colSpan = columns.length;
    body.replaceChildren(above, ...rows, below);
  }

  // reveal scrolls until row number at is seen.
  function reveal(at) {
    const top = at * rowHeight;
    const height = scroller.clientHeight - head.offsetHeight;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + rowHeight > scroller.scrollTop + height) scroller.scrollTop = top + rowHeight - height;
  }

  function select(i, {quiet = false} = {}) {
    chosen = i;
    draw(true);
    if (i !== null) {
      const at = order.indexOf(i);
      if (at >= 0) reveal(at);
    }
    if (!quiet && options.select) options.select(i);
  }

  scroller.addEventListener('scroll', () => draw(false), {passive: true});
  body.addEventListener('click', (event) => {
    if (event.target.closest('a, button')) return;
    const tr = event.target.closest('tr[data-row]');
    if (tr && String(getSelection()) === '') select(Number(tr.dataset.row));
  });
  scroller.addEventListener('keydown', (event) => {
    if (event.target !== scroller || order.length === 0) return;
    const page = Math.max(1, Math.floor(scroller.clientHeight / rowHeight) - 2);
    const at = chosen === null ? -1 : order.indexOf(chosen);
    const to = {
      ArrowDown: at + 1, ArrowUp: at < 0 ? 0 : at - 1, PageDown: at + page, PageUp: at - page,
      Home: 0, End: order.length - 1,
    }[event.key];
    if (event.key === 'Escape' && chosen !== null) {
      select(null);
    } else if (to !== undefined) {
      event.preventDefault();
      select(order[Math.min(order.length - 1, Math.max(0, to))]);
      const {cells} = body.querySelector('[aria-current]');
      said.textContent = columns.map((c, i) => `${c.title}: ${cells[i].textContent}`).join(', ');
    }
  });
  profuse.resize(scroller, () => {
    layout();
    draw(true);
  });
  arrange();

  return {
    filter(fn) {
      wanted = fn;
      scroller.scrollTop = 0;
      arrange();
      return order.length;
    },
    select,
  };
};

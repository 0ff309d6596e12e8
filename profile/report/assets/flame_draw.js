// The boxes of a flame graph: their positions, elements for the boxes in sight, and the keys that lead
// from one box to another.
const {el, svg, fit, format} = profuse;
const rowHeight = 18;
const least = 0.5; // narrower boxes are joined
const ahead = 12; // rows drawn beyond the rows in sight

// flameDrawing makes an empty drawing. It calls zoom(node) for a box that the user chose. It returns
// view, the element; layout(now, width), which lays out the boxes for now, the user's choices (see
// flame.js); and draw().
profuse.flameDrawing = (zoom) => {
  const drawing = svg('svg', {class: 'flame', role: 'group', 'aria-label': 'Call tree; arrow keys move between boxes, Enter zooms, Escape resets'});
  const view = el('div', {class: 'flame-view'}, drawing);
  let now = {};
  let rows = []; // of boxes, by depth
  let width = 0;
  let height = 0;
  let focused = '0';
  let drawn = ''; // rows
  let waiting = false;

  function layout(chosen, newWidth) {
    if (newWidth) width = view.clientWidth || newWidth;
    if (chosen.zoom !== now.zoom) focused = String(chosen.zoom);
    now = chosen;
    if (!width) return;
    rows = [];
    const put = (depth, box) => {
      box.key = `${box.node}${box.kind || ''}`;
      (rows[depth] = rows[depth] || []).push(box);
    };
    const {depth, left} = now.tree.data;
    for (const node of now.tree.path(now.zoom).slice(0, -1)) put(depth[node], {node, x: 0, w: width, above: true});
    const {total, kids, rest} = now.w;
    const stack = [[now.zoom, 0, width]];
    while (stack.length) {
      const [node, x, whole] = stack.pop();
      put(depth[node], {node, x, w: whole});
      const scale = total[node] > 0 ? whole / total[node] : 0;
      if (scale === 0) continue;
      const next = [];
      let at = x;
      let joined = rest[node] * scale;
      let number = left[node];
      for (const k of kids[node]) {
        const w = total[k] * scale;
        if (w >= least) {
          next.push([k, at, w]);
          at += w;
        } else if (total[k] > 0) {
          joined += w;
          number++;
        }
      }
      stack.push(...next.reverse());
      if (joined >= least) put(depth[node] + 1, {node, x: at, w: joined, kind: 'r', left: number, weight: joined / scale});
    }
    for (const row of rows) row.sort((a, b) => a.x - b.x);
    height = rows.length * rowHeight + 1;
    for (const [k, v] of [['width', width], ['height', height], ['viewBox', `0 0 ${width} ${height}`]]) drawing.setAttribute(k, v);
    const y = top(depth[now.zoom]);
    view.scrollTop = now.view === 'flame' ? y + 2 * rowHeight - view.clientHeight + 4 : Math.max(0, y - rowHeight);
  }

  // top returns where a row is drawn.
  function top(depth) {
    return now.view === 'flame' ? height - 1 - (depth + 1) * rowHeight : depth * rowHeight;
  }

  // draw draws the rows in sight; with moved only if these are others than before.
  function draw(moved = false) {
    if (!width) return;
    const from = Math.floor(view.scrollTop / rowHeight) - ahead;
    const to = from + Math.ceil((view.clientHeight || 600) / rowHeight) + 2 * ahead;
    const seen = [...rows.keys()].filter((d) => top(d) / rowHeight >= from && top(d) / rowHeight <= to);
    if (moved && String(seen) === drawn) return;
    drawn = String(seen);
    const had = drawing.contains(document.activeElement);
    drawing.replaceChildren(...seen.flatMap((d) => rows[d].map((box) => elementOf(box, d))));
    drawing.classList.toggle('searching', now.matches !== null);
    settle(had);
  }

  // settle makes the box that had the focus last the one to tab to.
  function settle(focus) {
    for (const e of drawing.querySelectorAll('[tabindex="0"]')) e.setAttribute('tabindex', '-1');
    const find = (key) => drawing.querySelector(`[data-key="${key}"]`);
    const target = find(focused) || find(String(now.zoom));
    if (!target) return;
    target.setAttribute('tabindex', '0');
    if (focus) target.focus({preventScroll: true});
  }

  function elementOf(box, depth) {
    const y = top(depth);
    const name = box.kind ? `(${format.count(box.left)} smaller)` : now.name(box.node);
    const weight = box.kind ? box.weight : now.w.total[box.node];
    const match = now.matches && !box.kind && now.matches[now.tree.data.label[box.node]];
    let text = fit(name, box.w - 7);
    if (!box.kind && text !== name) text = fit(now.short(box.node), box.w - 7);
    const onHeat = !box.kind && now.mode.kind === 'class';
    return svg('g', {
      class: `box${match ? ' match' : ''}${box.above ? ' above' : ''}${onHeat ? ' on-heat' : ''}`,
      'data-key': box.key, 'data-depth': depth, tabindex: '-1', role: 'button',
      'aria-label': `${name}, ${format.value(weight, now.unit)}, ${format.percent(weight / now.w.total[0] || 0)}`,
    },
    svg('rect', {x: box.x, y, width: Math.max(box.w - (box.w > 3 ? 1 : 0), least), height: rowHeight - 1, class: box.kind ? 'fill-rest' : profuse.flameColours.fill(now, box.node)}),
    text ? svg('text', {x: box.x + 3, y: y + 12.5}, text) : null);
  }

  // placeOf returns the depth of the box of an element, and its index in the row of this depth.
  function placeOf(element) {
    const depth = Number(element.dataset.depth);
    return [depth, rows[depth].findIndex((b) => b.key === element.dataset.key)];
  }

  function key(event) {
    const element = event.target.closest('.box');
    if (!element || event.ctrlKey || event.metaKey || event.altKey) return;
    const [depth, at] = placeOf(element);
    const box = rows[depth][at];
    const deeper = now.view === 'flame' ? 'ArrowUp' : 'ArrowDown';
    const back = now.view === 'flame' ? 'ArrowDown' : 'ArrowUp';
    let to = null;
    let toDepth = depth;
    switch (event.key) {
      case 'Enter': case ' ': zoom(box.node); break;
      case 'Escape': zoom(0); break;
      case 'Backspace': zoom(Math.max(0, now.tree.parent[now.zoom])); break;
      case 'ArrowLeft': to = rows[depth][at - 1]; break;
      case 'ArrowRight': to = rows[depth][at + 1]; break;
      case 'Home': to = rows[0][0]; toDepth = 0; break;
      case deeper: case back: {
        toDepth += event.key === deeper ? 1 : -1;
        const row = rows[toDepth] || [];
        to = row.find((b) => b.x + b.w > box.x + 1e-6 && b.x <= box.x + 1e-6)
          || (event.key === deeper && row.find((b) => b.x >= box.x && b.x < box.x + box.w));
        break;
      }
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
    if (!to) return;
    const y = top(toDepth);
    if (y < view.scrollTop) view.scrollTop = y;
    else if (y + rowHeight > view.scrollTop + view.clientHeight) view.scrollTop = y + rowHeight - view.clientHeight;
    focused = to.key;
    draw(true);
    settle(true);
  }

  view.addEventListener('scroll', () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw(true);
    });
  });
  drawing.addEventListener('click', (event) => {
    const box = event.target.closest('.box');
    if (box) zoom(parseInt(box.dataset.key, 10));
  });
  drawing.addEventListener('focusin', (event) => {
    const box = event.target.closest('.box');
    if (box) focused = box.dataset.key;
  });
  drawing.addEventListener('keydown', key);
  profuse.tip(drawing, '.box', (element) => {
    const [depth, at] = placeOf(element);
    return at < 0 ? null : profuse.flameWords.tip(now, rows[depth][at]);
  });
  return {view, layout, draw};
};

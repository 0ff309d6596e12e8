// The boxes of a treemap: where they are, their elements, and the keys that lead from one
// to another.
const {el, svg, fit, format} = profuse;
const least = 5; // boxes with shorter sides on average are joined
const opening = 30; // sides that a box needs for what is inside to be drawn
const header = 16;
const maximum = 6000; // boxes drawn at once
const maxParts = 2000; // boxes drawn of one

// squarify divides a rectangle in proportion to weights, the heaviest first, into
// rectangles near squares (Bruls, Huizing and van Wijk, 2000): it fills rows along the
// shorter side, each with as many as make its worst one better.
function squarify(weights, r) {
  const out = weights.map(() => ({x: r.x, y: r.y, w: 0, h: 0}));
  const sum = weights.reduce((a, b) => a + b, 0);
  if (!(sum > 0) || r.w <= 0 || r.h <= 0) return out;
  const scale = r.w / sum * r.h;
  const ratio = (largest, smallest, all, side) => {
    if (smallest <= 0) return Infinity;
    const thick = all / side;
    return Math.max(largest / (thick * thick), thick * thick / smallest);
  };
  let {x, y, w, h} = r;
  for (let from = 0; from < weights.length;) {
    const side = Math.min(w, h);
    if (side <= 0 || weights[from] <= 0) break;
    const first = weights[from] * scale;
    let row = first;
    let to = from + 1;
    for (let worst = ratio(row, row, row, side); to < weights.length; to++) {
      const next = weights[to] * scale;
      const having = ratio(first, next, row + next, side);
      if (having > worst) break;
      row += next;
      worst = having;
    }
    const across = w <= h;
    const thick = to === weights.length ? Math.max(w, h) : row / side;
    let at = 0;
    for (; from < to; from++) {
      const length = Math.min(side * (weights[from] * scale / row), side - at);
      out[from] = across ? {x: x + at, y, w: length, h: Math.min(thick, h)} : {x, y: y + at, w: Math.min(thick, w), h: length};
      at += length;
    }
    if (across) {
      y += thick;
      h = Math.max(0, h - thick);
    } else {
      x += thick;
      w = Math.max(0, w - thick);
    }
  }
  return out;
}

// fill returns the colour of a node: the colour of its temperature or of its outermost name.
profuse.treemapFill = (now, node) => {
  const {data, tree} = now;
  if (now.byHeat) return `fill-${data.classes[profuse.mainClass(now.w, node)]}`;
  const path = tree.path(node);
  const outer = path[Math.min(path.length - 1, data.tree.depth[now.single(0)] + 1)];
  return outer === 0 ? 'fill-root' : `fill-c${now.colours.get(outer)}`;
};

// place returns the boxes for the user's choices (see treemap.js), in a rectangle.
function place(now, whole) {
  const {data, tree, w} = now;
  const boxes = [];
  // Level by level, so that all groups are seen before what is in them.
  const closed = [];
  const add = (node, r) => {
    const inner = now.single(node);
    const group = tree.kids[inner].length > 0 || w.rest[inner] > 0;
    const box = {node: inner, r, leaf: !group, name: now.join(tree.path(inner).slice(data.tree.depth[node]).map(now.name))};
    boxes.push(box);
    if (group && r.w >= opening && r.h >= opening) closed.push({node: inner, r, box});
  };
  // open places what a group consists of, if there is room for all of it.
  const open = ({node, r, box}) => {
    const inner = box ? {x: r.x + 2, y: r.y + header, w: r.w - 5, h: r.h - header - 3} : r;
    if (inner.w <= 0 || inner.h <= 0 || w.total[node] <= 0) return;
    const perPixel = w.total[node] / (inner.w * inner.h);
    const left = {node: -1, weight: w.rest[node], left: data.tree.left[node]};
    const heats = w.byClass.map((_, c) => data.tree.rest[now.value * w.byClass.length + c][node] || 0);
    const parts = [];
    for (const k of w.kids[node]) {
      if (w.total[k] >= least * least * perPixel && parts.length < maxParts - 1) {
        parts.push({node: k, weight: w.total[k]});
      } else if (w.total[k] > 0) {
        left.weight += w.total[k];
        left.left++;
        w.byClass.forEach((sums, c) => { heats[c] += sums[k]; });
      }
    }
    if (left.weight > 0) parts.push(left);
    if (box && boxes.length + parts.length > maximum) return;
    if (box) box.group = true;
    parts.sort((a, b) => b.weight - a.weight || a.node - b.node);
    squarify(parts.map((p) => p.weight), inner).forEach((at, i) => {
      const p = parts[i];
      if (at.w < 1 || at.h < 1) return;
      if (p.node >= 0) add(p.node, at);
      else boxes.push({node, r: at, rest: true, weight: p.weight, name: `(${format.count(p.left)} smaller)`, heat: heats.indexOf(Math.max(...heats))});
    });
  };
  if (tree.kids[now.zoom].length > 0 || w.rest[now.zoom] > 0) {
    open({node: now.single(now.zoom), r: whole, box: null});
    for (let i = 0; i < closed.length; i++) open(closed[i]);
  } else {
    boxes.push({node: now.zoom, r: whole, leaf: true, name: now.name(now.zoom)});
  }
  return boxes;
}

function elementOf(now, box, index) {
  const {r} = box;
  const weight = box.rest ? box.weight : now.w.total[box.node];
  const own = box.rest && now.byHeat ? `fill-${now.data.classes[box.heat]}` : profuse.treemapFill(now, box.node);
  const match = now.matches && !box.rest && now.matches[box.node];
  const text = r.h >= 14 ? fit(box.name, r.w - 7) : '';
  return svg('g', {
    class: `box${match ? ' match' : ''}${now.byHeat && !box.group ? ' on-heat' : ''}`, 'data-box': index, tabindex: '-1', role: 'button',
    'aria-label': `${box.name}, ${format.value(weight, now.unit)}, ${format.percent(weight / now.w.total[0])}`,
  },
  svg('rect', {x: r.x, y: r.y, width: Math.max(1, r.w - 1), height: Math.max(1, r.h - 1), class: box.group ? 'group' : box.rest ? `rest ${own}` : own}),
  text ? svg('text', {x: r.x + 3, y: r.y + 12}, text) : null);
}

// treemapDrawing makes an empty drawing. It calls choose(box) for a box that the user chose. It returns
// view, the element, and draw(now, width).
profuse.treemapDrawing = (choose) => {
  const drawing = svg('svg', {class: 'treemap', role: 'group', 'aria-label': 'Treemap; arrow keys move between boxes, Enter zooms, Escape goes back'});
  const view = el('div', null, drawing);
  let now = {};
  let width = 0;
  let boxes = [];
  const boxOf = (element) => boxes[Number(element.dataset.box)];

  function draw(chosen, newWidth) {
    now = chosen;
    width = newWidth || width;
    if (!width) return;
    const height = Math.max(320, Math.min(Math.round(width * 0.56), Math.max(400, innerHeight - 260)));
    boxes = place(now, {x: 0, y: 0, w: width, h: height});
    const had = drawing.contains(document.activeElement);
    for (const [k, v] of [['width', width], ['height', height], ['viewBox', `0 0 ${width} ${height}`]]) drawing.setAttribute(k, v);
    drawing.classList.toggle('searching', now.matches !== null);
    drawing.replaceChildren(...boxes.map((b, i) => elementOf(now, b, i)));
    if (boxes.length === 0) {
      drawing.append(svg('text', {x: 8, y: 20, class: 'muted'}, 'Nothing was counted here.'));
      return;
    }
    drawing.children[0].setAttribute('tabindex', '0');
    if (had) drawing.children[0].focus({preventScroll: true});
  }

  function key(event) {
    const element = event.target.closest('.box');
    if (!element || event.ctrlKey || event.metaKey || event.altKey) return;
    const box = boxOf(element);
    const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    if (!step && event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    if (!step) {
      choose(box);
      return;
    }
    // The nearest box in that direction, by the corners at which names stand.
    let best = -1;
    let nearest = Infinity;
    boxes.forEach((b, i) => {
      const along = (b.r.x - box.r.x) * step[0] + (b.r.y - box.r.y) * step[1];
      const beside = Math.abs((b.r.x - box.r.x) * step[1]) + Math.abs((b.r.y - box.r.y) * step[0]);
      if (along > 1 && along + 3 * beside < nearest) {
        best = i;
        nearest = along + 3 * beside;
      }
    });
    if (best < 0) return;
    element.setAttribute('tabindex', '-1');
    const next = drawing.children[best];
    next.setAttribute('tabindex', '0');
    next.focus({preventScroll: true});
  }

  drawing.addEventListener('click', (event) => {
    const element = event.target.closest('.box');
    if (element) choose(boxOf(element));
  });
  drawing.addEventListener('keydown', key);
  profuse.tip(drawing, '.box', (element) => boxOf(element) && profuse.treemapWords.tip(now, boxOf(element)));
  return {view, draw};
};

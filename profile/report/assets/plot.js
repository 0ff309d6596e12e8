// profuse.plot makes a plot that was drawn in Go answer to pointer and arrow
// keys: the point next to the pointer is marked and text(i) shown beside it.
// points is a plotData of plot.go. profuse.plot returns mark(i), which marks a point; null marks none. It
// calls choose(i), if there is one, on clicks and Enter.
profuse.plot = (root, points, {text, choose}) => {
  const figure = root.querySelector(`[data-plot="${points.key}"]`);
  if (!figure || points.x.length === 0) return {mark() {}};
  const area = figure.querySelector('.plot-area');
  const data = figure.querySelector('.plot-data');
  const ring = profuse.svg('path', {class: 'mark', d: ''});
  const core = profuse.svg('path', {class: 'mark-core', d: ''});
  data.append(ring, core);
  const note = profuse.el('span');
  let at = null;
  const mark = (i) => {
    at = i;
    const d = i === null ? '' : `M${points.x[i]} ${points.y[i]}h0`;
    ring.setAttribute('d', d);
    core.setAttribute('d', d);
    note.textContent = i === null ? '' : text(i);
  };
  const nearest = (event) => {
    const r = area.getBoundingClientRect();
    const sx = r.width / 1000;
    const sy = r.height / 1000;
    const x = event.clientX - r.left;
    const y = event.clientY - r.top;
    let best = 0;
    let least = Infinity;
    for (let i = 0; i < points.x.length; i++) {
      const d = (points.x[i] * sx - x) ** 2 + (points.y[i] * sy - y) ** 2;
      if (d < least) [least, best] = [d, i];
    }
    return best;
  };
  // By x, then y: the way of the arrow keys.
  const way = [...points.x.keys()].sort((a, b) => points.x[a] - points.x[b] || points.y[b] - points.y[a]);
  area.setAttribute('tabindex', '0');
  figure.addEventListener('pointermove', (event) => {
    if (area.contains(event.target)) mark(nearest(event));
  });
  figure.addEventListener('pointerleave', () => mark(null));
  figure.addEventListener('focusin', () => { if (at === null) mark(way[0]); });
  figure.addEventListener('focusout', () => mark(null));
  figure.addEventListener('click', (event) => {
    if (choose && area.contains(event.target)) choose(nearest(event));
  });
  figure.addEventListener('keydown', (event) => {
    const step = {ArrowRight: 1, ArrowLeft: -1, PageDown: 20, PageUp: -20}[event.key];
    if (step) {
      event.preventDefault();
      mark(way[Math.min(way.length - 1, Math.max(0, (at === null ? 0 : way.indexOf(at)) + step))]);
    } else if (event.key === 'Enter' && choose && at !== null) {
      choose(at);
    }
  });
  profuse.tip(figure, '.plot-area', () => note);
  return {mark};
};

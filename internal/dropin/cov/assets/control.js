'use strict';
// The keys of pages with sources: L goes to the next line that did not run, R to the next
// such region, B to the next branch of which an outcome is missing; with Shift to the one
// before. Columns of indexes sort.
document.addEventListener('DOMContentLoaded', () => {
  const kinds = {
    l: () => [...document.querySelectorAll('.whole > .line.not')].filter((row) => !before(row) || !before(row).classList.contains('not')),
    r: () => [...document.querySelectorAll('.whole > .line .miss')],
    b: () => [...document.querySelectorAll('.whole > .notes > .branch.lacks')],
  };
  // before returns the line before a line, past what is shown between them.
  const before = (row) => {
    let at = row.previousElementSibling;
    while (at && !at.matches('.line')) at = at.previousElementSibling;
    return at;
  };
  const at = {};
  const go = (kind, by) => {
    const all = kinds[kind]();
    if (all.length === 0) return;
    at[kind] = at[kind] === undefined ? (by > 0 ? 0 : all.length - 1) : (at[kind] + by + all.length) % all.length;
    const next = all[at[kind]];
    document.querySelectorAll('.here').forEach((e) => e.classList.remove('here'));
    const row = next.closest('.line') || next;
    row.classList.add('here');
    row.scrollIntoView({block: 'center'});
  };
  for (const button of document.querySelectorAll('button[data-next]')) {
    button.hidden = kinds[button.dataset.next]().length === 0;
    button.addEventListener('click', (event) => go(button.dataset.next, event.shiftKey ? -1 : 1));
  }
  document.addEventListener('keydown', (event) => {
    const kind = event.key.toLowerCase();
    if (!(kind in kinds) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    go(kind, event.shiftKey ? -1 : 1);
  });
  for (const table of document.querySelectorAll('table.index')) {
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = cell.textContent;
      cell.replaceChildren(button);
      button.addEventListener('click', () => {
        const up = cell.getAttribute('aria-sort') === 'descending' || column === 0 && cell.getAttribute('aria-sort') !== 'ascending';
        for (const c of cell.parentElement.cells) c.removeAttribute('aria-sort');
        cell.setAttribute('aria-sort', up ? 'ascending' : 'descending');
        const key = (row) => (column === 0 ? row.cells[0].textContent : Number(row.cells[column].dataset.share ?? NaN));
        const rows = [...table.tBodies[0].rows].sort((a, b) => {
          const [x, y] = [key(a), key(b)];
          if (column === 0) return x < y ? -1 : x > y ? 1 : 0;
          return (Number.isNaN(x) ? 1 : 0) - (Number.isNaN(y) ? 1 : 0) || x - y;
        });
        table.tBodies[0].append(...(up ? rows : rows.reverse()));
      });
    });
  }
});

// The names of the overview lead to the page of functions.
profuse.page('overview', (root) => {
  for (const a of root.querySelectorAll('a.to-function')) {
    const href = profuse.href('functions', {fn: a.dataset.name});
    if (href) a.href = href;
  }
});

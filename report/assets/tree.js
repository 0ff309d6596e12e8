// A Tree is one of a page's data (see treeData), with its weights.
class Tree {
  constructor(data, classes) {
    this.data = data;
    this.classes = classes;
    const n = data.depth.length;
    this.parent = new Int32Array(n).fill(-1);
    this.kids = Array.from({length: n}, () => []);
    const path = [];
    for (let i = 0; i < n; i++) {
      const d = data.depth[i];
      path[d] = i;
      if (d > 0) {
        this.parent[i] = path[d - 1];
        this.kids[path[d - 1]].push(i);
      }
    }
    this.byValue = new Map();
  }

  // weigh returns of a value the total, self and rest of each node, the total by
  // class, and the children, the heaviest first.
  weigh(value) {
    let w = this.byValue.get(value);
    if (w) return w;
    const n = this.parent.length;
    const k = this.classes;
    w = {
      total: new Float64Array(n), self: new Float64Array(n), rest: new Float64Array(n),
      byClass: Array.from({length: k}, () => new Float64Array(n)), kids: null,
    };
    for (let c = 0; c < k; c++) {
      const self = this.data.self[value * k + c];
      const rest = this.data.rest[value * k + c];
      for (let i = 0; i < self.length; i++) {
        w.self[i] += self[i];
        w.byClass[c][i] += self[i];
      }
      for (let i = 0; i < rest.length; i++) {
        w.rest[i] += rest[i];
        w.byClass[c][i] += rest[i];
      }
      for (let i = n - 1; i > 0; i--) w.byClass[c][this.parent[i]] += w.byClass[c][i];
      for (let i = 0; i < n; i++) w.total[i] += w.byClass[c][i];
    }
    w.kids = this.kids.map((kids) => (kids.length > 1 ? kids.slice().sort((a, b) => w.total[b] - w.total[a] || a - b) : kids));
    this.byValue.set(value, w);
    return w;
  }

  // main returns the class that most of a node belongs to.
  static main({byClass}, node) {
    let best = 0;
    for (let c = 1; c < byClass.length; c++) if (byClass[c][node] > byClass[best][node]) best = c;
    return best;
  }

  // path returns the nodes from the root to a node.
  path(node) {
    const out = [];
    for (let i = node; i >= 0; i = this.parent[i]) out.push(i);
    return out.reverse();
  }
}

// Operators that read tables.
#include "nodes.h"

#include <string.h>

void node_explain(const Node *n, int indent, Text *out) {
  text_printf(out, "%*s", 2 * indent, "");
  n->kind->explain(n, out);
  text_puts(out, "\n");
  if (n->left)
    node_explain(n->left, indent + 1, out);
  if (n->right)
    node_explain(n->right, indent + 1, out);
}

static void load(Run *r, const Table *t, int64_t row, int first_slot) {
  memcpy(&r->slots[first_slot], t->cells + row * t->column_count, (size_t)t->column_count * sizeof(Value));
}

// ---- One row ----

typedef struct {
  Node base;
  bool done;
} SingleNode;

static void single_start(Node *n, Run *r) {
  (void)r;
  ((SingleNode *)n)->done = false;
}

static bool single_next(Node *n, Run *r) {
  (void)r;
  SingleNode *s = (SingleNode *)n;
  bool first = !s->done;
  s->done = true;
  return first;
}

static void single_explain(const Node *n, Text *out) {
  (void)n;
  text_puts(out, "one row");
}

static const NodeKind single_kind = {single_start, single_next, single_explain};

Node *node_single(Arena *a) {
  SingleNode *n = ARENA_NEW(a, SingleNode);
  n->base.kind = &single_kind;
  return &n->base;
}

// ---- All rows ----

typedef struct {
  Node base;
  const Table *table;
  int first_slot;
  const Program *filter;
  int64_t at;
} ScanNode;

static void scan_start(Node *n, Run *r) {
  (void)r;
  ((ScanNode *)n)->at = 0;
}

static bool scan_next(Node *n, Run *r) {
  ScanNode *s = (ScanNode *)n;
  const Table *t = s->table;
  while (s->at < t->row_count) {
    int64_t row = s->at++;
    if (t->dead[row])
      continue;
    load(r, t, row, s->first_slot);
    if (program_test(s->filter, r->slots, &r->machine))
      return true;
  }
  return false;
}

static void scan_explain(const Node *n, Text *out) {
  const ScanNode *s = (const ScanNode *)n;
  text_printf(out, "scan %s%s", s->table->name, s->filter ? " filtered" : "");
}

static const NodeKind scan_kind = {scan_start, scan_next, scan_explain};

Node *node_scan(Arena *a, const Table *t, int first_slot, const Program *filter) {
  ScanNode *n = ARENA_NEW(a, ScanNode);
  n->base.kind = &scan_kind;
  n->table = t;
  n->first_slot = first_slot;
  n->filter = filter;
  return &n->base;
}

// ---- Rows of an index ----

typedef struct {
  Node base;
  const Table *table;
  int first_slot;
  IndexRange range;
  const Program *filter;
  BTreeCursor cursor;
  Value high;
  bool empty;
} IndexNode;

static void index_start(Node *n, Run *r) {
  IndexNode *s = (IndexNode *)n;
  const IndexRange *range = &s->range;
  Value low = value_null();
  s->empty = false;
  if (range->low) {
    low = program_run(range->low, r->slots, &r->machine);
    s->empty |= is_null(&low);
  }
  if (range->high) {
    s->high = range->high == range->low ? low : program_run(range->high, r->slots, &r->machine);
    s->empty |= is_null(&s->high);
  }
  // Nulls are first in the tree, and no condition is true of them.
  s->cursor = btree_seek(s->table->columns[range->column].index, &low, range->low ? range->after_low : true);
}

static bool index_next(Node *n, Run *r) {
  IndexNode *s = (IndexNode *)n;
  const Value *key;
  int64_t row;
  while (!s->empty && btree_next(&s->cursor, &key, &row)) {
    if (s->range.high) {
      int c = value_compare(key, &s->high);
      if (c > 0 || (c == 0 && s->range.below_high))
        return false;
    }
    load(r, s->table, row, s->first_slot);
    if (program_test(s->filter, r->slots, &r->machine))
      return true;
  }
  return false;
}

static void index_explain(const Node *n, Text *out) {
  const IndexNode *s = (const IndexNode *)n;
  const IndexRange *range = &s->range;
  text_printf(out, "index %s.%s %s%s", s->table->name, s->table->columns[range->column].name,
              range->low && range->low == range->high ? "equal"
              : range->low && range->high             ? "between"
              : range->low                            ? "from"
                                                      : "up to",
              s->filter ? " filtered" : "");
}

static const NodeKind index_kind = {index_start, index_next, index_explain};

Node *node_index(Arena *a, const Table *t, int first_slot, IndexRange range, const Program *filter) {
  IndexNode *n = ARENA_NEW(a, IndexNode);
  n->base.kind = &index_kind;
  n->table = t;
  n->first_slot = first_slot;
  n->range = range;
  n->filter = filter;
  return &n->base;
}

// ---- Conditions ----

typedef struct {
  Node base;
  const Program *condition;
} FilterNode;

static void filter_start(Node *n, Run *r) { node_start(n->left, r); }

static bool filter_next(Node *n, Run *r) {
  while (node_next(n->left, r))
    if (program_test(((FilterNode *)n)->condition, r->slots, &r->machine))
      return true;
  return false;
}

static void filter_explain(const Node *n, Text *out) {
  (void)n;
  text_puts(out, "filter");
}

static const NodeKind filter_kind = {filter_start, filter_next, filter_explain};

Node *node_filter(Arena *a, Node *input, const Program *condition) {
  FilterNode *n = ARENA_NEW(a, FilterNode);
  n->base = (Node){&filter_kind, input, NULL};
  n->condition = condition;
  return &n->base;
}

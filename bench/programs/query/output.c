// Operators that make the rows of the result: projection, sorting, and what
// leaves rows out.
#include "nodes.h"

#include <string.h>

// ---- Projection ----

typedef struct {
  Node base;
  const Program **programs;
  int count, first_slot;
} ProjectNode;

static void input_start(Node *n, Run *r) { node_start(n->left, r); }

static bool project_next(Node *n, Run *r) {
  ProjectNode *s = (ProjectNode *)n;
  if (!node_next(n->left, r))
    return false;
  for (int i = 0; i < s->count; i++)
    r->slots[s->first_slot + i] = program_run(s->programs[i], r->slots, &r->machine);
  return true;
}

static void project_explain(const Node *n, Text *out) {
  text_printf(out, "project %d", ((const ProjectNode *)n)->count);
}

static const NodeKind project_kind = {input_start, project_next, project_explain};

Node *node_project(Arena *a, Node *input, const Program **programs, int count, int first_slot) {
  ProjectNode *n = ARENA_NEW(a, ProjectNode);
  n->base = (Node){&project_kind, input, NULL};
  n->programs = programs;
  n->count = count;
  n->first_slot = first_slot;
  return &n->base;
}

// ---- DISTINCT ----

typedef struct {
  Node base;
  Slots slots;
  RowSet seen;
} DistinctNode;

static void distinct_start(Node *n, Run *r) {
  DistinctNode *s = (DistinctNode *)n;
  row_set_init(&s->seen, r->arena, s->slots.count);
  node_start(n->left, r);
}

static bool distinct_next(Node *n, Run *r) {
  DistinctNode *s = (DistinctNode *)n;
  bool is_new;
  while (node_next(n->left, r)) {
    row_set_add(&s->seen, &r->slots[s->slots.first], &is_new);
    if (is_new)
      return true;
  }
  return false;
}

static void distinct_explain(const Node *n, Text *out) {
  (void)n;
  text_puts(out, "distinct");
}

static const NodeKind distinct_kind = {distinct_start, distinct_next, distinct_explain};

Node *node_distinct(Arena *a, Node *input, Slots slots) {
  DistinctNode *n = ARENA_NEW(a, DistinctNode);
  n->base = (Node){&distinct_kind, input, NULL};
  n->slots = slots;
  return &n->base;
}

// ---- ORDER BY ----

// A row with its place in the input, so that sorting is stable.
typedef struct {
  Value *values;
  int64_t number;
} SortRow;

typedef struct {
  Node base;
  Slots slots;
  const SortKey *keys;
  int key_count;
  int64_t most; // rows that are needed, -1: all
  SortRow *rows;
  int64_t count, capacity, at;
} SortNode;

static int compare_rows(const SortNode *n, const SortRow *a, const SortRow *b) {
  for (int i = 0; i < n->key_count; i++) {
    int at = n->keys[i].slot - n->slots.first;
    int c = value_compare(&a->values[at], &b->values[at]);
    if (c)
      return n->keys[i].descending ? -c : c;
  }
  return a->number < b->number ? -1 : a->number > b->number;
}

// merge_sort sorts rows with the help of as much space again.
static void merge_sort(const SortNode *n, SortRow *rows, SortRow *space, int64_t count) {
  enum { SMALL = 12 };
  if (count <= SMALL) {
    for (int64_t i = 1; i < count; i++) {
      SortRow row = rows[i];
      int64_t k = i;
      for (; k > 0 && compare_rows(n, &rows[k - 1], &row) > 0; k--)
        rows[k] = rows[k - 1];
      rows[k] = row;
    }
    return;
  }
  int64_t half = count / 2;
  merge_sort(n, rows, space, half);
  merge_sort(n, rows + half, space, count - half);
  if (compare_rows(n, &rows[half - 1], &rows[half]) <= 0)
    return;
  memcpy(space, rows, (size_t)half * sizeof *rows);
  int64_t left = 0, right = half, to = 0;
  while (left < half && right < count)
    rows[to++] = compare_rows(n, &space[left], &rows[right]) <= 0 ? space[left++] : rows[right++];
  memcpy(&rows[to], &space[left], (size_t)(half - left) * sizeof *rows);
}

// The heap of the rows to keep has the last of them on top.
static void sift_down(const SortNode *n, int64_t at) {
  SortRow row = n->rows[at];
  for (;;) {
    int64_t child = 2 * at + 1;
    if (child >= n->count)
      break;
    if (child + 1 < n->count && compare_rows(n, &n->rows[child + 1], &n->rows[child]) > 0)
      child++;
    if (compare_rows(n, &n->rows[child], &row) <= 0)
      break;
    n->rows[at] = n->rows[child];
    at = child;
  }
  n->rows[at] = row;
}

static void sort_add(SortNode *n, Run *r, int64_t number) {
  SortRow row = {&r->slots[n->slots.first], number};
  size_t size = (size_t)n->slots.count * sizeof(Value);
  if (n->most >= 0 && n->count == n->most) {
    if (n->most == 0 || compare_rows(n, &row, &n->rows[0]) >= 0)
      return;
    memcpy(n->rows[0].values, row.values, size);
    n->rows[0].number = number;
    sift_down(n, 0);
    return;
  }
  if (n->count == n->capacity) {
    n->capacity = n->capacity ? 2 * n->capacity : 64;
    n->rows = arena_grow(r->arena, n->rows, (size_t)n->count * sizeof *n->rows, (size_t)n->capacity * sizeof *n->rows);
  }
  row.values = arena_alloc(r->arena, size);
  memcpy(row.values, &r->slots[n->slots.first], size);
  n->rows[n->count++] = row;
  if (n->count == n->most)
    for (int64_t i = n->count / 2; i-- > 0;)
      sift_down(n, i);
}

static void sort_start(Node *base, Run *r) {
  SortNode *n = (SortNode *)base;
  n->count = n->at = 0;
  node_start(base->left, r);
  for (int64_t number = 0; node_next(base->left, r); number++)
    sort_add(n, r, number);
  merge_sort(n, n->rows, ARENA_ARRAY(r->arena, SortRow, n->count / 2 + 1), n->count);
}

static bool sort_next(Node *base, Run *r) {
  SortNode *n = (SortNode *)base;
  if (n->at == n->count)
    return false;
  memcpy(&r->slots[n->slots.first], n->rows[n->at++].values, (size_t)n->slots.count * sizeof(Value));
  return true;
}

static void sort_explain(const Node *base, Text *out) {
  const SortNode *n = (const SortNode *)base;
  text_printf(out, "sort by %d", n->key_count);
  if (n->most >= 0)
    text_printf(out, ", first %lld", (long long)n->most);
}

static const NodeKind sort_kind = {sort_start, sort_next, sort_explain};

Node *node_sort(Arena *a, Node *input, Slots slots, const SortKey *keys, int key_count, int64_t most) {
  SortNode *n = ARENA_NEW(a, SortNode);
  n->base = (Node){&sort_kind, input, NULL};
  n->slots = slots;
  n->keys = keys;
  n->key_count = key_count;
  n->most = most;
  return &n->base;
}

// ---- LIMIT ----

typedef struct {
  Node base;
  int64_t offset, limit, at;
} LimitNode;

static void limit_start(Node *n, Run *r) {
  ((LimitNode *)n)->at = 0;
  node_start(n->left, r);
}

static bool limit_next(Node *n, Run *r) {
  LimitNode *s = (LimitNode *)n;
  for (; s->at < s->offset; s->at++)
    if (!node_next(n->left, r))
      return false;
  if (s->limit >= 0 && s->at - s->offset >= s->limit)
    return false;
  s->at++;
  return node_next(n->left, r);
}

static void limit_explain(const Node *n, Text *out) {
  const LimitNode *s = (const LimitNode *)n;
  text_printf(out, "limit %lld offset %lld", (long long)s->limit, (long long)s->offset);
}

static const NodeKind limit_kind = {limit_start, limit_next, limit_explain};

Node *node_limit(Arena *a, Node *input, int64_t offset, int64_t limit) {
  LimitNode *n = ARENA_NEW(a, LimitNode);
  n->base = (Node){&limit_kind, input, NULL};
  n->offset = offset;
  n->limit = limit;
  return &n->base;
}

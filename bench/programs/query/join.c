// Joins: nested loops, and hash tables of the right side.
#include "nodes.h"

#include <string.h>

static void fill_nulls(Run *r, Slots s) {
  for (int i = 0; i < s.count; i++)
    r->slots[s.first + i] = value_null();
}

// ---- Nested loops ----

typedef struct {
  Node base;
  Slots right_slots;
  const Program *condition;
  bool outer;
  bool in_row; // left has a row
  bool matched;
} NestedNode;

static void nested_start(Node *n, Run *r) {
  ((NestedNode *)n)->in_row = false;
  node_start(n->left, r);
}

static bool nested_next(Node *n, Run *r) {
  NestedNode *s = (NestedNode *)n;
  for (;;) {
    if (!s->in_row) {
      if (!node_next(n->left, r))
        return false;
      s->in_row = true;
      s->matched = false;
      node_start(n->right, r);
    }
    while (node_next(n->right, r))
      if (program_test(s->condition, r->slots, &r->machine)) {
        s->matched = true;
        return true;
      }
    s->in_row = false;
    if (s->outer && !s->matched) {
      fill_nulls(r, s->right_slots);
      return true;
    }
  }
}

static void nested_explain(const Node *n, Text *out) {
  text_printf(out, "nested loops%s", ((const NestedNode *)n)->outer ? ", outer" : "");
}

static const NodeKind nested_kind = {nested_start, nested_next, nested_explain};

Node *node_nested(Arena *a, Node *left, Node *right, Slots right_slots, const Program *condition, bool outer) {
  NestedNode *n = ARENA_NEW(a, NestedNode);
  n->base = (Node){&nested_kind, left, right};
  n->right_slots = right_slots;
  n->condition = condition;
  n->outer = outer;
  return &n->base;
}

// ---- Hash join ----

// Rows of the right side that have the same hash are chained in their order.
typedef struct BuildRow BuildRow;
struct BuildRow {
  BuildRow *next;
  uint64_t hash;
  Value values[]; // the keys, then the slots
};

typedef struct {
  Node base;
  Slots right_slots;
  const Program **left_keys, **right_keys;
  int key_count;
  const Program *condition;
  bool outer;
  BuildRow **buckets;
  uint64_t mask;
  int64_t rows;
  bool built;
  // The current row of the left side.
  Value *keys;
  uint64_t hash;
  BuildRow *candidate;
  bool in_row, matched;
} HashNode;

// eval_keys returns false if a key is null: it equals nothing.
static bool eval_keys(const Program **programs, int count, Run *r, Value *keys, uint64_t *hash) {
  *hash = 0;
  for (int i = 0; i < count; i++) {
    keys[i] = program_run(programs[i], r->slots, &r->machine);
    if (is_null(&keys[i]))
      return false;
    *hash = value_hash(&keys[i], *hash);
  }
  return true;
}

static void insert_row(HashNode *s, BuildRow *row) {
  BuildRow **at = &s->buckets[row->hash & s->mask];
  row->next = *at;
  *at = row;
}

static void grow_buckets(HashNode *s, Arena *arena) {
  BuildRow **old = s->buckets;
  uint64_t count = s->mask + 1;
  s->mask = 2 * count - 1;
  s->buckets = ARENA_ARRAY(arena, BuildRow *, s->mask + 1);
  for (uint64_t i = 0; i < count; i++) {
    // Chains are newest first; putting them in from the back keeps that.
    BuildRow *reversed = NULL;
    for (BuildRow *row = old[i], *next; row; row = next) {
      next = row->next;
      row->next = reversed;
      reversed = row;
    }
    for (BuildRow *row = reversed, *next; row; row = next) {
      next = row->next;
      insert_row(s, row);
    }
  }
}

static void hash_build(HashNode *s, Run *r) {
  s->built = true;
  s->mask = 255;
  s->buckets = ARENA_ARRAY(r->arena, BuildRow *, s->mask + 1);
  int width = s->key_count + s->right_slots.count;
  node_start(s->base.right, r);
  while (node_next(s->base.right, r)) {
    uint64_t hash;
    if (!eval_keys(s->right_keys, s->key_count, r, s->keys, &hash))
      continue;
    BuildRow *row = arena_alloc(r->arena, sizeof *row + (size_t)width * sizeof(Value));
    row->hash = hash;
    memcpy(row->values, s->keys, (size_t)s->key_count * sizeof(Value));
    memcpy(row->values + s->key_count, &r->slots[s->right_slots.first], (size_t)s->right_slots.count * sizeof(Value));
    insert_row(s, row);
    if ((uint64_t)++s->rows > s->mask)
      grow_buckets(s, r->arena);
  }
}

static void hash_start(Node *n, Run *r) {
  HashNode *s = (HashNode *)n;
  // The right side does not depend on outer rows: once is enough.
  if (!s->built)
    hash_build(s, r);
  s->in_row = false;
  node_start(n->left, r);
}

static bool equal_keys(const HashNode *s, const BuildRow *row) {
  if (row->hash != s->hash)
    return false;
  for (int i = 0; i < s->key_count; i++)
    if (!value_equal(&row->values[i], &s->keys[i]))
      return false;
  return true;
}

static bool hash_next(Node *n, Run *r) {
  HashNode *s = (HashNode *)n;
  for (;;) {
    if (!s->in_row) {
      if (!node_next(n->left, r))
        return false;
      s->in_row = true;
      s->matched = false;
      s->candidate = eval_keys(s->left_keys, s->key_count, r, s->keys, &s->hash) ? s->buckets[s->hash & s->mask] : NULL;
    }
    while (s->candidate) {
      BuildRow *row = s->candidate;
      s->candidate = row->next;
      if (!equal_keys(s, row))
        continue;
      memcpy(&r->slots[s->right_slots.first], row->values + s->key_count, (size_t)s->right_slots.count * sizeof(Value));
      if (program_test(s->condition, r->slots, &r->machine)) {
        s->matched = true;
        return true;
      }
    }
    s->in_row = false;
    if (s->outer && !s->matched) {
      fill_nulls(r, s->right_slots);
      return true;
    }
  }
}

static void hash_explain(const Node *n, Text *out) {
  const HashNode *s = (const HashNode *)n;
  text_printf(out, "hash join on %d%s", s->key_count, s->outer ? ", outer" : "");
}

static const NodeKind hash_kind = {hash_start, hash_next, hash_explain};

Node *node_hash(Arena *a, Node *left, Node *right, Slots right_slots, const Program **left_keys,
                const Program **right_keys, int key_count, const Program *condition, bool outer) {
  HashNode *n = ARENA_NEW(a, HashNode);
  n->base = (Node){&hash_kind, left, right};
  n->right_slots = right_slots;
  n->left_keys = left_keys;
  n->right_keys = right_keys;
  n->key_count = key_count;
  n->condition = condition;
  n->outer = outer;
  n->keys = ARENA_ARRAY(a, Value, key_count);
  return &n->base;
}

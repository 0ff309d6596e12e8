// The operators that plans are made of. All operators of a plan share one row
// of slots: each fills in those that are its own and leaves the others alone.
#ifndef NODES_H
#define NODES_H

#include "program.h"
#include "table.h"

typedef struct {
  Value *slots;
  Machine machine;
  Arena *arena;
} Run;

typedef struct Node Node;
typedef struct {
  void (*start)(Node *n, Run *r); // before the first row, and to begin again
  bool (*next)(Node *n, Run *r);  // false after the last row
  void (*explain)(const Node *n, Text *out);
} NodeKind;

struct Node {
  const NodeKind *kind;
  Node *left, *right; // inputs
};

static inline void node_start(Node *n, Run *r) { n->kind->start(n, r); }
static inline bool node_next(Node *n, Run *r) { return n->kind->next(n, r); }
void node_explain(const Node *n, int indent, Text *out);

// A range of slots.
typedef struct {
  int first, count;
} Slots;

// What an index is asked for. Bounds are evaluated when the scan starts, so
// that they may depend on the row of an outer operator.
typedef struct {
  int column;
  const Program *low, *high; // null: no bound
  bool after_low, below_high; // exclusive bounds
} IndexRange;

typedef struct {
  Aggregate aggregate;
  const Program *argument; // null: count(*)
  bool distinct;
  int slot;
} AggregateSpec;

typedef struct {
  int slot;
  bool descending;
} SortKey;

Node *node_single(Arena *a); // one row without columns
Node *node_scan(Arena *a, const Table *t, int first_slot, const Program *filter);
Node *node_index(Arena *a, const Table *t, int first_slot, IndexRange range, const Program *filter);
Node *node_filter(Arena *a, Node *input, const Program *condition);
// The joins: with outer, rows without a partner get nulls in the right slots.
Node *node_nested(Arena *a, Node *left, Node *right, Slots right_slots, const Program *condition, bool outer);
Node *node_hash(Arena *a, Node *left, Node *right, Slots right_slots, const Program **left_keys,
                const Program **right_keys, int key_count, const Program *condition, bool outer);
Node *node_aggregate(Arena *a, Node *input, const Program **groups, int group_count, int first_slot,
                     const AggregateSpec *specs, int spec_count);
Node *node_project(Arena *a, Node *input, const Program **programs, int count, int first_slot);
Node *node_distinct(Arena *a, Node *input, Slots slots);
// node_sort keeps only the first rows if most is not negative.
Node *node_sort(Arena *a, Node *input, Slots slots, const SortKey *keys, int key_count, int64_t most);
Node *node_limit(Arena *a, Node *input, int64_t offset, int64_t limit);

// RowSet is a hash table of rows of values.
typedef struct {
  Arena *arena;
  int width;
  Value *rows;
  uint64_t *hashes;
  int64_t count, capacity;
  int32_t *places; // row numbers plus one
  uint64_t mask;
} RowSet;

void row_set_init(RowSet *s, Arena *arena, int width);
// row_set_add returns the number of the row that equals the one given.
int64_t row_set_add(RowSet *s, const Value *row, bool *is_new);
int64_t row_set_find(const RowSet *s, const Value *row); // -1: none

#endif

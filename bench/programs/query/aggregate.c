// Groups and what is computed of them.
#include "nodes.h"

#include <math.h>
#include <string.h>

// What has been seen of one aggregate in one group. Sums of integers stay
// integers until they no longer fit.
typedef struct {
  int64_t count;
  int64_t sum;
  double real_sum;
  double mean, m2; // Welford's variance
  bool is_real;
  Value extreme;
  RowSet *seen; // of DISTINCT
} State;

typedef struct {
  Node base;
  const Program **groups;
  int group_count, first_slot;
  const AggregateSpec *specs;
  int spec_count;
  RowSet keys;
  State **states; // by group
  int64_t state_count;
  int64_t at;
} AggregateNode;

typedef void (*Accumulate)(State *s, const Value *v, Machine *m);
typedef Value (*Finish)(const State *s);

static void want_number(const Value *v, const char *what, Machine *m) {
  if (!is_number(v))
    fail(m->failure, "%s of %s makes no sense", what, type_name((Type)v->type));
}

static void count_add(State *s, const Value *v, Machine *m) {
  (void)v, (void)m;
  s->count++;
}

static void sum_add(State *s, const Value *v, Machine *m) {
  want_number(v, "sum", m);
  s->count++;
  if (v->type == TYPE_REAL && !s->is_real) {
    s->is_real = true;
    s->real_sum = (double)s->sum;
  }
  if (s->is_real) {
    s->real_sum += as_real(v);
  } else if (__builtin_add_overflow(s->sum, v->i, &s->sum)) {
    s->is_real = true;
    s->real_sum = (double)s->sum + 18446744073709551616.0 * (v->i < 0 ? -1 : 1);
  }
}

static void variance_add(State *s, const Value *v, Machine *m) {
  want_number(v, "variance", m);
  s->count++;
  double x = as_real(v), delta = x - s->mean;
  s->mean += delta / (double)s->count;
  s->m2 += delta * (x - s->mean);
}

static void min_add(State *s, const Value *v, Machine *m) {
  (void)m;
  if (s->count++ == 0 || value_compare(v, &s->extreme) < 0)
    s->extreme = *v;
}

static void max_add(State *s, const Value *v, Machine *m) {
  (void)m;
  if (s->count++ == 0 || value_compare(v, &s->extreme) > 0)
    s->extreme = *v;
}

static Value count_finish(const State *s) { return value_int(s->count); }

static Value sum_finish(const State *s) {
  if (s->count == 0)
    return value_null();
  return s->is_real ? value_real(s->real_sum) : value_int(s->sum);
}

static Value avg_finish(const State *s) {
  if (s->count == 0)
    return value_null();
  return value_real((s->is_real ? s->real_sum : (double)s->sum) / (double)s->count);
}

static Value extreme_finish(const State *s) { return s->count ? s->extreme : value_null(); }

static Value variance_finish(const State *s) {
  return s->count > 1 ? value_real(s->m2 / (double)(s->count - 1)) : value_null();
}

static const struct {
  const char *name;
  Accumulate add;
  Finish finish;
} aggregates[AGG_COUNT_KINDS] = {
    [AGG_COUNT] = {"count", count_add, count_finish}, [AGG_SUM] = {"sum", sum_add, sum_finish},
    [AGG_AVG] = {"avg", sum_add, avg_finish},         [AGG_MIN] = {"min", min_add, extreme_finish},
    [AGG_MAX] = {"max", max_add, extreme_finish},     [AGG_VARIANCE] = {"variance", variance_add, variance_finish},
};

static State *new_group(AggregateNode *n, Run *r) {
  State *states = ARENA_ARRAY(r->arena, State, n->spec_count ? n->spec_count : 1);
  ARENA_PUSH(r->arena, n->states, n->state_count, states);
  return states;
}

static void accumulate(const AggregateNode *n, State *states, Run *r) {
  static const Value one = {.type = TYPE_INT, .i = 1};
  for (int i = 0; i < n->spec_count; i++) {
    const AggregateSpec *spec = &n->specs[i];
    State *s = &states[i];
    Value v = one;
    if (spec->argument) {
      v = program_run(spec->argument, r->slots, &r->machine);
      if (is_null(&v))
        continue;
    }
    if (spec->distinct) {
      if (!s->seen) {
        s->seen = ARENA_NEW(r->arena, RowSet);
        row_set_init(s->seen, r->arena, 1);
      }
      bool is_new;
      row_set_add(s->seen, &v, &is_new);
      if (!is_new)
        continue;
    }
    aggregates[spec->aggregate].add(s, &v, &r->machine);
  }
}

static void aggregate_start(Node *base, Run *r) {
  AggregateNode *n = (AggregateNode *)base;
  row_set_init(&n->keys, r->arena, n->group_count);
  n->states = NULL;
  n->state_count = n->at = 0;
  Value *key = ARENA_ARRAY(r->arena, Value, n->group_count);
  if (n->group_count == 0) { // one group even of no rows
    bool is_new;
    row_set_add(&n->keys, key, &is_new);
    new_group(n, r);
  }
  node_start(base->left, r);
  while (node_next(base->left, r)) {
    State *states = NULL;
    if (n->group_count) {
      for (int i = 0; i < n->group_count; i++)
        key[i] = program_run(n->groups[i], r->slots, &r->machine);
      bool is_new;
      int64_t group = row_set_add(&n->keys, key, &is_new);
      states = is_new ? new_group(n, r) : n->states[group];
    } else {
      states = n->states[0];
    }
    accumulate(n, states, r);
  }
}

static bool aggregate_next(Node *base, Run *r) {
  AggregateNode *n = (AggregateNode *)base;
  if (n->at == n->state_count)
    return false;
  State *states = n->states[n->at];
  if (n->group_count)
    memcpy(&r->slots[n->first_slot], n->keys.rows + n->at * n->group_count, (size_t)n->group_count * sizeof(Value));
  for (int i = 0; i < n->spec_count; i++)
    r->slots[n->specs[i].slot] = aggregates[n->specs[i].aggregate].finish(&states[i]);
  n->at++;
  return true;
}

static void aggregate_explain(const Node *base, Text *out) {
  const AggregateNode *n = (const AggregateNode *)base;
  text_printf(out, "group by %d:", n->group_count);
  for (int i = 0; i < n->spec_count; i++)
    text_printf(out, " %s%s", aggregates[n->specs[i].aggregate].name, n->specs[i].distinct ? " distinct" : "");
}

static const NodeKind aggregate_kind = {aggregate_start, aggregate_next, aggregate_explain};

Node *node_aggregate(Arena *a, Node *input, const Program **groups, int group_count, int first_slot,
                     const AggregateSpec *specs, int spec_count) {
  AggregateNode *n = ARENA_NEW(a, AggregateNode);
  n->base = (Node){&aggregate_kind, input, NULL};
  n->groups = groups;
  n->group_count = group_count;
  n->first_slot = first_slot;
  n->specs = specs;
  n->spec_count = spec_count;
  return &n->base;
}

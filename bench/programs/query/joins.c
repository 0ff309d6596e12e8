// The order and the kind of joins. Conditions are taken apart into conjuncts,
// and each is applied as soon as the columns it needs are there.
#include "plan.h"

enum { MAX_SOURCES = 32, MAX_KEYS = 8 };

typedef struct {
  Expr *expr;
  uint32_t needs; // a bit for each source
  bool done;
} Conjunct;

typedef struct {
  Scope *scope;
  Conjunct *conjuncts;
  int count;
  uint32_t inner; // sources that WHERE conditions can be pushed down to
} Conditions;

static uint32_t needs_of(const Scope *s, const Expr *e) {
  uint32_t mask = 0;
  if (e->kind == EXPR_COLUMN)
    for (int i = 0; i < s->source_count; i++) {
      int at = e->slot - s->sources[i].first_slot;
      if (at >= 0 && at < s->sources[i].table->column_count)
        mask |= 1u << i;
    }
  for (int i = 0; i < e->arg_count; i++)
    mask |= needs_of(s, e->args[i]);
  return mask;
}

static void add_conjuncts(Conditions *c, Expr *e) {
  if (e->kind == EXPR_BINARY && e->op == OP_AND) {
    add_conjuncts(c, e->args[0]);
    add_conjuncts(c, e->args[1]);
    return;
  }
  Conjunct one = {.expr = e, .needs = needs_of(c->scope, e)};
  ARENA_PUSH(c->scope->session->arena, c->conjuncts, c->count, one);
}

static const Program *compile(Scope *s, const Expr *e) {
  return program_compile(s->session->arena, s->session->failure, e, session_subqueries(s->session));
}

// conjunction makes one program of all conjuncts that are selected and not yet
// applied; null if there are none.
static const Program *conjunction(Conditions *c, uint32_t have, uint32_t must) {
  Arena *arena = c->scope->session->arena;
  Expr *all = NULL;
  for (int i = 0; i < c->count; i++) {
    Conjunct *one = &c->conjuncts[i];
    if (one->done || (one->needs & ~have) || (must && !(one->needs & must)))
      continue;
    one->done = true;
    if (!all) {
      all = one->expr;
      continue;
    }
    Expr *both = ARENA_NEW(arena, Expr);
    both->kind = EXPR_BINARY;
    both->op = OP_AND;
    both->slot = -1;
    ARENA_PUSH(arena, both->args, both->arg_count, all);
    ARENA_PUSH(arena, both->args, both->arg_count, one->expr);
    all = both;
  }
  return all ? compile(c->scope, all) : NULL;
}

// column_of returns the column of a source that an expression is, else -1.
static int column_of(const Scope *s, int source, const Expr *e) {
  if (e->kind != EXPR_COLUMN || needs_of(s, e) != 1u << source)
    return -1;
  return e->slot - s->sources[source].first_slot;
}

static Operator mirrored(Operator op) {
  switch (op) {
  case OP_LT: return OP_GT;
  case OP_LE: return OP_GE;
  case OP_GT: return OP_LT;
  case OP_GE: return OP_LE;
  default: return op;
  }
}

// comparison splits "column op other" and "other op column", where other needs
// no more than have.
static bool comparison(const Scope *s, int source, const Conjunct *c, uint32_t have, int *column, Operator *op,
                       Expr **other) {
  Expr *e = c->expr;
  if (e->kind != EXPR_BINARY || (e->op != OP_EQ && (e->op < OP_LT || e->op > OP_GE)))
    return false;
  for (int side = 0; side < 2; side++) {
    *column = column_of(s, source, e->args[side]);
    *other = e->args[1 - side];
    *op = side ? mirrored(e->op) : e->op;
    if (*column >= 0 && (needs_of(s, *other) & ~have) == 0)
      return true;
  }
  return false;
}

// estimate guesses how many rows of a source its own conditions leave.
static double estimate(Conditions *c, int source) {
  const Table *t = c->scope->sources[source].table;
  double rows = (double)t->live_count;
  for (int i = 0; i < c->count; i++) {
    const Conjunct *one = &c->conjuncts[i];
    if (one->done || one->needs != 1u << source)
      continue;
    int column;
    Operator op;
    Expr *other;
    if (!comparison(c->scope, source, one, 0, &column, &op, &other))
      rows /= 2;
    else if (op != OP_EQ)
      rows /= 3;
    else if (t->columns[column].index)
      rows /= (double)(btree_distinct(t->columns[column].index) + 1);
    else
      rows /= 10;
  }
  return rows < 1 ? 1 : rows;
}

// find_range looks for conditions that an index answers, given the sources that
// are there; equalities go before ranges.
static bool find_range(Conditions *c, int source, uint32_t have, IndexRange *range) {
  Scope *s = c->scope;
  const Table *t = s->sources[source].table;
  *range = (IndexRange){.column = -1};
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < c->count; i++) {
      Conjunct *one = &c->conjuncts[i];
      int column;
      Operator op;
      Expr *other;
      if (one->done || !comparison(s, source, one, have, &column, &op, &other) || !t->columns[column].index)
        continue;
      if ((op == OP_EQ) != (pass == 0) || (range->column >= 0 && range->column != column))
        continue;
      if (op == OP_EQ) {
        range->column = column;
        range->low = range->high = compile(s, other);
        one->done = true;
        return true;
      }
      bool is_low = op == OP_GT || op == OP_GE;
      if (is_low ? range->low != NULL : range->high != NULL)
        continue;
      range->column = column;
      if (is_low) {
        range->low = compile(s, other);
        range->after_low = op == OP_GT;
      } else {
        range->high = compile(s, other);
        range->below_high = op == OP_LT;
      }
      one->done = true;
    }
  return range->column >= 0;
}

// access makes the operator that reads one source; rows of sources in have are
// there when it starts.
static Node *access(Conditions *c, int source, uint32_t have) {
  Scope *s = c->scope;
  const Source *from = &s->sources[source];
  IndexRange range;
  bool by_index = find_range(c, source, have, &range);
  const Program *filter = conjunction(c, have | 1u << source, 1u << source);
  if (by_index)
    return node_index(s->session->arena, from->table, from->first_slot, range, filter);
  return node_scan(s->session->arena, from->table, from->first_slot, filter);
}

static Slots slots_of(const Source *s) { return (Slots){s->first_slot, s->table->column_count}; }

// join adds a source to the operators that are there.
static Node *join(Conditions *c, Node *left, double left_rows, int source, uint32_t have, bool outer) {
  Scope *s = c->scope;
  Arena *arena = s->session->arena;
  const Source *from = &s->sources[source];
  const Program *left_keys[MAX_KEYS], *right_keys[MAX_KEYS];
  Conjunct *used[MAX_KEYS];
  int keys = 0;
  bool indexed = false;
  for (int i = 0; i < c->count && keys < MAX_KEYS; i++) {
    Conjunct *one = &c->conjuncts[i];
    int column;
    Operator op;
    Expr *other;
    if (one->done || !comparison(s, source, one, have, &column, &op, &other) || op != OP_EQ || !needs_of(s, other))
      continue;
    indexed |= from->table->columns[column].index != NULL;
    used[keys] = one;
    left_keys[keys] = compile(s, other);
    right_keys[keys] = compile(s, one->expr->args[one->expr->args[0] == other]);
    keys++;
  }
  // A lookup costs about as much as reading some rows.
  const double lookup = 8;
  if (keys == 0 || (indexed && left_rows * lookup < (double)from->table->live_count)) {
    Node *right = access(c, source, have);
    return node_nested(arena, left, right, slots_of(from), conjunction(c, have | 1u << source, 0), outer);
  }
  for (int i = 0; i < keys; i++)
    used[i]->done = true;
  Node *right = access(c, source, 0);
  const Program **l = ARENA_ARRAY(arena, const Program *, keys), **r = ARENA_ARRAY(arena, const Program *, keys);
  for (int i = 0; i < keys; i++) {
    l[i] = left_keys[i];
    r[i] = right_keys[i];
  }
  return node_hash(arena, left, right, slots_of(from), l, r, keys, conjunction(c, have | 1u << source, 0), outer);
}

static bool is_connected(const Conditions *c, int source, uint32_t have) {
  for (int i = 0; i < c->count; i++) {
    const Conjunct *one = &c->conjuncts[i];
    if (!one->done && (one->needs & 1u << source) && (one->needs & have) && !(one->needs & ~(have | 1u << source)))
      return true;
  }
  return false;
}

Node *plan_from(Scope *s, Expr *where) {
  Arena *arena = s->session->arena;
  if (s->source_count > MAX_SOURCES)
    fail(s->session->failure, "more than %d tables", MAX_SOURCES);
  Conditions c = {.scope = s};
  uint32_t inner = 0;
  for (int i = 0; i < s->source_count; i++)
    if (s->sources[i].join != JOIN_LEFT) {
      inner |= 1u << i;
      if (s->sources[i].on)
        add_conjuncts(&c, s->sources[i].on);
    }
  if (where)
    add_conjuncts(&c, where);
  Node *node = s->source_count ? NULL : node_single(arena);
  uint32_t have = 0;
  double rows = 1;
  while (inner & ~have) {
    int best = -1;
    double best_cost = 0;
    for (int i = 0; i < s->source_count; i++) {
      if (!(inner & ~have & 1u << i))
        continue;
      double cost = estimate(&c, i);
      if (have && !is_connected(&c, i, have))
        cost = cost * 1e6 + 1e9;
      if (best < 0 || cost < best_cost) {
        best = i;
        best_cost = cost;
      }
    }
    double own = estimate(&c, best);
    if (!have) {
      node = access(&c, best, 0);
      rows = own;
    } else {
      node = join(&c, node, rows, best, have, false);
      rows = rows > own ? rows : own;
    }
    have |= 1u << best;
  }
  for (int i = 0; i < s->source_count; i++) {
    if (s->sources[i].join != JOIN_LEFT)
      continue;
    Conditions on = {.scope = s};
    add_conjuncts(&on, s->sources[i].on);
    node = join(&on, node, rows, i, have, true);
    have |= 1u << i;
  }
  const Program *rest = conjunction(&c, ~0u, 0);
  return rest ? node_filter(arena, node, rest) : node;
}

// From a SELECT to its result.
#include "plan.h"

#include <string.h>

struct Temporary {
  Temporary *next;
  Table *table;
};

enum { MAX_NESTED_SELECTS = 20 };

static ValueSet *subquery_members(void *context, Select *select) {
  Session *s = context;
  Result r = session_select(s, select);
  if (r.column_count != 1)
    fail(s->failure, "a SELECT of IN has one column, not %d", r.column_count);
  ValueSet *set = ARENA_NEW(s->arena, ValueSet);
  value_set_init(set, s->arena, r.row_count);
  for (int64_t i = 0; i < r.row_count; i++)
    value_set_add(set, &r.cells[i]);
  return set;
}

static Value subquery_scalar(void *context, Select *select) {
  Session *s = context;
  Result r = session_select(s, select);
  if (r.column_count != 1 || r.row_count > 1)
    fail(s->failure, "a SELECT with %lld rows of %d columns is no value", (long long)r.row_count, r.column_count);
  return r.row_count ? r.cells[0] : value_null();
}

static bool subquery_exists(void *context, Select *select) { return session_select(context, select).row_count > 0; }

const Subqueries *session_subqueries(Session *s) {
  Subqueries *q = ARENA_NEW(s->arena, Subqueries);
  *q = (Subqueries){s, subquery_members, subquery_scalar, subquery_exists};
  return q;
}

static const Program *compile(Session *s, const Expr *e) {
  return program_compile(s->arena, s->failure, e, session_subqueries(s));
}

// materialize makes a table of a SELECT in FROM.
static const Table *materialize(Session *s, const char *name, Select *select) {
  Result r = session_select(s, select);
  ColumnDef *columns = ARENA_ARRAY(s->arena, ColumnDef, r.column_count);
  for (int i = 0; i < r.column_count; i++)
    columns[i].name = r.names[i];
  Table *t = table_new(name, columns, r.column_count);
  Temporary *temporary = ARENA_NEW(s->arena, Temporary);
  *temporary = (Temporary){s->temporaries, t};
  s->temporaries = temporary;
  for (int64_t i = 0; i < r.row_count; i++)
    table_insert(t, r.cells + i * r.column_count, s->failure);
  return t;
}

void session_end(Session *s) {
  for (Temporary *t = s->temporaries; t; t = t->next)
    table_free(t->table);
  s->temporaries = NULL;
  arena_free(s->arena);
}

static void open_sources(Scope *scope, const Select *select) {
  Session *s = scope->session;
  for (int i = 0; i < select->from_count; i++) {
    const FromItem *f = &select->from[i];
    Source source = {.alias = f->alias, .join = f->join, .on = f->on, .first_slot = scope->slot_count};
    source.table = f->select ? materialize(s, f->alias, f->select) : database_find(s->db, f->table);
    scope->slot_count += source.table->column_count;
    ARENA_PUSH(s->arena, scope->sources, scope->source_count, source);
    if (source.on)
      bind_expr(scope, source.on);
  }
}

// ---- Groups ----

typedef struct {
  Scope *scope;
  Expr **groups;
  int group_count;
  int group_slot;
  AggregateSpec *specs;
  Expr **spec_exprs;
  int spec_count;
  int column_slots; // those below are columns of tables
} Grouping;

static int find_spec(Grouping *g, Expr *e) {
  for (int i = 0; i < g->spec_count; i++)
    if (expr_equal(g->spec_exprs[i], e))
      return g->specs[i].slot;
  Scope *s = g->scope;
  AggregateSpec spec = {.aggregate = e->aggregate, .distinct = e->distinct, .slot = s->slot_count++};
  if (e->arg_count)
    spec.argument = compile(s->session, e->args[0]);
  int exprs = g->spec_count;
  ARENA_PUSH(s->session->arena, g->spec_exprs, exprs, e);
  ARENA_PUSH(s->session->arena, g->specs, g->spec_count, spec);
  return spec.slot;
}

// grouped returns an expression as it is evaluated after grouping: what is
// grouped by and aggregates are read from their slots.
static Expr *grouped(Grouping *g, Expr *e) {
  Arena *arena = g->scope->session->arena;
  for (int i = 0; i < g->group_count; i++)
    if (expr_equal(g->groups[i], e)) {
      Expr *column = ARENA_NEW(arena, Expr);
      column->kind = EXPR_COLUMN;
      column->name = e->name;
      column->slot = g->group_slot + i;
      return column;
    }
  if (e->kind == EXPR_AGGREGATE) {
    Expr *copy = ARENA_NEW(arena, Expr);
    *copy = *e;
    copy->slot = find_spec(g, e);
    copy->arg_count = 0;
    return copy;
  }
  if (e->kind == EXPR_COLUMN)
    fail(g->scope->session->failure, "column %s is neither grouped by nor aggregated", e->name);
  if (e->arg_count == 0)
    return e;
  Expr *copy = ARENA_NEW(arena, Expr);
  *copy = *e;
  copy->args = ARENA_ARRAY(arena, Expr *, e->arg_count);
  for (int i = 0; i < e->arg_count; i++)
    copy->args[i] = grouped(g, e->args[i]);
  return copy;
}

static bool is_grouped(const Select *select) {
  if (select->group_count || select->having)
    return true;
  for (int i = 0; i < select->item_count; i++)
    if (has_aggregate(select->items[i].expr))
      return true;
  for (int i = 0; i < select->order_count; i++)
    if (has_aggregate(select->order[i].expr))
      return true;
  return false;
}

static Node *plan_groups(Scope *scope, Select *select, Node *input) {
  Session *s = scope->session;
  Grouping g = {.scope = scope, .groups = select->group, .group_count = select->group_count,
                .group_slot = scope->slot_count, .column_slots = scope->slot_count};
  scope->slot_count += g.group_count;
  const Program **programs = ARENA_ARRAY(s->arena, const Program *, g.group_count);
  for (int i = 0; i < g.group_count; i++) {
    if (has_aggregate(g.groups[i]))
      fail(s->failure, "an aggregate cannot be grouped by");
    programs[i] = compile(s, g.groups[i]);
  }
  for (int i = 0; i < select->item_count; i++)
    select->items[i].expr = grouped(&g, select->items[i].expr);
  for (int i = 0; i < select->order_count; i++)
    select->order[i].expr = grouped(&g, select->order[i].expr);
  if (select->having)
    select->having = grouped(&g, select->having);
  Node *node = node_aggregate(s->arena, input, programs, g.group_count, g.group_slot, g.specs, g.spec_count);
  return select->having ? node_filter(s->arena, node, compile(s, select->having)) : node;
}

// ---- One SELECT ----

static const char *item_name(const SelectItem *item, int at, Arena *arena) {
  if (item->alias)
    return item->alias;
  if (item->expr->kind == EXPR_COLUMN && item->expr->name)
    return item->expr->name;
  char name[] = "column00";
  name[6] = (char)('0' + (at + 1) / 10 % 10);
  name[7] = (char)('0' + (at + 1) % 10);
  return arena_copy(arena, name, sizeof name - 1);
}

// plan_core plans a SELECT without what it is united with. Its ORDER BY and
// LIMIT are applied unless they are those of a union.
static Plan *plan_core(Session *s, Select *original, bool whole) {
  // Planning replaces items and what a union takes for itself.
  Select copy = *original, *select = &copy;
  Scope scope = {.session = s, .select = select};
  if (!whole) {
    select->order_count = 0;
    select->limit = -1;
    select->offset = 0;
  }
  open_sources(&scope, select);
  expand_stars(&scope);
  for (int i = 0; i < select->item_count; i++)
    bind_expr(&scope, select->items[i].expr);
  if (select->where) {
    bind_expr(&scope, select->where);
    if (has_aggregate(select->where))
      fail(s->failure, "aggregates belong into HAVING, not WHERE");
  }
  Expr **group = ARENA_ARRAY(s->arena, Expr *, select->group_count);
  for (int i = 0; i < select->group_count; i++) {
    group[i] = select->group[i];
    bind_or_alias(&scope, &group[i]);
  }
  select->group = group;
  if (select->having)
    bind_expr(&scope, select->having);
  OrderItem *order = ARENA_ARRAY(s->arena, OrderItem, select->order_count);
  for (int i = 0; i < select->order_count; i++) {
    order[i] = select->order[i];
    bind_or_alias(&scope, &order[i].expr);
  }
  select->order = order;
  SelectItem *items = ARENA_ARRAY(s->arena, SelectItem, select->item_count);
  memcpy(items, select->items, (size_t)select->item_count * sizeof *items);
  select->items = items;

  Plan *plan = ARENA_NEW(s->arena, Plan);
  plan->names = ARENA_ARRAY(s->arena, const char *, select->item_count);
  for (int i = 0; i < select->item_count; i++)
    plan->names[i] = item_name(&select->items[i], i, s->arena);

  Node *node = plan_from(&scope, select->where);
  if (is_grouped(select))
    node = plan_groups(&scope, select, node);

  // The columns of the result and, after them, what only ORDER BY needs.
  int count = select->item_count + select->order_count, first = scope.slot_count;
  const Program **programs = ARENA_ARRAY(s->arena, const Program *, count);
  SortKey *keys = ARENA_ARRAY(s->arena, SortKey, select->order_count);
  for (int i = 0; i < select->item_count; i++)
    programs[i] = compile(s, select->items[i].expr);
  int used = select->item_count;
  for (int i = 0; i < select->order_count; i++) {
    int at = 0;
    while (at < select->item_count && !expr_equal(select->items[at].expr, select->order[i].expr))
      at++;
    if (at == select->item_count) {
      if (select->distinct)
        fail(s->failure, "SELECT DISTINCT can be ordered by its columns only");
      programs[used] = compile(s, select->order[i].expr);
      at = used++;
    }
    keys[i] = (SortKey){first + at, select->order[i].descending};
  }
  scope.slot_count += used;
  node = node_project(s->arena, node, programs, used, first);
  plan->output = (Slots){first, select->item_count};
  if (select->distinct)
    node = node_distinct(s->arena, node, plan->output);
  if (select->order_count) {
    int64_t most = select->limit >= 0 ? select->limit + select->offset : -1;
    node = node_sort(s->arena, node, (Slots){first, used}, keys, select->order_count, most);
  }
  if (select->limit >= 0 || select->offset > 0)
    node = node_limit(s->arena, node, select->offset, select->limit);
  plan->root = node;
  plan->slot_count = scope.slot_count;
  return plan;
}

Plan *plan_select(Session *s, Select *select) { return plan_core(s, select, select->set_operator == SET_NONE); }

static Result run_plan(Session *s, const Plan *plan) {
  Result result = {.names = plan->names, .column_count = plan->output.count};
  Run run = {ARENA_ARRAY(s->arena, Value, plan->slot_count), {s->arena, s->failure}, s->arena};
  int64_t capacity = 0;
  size_t row_size = (size_t)result.column_count * sizeof(Value);
  node_start(plan->root, &run);
  while (node_next(plan->root, &run)) {
    if (result.row_count == capacity) {
      size_t used = (size_t)capacity * row_size;
      capacity = capacity ? 2 * capacity : 16;
      result.cells = arena_grow(s->arena, result.cells, used, (size_t)capacity * row_size);
    }
    memcpy(result.cells + result.row_count++ * result.column_count, &run.slots[plan->output.first], row_size);
  }
  return result;
}

// ---- UNION and the like ----

static void copy_new(Result *to, const Result *from, RowSet *seen, const RowSet *filter, bool wanted) {
  for (int64_t i = 0; i < from->row_count; i++) {
    const Value *row = from->cells + i * from->column_count;
    if (filter && (row_set_find(filter, row) >= 0) != wanted)
      continue;
    bool is_new = true;
    if (seen)
      row_set_add(seen, row, &is_new);
    if (is_new)
      memcpy(to->cells + to->row_count++ * to->column_count, row, (size_t)to->column_count * sizeof(Value));
  }
}

static Result combine(Session *s, SetOperator op, const Result *left, const Result *right) {
  if (left->column_count != right->column_count)
    fail(s->failure, "%d columns cannot be combined with %d", left->column_count, right->column_count);
  Result r = {.names = left->names, .column_count = left->column_count};
  r.cells = ARENA_ARRAY(s->arena, Value, (left->row_count + right->row_count) * r.column_count);
  RowSet seen, other;
  row_set_init(&seen, s->arena, r.column_count);
  row_set_init(&other, s->arena, r.column_count);
  switch (op) {
  case SET_UNION_ALL:
    copy_new(&r, left, NULL, NULL, false);
    copy_new(&r, right, NULL, NULL, false);
    break;
  case SET_UNION:
    copy_new(&r, left, &seen, NULL, false);
    copy_new(&r, right, &seen, NULL, false);
    break;
  case SET_EXCEPT:
  case SET_INTERSECT:
    for (int64_t i = 0; i < right->row_count; i++) {
      bool is_new;
      row_set_add(&other, right->cells + i * r.column_count, &is_new);
    }
    copy_new(&r, left, &seen, &other, op == SET_INTERSECT);
    break;
  case SET_NONE: break;
  }
  return r;
}

// order_result applies the ORDER BY and LIMIT of a union to its rows, by
// selecting from them.
static Result order_result(Session *s, const Select *select, const Result *rows) {
  if (!select->order_count && select->limit < 0)
    return *rows;
  ColumnDef *columns = ARENA_ARRAY(s->arena, ColumnDef, rows->column_count);
  for (int i = 0; i < rows->column_count; i++)
    columns[i].name = rows->names[i];
  Table *t = table_new("union", columns, rows->column_count);
  Temporary *temporary = ARENA_NEW(s->arena, Temporary);
  *temporary = (Temporary){s->temporaries, t};
  s->temporaries = temporary;
  for (int64_t i = 0; i < rows->row_count; i++)
    table_insert(t, rows->cells + i * rows->column_count, s->failure);

  Scope scope = {.session = s, .slot_count = t->column_count};
  Source source = {.alias = t->name, .table = t};
  scope.sources = &source;
  scope.source_count = 1;
  Slots slots = {0, t->column_count};
  SortKey *keys = ARENA_ARRAY(s->arena, SortKey, select->order_count);
  for (int i = 0; i < select->order_count; i++) {
    Expr *e = select->order[i].expr;
    if (e->kind == EXPR_LITERAL && e->value.type == TYPE_INT && e->value.i >= 1 && e->value.i <= t->column_count) {
      keys[i].slot = (int)e->value.i - 1;
    } else {
      if (e->kind != EXPR_COLUMN)
        fail(s->failure, "a union can be ordered by its columns only");
      bind_expr(&scope, e);
      keys[i].slot = e->slot;
    }
    keys[i].descending = select->order[i].descending;
  }
  Node *node = node_scan(s->arena, t, 0, NULL);
  if (select->order_count)
    node = node_sort(s->arena, node, slots, keys, select->order_count, -1);
  node = node_limit(s->arena, node, select->offset, select->limit);
  Plan plan = {.root = node, .slot_count = t->column_count, .output = slots, .names = rows->names};
  return run_plan(s, &plan);
}

Result session_select(Session *s, Select *select) {
  if (++s->depth > MAX_NESTED_SELECTS)
    fail(s->failure, "selects nested more than %d levels deep", MAX_NESTED_SELECTS);
  Result r = run_plan(s, plan_select(s, select));
  for (Select *at = select; at->set_operator != SET_NONE; at = at->right) {
    Result right = run_plan(s, plan_core(s, at->right, false));
    r = combine(s, at->set_operator, &r, &right);
  }
  if (select->set_operator != SET_NONE)
    r = order_result(s, select, &r);
  s->depth--;
  return r;
}

const Program *plan_expression(Session *s, const Table *t, Expr *e) {
  Scope scope = {.session = s, .slot_count = t ? t->column_count : 0};
  Source source = {.alias = t ? t->name : NULL, .table = t};
  scope.sources = &source;
  scope.source_count = t != NULL;
  bind_expr(&scope, e);
  return compile(s, e);
}

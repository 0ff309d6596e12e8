// Names in expressions to slots.
#include "plan.h"

#include <string.h>
#include <strings.h>

static bool same_name(const char *a, const char *b) { return a && b && strcasecmp(a, b) == 0; }

// find_column returns the slot of a column, -1 if there is none.
static int find_column(Scope *s, const Expr *e) {
  int found = -1;
  for (int i = 0; i < s->source_count; i++) {
    const Source *source = &s->sources[i];
    if (e->qualifier && !same_name(e->qualifier, source->alias))
      continue;
    int column = table_column(source->table, e->name);
    if (column < 0)
      continue;
    if (found >= 0)
      fail(s->session->failure, "column %s is in more than one table", e->name);
    found = source->first_slot + column;
  }
  return found;
}

static void no_column(Scope *s, const Expr *e) {
  fail(s->session->failure, "no column %s%s%s", e->qualifier ? e->qualifier : "", e->qualifier ? "." : "", e->name);
}

void bind_expr(Scope *s, Expr *e) {
  if (e->kind == EXPR_COLUMN && e->slot < 0) {
    e->slot = find_column(s, e);
    if (e->slot < 0)
      no_column(s, e);
  }
  if (e->kind == EXPR_AGGREGATE)
    for (int i = 0; i < e->arg_count; i++)
      if (has_aggregate(e->args[i]))
        fail(s->session->failure, "%s of an aggregate makes no sense", e->name);
  for (int i = 0; i < e->arg_count; i++)
    bind_expr(s, e->args[i]);
}

// bind_or_alias lets a name stand for an item of the select list and a number
// for its position.
void bind_or_alias(Scope *s, Expr **p) {
  Expr *e = *p;
  Select *select = s->select;
  if (e->kind == EXPR_COLUMN && !e->qualifier)
    for (int i = 0; i < select->item_count; i++)
      if (same_name(select->items[i].alias, e->name)) {
        *p = select->items[i].expr;
        return;
      }
  if (e->kind == EXPR_LITERAL && e->value.type == TYPE_INT) {
    if (e->value.i < 1 || e->value.i > select->item_count)
      fail(s->session->failure, "there is no column %lld in the select list", (long long)e->value.i);
    *p = select->items[e->value.i - 1].expr;
    return;
  }
  bind_expr(s, e);
}

// expand_stars puts columns in the place of * and name.*.
void expand_stars(Scope *s) {
  Arena *arena = s->session->arena;
  Select *select = s->select;
  SelectItem *items = NULL;
  int count = 0;
  for (int i = 0; i < select->item_count; i++) {
    SelectItem item = select->items[i];
    if (item.expr->kind != EXPR_STAR) {
      ARENA_PUSH(arena, items, count, item);
      continue;
    }
    int before = count;
    for (int k = 0; k < s->source_count; k++) {
      const Source *source = &s->sources[k];
      if (item.expr->qualifier && !same_name(item.expr->qualifier, source->alias))
        continue;
      for (int c = 0; c < source->table->column_count; c++) {
        Expr *e = ARENA_NEW(arena, Expr);
        e->kind = EXPR_COLUMN;
        e->name = source->table->columns[c].name;
        e->slot = source->first_slot + c;
        SelectItem column = {.expr = e, .alias = e->name};
        ARENA_PUSH(arena, items, count, column);
      }
    }
    if (count == before)
      fail(s->session->failure, "* has no columns");
  }
  select->items = items;
  select->item_count = count;
}

bool has_aggregate(const Expr *e) {
  if (e->kind == EXPR_AGGREGATE)
    return true;
  for (int i = 0; i < e->arg_count; i++)
    if (has_aggregate(e->args[i]))
      return true;
  return false;
}

bool expr_equal(const Expr *a, const Expr *b) {
  if (a == b)
    return true;
  if (a->kind != b->kind || a->arg_count != b->arg_count || a->negated != b->negated || a->select || b->select)
    return false;
  switch (a->kind) {
  case EXPR_LITERAL:
    if (a->value.type != b->value.type || !value_equal(&a->value, &b->value))
      return false;
    break;
  case EXPR_COLUMN:
    if (a->slot != b->slot)
      return false;
    break;
  case EXPR_UNARY:
  case EXPR_BINARY:
    if (a->op != b->op)
      return false;
    break;
  case EXPR_CALL:
    if (strcasecmp(a->name, b->name) != 0)
      return false;
    break;
  case EXPR_AGGREGATE:
    if (a->aggregate != b->aggregate || a->distinct != b->distinct)
      return false;
    break;
  case EXPR_CASE:
    if (a->has_operand != b->has_operand || a->has_else != b->has_else)
      return false;
    break;
  case EXPR_CAST:
    if (a->type != b->type)
      return false;
    break;
  default: break;
  }
  for (int i = 0; i < a->arg_count; i++)
    if (!expr_equal(a->args[i], b->args[i]))
      return false;
  return true;
}

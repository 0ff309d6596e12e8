// Selects to trees of operators.
#ifndef PLAN_H
#define PLAN_H

#include "nodes.h"

typedef struct Temporary Temporary;

// A Session is what one statement needs while it is planned and run.
typedef struct {
  Database *db;
  Arena *arena;
  Failure *failure;
  Temporary *temporaries; // tables of selects in FROM
  int depth;
} Session;

typedef struct {
  Node *root;
  int slot_count;
  Slots output;
  const char **names; // of the columns
} Plan;

// A result is rows of values that live as long as the session's arena.
typedef struct {
  const char **names;
  int column_count;
  Value *cells;
  int64_t row_count;
} Result;

Plan *plan_select(Session *s, Select *select);
Result session_select(Session *s, Select *select);
void session_end(Session *s);

// A condition on one table, as UPDATE and DELETE have it, and the expressions
// that go with it. Slots are the columns.
const Program *plan_expression(Session *s, const Table *t, Expr *e);

// What names in expressions can stand for.
typedef struct {
  const char *alias;
  const Table *table;
  int first_slot;
  JoinKind join;
  Expr *on;
} Source;

typedef struct {
  Session *session;
  Source *sources;
  int source_count;
  int slot_count;
  Select *select; // for aliases of its items
} Scope;

void bind_expr(Scope *s, Expr *e);
void bind_or_alias(Scope *s, Expr **e); // ORDER BY and GROUP BY
void expand_stars(Scope *s);
bool expr_equal(const Expr *a, const Expr *b);
bool has_aggregate(const Expr *e);
const Subqueries *session_subqueries(Session *s);

// plan_from joins the sources and applies the condition.
Node *plan_from(Scope *s, Expr *where);

#endif

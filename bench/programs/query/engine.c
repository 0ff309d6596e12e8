#include "engine.h"
#include "plan.h"

#include <stdio.h>
#include <string.h>

static void print_result(Text *out, const Result *r) {
  for (int64_t i = 0; i < r->row_count; i++) {
    for (int k = 0; k < r->column_count; k++) {
      if (k)
        text_puts(out, "|");
      value_format(&r->cells[i * r->column_count + k], out);
    }
    text_puts(out, "\n");
  }
}

static void run_select(Engine *e, Session *s, Statement *st) {
  Result r = session_select(s, st->select);
  e->rows += r.row_count;
  print_result(&e->last, &r);
}

static void run_explain(Engine *e, Session *s, Statement *st) {
  Plan *plan = plan_select(s, st->select);
  node_explain(plan->root, 0, &e->last);
}

static void run_insert(Engine *e, Session *s, Statement *st) {
  Table *t = database_find(s->db, st->table);
  int width = st->row_width;
  int64_t count = st->row_count;
  Value *cells;
  if (st->select) {
    Result r = session_select(s, st->select);
    width = r.column_count;
    count = r.row_count;
    cells = r.cells;
  } else {
    cells = ARENA_ARRAY(s->arena, Value, count * width);
    Machine m = {s->arena, s->failure};
    for (int64_t i = 0; i < count; i++)
      for (int k = 0; k < width; k++)
        cells[i * width + k] = program_run(plan_expression(s, NULL, st->rows[i][k]), NULL, &m);
  }
  if (width != t->column_count)
    fail(s->failure, "%d values for the %d columns of %s", width, t->column_count, t->name);
  for (int64_t i = 0; i < count; i++)
    table_insert(t, cells + i * width, s->failure);
  text_printf(&e->last, "%lld rows inserted\n", (long long)count);
}

// matching returns the numbers of the rows that a condition is true of. They
// are collected first, because changing a row can move it in an index.
static int64_t *matching(Session *s, Table *t, Expr *where, int64_t *count) {
  const Program *condition = where ? plan_expression(s, t, where) : NULL;
  Machine m = {s->arena, s->failure};
  int64_t *rows = NULL;
  *count = 0;
  for (int64_t row = 0; row < t->row_count; row++)
    if (!t->dead[row] && program_test(condition, table_row(t, row), &m))
      ARENA_PUSH(s->arena, rows, *count, row);
  return rows;
}

static void run_update(Engine *e, Session *s, Statement *st) {
  Table *t = database_find(s->db, st->table);
  int *columns = ARENA_ARRAY(s->arena, int, st->set_count);
  const Program **programs = ARENA_ARRAY(s->arena, const Program *, st->set_count);
  for (int i = 0; i < st->set_count; i++) {
    columns[i] = table_column(t, st->sets[i].alias);
    if (columns[i] < 0)
      fail(s->failure, "no column %s.%s", t->name, st->sets[i].alias);
    programs[i] = plan_expression(s, t, st->sets[i].expr);
  }
  int64_t count;
  int64_t *rows = matching(s, t, st->where, &count);
  Machine m = {s->arena, s->failure};
  Value *new = ARENA_ARRAY(s->arena, Value, st->set_count);
  for (int64_t i = 0; i < count; i++) {
    for (int k = 0; k < st->set_count; k++)
      new[k] = program_run(programs[k], table_row(t, rows[i]), &m);
    for (int k = 0; k < st->set_count; k++)
      table_update(t, rows[i], columns[k], &new[k], s->failure);
  }
  text_printf(&e->last, "%lld rows updated\n", (long long)count);
}

static void run_delete(Engine *e, Session *s, Statement *st) {
  Table *t = database_find(s->db, st->table);
  int64_t count;
  int64_t *rows = matching(s, t, st->where, &count);
  for (int64_t i = 0; i < count; i++)
    table_delete(t, rows[i]);
  text_printf(&e->last, "%lld rows deleted\n", (long long)count);
}

static void run_create_table(Session *s, Statement *st) {
  if (database_has(s->db, st->table))
    fail(s->failure, "there is a table %s", st->table);
  database_add(s->db, table_new(st->table, st->columns, st->column_count));
}

static void run_create_index(Session *s, Statement *st) {
  Table *t = database_find(s->db, st->table);
  int column = table_column(t, st->column);
  if (column < 0)
    fail(s->failure, "no column %s.%s", st->table, st->column);
  table_add_index(t, column);
}

static void run_statement(Engine *e, Session *s, const char *sql) {
  Statement *st = parse_statement(s->arena, s->failure, sql, strlen(sql));
  switch (st->kind) {
  case STATEMENT_SELECT: run_select(e, s, st); break;
  case STATEMENT_EXPLAIN: run_explain(e, s, st); break;
  case STATEMENT_INSERT: run_insert(e, s, st); break;
  case STATEMENT_UPDATE: run_update(e, s, st); break;
  case STATEMENT_DELETE: run_delete(e, s, st); break;
  case STATEMENT_CREATE_TABLE: run_create_table(s, st); break;
  case STATEMENT_CREATE_INDEX: run_create_index(s, st); break;
  case STATEMENT_DROP: database_drop(s->db, st->table); break;
  }
}

static bool try_statement(Engine *e, Session *s, const char *sql) {
  if (setjmp(e->failure.target))
    return false;
  run_statement(e, s, sql);
  return true;
}

bool engine_run(Engine *e, const char *sql) {
  Arena arena = {0};
  e->db.failure = &e->failure;
  Session session = {.db = &e->db, .arena = &arena, .failure = &e->failure};
  e->last.length = 0;
  text_add(&e->last, "", 0);
  e->statements++;
  bool ok = try_statement(e, &session, sql);
  if (!ok) {
    e->failures++;
    e->last.length = 0;
    text_printf(&e->last, "failed: %s\n", e->failure.message);
  }
  e->checksum = hash_bytes(e->last.at, e->last.length, e->checksum);
  session_end(&session);
  return ok;
}

bool engine_runf(Engine *e, const char *format, ...) {
  char sql[4096];
  va_list args;
  va_start(args, format);
  vsnprintf(sql, sizeof sql, format, args);
  va_end(args);
  return engine_run(e, sql);
}

static bool try_load(Engine *e, const char *table, const Text *csv, int64_t *rows) {
  if (setjmp(e->failure.target))
    return false;
  *rows = table_load_csv(database_find(&e->db, table), csv->at, csv->length, &e->failure);
  return true;
}

int64_t engine_load(Engine *e, const char *table, const Text *csv) {
  int64_t rows = -1;
  e->db.failure = &e->failure;
  e->last.length = 0;
  if (!try_load(e, table, csv, &rows)) {
    e->failures++;
    text_printf(&e->last, "failed: %s\n", e->failure.message);
  } else {
    text_printf(&e->last, "%lld rows loaded\n", (long long)rows);
  }
  e->checksum = hash_bytes(e->last.at, e->last.length, e->checksum);
  return rows;
}

const char *engine_check(const Engine *e) {
  for (const Table *t = e->db.tables; t; t = t->next)
    for (int i = 0; i < t->column_count; i++) {
      const BTree *index = t->columns[i].index;
      if (!index)
        continue;
      const char *wrong = btree_check(index);
      if (wrong)
        return wrong;
      if (btree_count(index) != t->live_count)
        return "an index has not the rows of its table";
    }
  return NULL;
}

void engine_free(Engine *e) {
  database_free(&e->db);
  text_free(&e->last);
}

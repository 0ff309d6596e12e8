#include "table.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

Table *table_new(const char *name, const ColumnDef *columns, int count) {
  Table *t = checked_alloc(sizeof *t);
  memset(t, 0, sizeof *t);
  t->name = arena_copy(&t->arena, name, strlen(name));
  t->columns = ARENA_ARRAY(&t->arena, Column, count);
  t->column_count = count;
  for (int i = 0; i < count; i++) {
    t->columns[i].name = arena_copy(&t->arena, columns[i].name, strlen(columns[i].name));
    t->columns[i].type = columns[i].type;
  }
  return t;
}

void table_free(Table *t) {
  for (int i = 0; i < t->column_count; i++)
    btree_free(t->columns[i].index);
  arena_free(&t->arena);
  free(t->cells);
  free(t->dead);
  free(t);
}

int table_column(const Table *t, const char *name) {
  for (int i = 0; i < t->column_count; i++)
    if (strcasecmp(t->columns[i].name, name) == 0)
      return i;
  return -1;
}

// store casts a value to the type of a column and keeps its text.
static Value store(Table *t, int column, const Value *v, Failure *f) {
  Value out;
  Column *c = &t->columns[column];
  if (!value_cast(&t->arena, c->type == TYPE_NULL ? (Type)v->type : c->type, v, &out)) {
    Text text = {0};
    value_format(v, &text);
    char copy[64];
    size_t n = text.length < sizeof copy - 1 ? text.length : sizeof copy - 1;
    memcpy(copy, text.at, n);
    copy[n] = 0;
    text_free(&text);
    fail(f, "column %s.%s: '%s' is no %s", t->name, c->name, copy, type_name(c->type));
  }
  if (out.type == TYPE_TEXT && v->type == TYPE_TEXT)
    out.s = arena_copy(&t->arena, v->s, v->length);
  return out;
}

int64_t table_insert(Table *t, const Value *row, Failure *f) {
  if (t->row_count == t->capacity) {
    t->capacity = t->capacity ? 2 * t->capacity : 64;
    t->cells = checked_grow(t->cells, (size_t)t->capacity * (size_t)t->column_count * sizeof(Value));
    t->dead = checked_grow(t->dead, (size_t)t->capacity);
  }
  Value *cells = table_row(t, t->row_count);
  for (int i = 0; i < t->column_count; i++)
    cells[i] = store(t, i, &row[i], f);
  int64_t number = t->row_count++;
  t->dead[number] = 0;
  t->live_count++;
  for (int i = 0; i < t->column_count; i++)
    if (t->columns[i].index)
      btree_insert(t->columns[i].index, &cells[i], number);
  return number;
}

void table_update(Table *t, int64_t row, int column, const Value *v, Failure *f) {
  Value *cell = table_row(t, row) + column;
  Value new = store(t, column, v, f);
  BTree *index = t->columns[column].index;
  if (index && !value_equal(cell, &new)) {
    btree_delete(index, cell, row);
    btree_insert(index, &new, row);
  }
  *cell = new;
}

void table_delete(Table *t, int64_t row) {
  Value *cells = table_row(t, row);
  for (int i = 0; i < t->column_count; i++)
    if (t->columns[i].index)
      btree_delete(t->columns[i].index, &cells[i], row);
  t->dead[row] = 1;
  t->live_count--;
}

void table_add_index(Table *t, int column) {
  if (t->columns[column].index)
    return;
  BTree *index = btree_new();
  for (int64_t row = 0; row < t->row_count; row++)
    if (!t->dead[row])
      btree_insert(index, table_row(t, row) + column, row);
  t->columns[column].index = index;
}

bool database_has(const Database *db, const char *name) {
  for (Table *t = db->tables; t; t = t->next)
    if (strcasecmp(t->name, name) == 0)
      return true;
  return false;
}

Table *database_find(const Database *db, const char *name) {
  for (Table *t = db->tables; t; t = t->next)
    if (strcasecmp(t->name, name) == 0)
      return t;
  fail(db->failure, "no table %s", name);
}

void database_add(Database *db, Table *t) {
  t->next = db->tables;
  db->tables = t;
}

void database_drop(Database *db, const char *name) {
  Table *t = database_find(db, name);
  for (Table **p = &db->tables; *p; p = &(*p)->next)
    if (*p == t) {
      *p = t->next;
      break;
    }
  table_free(t);
}

void database_free(Database *db) {
  while (db->tables) {
    Table *next = db->tables->next;
    table_free(db->tables);
    db->tables = next;
  }
}

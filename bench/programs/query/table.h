// Tables with their rows and indexes, and the database that has them.
#ifndef TABLE_H
#define TABLE_H

#include "ast.h"
#include "btree.h"

typedef struct {
  const char *name;
  Type type;
  BTree *index; // null: none
} Column;

typedef struct Table Table;
struct Table {
  const char *name;
  Column *columns;
  int column_count;
  Value *cells; // rows one after the other
  uint8_t *dead;
  int64_t row_count; // with dead rows
  int64_t live_count;
  int64_t capacity;
  Arena arena; // of names and texts
  Table *next;
};

typedef struct {
  Table *tables;
  Failure *failure;
} Database;

Table *table_new(const char *name, const ColumnDef *columns, int count);
void table_free(Table *t);
int table_column(const Table *t, const char *name); // -1: none
static inline Value *table_row(const Table *t, int64_t row) { return t->cells + row * t->column_count; }
// table_insert copies a row, casting its values; it fails on values that do not
// fit their columns.
int64_t table_insert(Table *t, const Value *row, Failure *f);
void table_update(Table *t, int64_t row, int column, const Value *v, Failure *f);
void table_delete(Table *t, int64_t row);
void table_add_index(Table *t, int column);
// table_load_csv appends the rows of a text; it returns how many there are.
int64_t table_load_csv(Table *t, const char *text, size_t length, Failure *f);

void database_add(Database *db, Table *t);
Table *database_find(const Database *db, const char *name); // fails if there is none
bool database_has(const Database *db, const char *name);
void database_drop(Database *db, const char *name);
void database_free(Database *db);

#endif

// Comma separated values: quoted fields may have commas, line ends and doubled
// quotes in them; an empty field that is not quoted is null.
#include "table.h"

#include <string.h>

typedef struct {
  const char *at, *end;
  int64_t line;
  Text field;
  bool quoted;
} Reader;

typedef enum { FIELD_NEXT, FIELD_LAST, FIELD_BAD } FieldEnd;

static FieldEnd read_field(Reader *r) {
  r->field.length = 0;
  r->quoted = r->at < r->end && *r->at == '"';
  if (!r->quoted) {
    const char *s = r->at;
    while (s < r->end && *s != ',' && *s != '\n' && *s != '\r')
      s++;
    text_add(&r->field, r->at, (size_t)(s - r->at));
    r->at = s;
  } else {
    for (r->at++;; r->at++) {
      const char *quote = memchr(r->at, '"', (size_t)(r->end - r->at));
      if (!quote)
        return FIELD_BAD;
      text_add(&r->field, r->at, (size_t)(quote - r->at));
      r->at = quote + 1;
      if (r->at == r->end || *r->at != '"')
        break;
      text_add(&r->field, "\"", 1);
    }
  }
  if (r->at < r->end && *r->at == ',') {
    r->at++;
    return FIELD_NEXT;
  }
  if (r->at < r->end && *r->at == '\r')
    r->at++;
  if (r->at < r->end && *r->at != '\n')
    return FIELD_BAD;
  r->at += r->at < r->end;
  r->line++;
  return FIELD_LAST;
}

typedef struct {
  Reader reader;
  Arena scratch; // of the texts of some rows
  int64_t rows;
} Load;

static void load_rows(Load *l, Table *t, Failure *f) {
  Reader *r = &l->reader;
  while (r->at < r->end) {
    Value *row = ARENA_ARRAY(&l->scratch, Value, t->column_count);
    int64_t line = r->line;
    FieldEnd end = FIELD_NEXT;
    int n = 0;
    for (; end == FIELD_NEXT; n++) {
      end = read_field(r);
      if (end == FIELD_BAD)
        fail(f, "line %lld: malformed field %d", (long long)line, n + 1);
      if (n >= t->column_count)
        continue;
      if (r->field.length == 0 && !r->quoted)
        row[n] = value_null();
      else
        row[n] = value_text(arena_copy(&l->scratch, r->field.at, r->field.length), r->field.length);
    }
    if (n != t->column_count)
      fail(f, "line %lld: %d fields, table %s has %d columns", (long long)line, n, t->name, t->column_count);
    table_insert(t, row, f);
    if (++l->rows % 1024 == 0)
      arena_free(&l->scratch);
  }
}

static bool try_load(Load *l, Table *t, Failure *f) {
  if (setjmp(f->target))
    return false;
  load_rows(l, t, f);
  return true;
}

int64_t table_load_csv(Table *t, const char *text, size_t length, Failure *f) {
  Load l = {.reader = {.at = text, .end = text + length, .line = 1}};
  Failure here;
  bool ok = try_load(&l, t, &here);
  text_free(&l.reader.field);
  arena_free(&l.scratch);
  if (!ok)
    fail(f, "%s", here.message);
  return l.rows;
}

// Values: what a column of a row, a constant and an expression have.
#ifndef VALUE_H
#define VALUE_H

#include "base.h"

typedef enum { TYPE_NULL, TYPE_INT, TYPE_REAL, TYPE_TEXT, TYPE_DATE } Type;

typedef struct {
  uint32_t type;   // a Type
  uint32_t length; // of text
  union {
    int64_t i; // integers and dates: days since 1970-01-01
    double r;
    const char *s; // not terminated
  };
} Value;

static inline Value value_null(void) { return (Value){.type = TYPE_NULL, .i = 0}; }
static inline Value value_int(int64_t i) { return (Value){.type = TYPE_INT, .i = i}; }
static inline Value value_real(double r) { return (Value){.type = TYPE_REAL, .r = r}; }
static inline Value value_date(int64_t days) { return (Value){.type = TYPE_DATE, .i = days}; }
static inline Value value_text(const char *s, size_t n) {
  return (Value){.type = TYPE_TEXT, .length = (uint32_t)n, .s = s};
}
static inline bool is_null(const Value *v) { return v->type == TYPE_NULL; }
static inline bool is_number(const Value *v) { return v->type == TYPE_INT || v->type == TYPE_REAL; }
static inline double as_real(const Value *v) { return v->type == TYPE_REAL ? v->r : (double)v->i; }

// value_compare orders all values: null first, numbers, dates, then text.
int value_compare(const Value *a, const Value *b);
bool value_equal(const Value *a, const Value *b);
uint64_t value_hash(const Value *v, uint64_t seed);
// value_true is for conditions: null counts as false.
bool value_true(const Value *v);
void value_format(const Value *v, Text *out);
// value_parse reads the text of a value of a type; false if it is none.
bool value_parse(Type type, const char *s, size_t n, Value *out);
bool value_cast(Arena *arena, Type type, const Value *v, Value *out);
const char *type_name(Type type);

int64_t date_from_civil(int year, int month, int day);
void date_to_civil(int64_t days, int *year, int *month, int *day);

#endif

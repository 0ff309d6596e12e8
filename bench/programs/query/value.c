#include "value.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank(const Value *v) {
  switch ((Type)v->type) {
  case TYPE_NULL: return 0;
  case TYPE_INT:
  case TYPE_REAL: return 1;
  case TYPE_DATE: return 2;
  case TYPE_TEXT: return 3;
  }
  return 4;
}

static int compare_text(const Value *a, const Value *b) {
  uint32_t n = a->length < b->length ? a->length : b->length;
  int c = memcmp(a->s, b->s, n);
  if (c)
    return c < 0 ? -1 : 1;
  return a->length < b->length ? -1 : a->length > b->length;
}

int value_compare(const Value *a, const Value *b) {
  if (a->type == b->type) {
    switch ((Type)a->type) {
    case TYPE_NULL: return 0;
    case TYPE_INT:
    case TYPE_DATE: return a->i < b->i ? -1 : a->i > b->i;
    case TYPE_REAL: return a->r < b->r ? -1 : a->r > b->r;
    case TYPE_TEXT: return compare_text(a, b);
    }
  }
  if (is_number(a) && is_number(b)) {
    double x = as_real(a), y = as_real(b);
    return x < y ? -1 : x > y;
  }
  int x = rank(a), y = rank(b);
  return x < y ? -1 : x > y;
}

bool value_equal(const Value *a, const Value *b) {
  if (a->type == TYPE_TEXT && b->type == TYPE_TEXT)
    return a->length == b->length && memcmp(a->s, b->s, a->length) == 0;
  return value_compare(a, b) == 0;
}

uint64_t value_hash(const Value *v, uint64_t seed) {
  switch ((Type)v->type) {
  case TYPE_NULL: return hash_mix(seed + 1);
  case TYPE_TEXT: return hash_bytes(v->s, v->length, seed);
  case TYPE_REAL:
    // Equal numbers have equal hashes, whatever their type.
    if (v->r == floor(v->r) && fabs(v->r) < 9e15)
      return hash_mix(seed ^ (uint64_t)(int64_t)v->r);
    uint64_t bits;
    memcpy(&bits, &v->r, sizeof bits);
    return hash_mix(seed ^ bits);
  case TYPE_INT: return hash_mix(seed ^ (uint64_t)v->i);
  case TYPE_DATE: return hash_mix(seed ^ (uint64_t)v->i ^ 0x5bd1e995);
  }
  return seed;
}

bool value_true(const Value *v) {
  switch ((Type)v->type) {
  case TYPE_INT: return v->i != 0;
  case TYPE_REAL: return v->r != 0;
  case TYPE_TEXT: return v->length != 0;
  case TYPE_DATE: return true;
  case TYPE_NULL: break;
  }
  return false;
}

void value_format(const Value *v, Text *out) {
  switch ((Type)v->type) {
  case TYPE_NULL: text_puts(out, "NULL"); break;
  case TYPE_INT: text_printf(out, "%lld", (long long)v->i); break;
  case TYPE_REAL: text_printf(out, "%.10g", v->r); break;
  case TYPE_TEXT: text_add(out, v->s, v->length); break;
  case TYPE_DATE: {
    int year, month, day;
    date_to_civil(v->i, &year, &month, &day);
    text_printf(out, "%04d-%02d-%02d", year, month, day);
  }
  }
}

// Days from and to the civil calendar, counted in eras of 400 years that begin
// in March, so that the leap day is the last of a year.
int64_t date_from_civil(int year, int month, int day) {
  year -= month <= 2;
  int64_t era = (year >= 0 ? year : year - 399) / 400;
  int64_t year_of_era = year - era * 400;
  int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

void date_to_civil(int64_t days, int *year, int *month, int *day) {
  days += 719468;
  int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  int64_t day_of_era = days - era * 146097;
  int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int64_t shifted = (5 * day_of_year + 2) / 153;
  *day = (int)(day_of_year - (153 * shifted + 2) / 5 + 1);
  *month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
  *year = (int)(year_of_era + era * 400 + (*month <= 2));
}

static bool parse_digits(const char *s, int n, int *out) {
  int v = 0;
  for (int i = 0; i < n; i++) {
    if (s[i] < '0' || s[i] > '9')
      return false;
    v = 10 * v + (s[i] - '0');
  }
  *out = v;
  return true;
}

static bool parse_date(const char *s, size_t n, Value *out) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int year, month, day;
  if (n != 10 || s[4] != '-' || s[7] != '-' || !parse_digits(s, 4, &year) || !parse_digits(s + 5, 2, &month) ||
      !parse_digits(s + 8, 2, &day))
    return false;
  if (month < 1 || month > 12 || day < 1)
    return false;
  bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  if (day > days[month - 1] + (month == 2 && leap))
    return false;
  *out = value_date(date_from_civil(year, month, day));
  return true;
}

static bool parse_int(const char *s, size_t n, Value *out) {
  size_t i = n && (s[0] == '-' || s[0] == '+');
  if (i == n || n - i > 18)
    return false;
  int64_t v = 0;
  for (; i < n; i++) {
    if (s[i] < '0' || s[i] > '9')
      return false;
    v = 10 * v + (s[i] - '0');
  }
  *out = value_int(s[0] == '-' ? -v : v);
  return true;
}

static bool parse_real(const char *s, size_t n, Value *out) {
  char copy[64], *end;
  if (n == 0 || n >= sizeof copy)
    return false;
  memcpy(copy, s, n);
  copy[n] = 0;
  errno = 0;
  double r = strtod(copy, &end);
  if (*end || errno == ERANGE || !isfinite(r))
    return false;
  *out = value_real(r);
  return true;
}

bool value_parse(Type type, const char *s, size_t n, Value *out) {
  switch (type) {
  case TYPE_INT: return parse_int(s, n, out);
  case TYPE_REAL: return parse_real(s, n, out);
  case TYPE_DATE: return parse_date(s, n, out);
  case TYPE_TEXT: *out = value_text(s, n); return true;
  case TYPE_NULL: break;
  }
  return false;
}

bool value_cast(Arena *arena, Type type, const Value *v, Value *out) {
  if (is_null(v) || v->type == (uint32_t)type) {
    *out = *v;
    return true;
  }
  if (v->type == TYPE_TEXT)
    return value_parse(type, v->s, v->length, out);
  switch (type) {
  case TYPE_INT:
    if (v->type == TYPE_REAL && !(fabs(v->r) < 9.2e18))
      return false;
    *out = value_int(v->type == TYPE_REAL ? (int64_t)v->r : v->i);
    return true;
  case TYPE_REAL: *out = value_real(as_real(v)); return true;
  case TYPE_DATE:
    if (v->type != TYPE_INT)
      return false;
    *out = value_date(v->i);
    return true;
  case TYPE_TEXT: {
    Text t = {0};
    value_format(v, &t);
    *out = value_text(arena_copy(arena, t.at, t.length), t.length);
    text_free(&t);
    return true;
  }
  case TYPE_NULL: break;
  }
  return false;
}

const char *type_name(Type type) {
  static const char *const names[] = {"null", "integer", "real", "text", "date"};
  return names[type];
}

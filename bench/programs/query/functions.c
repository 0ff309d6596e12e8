// The functions of the language.
#include "program.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define ARGS const Value *args, int count, Machine *m
#define UNUSED (void)args, (void)count, (void)m

// text_of returns an argument as text.
static Value text_of(const Value *v, Machine *m) {
  Value out = value_null();
  value_cast(m->arena, TYPE_TEXT, v, &out);
  return out;
}

static bool any_null(const Value *args, int count) {
  for (int i = 0; i < count; i++)
    if (is_null(&args[i]))
      return true;
  return false;
}

static Value map_letters(const Value *args, Machine *m, char first, char last, int shift) {
  if (is_null(args))
    return value_null();
  Value v = text_of(args, m);
  char *s = arena_copy(m->arena, v.s, v.length);
  for (uint32_t i = 0; i < v.length; i++)
    if (s[i] >= first && s[i] <= last)
      s[i] = (char)(s[i] + shift);
  return value_text(s, v.length);
}

static Value fn_upper(ARGS) {
  UNUSED;
  return map_letters(args, m, 'a', 'z', -32);
}

static Value fn_lower(ARGS) {
  UNUSED;
  return map_letters(args, m, 'A', 'Z', 32);
}

static Value fn_length(ARGS) {
  UNUSED;
  if (is_null(args))
    return value_null();
  Value v = text_of(args, m);
  return value_int(v.length);
}

static Value fn_substr(ARGS) {
  if (any_null(args, count))
    return value_null();
  Value v = text_of(args, m);
  if (args[1].type != TYPE_INT || (count > 2 && args[2].type != TYPE_INT))
    fail(m->failure, "substr: position and length are integers");
  int64_t start = args[1].i, length = count > 2 ? args[2].i : (int64_t)v.length;
  if (start < 0)
    start = (int64_t)v.length + start + 1;
  if (start < 1)
    start = 1;
  if (start > (int64_t)v.length || length <= 0)
    return value_text("", 0);
  if (length > (int64_t)v.length - start + 1)
    length = (int64_t)v.length - start + 1;
  return value_text(v.s + start - 1, (size_t)length);
}

static Value fn_trim(ARGS) {
  UNUSED;
  if (is_null(args))
    return value_null();
  Value v = text_of(args, m);
  while (v.length && v.s[0] == ' ')
    v.s++, v.length--;
  while (v.length && v.s[v.length - 1] == ' ')
    v.length--;
  return v;
}

static const char *find_text(const Value *in, const Value *what, uint32_t from) {
  if (what->length == 0)
    return in->s + from;
  for (const char *s = in->s + from, *end = in->s + in->length; (size_t)(end - s) >= what->length; s++) {
    s = memchr(s, what->s[0], (size_t)(end - s));
    if (!s || (size_t)(end - s) < what->length)
      return NULL;
    if (memcmp(s, what->s, what->length) == 0)
      return s;
  }
  return NULL;
}

static Value fn_instr(ARGS) {
  if (any_null(args, count))
    return value_null();
  Value in = text_of(&args[0], m), what = text_of(&args[1], m);
  const char *at = find_text(&in, &what, 0);
  return value_int(at ? at - in.s + 1 : 0);
}

static Value fn_replace(ARGS) {
  if (any_null(args, count))
    return value_null();
  Value in = text_of(&args[0], m), what = text_of(&args[1], m), with = text_of(&args[2], m);
  if (what.length == 0)
    return in;
  Text out = {0};
  uint32_t from = 0;
  for (const char *at; (at = find_text(&in, &what, from)) != NULL; from = (uint32_t)(at - in.s) + what.length) {
    text_add(&out, in.s + from, (size_t)(at - in.s) - from);
    text_add(&out, with.s, with.length);
  }
  text_add(&out, in.s + from, in.length - from);
  Value v = value_text(arena_copy(m->arena, out.at, out.length), out.length);
  text_free(&out);
  return v;
}

static Value fn_abs(ARGS) {
  UNUSED;
  if (args->type == TYPE_INT)
    return value_int(args->i < 0 ? -args->i : args->i);
  return args->type == TYPE_REAL ? value_real(fabs(args->r)) : value_null();
}

static Value fn_round(ARGS) {
  if (any_null(args, count) || !is_number(args))
    return value_null();
  int64_t digits = count > 1 ? args[1].i : 0;
  if (args->type == TYPE_INT)
    return *args;
  if (digits < 0 || digits > 12)
    fail(m->failure, "round: %lld digits", (long long)digits);
  double scale = 1;
  for (int64_t i = 0; i < digits; i++)
    scale *= 10;
  return value_real(floor(args->r * scale + 0.5) / scale);
}

static Value real_function(const Value *v, double (*f)(double), double least) {
  if (!is_number(v) || as_real(v) < least)
    return value_null();
  return value_real(f(as_real(v)));
}

static Value fn_sqrt(ARGS) {
  UNUSED;
  return real_function(args, sqrt, 0);
}

static Value fn_floor(ARGS) {
  UNUSED;
  return real_function(args, floor, -INFINITY);
}

static Value fn_coalesce(ARGS) {
  UNUSED;
  for (int i = 0; i < count; i++)
    if (!is_null(&args[i]))
      return args[i];
  return value_null();
}

static Value fn_nullif(ARGS) {
  UNUSED;
  return !is_null(&args[0]) && !is_null(&args[1]) && value_equal(&args[0], &args[1]) ? value_null() : args[0];
}

static Value extreme(const Value *args, int count, int sign) {
  if (any_null(args, count))
    return value_null();
  const Value *best = args;
  for (int i = 1; i < count; i++)
    if (sign * value_compare(&args[i], best) > 0)
      best = &args[i];
  return *best;
}

static Value fn_greatest(ARGS) {
  UNUSED;
  return extreme(args, count, 1);
}

static Value fn_least(ARGS) {
  UNUSED;
  return extreme(args, count, -1);
}

static Value date_part(const Value *v, int part, Machine *m) {
  if (is_null(v))
    return value_null();
  if (v->type != TYPE_DATE)
    fail(m->failure, "a date is wanted, not %s", type_name((Type)v->type));
  int parts[3];
  date_to_civil(v->i, &parts[0], &parts[1], &parts[2]);
  return value_int(parts[part]);
}

static Value fn_year(ARGS) {
  UNUSED;
  return date_part(args, 0, m);
}

static Value fn_month(ARGS) {
  UNUSED;
  return date_part(args, 1, m);
}

static Value fn_day(ARGS) {
  UNUSED;
  return date_part(args, 2, m);
}

static Value fn_weekday(ARGS) {
  UNUSED;
  if (args->type != TYPE_DATE)
    return value_null();
  return value_int(((args->i + 3) % 7 + 7) % 7); // Monday is 0
}

static Value fn_hash(ARGS) {
  UNUSED;
  uint64_t h = 0;
  for (int i = 0; i < count; i++)
    h = value_hash(&args[i], h);
  return value_int((int64_t)(h >> 1));
}

static Value fn_typeof(ARGS) {
  UNUSED;
  const char *name = type_name((Type)args->type);
  return value_text(name, strlen(name));
}

static Value fn_reverse(ARGS) {
  UNUSED;
  if (is_null(args))
    return value_null();
  Value v = text_of(args, m);
  char *s = arena_alloc(m->arena, v.length + 1);
  for (uint32_t i = 0; i < v.length; i++)
    s[i] = v.s[v.length - 1 - i];
  return value_text(s, v.length);
}

// Sorted by name.
static const Function functions[] = {
    {"abs", 1, 1, true, fn_abs},           {"coalesce", 1, 8, true, fn_coalesce}, {"day", 1, 1, true, fn_day},
    {"floor", 1, 1, true, fn_floor},       {"greatest", 1, 8, true, fn_greatest}, {"hash", 1, 8, true, fn_hash},
    {"instr", 2, 2, true, fn_instr},       {"least", 1, 8, true, fn_least},       {"length", 1, 1, true, fn_length},
    {"lower", 1, 1, true, fn_lower},       {"month", 1, 1, true, fn_month},       {"nullif", 2, 2, true, fn_nullif},
    {"replace", 3, 3, true, fn_replace},   {"reverse", 1, 1, true, fn_reverse},   {"round", 1, 2, true, fn_round},
    {"sqrt", 1, 1, true, fn_sqrt},         {"substr", 2, 3, true, fn_substr},     {"trim", 1, 1, true, fn_trim},
    {"typeof", 1, 1, true, fn_typeof},     {"upper", 1, 1, true, fn_upper},       {"weekday", 1, 1, true, fn_weekday},
    {"year", 1, 1, true, fn_year},
};

const Function *function_find(const char *name, int *index) {
  int low = 0, high = (int)(sizeof functions / sizeof *functions);
  while (low < high) {
    int middle = (low + high) / 2;
    int c = strcasecmp(functions[middle].name, name);
    if (c == 0) {
      *index = middle;
      return &functions[middle];
    }
    if (c < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

const Function *function_at(int index) { return &functions[index]; }

// text_like matches % with any text and _ with one character. After a mismatch
// only the last % can take one more.
bool text_like(const char *s, size_t n, const char *pattern, size_t m) {
  size_t i = 0, k = 0, star = SIZE_MAX, retry = 0;
  while (i < n) {
    if (k < m && pattern[k] == '%') {
      star = k++;
      retry = i;
    } else if (k < m && (pattern[k] == '_' || pattern[k] == s[i])) {
      i++, k++;
    } else if (star != SIZE_MAX) {
      k = star + 1;
      i = ++retry;
    } else {
      return false;
    }
  }
  while (k < m && pattern[k] == '%')
    k++;
  return k == m;
}

// The machine that evaluates expressions.
#include "program.h"

#include <math.h>
#include <string.h>

void value_set_init(ValueSet *s, Arena *arena, int64_t capacity) {
  uint64_t size = 8;
  while (size < (uint64_t)capacity * 2)
    size *= 2;
  memset(s, 0, sizeof *s);
  s->members = ARENA_ARRAY(arena, Value, size);
  s->mask = size - 1;
}

static Value *find_place(const ValueSet *s, const Value *v) {
  uint64_t at = value_hash(v, 0) & s->mask;
  while (!is_null(&s->members[at]) && !value_equal(&s->members[at], v))
    at = (at + 1) & s->mask;
  return &s->members[at];
}

bool value_set_add(ValueSet *s, const Value *v) {
  if (is_null(v)) {
    bool new = !s->has_null;
    s->has_null = true;
    return new;
  }
  Value *place = find_place(s, v);
  if (!is_null(place))
    return false;
  *place = *v;
  s->count++;
  return true;
}

bool value_set_has(const ValueSet *s, const Value *v) { return !is_null(find_place(s, v)); }

static _Noreturn void bad_operands(Machine *m, const char *op, const Value *a, const Value *b) {
  fail(m->failure, "%s %s %s makes no sense", type_name((Type)a->type), op, type_name((Type)b->type));
}

static Value add(const Value *a, const Value *b, Machine *m) {
  if (a->type == TYPE_INT && b->type == TYPE_INT) {
    int64_t sum;
    if (__builtin_add_overflow(a->i, b->i, &sum))
      return value_real((double)a->i + (double)b->i);
    return value_int(sum);
  }
  if (a->type == TYPE_DATE && b->type == TYPE_INT)
    return value_date(a->i + b->i);
  if (is_null(a) || is_null(b))
    return value_null();
  if (!is_number(a) || !is_number(b))
    bad_operands(m, "+", a, b);
  return value_real(as_real(a) + as_real(b));
}

static Value subtract(const Value *a, const Value *b, Machine *m) {
  if (a->type == TYPE_INT && b->type == TYPE_INT) {
    int64_t difference;
    if (__builtin_sub_overflow(a->i, b->i, &difference))
      return value_real((double)a->i - (double)b->i);
    return value_int(difference);
  }
  if (a->type == TYPE_DATE && b->type == TYPE_INT)
    return value_date(a->i - b->i);
  if (a->type == TYPE_DATE && b->type == TYPE_DATE)
    return value_int(a->i - b->i);
  if (is_null(a) || is_null(b))
    return value_null();
  if (!is_number(a) || !is_number(b))
    bad_operands(m, "-", a, b);
  return value_real(as_real(a) - as_real(b));
}

static Value multiply(const Value *a, const Value *b, Machine *m) {
  if (a->type == TYPE_INT && b->type == TYPE_INT) {
    int64_t product;
    if (__builtin_mul_overflow(a->i, b->i, &product))
      return value_real((double)a->i * (double)b->i);
    return value_int(product);
  }
  if (is_null(a) || is_null(b))
    return value_null();
  if (!is_number(a) || !is_number(b))
    bad_operands(m, "*", a, b);
  return value_real(as_real(a) * as_real(b));
}

// divide has null for a division by zero.
static Value divide(const Value *a, const Value *b, Machine *m) {
  if (is_null(a) || is_null(b))
    return value_null();
  if (!is_number(a) || !is_number(b))
    bad_operands(m, "/", a, b);
  if (a->type == TYPE_INT && b->type == TYPE_INT)
    return b->i == 0 ? value_null() : b->i == -1 ? value_int((int64_t)-(uint64_t)a->i) : value_int(a->i / b->i);
  return as_real(b) == 0 ? value_null() : value_real(as_real(a) / as_real(b));
}

static Value modulo(const Value *a, const Value *b, Machine *m) {
  if (is_null(a) || is_null(b))
    return value_null();
  if (!is_number(a) || !is_number(b))
    bad_operands(m, "%", a, b);
  if (a->type == TYPE_INT && b->type == TYPE_INT)
    return b->i == 0 ? value_null() : value_int(b->i == -1 ? 0 : a->i % b->i);
  return as_real(b) == 0 ? value_null() : value_real(fmod(as_real(a), as_real(b)));
}

static Value concatenate(const Value *a, const Value *b, Machine *m) {
  if (is_null(a) || is_null(b))
    return value_null();
  Value x, y;
  value_cast(m->arena, TYPE_TEXT, a, &x);
  value_cast(m->arena, TYPE_TEXT, b, &y);
  char *s = arena_alloc(m->arena, x.length + y.length + 1);
  memcpy(s, x.s, x.length);
  memcpy(s + x.length, y.s, y.length);
  return value_text(s, x.length + y.length);
}

static Value like(const Value *a, const Value *pattern, Machine *m) {
  if (is_null(a) || is_null(pattern))
    return value_null();
  if (a->type != TYPE_TEXT || pattern->type != TYPE_TEXT)
    bad_operands(m, "LIKE", a, pattern);
  return value_int(text_like(a->s, a->length, pattern->s, pattern->length));
}

static Value negate(const Value *a, Machine *m) {
  if (a->type == TYPE_INT)
    return value_int((int64_t)-(uint64_t)a->i);
  if (a->type == TYPE_REAL)
    return value_real(-a->r);
  if (!is_null(a))
    fail(m->failure, "-%s makes no sense", type_name((Type)a->type));
  return value_null();
}

static bool is_false(const Value *v) { return !is_null(v) && !value_true(v); }

Value program_run(const Program *p, const Value *slots, Machine *m) {
  Value stack[p->depth + 1];
  Value *top = stack; // the first free place
  const Instruction *in = p->code;
  const Value *constants = p->constants;

  // Each instruction jumps to the next on its own, which branch predictors
  // like better than one jump for all.
  static const void *const labels[] = {
#define O(name) &&do_##name,
      OPCODES(O)
#undef O
  };
#define NEXT goto *labels[(++in)->op]
#define BINARY(expression)                                                                                             \
  do {                                                                                                                 \
    const Value *a = top - 2, *b = top - 1;                                                                            \
    top[-2] = (expression);                                                                                            \
    top--;                                                                                                             \
    NEXT;                                                                                                              \
  } while (0)
#define COMPARE(op) BINARY(is_null(a) || is_null(b) ? value_null() : value_int(value_compare(a, b) op 0))
#define COMPARE_SLOT(op)                                                                                               \
  do {                                                                                                                 \
    const Value *a = &slots[in->a], *b = &constants[in->b];                                                            \
    *top++ = is_null(a) || is_null(b) ? value_null() : value_int(value_compare(a, b) op 0);                            \
    NEXT;                                                                                                              \
  } while (0)

  goto *labels[in->op];

do_HALT:
  return top[-1];
do_CONSTANT:
  *top++ = constants[in->a];
  NEXT;
do_SLOT:
  *top++ = slots[in->a];
  NEXT;
do_ADD:
  BINARY(add(a, b, m));
do_SUB:
  BINARY(subtract(a, b, m));
do_MUL:
  BINARY(multiply(a, b, m));
do_DIV:
  BINARY(divide(a, b, m));
do_MOD:
  BINARY(modulo(a, b, m));
do_CONCAT:
  BINARY(concatenate(a, b, m));
do_LIKE:
  BINARY(like(a, b, m));
do_EQ:
  COMPARE(==);
do_NE:
  COMPARE(!=);
do_LT:
  COMPARE(<);
do_LE:
  COMPARE(<=);
do_GT:
  COMPARE(>);
do_GE:
  COMPARE(>=);
do_SLOT_EQ:
  COMPARE_SLOT(==);
do_SLOT_LT:
  COMPARE_SLOT(<);
do_SLOT_GE:
  COMPARE_SLOT(>=);
do_NEGATE:
  top[-1] = negate(top - 1, m);
  NEXT;
do_NOT:
  if (!is_null(top - 1))
    top[-1] = value_int(!value_true(top - 1));
  NEXT;
do_IS_NULL:
  top[-1] = value_int(is_null(top - 1));
  NEXT;
do_IS_NOT_NULL:
  top[-1] = value_int(!is_null(top - 1));
  NEXT;
do_AND:
  BINARY(is_false(a) || is_false(b) ? value_int(0) : is_null(a) || is_null(b) ? value_null() : value_int(1));
do_OR:
  BINARY(value_true(a) || value_true(b) ? value_int(1) : is_null(a) || is_null(b) ? value_null() : value_int(0));
do_JUMP:
  in = p->code + in->a - 1;
  NEXT;
do_JUMP_IF_FALSE:
  if (is_false(top - 1))
    in = p->code + in->a - 1;
  NEXT;
do_JUMP_IF_TRUE:
  if (value_true(top - 1))
    in = p->code + in->a - 1;
  NEXT;
do_BRANCH_UNLESS:
  if (!value_true(--top))
    in = p->code + in->a - 1;
  NEXT;
do_BRANCH_CASE:
  top--;
  if (is_null(top) || is_null(top - 1) || !value_equal(top, top - 1))
    in = p->code + in->a - 1;
  NEXT;
do_POP:
  top--;
  NEXT;
do_IN_SET : {
  const ValueSet *set = p->sets[in->a];
  Value *v = top - 1;
  if (!is_null(v))
    *v = value_set_has(set, v) ? value_int(1) : set->has_null ? value_null() : value_int(0);
  NEXT;
}
do_CALL:
  top -= in->b;
  *top = function_at(in->a)->run(top, in->b, m);
  top++;
  NEXT;
do_CAST : {
  Value v;
  if (!value_cast(m->arena, (Type)in->a, top - 1, &v))
    fail(m->failure, "a value of type %s is no %s", type_name((Type)top[-1].type), type_name((Type)in->a));
  top[-1] = v;
  NEXT;
}
}

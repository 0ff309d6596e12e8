// The machine that runs bytecode, and what both halves of the program share.
#include "script.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_SIZE = 1 << 14, MAX_ITEMS = 1 << 24 };

void script_fail(Script *s, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(s->reason, sizeof s->reason, format, args);
  va_end(args);
  longjmp(s->failed, 1);
}

int script_find(const Script *s, const char *name) {
  for (int i = 0; i < s->count; i++)
    if (strcmp(s->functions[i].name, name) == 0)
      return i;
  return -1;
}

void *script_grow(Script *s, void *memory, size_t *capacity, size_t size) {
  size_t wanted = *capacity ? *capacity * 2 : 16;
  void *grown = realloc(memory, wanted * size);
  if (!grown)
    script_fail(s, "out of memory");
  *capacity = wanted;
  return grown;
}

void script_free(Script *s) {
  for (int i = 0; i < s->count; i++)
    free(s->functions[i].code);
  for (size_t i = 0; i < s->used; i++)
    free(s->arrays[i].items);
  free(s->arrays);
  memset(s, 0, sizeof *s);
}

static int64_t new_array(Script *s, int64_t size) {
  if (size < 0 || size > MAX_ITEMS)
    script_fail(s, "array of %lld", (long long)size);
  if (s->used == s->capacity)
    s->arrays = script_grow(s, s->arrays, &s->capacity, sizeof *s->arrays);
  Array *a = &s->arrays[s->used];
  a->items = calloc((size_t)size + 1, sizeof *a->items);
  if (!a->items)
    script_fail(s, "out of memory");
  a->size = size;
  return (int64_t)s->used++;
}

static Array *array_at(Script *s, int64_t id) {
  if (id < 0 || (size_t)id >= s->used)
    script_fail(s, "%lld is no array", (long long)id);
  return &s->arrays[id];
}

static int64_t *item_at(Script *s, int64_t id, int64_t index) {
  Array *a = array_at(s, id);
  if (index < 0 || index >= a->size)
    script_fail(s, "index %lld of %lld", (long long)index, (long long)a->size);
  return &a->items[index];
}

static int64_t divide(Script *s, int64_t a, int64_t b, int remainder) {
  if (b == 0)
    script_fail(s, "division by zero");
  if (b == -1)
    return remainder ? 0 : (int64_t)-(uint64_t)a;
  return remainder ? a % b : a / b;
}

// execute runs a function whose arguments end at stack, which has room up to
// end. Numbers wrap around.
static int64_t execute(Script *s, const Function *f, int64_t *stack, int64_t *end) {
#define X(name, words) &&op_##name,
  static const void *const places[] = {OPS};
#undef X
#define NEXT goto *places[*ip++]
#define BINARY(name, result)                                                                                           \
  op_##name : {                                                                                                        \
    int64_t b = *--top, a = top[-1];                                                                                   \
    top[-1] = (result);                                                                                                \
  }                                                                                                                    \
  NEXT
  enum { DEPTH = 64 }; // of expressions
  int64_t *locals = stack - f->parameters, *top = locals + f->locals;
  const int64_t *ip = f->code;
  if (end - top < DEPTH)
    script_fail(s, "stack overflow in %s", f->name);
  memset(stack, 0, (size_t)(f->locals - f->parameters) * sizeof *stack);
  NEXT;
op_PUSH:
  *top++ = *ip++;
  NEXT;
op_LOAD:
  *top++ = locals[*ip++];
  NEXT;
op_STORE:
  locals[*ip++] = *--top;
  NEXT;
op_DROP:
  top--;
  NEXT;
op_JUMP:
  ip = f->code + *ip;
  NEXT;
op_JUMP_IF_ZERO:
  ip = *--top ? ip + 1 : f->code + *ip;
  NEXT;
op_CALL: {
  const Function *callee = &s->functions[*ip++];
  int64_t result = execute(s, callee, top, end);
  top -= callee->parameters;
  *top++ = result;
}
  NEXT;
op_RETURN:
  return top[-1];
op_NOT:
  top[-1] = !top[-1];
  NEXT;
op_NEG:
  top[-1] = (int64_t)-(uint64_t)top[-1];
  NEXT;
op_ARRAY:
  top[-1] = new_array(s, top[-1]);
  NEXT;
op_SIZE:
  top[-1] = array_at(s, top[-1])->size;
  NEXT;
op_SET:
  top -= 3;
  *item_at(s, top[0], top[1]) = top[2];
  NEXT;
  BINARY(GET, *item_at(s, a, b));
  BINARY(ADD, (int64_t)((uint64_t)a + (uint64_t)b));
  BINARY(SUB, (int64_t)((uint64_t)a - (uint64_t)b));
  BINARY(MUL, (int64_t)((uint64_t)a * (uint64_t)b));
  BINARY(DIV, divide(s, a, b, 0));
  BINARY(MOD, divide(s, a, b, 1));
  BINARY(LESS, a < b);
  BINARY(MORE, a > b);
  BINARY(EQUAL, a == b);
  BINARY(AND, a & b);
  BINARY(XOR, a ^ b);
  BINARY(SHIFT, (int64_t)((uint64_t)a << (b & 63)));
}

int script_run(Script *s, const char *function, int64_t argument, int64_t *result) {
  static int64_t stack[STACK_SIZE];
  if (setjmp(s->failed))
    return 0;
  int id = script_find(s, function);
  if (id < 0 || s->functions[id].parameters != 1)
    script_fail(s, "no function %s of one argument", function);
  stack[0] = argument;
  *result = execute(s, &s->functions[id], stack + 1, stack + STACK_SIZE);
  return 1;
}

// A small language of integers, arrays and functions: a compiler to bytecode
// and a machine that runs it.
#ifndef SCRIPT_H
#define SCRIPT_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

// OPS lists the instructions; X(NAME, WORDS) has the number of operands.
#define OPS                                                                                                            \
  X(PUSH, 1) X(LOAD, 1) X(STORE, 1) X(DROP, 0) X(JUMP, 1) X(JUMP_IF_ZERO, 1) X(CALL, 1) X(RETURN, 0) X(ADD, 0)         \
  X(SUB, 0) X(MUL, 0) X(DIV, 0) X(MOD, 0) X(LESS, 0) X(MORE, 0) X(EQUAL, 0) X(NOT, 0) X(NEG, 0) X(AND, 0) X(XOR, 0) X(SHIFT, 0)   \
  X(ARRAY, 0) X(GET, 0) X(SET, 0) X(SIZE, 0)

typedef enum {
#define X(name, words) OP_##name,
  OPS
#undef X
} Op;

enum { MAX_LOCALS = 32, MAX_FUNCTIONS = 64, NAME_SIZE = 24 };

typedef struct {
  char name[NAME_SIZE];
  int parameters, locals;
  int64_t *code;
  size_t size, capacity;
} Function;

typedef struct {
  int64_t *items;
  int64_t size;
} Array;

// A program and all that its run allocates.
typedef struct {
  Function functions[MAX_FUNCTIONS];
  int count;
  Array *arrays;
  size_t used, capacity;
  jmp_buf failed;
  char reason[96];
} Script;

// script_compile fills in functions from a text, and script_run calls one.
// Both return 0 after a failure, with its reason.
int script_compile(Script *s, const char *text);
int script_run(Script *s, const char *function, int64_t argument, int64_t *result);

// script_fail ends what is going on.
_Noreturn void script_fail(Script *s, const char *format, ...);
int script_find(const Script *s, const char *name);
void script_free(Script *s);
void *script_grow(Script *s, void *memory, size_t *capacity, size_t size);

#endif

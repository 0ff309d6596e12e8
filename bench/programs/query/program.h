// Expressions compiled for a stack machine.
#ifndef PROGRAM_H
#define PROGRAM_H

#include "ast.h"

#define OPCODES(O)                                                                                                     \
  O(HALT)                                                                                                              \
  O(CONSTANT)   /* push constants[a] */                                                                                \
  O(SLOT)       /* push slots[a] */                                                                                    \
  O(ADD) O(SUB) O(MUL) O(DIV) O(MOD) O(CONCAT) O(NEGATE)                                                               \
  O(EQ) O(NE) O(LT) O(LE) O(GT) O(GE) O(LIKE)                                                                          \
  O(SLOT_EQ) O(SLOT_LT) O(SLOT_GE) /* compare slots[a] with constants[b] */                                            \
  O(NOT) O(IS_NULL) O(IS_NOT_NULL)                                                                                     \
  O(AND) O(OR)                                                                                                         \
  O(JUMP)          /* to a */                                                                                          \
  O(JUMP_IF_FALSE) /* to a if the top is false; leaves it */                                                           \
  O(JUMP_IF_TRUE)                                                                                                      \
  O(BRANCH_UNLESS) /* pops; to a unless true */                                                                        \
  O(BRANCH_CASE)   /* pops; to a unless equal to the top, which stays */                                               \
  O(POP)                                                                                                               \
  O(IN_SET)  /* sets[a] has the top */                                                                                 \
  O(CALL)    /* functions[a] with b arguments */                                                                       \
  O(CAST)    /* to type a */

typedef enum {
#define O(name) CODE_##name,
  OPCODES(O)
#undef O
      CODE_COUNT
} Opcode;

typedef struct {
  uint8_t op;
  uint8_t b;
  uint16_t a;
} Instruction;

// A set of values for IN.
typedef struct {
  Value *members; // open addressing; null values are empty places
  uint64_t mask;
  int64_t count;
  bool has_null;
} ValueSet;

void value_set_init(ValueSet *s, Arena *arena, int64_t capacity);
bool value_set_add(ValueSet *s, const Value *v); // false if it was there
bool value_set_has(const ValueSet *s, const Value *v);

typedef struct {
  Instruction *code;
  int length;
  Value *constants;
  int constant_count;
  ValueSet **sets;
  int set_count;
  int depth; // of the stack
} Program;

typedef struct {
  Arena *arena; // of texts that expressions make
  Failure *failure;
} Machine;

// How the compiler gets at the results of nested selects.
typedef struct {
  void *context;
  ValueSet *(*members)(void *context, Select *s);
  Value (*scalar)(void *context, Select *s);
  bool (*exists)(void *context, Select *s);
} Subqueries;

Program *program_compile(Arena *arena, Failure *f, const Expr *e, const Subqueries *subqueries);
Value program_run(const Program *p, const Value *slots, Machine *m);
// program_test is for conditions; null programs are always true.
static inline bool program_test(const Program *p, const Value *slots, Machine *m) {
  if (!p)
    return true;
  Value v = program_run(p, slots, m);
  return value_true(&v);
}

// Functions that statements can call.
typedef struct {
  const char *name;
  int least, most; // arguments
  bool pure;       // may be evaluated while compiling
  Value (*run)(const Value *args, int count, Machine *m);
} Function;

const Function *function_find(const char *name, int *index);
const Function *function_at(int index);
bool text_like(const char *s, size_t n, const char *pattern, size_t m);

#endif

// Bound expressions to programs, with constants folded.
#include "program.h"

#include <string.h>

typedef struct {
  Arena *arena;
  Failure *failure;
  const Subqueries *subqueries;
  Program *p;
  int depth;
} Compiler;

enum { MAX_STACK = 250, MAX_CODE = 60000 };

static void compile(Compiler *c, const Expr *e);

static int emit(Compiler *c, Opcode op, int a, int b, int effect) {
  if (c->p->length >= MAX_CODE || a > UINT16_MAX)
    fail(c->failure, "expression too large");
  Instruction in = {.op = (uint8_t)op, .a = (uint16_t)a, .b = (uint8_t)b};
  ARENA_PUSH(c->arena, c->p->code, c->p->length, in);
  c->depth += effect;
  if (c->depth > MAX_STACK)
    fail(c->failure, "expression too deep");
  if (c->depth > c->p->depth)
    c->p->depth = c->depth;
  return c->p->length - 1;
}

static void land(Compiler *c, int jump) { c->p->code[jump].a = (uint16_t)c->p->length; }

static int add_constant(Compiler *c, Value v) {
  for (int i = 0; i < c->p->constant_count; i++)
    if (c->p->constants[i].type == v.type && value_equal(&c->p->constants[i], &v))
      return i;
  ARENA_PUSH(c->arena, c->p->constants, c->p->constant_count, v);
  return c->p->constant_count - 1;
}

static void push_constant(Compiler *c, Value v) { emit(c, CODE_CONSTANT, add_constant(c, v), 0, 1); }

static int add_set(Compiler *c, ValueSet *s) {
  ARENA_PUSH(c->arena, c->p->sets, c->p->set_count, s);
  return c->p->set_count - 1;
}

static Opcode binary_code(Operator op) {
  switch (op) {
  case OP_OR: return CODE_OR;
  case OP_AND: return CODE_AND;
  case OP_EQ: return CODE_EQ;
  case OP_NE: return CODE_NE;
  case OP_LT: return CODE_LT;
  case OP_LE: return CODE_LE;
  case OP_GT: return CODE_GT;
  case OP_GE: return CODE_GE;
  case OP_LIKE: return CODE_LIKE;
  case OP_ADD: return CODE_ADD;
  case OP_SUB: return CODE_SUB;
  case OP_MUL: return CODE_MUL;
  case OP_DIV: return CODE_DIV;
  case OP_MOD: return CODE_MOD;
  case OP_CONCAT: return CODE_CONCAT;
  case OP_NOT:
  case OP_NEGATE: break;
  }
  return CODE_HALT;
}

static bool is_constant(const Expr *e) {
  switch (e->kind) {
  case EXPR_LITERAL: return true;
  case EXPR_CALL: {
    int index;
    const Function *f = function_find(e->name, &index);
    if (!f || !f->pure)
      return false;
    break;
  }
  case EXPR_UNARY:
  case EXPR_BINARY:
  case EXPR_IS_NULL:
  case EXPR_CAST: break;
  default: return false;
  }
  for (int i = 0; i < e->arg_count; i++)
    if (!is_constant(e->args[i]))
      return false;
  return true;
}

// compile_fused has one instruction for what filters mostly are: a column
// compared with a constant.
static bool compile_fused(Compiler *c, const Expr *e) {
  const Expr *left = e->args[0], *right = e->args[1];
  if (left->kind != EXPR_COLUMN || right->kind != EXPR_LITERAL)
    return false;
  Opcode op = e->op == OP_EQ ? CODE_SLOT_EQ : e->op == OP_LT ? CODE_SLOT_LT : e->op == OP_GE ? CODE_SLOT_GE : CODE_HALT;
  int k;
  if (op == CODE_HALT || (k = add_constant(c, right->value)) > 255)
    return false;
  emit(c, op, left->slot, k, 1);
  return true;
}

static void compile_binary(Compiler *c, const Expr *e) {
  if (compile_fused(c, e))
    return;
  compile(c, e->args[0]);
  int jump = -1;
  if (e->op == OP_AND)
    jump = emit(c, CODE_JUMP_IF_FALSE, 0, 0, 0);
  if (e->op == OP_OR)
    jump = emit(c, CODE_JUMP_IF_TRUE, 0, 0, 0);
  compile(c, e->args[1]);
  emit(c, binary_code(e->op), 0, 0, -1);
  if (jump >= 0)
    land(c, jump);
}

static void compile_case(Compiler *c, const Expr *e) {
  int at = 0, ends[64], end_count = 0;
  if (e->has_operand)
    compile(c, e->args[at++]);
  int last = e->arg_count - e->has_else;
  for (; at < last; at += 2) {
    if (end_count == 64)
      fail(c->failure, "CASE with more than 64 branches");
    compile(c, e->args[at]);
    int next = emit(c, e->has_operand ? CODE_BRANCH_CASE : CODE_BRANCH_UNLESS, 0, 0, -1);
    if (e->has_operand)
      emit(c, CODE_POP, 0, 0, -1);
    compile(c, e->args[at + 1]);
    ends[end_count++] = emit(c, CODE_JUMP, 0, 0, e->has_operand ? 0 : -1);
    land(c, next);
  }
  if (e->has_operand)
    emit(c, CODE_POP, 0, 0, -1);
  if (e->has_else)
    compile(c, e->args[last]);
  else
    push_constant(c, value_null());
  for (int i = 0; i < end_count; i++)
    land(c, ends[i]);
}

static void compile_in(Compiler *c, const Expr *e) {
  ValueSet *set;
  if (e->kind == EXPR_IN_SELECT) {
    set = c->subqueries->members(c->subqueries->context, e->select);
  } else {
    bool constant = true;
    for (int i = 1; i < e->arg_count; i++)
      constant &= e->args[i]->kind == EXPR_LITERAL;
    if (!constant) {
      // a IN (b, c) is a = b OR a = c.
      push_constant(c, value_int(0));
      for (int i = 1; i < e->arg_count; i++) {
        compile(c, e->args[0]);
        compile(c, e->args[i]);
        emit(c, CODE_EQ, 0, 0, -1);
        emit(c, CODE_OR, 0, 0, -1);
      }
      if (e->negated)
        emit(c, CODE_NOT, 0, 0, 0);
      return;
    }
    set = ARENA_NEW(c->arena, ValueSet);
    value_set_init(set, c->arena, e->arg_count);
    for (int i = 1; i < e->arg_count; i++)
      value_set_add(set, &e->args[i]->value);
  }
  compile(c, e->args[0]);
  emit(c, CODE_IN_SET, add_set(c, set), 0, 0);
  if (e->negated)
    emit(c, CODE_NOT, 0, 0, 0);
}

static void compile_call(Compiler *c, const Expr *e) {
  int index;
  const Function *f = function_find(e->name, &index);
  if (!f)
    fail(c->failure, "no function %s", e->name);
  if (e->arg_count < f->least || e->arg_count > f->most)
    fail(c->failure, "function %s cannot be called with %d arguments", f->name, e->arg_count);
  for (int i = 0; i < e->arg_count; i++)
    compile(c, e->args[i]);
  emit(c, CODE_CALL, index, e->arg_count, 1 - e->arg_count);
}

static void compile(Compiler *c, const Expr *e) {
  if (e->kind != EXPR_LITERAL && is_constant(e)) {
    Program *outer = c->p, inner = {0};
    int depth = c->depth;
    Expr plain = *e;
    c->p = &inner;
    c->depth = 0;
    // Its own arguments may be folded, it itself is not any more.
    switch (plain.kind) {
    case EXPR_BINARY: compile_binary(c, &plain); break;
    case EXPR_CALL: compile_call(c, &plain); break;
    default:
      compile(c, plain.args[0]);
      emit(c, plain.kind == EXPR_IS_NULL ? (plain.negated ? CODE_IS_NOT_NULL : CODE_IS_NULL)
              : plain.kind == EXPR_CAST  ? CODE_CAST
              : plain.op == OP_NOT       ? CODE_NOT
                                         : CODE_NEGATE,
           (int)plain.type, 0, 0);
    }
    emit(c, CODE_HALT, 0, 0, 0);
    Machine m = {c->arena, c->failure};
    Value v = program_run(&inner, NULL, &m);
    c->p = outer;
    c->depth = depth;
    push_constant(c, v);
    return;
  }
  switch (e->kind) {
  case EXPR_LITERAL: push_constant(c, e->value); break;
  case EXPR_COLUMN:
  case EXPR_AGGREGATE:
    if (e->slot < 0)
      fail(c->failure, e->kind == EXPR_COLUMN ? "column %s cannot be used here" : "%s cannot be used here",
           e->name);
    emit(c, CODE_SLOT, e->slot, 0, 1);
    break;
  case EXPR_UNARY:
    compile(c, e->args[0]);
    emit(c, e->op == OP_NOT ? CODE_NOT : CODE_NEGATE, 0, 0, 0);
    break;
  case EXPR_BINARY: compile_binary(c, e); break;
  case EXPR_CALL: compile_call(c, e); break;
  case EXPR_CASE: compile_case(c, e); break;
  case EXPR_IN_LIST:
  case EXPR_IN_SELECT: compile_in(c, e); break;
  case EXPR_EXISTS: push_constant(c, value_int(c->subqueries->exists(c->subqueries->context, e->select))); break;
  case EXPR_SCALAR: push_constant(c, c->subqueries->scalar(c->subqueries->context, e->select)); break;
  case EXPR_IS_NULL:
    compile(c, e->args[0]);
    emit(c, e->negated ? CODE_IS_NOT_NULL : CODE_IS_NULL, 0, 0, 0);
    break;
  case EXPR_CAST:
    compile(c, e->args[0]);
    emit(c, CODE_CAST, (int)e->type, 0, 0);
    break;
  case EXPR_STAR: fail(c->failure, "* cannot be used here");
  }
}

Program *program_compile(Arena *arena, Failure *f, const Expr *e, const Subqueries *subqueries) {
  Compiler c = {arena, f, subqueries, ARENA_NEW(arena, Program), 0};
  compile(&c, e);
  emit(&c, CODE_HALT, 0, 0, 0);
  return c.p;
}

// Text to bytecode by recursive descent:
//
//   program    = { "fn" name "(" [ name { "," name } ] ")" block }
//   block      = "{" { statement } "}"
//   statement  = "if" expression block [ "else" block ] | "while" expression block
//              | "return" expression ";" | "set" name { "[" expression "]" } "=" expression ";"
//              | expression ";"
//   expression = binary operators over: number, name, name "(" ... ")", "array(" n ")",
//                "size(" a ")", operand "[" expression "]", "-" operand, "!" operand
#include "script.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  Script *script;
  Function *fn;
  const char *at;
  int line;
  char token[NAME_SIZE]; // "" at the end
  int64_t number;
  enum { NAME, NUMBER, SIGN, END } kind;
  char locals[MAX_LOCALS][NAME_SIZE];
} Compiler;

static void advance(Compiler *c) {
  while (isspace((unsigned char)*c->at) || *c->at == '#') {
    if (*c->at == '#')
      c->at += strcspn(c->at, "\n");
    else
      c->line += *c->at++ == '\n';
  }
  const char *start = c->at;
  if (isdigit((unsigned char)*start)) {
    char *end;
    c->number = strtoll(start, &end, 10);
    c->at = end;
    c->kind = NUMBER;
  } else if (isalpha((unsigned char)*start)) {
    while (isalnum((unsigned char)*c->at) || *c->at == '_')
      c->at++;
    c->kind = NAME;
  } else if (*start) {
    c->at += (strchr("=!<>", *start) && start[1] == '=') || (strchr("<>", *start) && start[1] == *start) ? 2 : 1;
    c->kind = SIGN;
  } else {
    c->kind = END;
  }
  size_t n = (size_t)(c->at - start);
  if (n >= NAME_SIZE)
    script_fail(c->script, "line %d: name too long", c->line);
  memcpy(c->token, start, n);
  c->token[n] = 0;
}

static int is(const Compiler *c, const char *token) { return strcmp(c->token, token) == 0; }

static int accept(Compiler *c, const char *token) {
  if (!is(c, token))
    return 0;
  advance(c);
  return 1;
}

static void expect(Compiler *c, const char *token) {
  if (!accept(c, token))
    script_fail(c->script, "line %d: want %s, got %s", c->line, token, c->token);
}

static size_t emit(Compiler *c, int64_t word) {
  Function *f = c->fn;
  if (f->size == f->capacity)
    f->code = script_grow(c->script, f->code, &f->capacity, sizeof *f->code);
  f->code[f->size] = word;
  return f->size++;
}

static void emit_with(Compiler *c, Op op, int64_t operand) {
  emit(c, op);
  emit(c, operand);
}

// emit_jump returns the place of the target, which patch sets to here.
static size_t emit_jump(Compiler *c, Op op) {
  emit(c, op);
  return emit(c, 0);
}

static void patch(Compiler *c, size_t place) { c->fn->code[place] = (int64_t)c->fn->size; }

static int local(Compiler *c, const char *name, int define) {
  for (int i = 0; i < c->fn->locals; i++)
    if (strcmp(c->locals[i], name) == 0)
      return i;
  if (!define)
    script_fail(c->script, "line %d: no variable %s", c->line, name);
  if (c->fn->locals == MAX_LOCALS)
    script_fail(c->script, "line %d: too many variables", c->line);
  strcpy(c->locals[c->fn->locals], name);
  return c->fn->locals++;
}

static void expression(Compiler *c, int level);

static void call(Compiler *c, const char *name) {
  int given = 0;
  while (!accept(c, ")")) {
    if (given++)
      expect(c, ",");
    expression(c, 0);
  }
  int builtin = strcmp(name, "array") == 0 ? OP_ARRAY : strcmp(name, "size") == 0 ? OP_SIZE : -1;
  int id = builtin < 0 ? script_find(c->script, name) : -1;
  int wanted = builtin < 0 ? (id < 0 ? -1 : c->script->functions[id].parameters) : 1;
  if (wanted != given)
    script_fail(c->script, "line %d: no function %s of %d arguments", c->line, name, given);
  if (builtin >= 0)
    emit(c, builtin);
  else
    emit_with(c, OP_CALL, id);
}

static void operand(Compiler *c) {
  char name[NAME_SIZE];
  if (accept(c, "-")) {
    operand(c);
    emit(c, OP_NEG);
    return;
  }
  if (accept(c, "!")) {
    operand(c);
    emit(c, OP_NOT);
    return;
  }
  if (accept(c, "(")) {
    expression(c, 0);
    expect(c, ")");
  } else if (c->kind == NUMBER) {
    emit_with(c, OP_PUSH, c->number);
    advance(c);
  } else if (c->kind == NAME) {
    strcpy(name, c->token);
    advance(c);
    if (accept(c, "("))
      call(c, name);
    else
      emit_with(c, OP_LOAD, local(c, name, 0));
  } else {
    script_fail(c->script, "line %d: unexpected %s", c->line, c->kind == END ? "end" : c->token);
  }
  while (accept(c, "[")) {
    expression(c, 0);
    expect(c, "]");
    emit(c, OP_GET);
  }
}

// Binary operators by level; negate is for those made of their opposite.
static const struct {
  const char *token;
  int level;
  Op op;
  int negate;
} operators[] = {
    {"==", 0, OP_EQUAL, 0}, {"!=", 0, OP_EQUAL, 1}, {"<", 0, OP_LESS, 0}, {">=", 0, OP_LESS, 1},  {">", 0, OP_MORE, 0},
    {"<=", 0, OP_MORE, 1},  {"^", 1, OP_XOR, 0},    {"&", 1, OP_AND, 0},  {"<<", 1, OP_SHIFT, 0}, {"+", 2, OP_ADD, 0},
    {"-", 2, OP_SUB, 0},    {"*", 3, OP_MUL, 0},    {"/", 3, OP_DIV, 0},  {"%", 3, OP_MOD, 0},
};

static void expression(Compiler *c, int level) {
  if (level > 3) {
    operand(c);
    return;
  }
  expression(c, level + 1);
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
    if (operators[i].level != level || c->kind != SIGN || !is(c, operators[i].token))
      continue;
    advance(c);
    expression(c, level + 1);
    emit(c, operators[i].op);
    if (operators[i].negate)
      emit(c, OP_NOT);
    i = (size_t)-1; // more of the same level may follow
  }
}

static void block(Compiler *c);

static void conditional(Compiler *c, int loops) {
  size_t start = c->fn->size;
  expression(c, 0);
  size_t out = emit_jump(c, OP_JUMP_IF_ZERO);
  block(c);
  if (loops) {
    emit_with(c, OP_JUMP, (int64_t)start);
  } else if (accept(c, "else")) {
    size_t end = emit_jump(c, OP_JUMP);
    patch(c, out);
    block(c);
    out = end;
  }
  patch(c, out);
}

static void assignment(Compiler *c) {
  char name[NAME_SIZE];
  strcpy(name, c->token);
  advance(c);
  if (accept(c, "=")) {
    expression(c, 0);
    emit_with(c, OP_STORE, local(c, name, 1));
    return;
  }
  emit_with(c, OP_LOAD, local(c, name, 0));
  for (;;) {
    expect(c, "[");
    expression(c, 0);
    expect(c, "]");
    if (accept(c, "="))
      break;
    emit(c, OP_GET);
  }
  expression(c, 0);
  emit(c, OP_SET);
}

static void statement(Compiler *c) {
  if (accept(c, "if")) {
    conditional(c, 0);
    return;
  }
  if (accept(c, "while")) {
    conditional(c, 1);
    return;
  }
  if (accept(c, "return")) {
    expression(c, 0);
    emit(c, OP_RETURN);
  } else if (accept(c, "set")) {
    assignment(c);
  } else {
    expression(c, 0);
    emit(c, OP_DROP);
  }
  expect(c, ";");
}

static void block(Compiler *c) {
  expect(c, "{");
  while (!accept(c, "}"))
    statement(c);
}

static void function(Compiler *c) {
  if (c->script->count == MAX_FUNCTIONS)
    script_fail(c->script, "too many functions");
  Function *f = c->fn = &c->script->functions[c->script->count++];
  strcpy(f->name, c->token);
  advance(c);
  expect(c, "(");
  while (!accept(c, ")")) {
    if (f->parameters)
      expect(c, ",");
    local(c, c->token, 1);
    f->parameters++;
    advance(c);
  }
  block(c);
  emit_with(c, OP_PUSH, 0);
  emit(c, OP_RETURN);
}

int script_compile(Script *s, const char *text) {
  Compiler c = {.script = s, .at = text, .line = 1};
  if (setjmp(s->failed))
    return 0;
  for (advance(&c); c.kind != END;) {
    expect(&c, "fn");
    function(&c);
  }
  return 1;
}

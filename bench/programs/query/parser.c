// Recursive descent; expressions by precedence.
#include "ast.h"
#include "lexer.h"

#include <string.h>
#include <strings.h>

typedef struct {
  Lexer lexer;
  Token token; // the next one
  Arena *arena;
  Failure *failure;
  int depth; // of nested expressions and selects
} Parser;

enum { MAX_DEPTH = 200 };

static Expr *parse_expr(Parser *p, int precedence);
static Select *parse_select(Parser *p);

static void advance(Parser *p) { p->token = lexer_next(&p->lexer); }

static _Noreturn void unexpected(Parser *p, const char *wanted) {
  if (p->token.kind == TOKEN_END)
    fail(p->failure, "syntax error: the statement ends where %s is wanted", wanted);
  fail(p->failure, "syntax error: '%.*s' where %s is wanted", (int)p->token.length, p->token.start, wanted);
}

static bool at_keyword(Parser *p, Keyword k) { return p->token.kind == TOKEN_KEYWORD && p->token.keyword == k; }
static bool at_symbol(Parser *p, int s) { return p->token.kind == TOKEN_SYMBOL && p->token.symbol == s; }

static bool accept_keyword(Parser *p, Keyword k) {
  if (!at_keyword(p, k))
    return false;
  advance(p);
  return true;
}

static bool accept_symbol(Parser *p, int s) {
  if (!at_symbol(p, s))
    return false;
  advance(p);
  return true;
}

static void want_keyword(Parser *p, Keyword k) {
  if (!accept_keyword(p, k))
    unexpected(p, keyword_name(k));
}

static void want_symbol(Parser *p, int s) {
  if (!accept_symbol(p, s)) {
    char name[] = {'\'', (char)(s & 255), '\'', 0};
    unexpected(p, name);
  }
}

static const char *want_name(Parser *p) {
  if (p->token.kind != TOKEN_NAME)
    unexpected(p, "a name");
  const char *name = arena_copy(p->arena, p->token.start, p->token.length);
  advance(p);
  return name;
}

static int64_t want_integer(Parser *p) {
  if (p->token.kind != TOKEN_INT)
    unexpected(p, "a number");
  int64_t n = p->token.value.i;
  advance(p);
  return n;
}

static Expr *new_expr(Parser *p, ExprKind kind) {
  Expr *e = ARENA_NEW(p->arena, Expr);
  e->kind = kind;
  e->slot = -1;
  return e;
}

static Expr *literal(Parser *p, Value v) {
  Expr *e = new_expr(p, EXPR_LITERAL);
  e->value = v;
  return e;
}

static void add_arg(Parser *p, Expr *e, Expr *arg) { ARENA_PUSH(p->arena, e->args, e->arg_count, arg); }

static Expr *binary(Parser *p, Operator op, Expr *left, Expr *right) {
  Expr *e = new_expr(p, EXPR_BINARY);
  e->op = op;
  add_arg(p, e, left);
  add_arg(p, e, right);
  return e;
}

static Expr *unary(Parser *p, Operator op, Expr *operand) {
  Expr *e = new_expr(p, EXPR_UNARY);
  e->op = op;
  add_arg(p, e, operand);
  return e;
}

static void enter(Parser *p) {
  if (++p->depth > MAX_DEPTH)
    fail(p->failure, "nested more than %d levels deep", MAX_DEPTH);
}

static void leave(Parser *p) { p->depth--; }

static Type parse_type(Parser *p) {
  if (accept_keyword(p, KEYWORD_INTEGER))
    return TYPE_INT;
  if (accept_keyword(p, KEYWORD_REAL))
    return TYPE_REAL;
  if (accept_keyword(p, KEYWORD_TEXT))
    return TYPE_TEXT;
  if (accept_keyword(p, KEYWORD_DATE))
    return TYPE_DATE;
  unexpected(p, "a type");
}

static bool find_aggregate(const char *name, Aggregate *out) {
  static const char *const names[] = {"count", "sum", "avg", "min", "max", "variance"};
  for (int i = 0; i < AGG_COUNT_KINDS; i++)
    if (strcasecmp(name, names[i]) == 0) {
      *out = (Aggregate)i;
      return true;
    }
  return false;
}

static Expr *parse_call(Parser *p, const char *name) {
  Expr *e = new_expr(p, EXPR_CALL);
  e->name = name;
  if (find_aggregate(name, &e->aggregate)) {
    e->kind = EXPR_AGGREGATE;
    if (accept_symbol(p, '*')) {
      if (e->aggregate != AGG_COUNT)
        fail(p->failure, "%s(*) makes no sense", name);
      want_symbol(p, ')');
      return e;
    }
    e->distinct = accept_keyword(p, KEYWORD_DISTINCT);
  }
  if (!at_symbol(p, ')'))
    do
      add_arg(p, e, parse_expr(p, 0));
    while (accept_symbol(p, ','));
  want_symbol(p, ')');
  if (e->kind == EXPR_AGGREGATE && e->arg_count != 1)
    fail(p->failure, "%s takes one argument, not %d", name, e->arg_count);
  return e;
}

static Expr *parse_case(Parser *p) {
  Expr *e = new_expr(p, EXPR_CASE);
  if (!at_keyword(p, KEYWORD_WHEN)) {
    e->has_operand = true;
    add_arg(p, e, parse_expr(p, 0));
  }
  do {
    want_keyword(p, KEYWORD_WHEN);
    add_arg(p, e, parse_expr(p, 0));
    want_keyword(p, KEYWORD_THEN);
    add_arg(p, e, parse_expr(p, 0));
  } while (at_keyword(p, KEYWORD_WHEN));
  if (accept_keyword(p, KEYWORD_ELSE)) {
    e->has_else = true;
    add_arg(p, e, parse_expr(p, 0));
  }
  want_keyword(p, KEYWORD_END);
  return e;
}

static Expr *parse_parenthesis(Parser *p) {
  Expr *e;
  if (at_keyword(p, KEYWORD_SELECT)) {
    e = new_expr(p, EXPR_SCALAR);
    e->select = parse_select(p);
  } else {
    e = parse_expr(p, 0);
  }
  want_symbol(p, ')');
  return e;
}

static Expr *parse_primary(Parser *p) {
  Token t = p->token;
  switch (t.kind) {
  case TOKEN_INT:
  case TOKEN_REAL:
  case TOKEN_STRING: advance(p); return literal(p, t.value);
  case TOKEN_NAME: {
    const char *name = want_name(p);
    if (accept_symbol(p, '('))
      return parse_call(p, name);
    Expr *e = new_expr(p, EXPR_COLUMN);
    e->name = name;
    if (accept_symbol(p, '.')) {
      e->qualifier = name;
      if (accept_symbol(p, '*'))
        e->kind = EXPR_STAR;
      else
        e->name = want_name(p);
    }
    return e;
  }
  case TOKEN_SYMBOL:
    if (accept_symbol(p, '('))
      return parse_parenthesis(p);
    break;
  case TOKEN_KEYWORD:
    switch (t.keyword) {
    case KEYWORD_NULL: advance(p); return literal(p, value_null());
    case KEYWORD_CASE: advance(p); return parse_case(p);
    case KEYWORD_DATE: {
      advance(p);
      Value v;
      if (p->token.kind != TOKEN_STRING)
        unexpected(p, "a date");
      if (!value_parse(TYPE_DATE, p->token.value.s, p->token.value.length, &v))
        fail(p->failure, "'%.*s' is not a date", (int)p->token.value.length, p->token.value.s);
      advance(p);
      return literal(p, v);
    }
    case KEYWORD_CAST: {
      advance(p);
      Expr *e = new_expr(p, EXPR_CAST);
      want_symbol(p, '(');
      add_arg(p, e, parse_expr(p, 0));
      want_keyword(p, KEYWORD_AS);
      e->type = parse_type(p);
      want_symbol(p, ')');
      return e;
    }
    case KEYWORD_EXISTS: {
      advance(p);
      Expr *e = new_expr(p, EXPR_EXISTS);
      want_symbol(p, '(');
      e->select = parse_select(p);
      want_symbol(p, ')');
      return e;
    }
    default: break;
    }
    break;
  case TOKEN_END: break;
  }
  unexpected(p, "an expression");
}

// Binding powers, weakest first.
enum { PREC_OR = 1, PREC_AND, PREC_NOT, PREC_COMPARE, PREC_CONCAT, PREC_ADD, PREC_MULTIPLY, PREC_UNARY };

static int binary_operator(Parser *p, Operator *op) {
  if (p->token.kind == TOKEN_KEYWORD) {
    switch (p->token.keyword) {
    case KEYWORD_OR: *op = OP_OR; return PREC_OR;
    case KEYWORD_AND: *op = OP_AND; return PREC_AND;
    case KEYWORD_LIKE: *op = OP_LIKE; return PREC_COMPARE;
    default: return 0;
    }
  }
  if (p->token.kind != TOKEN_SYMBOL)
    return 0;
  switch (p->token.symbol) {
  case '=': *op = OP_EQ; return PREC_COMPARE;
  case SYMBOL2('<', '>'): *op = OP_NE; return PREC_COMPARE;
  case '<': *op = OP_LT; return PREC_COMPARE;
  case SYMBOL2('<', '='): *op = OP_LE; return PREC_COMPARE;
  case '>': *op = OP_GT; return PREC_COMPARE;
  case SYMBOL2('>', '='): *op = OP_GE; return PREC_COMPARE;
  case SYMBOL2('|', '|'): *op = OP_CONCAT; return PREC_CONCAT;
  case '+': *op = OP_ADD; return PREC_ADD;
  case '-': *op = OP_SUB; return PREC_ADD;
  case '*': *op = OP_MUL; return PREC_MULTIPLY;
  case '/': *op = OP_DIV; return PREC_MULTIPLY;
  case '%': *op = OP_MOD; return PREC_MULTIPLY;
  }
  return 0;
}

static Expr *parse_in(Parser *p, Expr *left, bool negated) {
  want_symbol(p, '(');
  Expr *e = new_expr(p, at_keyword(p, KEYWORD_SELECT) ? EXPR_IN_SELECT : EXPR_IN_LIST);
  e->negated = negated;
  add_arg(p, e, left);
  if (e->kind == EXPR_IN_SELECT)
    e->select = parse_select(p);
  else
    do
      add_arg(p, e, parse_expr(p, 0));
    while (accept_symbol(p, ','));
  want_symbol(p, ')');
  return e;
}

// parse_condition parses what may follow an operand and is no plain operator.
static Expr *parse_condition(Parser *p, Expr *left, bool *matched) {
  *matched = true;
  if (accept_keyword(p, KEYWORD_IS)) {
    Expr *e = new_expr(p, EXPR_IS_NULL);
    e->negated = accept_keyword(p, KEYWORD_NOT);
    want_keyword(p, KEYWORD_NULL);
    add_arg(p, e, left);
    return e;
  }
  bool negated = accept_keyword(p, KEYWORD_NOT);
  if (accept_keyword(p, KEYWORD_IN))
    return parse_in(p, left, negated);
  if (accept_keyword(p, KEYWORD_BETWEEN)) {
    Expr *low = parse_expr(p, PREC_CONCAT);
    want_keyword(p, KEYWORD_AND);
    Expr *high = parse_expr(p, PREC_CONCAT);
    Expr *e = binary(p, OP_AND, binary(p, OP_GE, left, low), binary(p, OP_LE, left, high));
    return negated ? unary(p, OP_NOT, e) : e;
  }
  if (negated) {
    want_keyword(p, KEYWORD_LIKE);
    return unary(p, OP_NOT, binary(p, OP_LIKE, left, parse_expr(p, PREC_CONCAT)));
  }
  *matched = false;
  return left;
}

static Expr *parse_expr(Parser *p, int precedence) {
  enter(p);
  Expr *left;
  if (accept_keyword(p, KEYWORD_NOT))
    left = unary(p, OP_NOT, parse_expr(p, PREC_NOT));
  else if (accept_symbol(p, '-'))
    left = unary(p, OP_NEGATE, parse_expr(p, PREC_UNARY));
  else if (accept_symbol(p, '+'))
    left = parse_expr(p, PREC_UNARY);
  else
    left = parse_primary(p);
  for (;;) {
    Operator op = OP_OR;
    int power = binary_operator(p, &op);
    if (power > precedence) {
      advance(p);
      left = binary(p, op, left, parse_expr(p, power));
      continue;
    }
    bool matched = false;
    if (precedence < PREC_COMPARE)
      left = parse_condition(p, left, &matched);
    if (!matched)
      break;
  }
  leave(p);
  return left;
}

static const char *parse_alias(Parser *p) {
  if (accept_keyword(p, KEYWORD_AS) || p->token.kind == TOKEN_NAME)
    return want_name(p);
  return NULL;
}

static void parse_items(Parser *p, Select *s) {
  do {
    SelectItem item = {0};
    if (accept_symbol(p, '*')) {
      item.expr = new_expr(p, EXPR_STAR);
    } else {
      item.expr = parse_expr(p, 0);
      item.alias = parse_alias(p);
    }
    ARENA_PUSH(p->arena, s->items, s->item_count, item);
  } while (accept_symbol(p, ','));
}

static FromItem parse_table(Parser *p, JoinKind join) {
  FromItem f = {.join = join};
  if (accept_symbol(p, '(')) {
    f.select = parse_select(p);
    want_symbol(p, ')');
  } else {
    f.table = want_name(p);
  }
  f.alias = parse_alias(p);
  if (!f.alias)
    f.alias = f.table;
  if (!f.alias)
    fail(p->failure, "a SELECT in FROM needs a name");
  return f;
}

static void parse_from(Parser *p, Select *s) {
  FromItem f = parse_table(p, JOIN_FIRST);
  ARENA_PUSH(p->arena, s->from, s->from_count, f);
  for (;;) {
    bool cross = true;
    JoinKind join = JOIN_INNER;
    if (accept_symbol(p, ',')) {
    } else if (accept_keyword(p, KEYWORD_CROSS)) {
      want_keyword(p, KEYWORD_JOIN);
    } else if (accept_keyword(p, KEYWORD_LEFT)) {
      accept_keyword(p, KEYWORD_OUTER);
      want_keyword(p, KEYWORD_JOIN);
      join = JOIN_LEFT;
      cross = false;
    } else if (accept_keyword(p, KEYWORD_INNER)) {
      want_keyword(p, KEYWORD_JOIN);
      cross = false;
    } else if (accept_keyword(p, KEYWORD_JOIN)) {
      cross = false;
    } else {
      return;
    }
    f = parse_table(p, join);
    if (!cross) {
      want_keyword(p, KEYWORD_ON);
      f.on = parse_expr(p, 0);
    }
    ARENA_PUSH(p->arena, s->from, s->from_count, f);
  }
}

static Select *parse_core(Parser *p) {
  Select *s = ARENA_NEW(p->arena, Select);
  s->limit = -1;
  want_keyword(p, KEYWORD_SELECT);
  s->distinct = accept_keyword(p, KEYWORD_DISTINCT);
  parse_items(p, s);
  if (accept_keyword(p, KEYWORD_FROM))
    parse_from(p, s);
  if (accept_keyword(p, KEYWORD_WHERE))
    s->where = parse_expr(p, 0);
  if (accept_keyword(p, KEYWORD_GROUP)) {
    want_keyword(p, KEYWORD_BY);
    do {
      Expr *e = parse_expr(p, 0);
      ARENA_PUSH(p->arena, s->group, s->group_count, e);
    } while (accept_symbol(p, ','));
  }
  if (accept_keyword(p, KEYWORD_HAVING))
    s->having = parse_expr(p, 0);
  return s;
}

static SetOperator parse_set_operator(Parser *p) {
  if (accept_keyword(p, KEYWORD_UNION))
    return accept_keyword(p, KEYWORD_ALL) ? SET_UNION_ALL : SET_UNION;
  if (accept_keyword(p, KEYWORD_EXCEPT))
    return SET_EXCEPT;
  if (accept_keyword(p, KEYWORD_INTERSECT))
    return SET_INTERSECT;
  return SET_NONE;
}

static Select *parse_select(Parser *p) {
  enter(p);
  Select *first = parse_core(p), *last = first;
  SetOperator op;
  while ((op = parse_set_operator(p)) != SET_NONE) {
    last->set_operator = op;
    last->right = parse_core(p);
    last = last->right;
  }
  // ORDER BY and LIMIT are of the whole.
  if (accept_keyword(p, KEYWORD_ORDER)) {
    want_keyword(p, KEYWORD_BY);
    do {
      OrderItem item = {.expr = parse_expr(p, 0)};
      item.descending = accept_keyword(p, KEYWORD_DESC);
      if (!item.descending)
        accept_keyword(p, KEYWORD_ASC);
      ARENA_PUSH(p->arena, first->order, first->order_count, item);
    } while (accept_symbol(p, ','));
  }
  if (accept_keyword(p, KEYWORD_LIMIT)) {
    first->limit = want_integer(p);
    if (accept_keyword(p, KEYWORD_OFFSET))
      first->offset = want_integer(p);
  }
  leave(p);
  return first;
}

static void parse_create(Parser *p, Statement *st) {
  if (accept_keyword(p, KEYWORD_TABLE)) {
    st->kind = STATEMENT_CREATE_TABLE;
    st->table = want_name(p);
    want_symbol(p, '(');
    do {
      ColumnDef c = {.name = want_name(p)};
      c.type = parse_type(p);
      ARENA_PUSH(p->arena, st->columns, st->column_count, c);
    } while (accept_symbol(p, ','));
    want_symbol(p, ')');
    return;
  }
  want_keyword(p, KEYWORD_INDEX);
  want_keyword(p, KEYWORD_ON);
  st->kind = STATEMENT_CREATE_INDEX;
  st->table = want_name(p);
  want_symbol(p, '(');
  st->column = want_name(p);
  want_symbol(p, ')');
}

static void parse_insert(Parser *p, Statement *st) {
  want_keyword(p, KEYWORD_INTO);
  st->kind = STATEMENT_INSERT;
  st->table = want_name(p);
  if (at_keyword(p, KEYWORD_SELECT)) {
    st->select = parse_select(p);
    return;
  }
  want_keyword(p, KEYWORD_VALUES);
  do {
    want_symbol(p, '(');
    Expr **row = NULL;
    int width = 0;
    do {
      Expr *e = parse_expr(p, 0);
      ARENA_PUSH(p->arena, row, width, e);
    } while (accept_symbol(p, ','));
    want_symbol(p, ')');
    if (st->row_count && width != st->row_width)
      fail(p->failure, "row %d has %d values, the first has %d", st->row_count + 1, width, st->row_width);
    st->row_width = width;
    ARENA_PUSH(p->arena, st->rows, st->row_count, row);
  } while (accept_symbol(p, ','));
}

static void parse_update(Parser *p, Statement *st) {
  st->kind = STATEMENT_UPDATE;
  st->table = want_name(p);
  want_keyword(p, KEYWORD_SET);
  do {
    SelectItem item = {.alias = want_name(p)};
    want_symbol(p, '=');
    item.expr = parse_expr(p, 0);
    ARENA_PUSH(p->arena, st->sets, st->set_count, item);
  } while (accept_symbol(p, ','));
  if (accept_keyword(p, KEYWORD_WHERE))
    st->where = parse_expr(p, 0);
}

Statement *parse_statement(Arena *arena, Failure *failure, const char *sql, size_t length) {
  Parser parser = {.lexer = {sql, sql + length, sql, arena, failure}, .arena = arena, .failure = failure};
  Parser *p = &parser;
  Statement *st = ARENA_NEW(arena, Statement);
  advance(p);
  if (at_keyword(p, KEYWORD_SELECT)) {
    st->select = parse_select(p);
  } else if (accept_keyword(p, KEYWORD_EXPLAIN)) {
    st->kind = STATEMENT_EXPLAIN;
    st->select = parse_select(p);
  } else if (accept_keyword(p, KEYWORD_CREATE)) {
    parse_create(p, st);
  } else if (accept_keyword(p, KEYWORD_INSERT)) {
    parse_insert(p, st);
  } else if (accept_keyword(p, KEYWORD_UPDATE)) {
    parse_update(p, st);
  } else if (accept_keyword(p, KEYWORD_DELETE)) {
    st->kind = STATEMENT_DELETE;
    want_keyword(p, KEYWORD_FROM);
    st->table = want_name(p);
    if (accept_keyword(p, KEYWORD_WHERE))
      st->where = parse_expr(p, 0);
  } else if (accept_keyword(p, KEYWORD_DROP)) {
    st->kind = STATEMENT_DROP;
    want_keyword(p, KEYWORD_TABLE);
    st->table = want_name(p);
  } else {
    unexpected(p, "a statement");
  }
  accept_symbol(p, ';');
  if (p->token.kind != TOKEN_END)
    unexpected(p, "the end");
  return st;
}

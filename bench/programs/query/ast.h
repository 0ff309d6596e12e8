// What the parser makes of statements.
#ifndef AST_H
#define AST_H

#include "value.h"

typedef struct Expr Expr;
typedef struct Select Select;

typedef enum {
  EXPR_LITERAL,
  EXPR_COLUMN,   // name, qualifier; after binding: slot
  EXPR_UNARY,    // op
  EXPR_BINARY,   // op
  EXPR_CALL,     // name, args
  EXPR_AGGREGATE, // aggregate, args, distinct; after binding: slot
  EXPR_CASE,     // args: [operand] (when, then)... [else]
  EXPR_IN_LIST,  // args: value, members...
  EXPR_IN_SELECT, // args: value; select
  EXPR_EXISTS,   // select
  EXPR_SCALAR,   // select
  EXPR_IS_NULL,
  EXPR_CAST, // type
  EXPR_STAR  // in count(*) and select lists
} ExprKind;

typedef enum {
  OP_OR, OP_AND, OP_NOT,
  OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE, OP_LIKE,
  OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MOD, OP_CONCAT,
  OP_NEGATE
} Operator;

typedef enum { AGG_COUNT, AGG_SUM, AGG_AVG, AGG_MIN, AGG_MAX, AGG_VARIANCE, AGG_COUNT_KINDS } Aggregate;

struct Expr {
  ExprKind kind;
  Operator op;
  Aggregate aggregate;
  Type type;      // EXPR_CAST
  bool negated;   // NOT IN, IS NOT NULL, NOT LIKE
  bool distinct;  // aggregates
  bool has_operand, has_else; // EXPR_CASE
  Value value;    // EXPR_LITERAL
  const char *name, *qualifier;
  Expr **args;
  int arg_count;
  Select *select;
  int slot; // of columns and aggregates, -1 before binding
};

typedef struct {
  Expr *expr;
  const char *alias;
} SelectItem;

typedef struct {
  Expr *expr;
  bool descending;
} OrderItem;

typedef enum { JOIN_FIRST, JOIN_INNER, JOIN_LEFT } JoinKind;

typedef struct {
  const char *table; // or
  Select *select;
  const char *alias;
  JoinKind join;
  Expr *on;
} FromItem;

typedef enum { SET_NONE, SET_UNION, SET_UNION_ALL, SET_EXCEPT, SET_INTERSECT } SetOperator;

struct Select {
  bool distinct;
  SelectItem *items;
  int item_count;
  FromItem *from;
  int from_count;
  Expr *where, *having;
  Expr **group;
  int group_count;
  OrderItem *order;
  int order_count;
  int64_t limit, offset; // -1: none
  SetOperator set_operator; // with right
  Select *right;
};

typedef struct {
  const char *name;
  Type type;
} ColumnDef;

typedef enum {
  STATEMENT_SELECT, STATEMENT_EXPLAIN, STATEMENT_INSERT, STATEMENT_UPDATE, STATEMENT_DELETE,
  STATEMENT_CREATE_TABLE, STATEMENT_CREATE_INDEX, STATEMENT_DROP
} StatementKind;

typedef struct {
  StatementKind kind;
  const char *table, *column; // of the index
  ColumnDef *columns;
  int column_count;
  Select *select;  // also of INSERT ... SELECT
  Expr ***rows;    // INSERT VALUES
  int row_count;
  int row_width;
  SelectItem *sets; // UPDATE: alias is the column
  int set_count;
  Expr *where;
} Statement;

Statement *parse_statement(Arena *arena, Failure *failure, const char *sql, size_t length);

#endif

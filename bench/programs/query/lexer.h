// SQL text to tokens.
#ifndef LEXER_H
#define LEXER_H

#include "value.h"

typedef enum {
  TOKEN_END,
  TOKEN_NAME,
  TOKEN_INT,
  TOKEN_REAL,
  TOKEN_STRING,
  TOKEN_SYMBOL, // which one is in Token.symbol
  TOKEN_KEYWORD // which one is in Token.keyword
} TokenKind;

#define KEYWORDS(K)                                                                                                    \
  K(ALL) K(AND) K(AS) K(ASC) K(BETWEEN) K(BY) K(CASE) K(CAST) K(CREATE) K(CROSS) K(DATE) K(DELETE) K(DESC) K(DISTINCT) \
  K(DROP) K(ELSE) K(END) K(EXCEPT) K(EXISTS) K(EXPLAIN) K(FROM) K(GROUP) K(HAVING) K(IN) K(INDEX) K(INNER) K(INSERT)   \
  K(INTEGER) K(INTERSECT) K(INTO) K(IS) K(JOIN) K(LEFT) K(LIKE) K(LIMIT) K(NOT) K(NULL) K(OFFSET) K(ON) K(OR) K(ORDER) \
  K(OUTER) K(REAL) K(SELECT) K(SET) K(TABLE) K(TEXT) K(THEN) K(UNION) K(UPDATE) K(VALUES) K(WHEN) K(WHERE)

typedef enum {
#define K(name) KEYWORD_##name,
  KEYWORDS(K)
#undef K
      KEYWORD_COUNT
} Keyword;

// Symbols of two characters are the first plus 256 times the second.
#define SYMBOL2(a, b) ((a) + 256 * (b))

typedef struct {
  TokenKind kind;
  Keyword keyword;
  int symbol;
  Value value;        // of literals
  const char *start;  // in the source
  uint32_t length;
} Token;

typedef struct {
  const char *at, *end, *start;
  Arena *arena;
  Failure *failure;
} Lexer;

Token lexer_next(Lexer *l);
const char *keyword_name(Keyword k);

#endif

#include "lexer.h"

#include <string.h>

static const char *const keyword_names[] = {
#define K(name) #name,
    KEYWORDS(K)
#undef K
};

const char *keyword_name(Keyword k) { return keyword_names[k]; }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Keywords are sorted, so they are found by bisection.
static int find_keyword(const char *s, uint32_t n) {
  char upper[16];
  if (n >= sizeof upper)
    return -1;
  for (uint32_t i = 0; i < n; i++)
    upper[i] = (char)(s[i] >= 'a' && s[i] <= 'z' ? s[i] - 32 : s[i]);
  upper[n] = 0;
  int low = 0, high = KEYWORD_COUNT;
  while (low < high) {
    int middle = (low + high) / 2;
    int c = strcmp(keyword_names[middle], upper);
    if (c == 0)
      return middle;
    if (c < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return -1;
}

static void skip_blanks(Lexer *l) {
  for (;;) {
    while (l->at < l->end && is_space(*l->at))
      l->at++;
    if (l->end - l->at >= 2 && l->at[0] == '-' && l->at[1] == '-') {
      while (l->at < l->end && *l->at != '\n')
        l->at++;
      continue;
    }
    if (l->end - l->at >= 2 && l->at[0] == '/' && l->at[1] == '*') {
      const char *s = l->at + 2;
      while (l->end - s >= 2 && !(s[0] == '*' && s[1] == '/'))
        s++;
      if (l->end - s < 2)
        fail(l->failure, "comment without an end at %td", l->at - l->start);
      l->at = s + 2;
      continue;
    }
    return;
  }
}

static Token string_token(Lexer *l, Token t) {
  const char *s = l->at + 1;
  size_t n = 0;
  bool doubled = false;
  for (;; s++, n++) {
    if (s == l->end)
      fail(l->failure, "string without an end at %td", l->at - l->start);
    if (*s != '\'')
      continue;
    if (s + 1 < l->end && s[1] == '\'') {
      doubled = true;
      s++;
      continue;
    }
    break;
  }
  t.kind = TOKEN_STRING;
  if (!doubled) {
    t.value = value_text(l->at + 1, n);
  } else {
    char *copy = arena_alloc(l->arena, n + 1);
    size_t k = 0;
    for (const char *p = l->at + 1; p < s; p++) {
      copy[k++] = *p;
      if (*p == '\'')
        p++;
    }
    t.value = value_text(copy, k);
  }
  t.length = (uint32_t)(s + 1 - l->at);
  l->at = s + 1;
  return t;
}

static Token number_token(Lexer *l, Token t) {
  const char *s = l->at;
  bool real = false;
  while (s < l->end && is_digit(*s))
    s++;
  if (s < l->end && *s == '.') {
    real = true;
    s++;
    while (s < l->end && is_digit(*s))
      s++;
  }
  if (s < l->end && (*s == 'e' || *s == 'E')) {
    real = true;
    s++;
    if (s < l->end && (*s == '+' || *s == '-'))
      s++;
    while (s < l->end && is_digit(*s))
      s++;
  }
  t.kind = real ? TOKEN_REAL : TOKEN_INT;
  t.length = (uint32_t)(s - l->at);
  if (!value_parse(real ? TYPE_REAL : TYPE_INT, l->at, t.length, &t.value))
    fail(l->failure, "malformed number %.*s", (int)t.length, l->at);
  l->at = s;
  return t;
}

Token lexer_next(Lexer *l) {
  skip_blanks(l);
  Token t = {.kind = TOKEN_END, .start = l->at};
  if (l->at == l->end)
    return t;
  char c = *l->at;
  if (is_letter(c)) {
    const char *s = l->at;
    while (s < l->end && (is_letter(*s) || is_digit(*s)))
      s++;
    t.length = (uint32_t)(s - l->at);
    int k = find_keyword(l->at, t.length);
    t.kind = k >= 0 ? TOKEN_KEYWORD : TOKEN_NAME;
    t.keyword = k >= 0 ? (Keyword)k : KEYWORD_COUNT;
    l->at = s;
    return t;
  }
  if (is_digit(c) || (c == '.' && l->end - l->at > 1 && is_digit(l->at[1])))
    return number_token(l, t);
  if (c == '\'')
    return string_token(l, t);
  t.kind = TOKEN_SYMBOL;
  t.symbol = c;
  t.length = 1;
  if (l->end - l->at > 1) {
    int two = SYMBOL2(c, l->at[1]);
    if (two == SYMBOL2('<', '=') || two == SYMBOL2('>', '=') || two == SYMBOL2('<', '>') || two == SYMBOL2('!', '=') ||
        two == SYMBOL2('|', '|')) {
      t.symbol = two == SYMBOL2('!', '=') ? SYMBOL2('<', '>') : two;
      t.length = 2;
    }
  }
  if (t.length == 1 && !strchr("()+-*/%,;.=<>", c))
    fail(l->failure, "unexpected character '%c' at %td", c, l->at - l->start);
  l->at += t.length;
  return t;
}

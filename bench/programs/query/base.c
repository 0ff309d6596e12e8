#include "base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ArenaBlock {
  ArenaBlock *next;
  max_align_t data[];
};

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

void *checked_alloc(size_t n) {
  void *p = malloc(n ? n : 1);
  if (!p) {
    fputs("out of memory\n", stderr);
    abort();
  }
  return p;
}

void *checked_grow(void *p, size_t n) {
  p = realloc(p, n ? n : 1);
  if (!p) {
    fputs("out of memory\n", stderr);
    abort();
  }
  return p;
}

void *arena_alloc(Arena *a, size_t n) {
  n = (n + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
  if (a->size - a->used < n) {
    size_t size = a->size ? 2 * a->size : FIRST_BLOCK;
    if (size > LARGEST_BLOCK)
      size = LARGEST_BLOCK;
    if (size < n)
      size = n;
    ArenaBlock *b = checked_alloc(sizeof *b + size);
    b->next = a->blocks;
    a->blocks = b;
    a->size = size;
    a->used = 0;
    a->total += size;
  }
  void *p = (char *)a->blocks->data + a->used;
  a->used += n;
  memset(p, 0, n);
  return p;
}

void *arena_grow(Arena *a, void *old, size_t old_size, size_t new_size) {
  void *p = arena_alloc(a, new_size);
  if (old_size)
    memcpy(p, old, old_size);
  return p;
}

char *arena_copy(Arena *a, const char *s, size_t n) {
  char *p = arena_alloc(a, n + 1);
  memcpy(p, s, n);
  return p;
}

void arena_free(Arena *a) {
  while (a->blocks) {
    ArenaBlock *next = a->blocks->next;
    free(a->blocks);
    a->blocks = next;
  }
  memset(a, 0, sizeof *a);
}

void fail(Failure *f, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(f->message, sizeof f->message, format, args);
  va_end(args);
  longjmp(f->target, 1);
}

static void text_reserve(Text *t, size_t n) {
  if (t->capacity - t->length > n)
    return;
  t->capacity = 2 * t->capacity + n + 64;
  t->at = checked_grow(t->at, t->capacity);
}

void text_add(Text *t, const char *s, size_t n) {
  text_reserve(t, n);
  memcpy(t->at + t->length, s, n);
  t->length += n;
  t->at[t->length] = 0;
}

void text_puts(Text *t, const char *s) { text_add(t, s, strlen(s)); }

void text_printf(Text *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  text_reserve(t, 64);
  int n = vsnprintf(t->at + t->length, t->capacity - t->length, format, args);
  va_end(args);
  if ((size_t)n >= t->capacity - t->length) {
    text_reserve(t, (size_t)n + 1);
    va_start(args, format);
    vsnprintf(t->at + t->length, t->capacity - t->length, format, args);
    va_end(args);
  }
  t->length += (size_t)n;
}

void text_free(Text *t) {
  free(t->at);
  memset(t, 0, sizeof *t);
}

uint64_t hash_mix(uint64_t h) {
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93u;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93u;
  return h ^ h >> 32;
}

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed) {
  const unsigned char *s = p;
  uint64_t h = seed ^ n * 0x9e3779b97f4a7c15u;
  for (; n >= 8; s += 8, n -= 8) {
    uint64_t word;
    memcpy(&word, s, 8);
    h = hash_mix(h ^ word);
  }
  uint64_t rest = 0;
  for (size_t i = 0; i < n; i++)
    rest |= (uint64_t)s[i] << 8 * i;
  return hash_mix(h ^ rest);
}

uint64_t random_next(Random *r) {
  uint64_t x = r->state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

int64_t random_below(Random *r, int64_t n) { return (int64_t)(random_next(r) % (uint64_t)n); }

int64_t random_skewed(Random *r, int64_t n) {
  uint64_t a = random_next(r) >> 32;
  return (int64_t)((unsigned __int128)(a * a) * (uint64_t)n >> 64);
}

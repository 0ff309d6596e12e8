// Memory, errors and text buffers that everything else uses.
#ifndef BASE_H
#define BASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// An arena frees everything that was taken from it at once.
typedef struct ArenaBlock ArenaBlock;
typedef struct {
  ArenaBlock *blocks;
  size_t used, size; // of the newest block
  size_t total;
} Arena;

void *arena_alloc(Arena *a, size_t n);        // zeroed
void *arena_grow(Arena *a, void *old, size_t old_size, size_t new_size);
char *arena_copy(Arena *a, const char *s, size_t n); // adds a final NUL
void arena_free(Arena *a);

#define ARENA_NEW(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define ARENA_ARRAY(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (size_t)(n)))

// Appends to an array whose capacity is the next power of two of its length.
#define ARENA_PUSH(a, array, length, item)                                                                             \
  do {                                                                                                                 \
    size_t n_ = (size_t)(length);                                                                                      \
    if ((n_ & (n_ - 1)) == 0)                                                                                          \
      (array) = arena_grow((a), (array), n_ * sizeof *(array), (n_ ? 2 * n_ : 1) * sizeof *(array));                   \
    (array)[n_] = (item);                                                                                              \
    (length)++;                                                                                                        \
  } while (0)

// A place that failures jump to. The message stays until the next failure.
typedef struct {
  jmp_buf target;
  char message[256];
} Failure;

_Noreturn void fail(Failure *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

// A growing string.
typedef struct {
  char *at;
  size_t length, capacity;
} Text;

void text_add(Text *t, const char *s, size_t n);
void text_puts(Text *t, const char *s);
void text_printf(Text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(Text *t);

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed);
uint64_t hash_mix(uint64_t h);

// A generator of numbers that are the same everywhere.
typedef struct {
  uint64_t state;
} Random;

uint64_t random_next(Random *r);
int64_t random_below(Random *r, int64_t n);
// random_skewed prefers small numbers: the rank falls with its square.
int64_t random_skewed(Random *r, int64_t n);

void *checked_alloc(size_t n);
void *checked_grow(void *p, size_t n);

#endif

// A toy key-value store: open hashing, a free list, string building.
// Exercises: loops, switches, memcpy/memset of varied sizes (memop values),
// calls through a comparison pointer (indirect call values), functions that
// never run, and file-local functions whose names recur in report.cpp.
#include "store.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 32 };

struct entry {
  unsigned key;
  unsigned len;
  struct entry *next;
  char value[64];
};

static struct entry *buckets[BUCKETS];
static struct entry *free_list;

// The same file-local name exists in report.cpp.
static unsigned mix(unsigned x) {
  x ^= x >> 7;
  x *= 0x9e3779b1u;
  return x ^ (x >> 15);
}

static struct entry *take(void) {
  struct entry *e = free_list;
  if (e) {
    free_list = e->next;
    return e;
  }
  return (struct entry *)calloc(1, sizeof *e);
}

void store_put(unsigned key, const char *value, unsigned len) {
  struct entry **slot = &buckets[mix(key) % BUCKETS];
  struct entry *e;
  if (len > sizeof e->value)
    len = sizeof e->value;
  for (e = *slot; e; e = e->next)
    if (e->key == key)
      break;
  if (!e) {
    e = take();
    if (!e)
      return;
    e->key = key;
    e->next = *slot;
    *slot = e;
  }
  memset(e->value, 0, len);
  memcpy(e->value, value, len);
  e->len = len;
}

int store_get(unsigned key, char *out, unsigned cap) {
  for (struct entry *e = buckets[mix(key) % BUCKETS]; e; e = e->next) {
    if (e->key != key)
      continue;
    unsigned n = e->len < cap ? e->len : cap;
    memcpy(out, e->value, n);
    return (int)n;
  }
  return -1;
}

int store_delete(unsigned key) {
  struct entry **link = &buckets[mix(key) % BUCKETS];
  while (*link) {
    struct entry *e = *link;
    if (e->key == key) {
      *link = e->next;
      e->next = free_list;
      free_list = e;
      return 1;
    }
    link = &e->next;
  }
  return 0;
}

static int by_key(unsigned a, unsigned b) { return a < b; }
static int by_mixed_key(unsigned a, unsigned b) { return mix(a) < mix(b); }
static int never_less(unsigned a, unsigned b) { return (void)a, (void)b, 0; }

// File-local function pointers: the targets are named file;function.
static int (*const orders[])(unsigned, unsigned) = {by_key, by_mixed_key,
                                                    never_less};

unsigned store_best(unsigned order) {
  int (*less)(unsigned, unsigned) = orders[order % 3];
  unsigned best = ~0u;
  for (unsigned b = 0; b < BUCKETS; b++)
    for (struct entry *e = buckets[b]; e; e = e->next)
      if (less(e->key, best))
        best = e->key;
  return best;
}

// Never called: all of its counters stay zero.
unsigned store_dump(void) {
  unsigned n = 0;
  for (unsigned b = 0; b < BUCKETS; b++)
    for (struct entry *e = buckets[b]; e; e = e->next)
      n += e->len;
  return n;
}

#include "nodes.h"

#include <string.h>

void row_set_init(RowSet *s, Arena *arena, int width) {
  memset(s, 0, sizeof *s);
  s->arena = arena;
  s->width = width;
  s->mask = 63;
  s->places = ARENA_ARRAY(arena, int32_t, s->mask + 1);
}

static uint64_t hash_row(const Value *row, int width) {
  uint64_t h = 0;
  for (int i = 0; i < width; i++)
    h = value_hash(&row[i], h);
  return h;
}

static bool equal_rows(const Value *a, const Value *b, int width) {
  for (int i = 0; i < width; i++)
    if (!value_equal(&a[i], &b[i]))
      return false;
  return true;
}

static uint64_t find_place(const RowSet *s, const Value *row, uint64_t hash) {
  uint64_t at = hash & s->mask;
  for (; s->places[at]; at = (at + 1) & s->mask) {
    int64_t n = s->places[at] - 1;
    if (s->hashes[n] == hash && equal_rows(s->rows + n * s->width, row, s->width))
      break;
  }
  return at;
}

static void grow_places(RowSet *s) {
  s->mask = 2 * s->mask + 1;
  s->places = ARENA_ARRAY(s->arena, int32_t, s->mask + 1);
  for (int64_t n = 0; n < s->count; n++) {
    uint64_t at = s->hashes[n] & s->mask;
    while (s->places[at])
      at = (at + 1) & s->mask;
    s->places[at] = (int32_t)(n + 1);
  }
}

int64_t row_set_add(RowSet *s, const Value *row, bool *is_new) {
  uint64_t hash = hash_row(row, s->width);
  uint64_t at = find_place(s, row, hash);
  *is_new = s->places[at] == 0;
  if (!*is_new)
    return s->places[at] - 1;
  if (s->count == s->capacity) {
    size_t row_size = (size_t)s->width * sizeof(Value), old = (size_t)s->count;
    s->capacity = s->capacity ? 2 * s->capacity : 32;
    s->rows = arena_grow(s->arena, s->rows, old * row_size, (size_t)s->capacity * row_size);
    s->hashes = arena_grow(s->arena, s->hashes, old * sizeof *s->hashes, (size_t)s->capacity * sizeof *s->hashes);
  }
  if (s->width)
    memcpy(s->rows + s->count * s->width, row, (size_t)s->width * sizeof(Value));
  s->hashes[s->count++] = hash;
  s->places[at] = (int32_t)s->count;
  if ((uint64_t)s->count * 4 > s->mask * 3)
    grow_places(s);
  return s->count - 1;
}

int64_t row_set_find(const RowSet *s, const Value *row) {
  return s->places[find_place(s, row, hash_row(row, s->width))] - 1;
}

// The workload of the store program: argv[1] rounds, argv[2] seed.
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned state;

static unsigned next(void) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

static unsigned value_length(unsigned round) {
  switch (round & 7) {
  case 0:
    return 1;
  case 1:
    return 4;
  case 2:
    return 8;
  case 3:
  case 4:
    return 16;
  case 5:
    return 24;
  default:
    return next() % 64;
  }
}

int main(int argc, char **argv) {
  unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
  static const char text[65] =
      "the quick brown fox jumps over the lazy dog and then it sleeps.";
  unsigned seen[8], n = 0;
  long check = 0;
  char buf[64];

  state = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
  for (unsigned i = 0; i < rounds; i++) {
    unsigned key = next() % 97;
    store_put(key, text, value_length(i));
    if (i % 3 == 0)
      check += store_get(next() % 97, buf, sizeof buf);
    if (i % 5 == 0)
      check += store_delete(next() % 97);
    seen[n++] = key * (i & 3);
    if (n == 8) {
      if (report_total)
        check += report_total(i >> 3, seen, n);
      check += store_best(i);
      n = 0;
    }
  }
  printf("%ld\n", check);
  return 0;
}

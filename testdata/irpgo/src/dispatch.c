// Value-heavy sites: one indirect call with 42 targets (the runtime keeps 24
// values per site unless told otherwise), one with a single target, one that
// never runs, and a memcpy that sees every size class the runtime knows. Two
// targets have no record of their own: labs lies in the C library, outside is
// not instrumented. Both addresses become the value 0.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OP(n)                                                                  \
  static long op##n(long x) { return x * (n + 3) ^ n; }
#define OPS(tens)                                                              \
  OP(tens##0) OP(tens##1) OP(tens##2) OP(tens##3) OP(tens##4) OP(tens##5)      \
  OP(tens##6) OP(tens##7) OP(tens##8) OP(tens##9)
OPS(1) OPS(2) OPS(3) OPS(4)

#define REF(n) op##n,
#define REFS(tens)                                                             \
  REF(tens##0) REF(tens##1) REF(tens##2) REF(tens##3) REF(tens##4)             \
  REF(tens##5) REF(tens##6) REF(tens##7) REF(tens##8) REF(tens##9)

__attribute__((noinline, no_profile_instrument_function)) static long
outside(long x) {
  return x ^ 5;
}

enum { OPS = 42 };
static long (*volatile ops[OPS])(long) = {labs, outside, REFS(1) REFS(2)
                                          REFS(3) REFS(4)};

static const unsigned sizes[] = {0,  1,  2,  3,  4,   5,   6,   7,   8,
                                 9,  12, 16, 20, 32,  40,  64,  100, 128,
                                 200, 256, 300, 512, 513, 900, 1024};

static char from[1024], to[1024];

__attribute__((noinline)) static long copy(unsigned n) {
  memcpy(to, from, n);
  return to[0];
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 10;
  long x = 1;

  for (int i = 0; i < rounds; i++) {
    // Low targets are called more often: one that comes late can push out
    // another that the runtime has counted down to zero.
    x = ops[(unsigned)(i * i + i / 7) % OPS % (unsigned)(i % OPS + 1)](x);
    if (i % 9 == 0)
      x += ops[3](x);
    if (x == 42)
      x += ops[i % 2](x);
    x += copy(sizes[i % (int)(sizeof sizes / sizeof *sizes)]);
  }
  printf("%ld\n", x);
  return 0;
}

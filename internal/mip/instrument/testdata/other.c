// A second file, with a function of a name that the first one has, too.
#include <stdlib.h>

__attribute__((noinline)) static int dup(int x) {
  if (x > 3) return x - 3;
  return x + 1;
}

__attribute__((noinline)) static void fail(void) { abort(); }

int other(int x) {
  if (x < 0) fail();
  return dup(x) + (x > 1 ? dup(-x) : 0);
}

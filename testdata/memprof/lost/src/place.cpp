// Allocations in a function, in an inlined function, and in a function of another source file.
#include <stdlib.h>
#include <string.h>

char *step(int n, char *(*allocate)(int));

static inline char *part(int n) {
  char *p = (char *)malloc(n);
  memset(p, 1, n);
  return p;
}

__attribute__((noinline)) char *own(int n) { return part(n); }

namespace pool {
__attribute__((noinline)) char *get(int n) {
  char *p = (char *)malloc(n);
  memset(p, 2, n);
  return p;
}
} // namespace pool

int main() {
  char *p = own(100);
  char *q = pool::get(1000);
  char *r = step(4000, pool::get);
  int sum = p[3] + q[2] + r[1];
  free(p);
  free(q);
  free(r);
  return sum - 5;
}

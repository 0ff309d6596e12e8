#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static void *inner(int n) {
  char *p = malloc(n);
  memset(p, 1, n);
  return p;
}

void *through(int n, void *(*allocate)(int)) { return allocate ? allocate(n) : inner(n); }
